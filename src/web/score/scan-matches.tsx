import { useMemo } from "preact/hooks";
import type { ScanMatch } from "../../scoring/index.ts";
import { isKnown } from "../../scoring/table/match-values.ts";
import { MATCH_TABLES } from "../../scoring/table/match-tables.ts";
import { href } from "../address.ts";
import { Tag } from "../components/layout.tsx";
import type { MatchDownload } from "./match-table.tsx";
import { MatchTable } from "./match-table.tsx";
import type { MatchView } from "./match-view.ts";
import { shorten } from "./result.ts";
import { findRegion, findType, TYPES } from "./scan.ts";

/** Columns that are shown by default. */
const COLUMNS = ["motif", "start", "verdict", "kept", "overall_p", "q"];

interface Props<Row> {
  view: MatchView<Row>;
  matches: readonly Row[];
  download: Omit<MatchDownload, "others">;
  /** The job of a match, to which its row leads. */
  findJob: (match: Row) => string;
  /** Name of the protein of a match, if the matches are of several. */
  findProtein?: (match: Row) => string;
}

/** The ranked matches of scans; each row leads to its match in the result. */
export const ScanMatches = <Row extends ScanMatch>({
  view,
  matches,
  download,
  findJob,
  findProtein,
}: Props<Row>) => {
  const groups = useMemo(() => Map.groupBy(matches, groupKey), [matches]);
  return (
    <MatchTable
      table={MATCH_TABLES.scan}
      title="Matches"
      caption="Matches of all motif classes"
      view={view}
      all={matches}
      rowKey={(match) => `${findJob(match)} ${match.number}`}
      first={100}
      columns={COLUMNS}
      own={{
        motif: {
          title: "Motif class",
          cell: (match) => (
            <a href={href(`/score/${findJob(match)}`, { match: match.number })}>
              {findProtein && <b>{findProtein(match)}: </b>}
              {match.motif}
              <small class="second-line">
                {TYPES[findType(match)].name}
                <Overlap of={match} group={groups.get(groupKey(match)) ?? []} />
                <span class="unseen">{` at ${match.start}`}</span>
              </small>
              <KnownTag match={match} />
            </a>
          ),
        },
        start: { title: "Match", cell: (match) => <Place of={match} /> },
      }}
      download={{ ...download, others: { json: { title: "JSON", extension: "json" } } }}
    />
  );
};

/** Groups of several proteins have the same numbers. */
const groupKey = ({ group, of = 0 }: ScanMatch & { of?: number }): string => `${of} ${group}`;

/** Says which of the matches with the same residues, by half of the shorter one, is the best. */
function Overlap({ of: { isBest }, group }: { of: ScanMatch; group: readonly ScanMatch[] }) {
  if (group.length < 2) return null;
  if (isBest) return <>, best of {group.length} overlapping</>;
  const best = group.find((match) => match.isBest);
  return <span title={best && `${best.motif} at ${best.start}–${best.end} is better`}>, overlapping</span>;
}

function Place({ of: match }: { of: ScanMatch }) {
  const region = findRegion(match);
  return (
    <>
      <code>{shorten(match.text, 14)}</code>
      <small class="second-line wrap">
        {match.start}–{match.end}
        {region && `, ${region}`}
        {match.notes?.domains.map((domain) => `, ${shorten(domain, 30)}`)}
      </small>
    </>
  );
}

/** Tag of a match that is a known instance, or aligned with one. */
function KnownTag({ match }: { match: ScanMatch }) {
  const { sentence, instances = [], homologs = [] } = match.notes ?? {};
  if (!sentence) return null;
  const [{ id, logic } = { id: "", logic: "" }] = instances;
  const text = isKnown(match)
    ? `Known: ${id}`
    : id === ""
      ? `Known in ${homologs[0].organism ?? homologs[0].accession}`
      : `${id}: ${logic}`;
  return (
    <span title={sentence}>
      <Tag tone={isKnown(match) ? "ok" : undefined}>{text}</Tag>
      <span class="unseen">{` ${sentence}`}</span>
    </span>
  );
}
