import type { ComponentChildren } from "preact";
import type { ScanMatch } from "../../scoring/index.ts";
import { EVIDENCE, MATCH_TABLES } from "../../scoring/table/match-tables.ts";
import { CLASS_TYPES, isKnown } from "../../scoring/table/match-values.ts";
import type { Place } from "../../scoring/table/places.ts";
import { findVerdict, LIKELY_P, POSSIBLE_P, STRICT_Q } from "../../scoring/table/verdict.ts";
import { href } from "../address.ts";
import { formatCount, pluralize } from "../format.tsx";
import { useQuery } from "../page.tsx";
import type { PageColumn } from "./match-cells.tsx";
import type { MatchDownload } from "./match-table.tsx";
import { MatchTable } from "./match-table.tsx";
import type { MatchView } from "./match-view.ts";
import { shorten } from "./result.ts";
import { type ClassName, findRegion, namePlaces, scanAnswer } from "./scan.ts";
import { Grade, Kept, Spark, Star, VerdictTag } from "./verdict.tsx";
import { Segment } from "../components/segment.tsx";

/** Columns that are shown by default. */
const COLUMNS = ["motif", "start", "verdict", "kept", "z", "overall_p", "q"];
/** Orders that a button chooses. */
const ORDERS = [
  [EVIDENCE, "By evidence"],
  ["start", "By position"],
  ["motif", "By class"],
] as const;

interface Props<Row> {
  view: MatchView<Row>;
  /** All matches, and the places of those that pass the filters. */
  matches: readonly Row[];
  places: readonly Place<Row>[];
  download: Omit<MatchDownload, "others">;
  findClass: (motif: string) => ClassName;
  /** The job of a match, to which its row leads. */
  findJob: (match: Row) => string;
  /** Name of the protein of a match, if the matches are of several. */
  findProtein?: (match: Row) => string;
}

/** The matches of scans, one row for each place; each row leads to its match in the result. */
export const ScanMatches = <Row extends ScanMatch>(props: Props<Row>) => {
  const { view, matches, places, download, findClass, findJob, findProtein } = props;
  const passing = view.passing < view.total ? `${formatCount(view.passing)} of ` : "";
  return (
    <MatchTable
      table={MATCH_TABLES.scan}
      title="Places"
      caption="Matches of all motif classes"
      {...placeRows(view, places)}
      all={matches}
      rowKey={(match) => `${findJob(match)} ${match.number}`}
      first={100}
      columns={COLUMNS}
      count={{
        text: `${formatCount(places.length)}, with ${passing}${pluralize(view.total, "match", "matches")}`,
        shown: pluralize(places.length, "place"),
      }}
      actions={<OrderChoice />}
      own={{
        ...placeCells<Row>(findClass, (match, name) => (
          <a href={href(`/score/${findJob(match)}`, { match: match.number })}>
            {findProtein && <b>{findProtein(match)}: </b>}
            {name}
            <span class="unseen">{` at ${match.start}`}</span>
          </a>
        )),
        z: { title: "Evidence", cell: (match) => <Spark match={match} />, phone: "hide" },
      }}
      download={{ ...download, others: { json: { title: "JSON", extension: "json" } } }}
      legend={<Legend />}
    />
  );
};

/** Rows of places: the best match of each, and a button that opens the others. */
export function placeRows<Row extends ScanMatch>(view: MatchView<Row>, places: readonly Place<Row>[]) {
  const others = new Map(places.map((place) => [place.best, place.others]));
  return {
    view: { ...view, rows: places.map(({ best }) => best) },
    nested: {
      of: (match: Row) => others.get(match) ?? [],
      label: (match: Row) => othersText(match, others.get(match) ?? []),
    },
  };
}

/** Cells of places. @param link links the name of a match */
export const placeCells = <Row extends ScanMatch>(
  findClass: (motif: string) => ClassName,
  link: (match: Row, name: string) => ComponentChildren,
): Record<string, PageColumn<Row>> => ({
  motif: {
    title: "Motif class",
    cell: (match, more) => {
      const { name, id } = findClass(match.motif);
      return (
        <>
          {link(match, name)}
          <small class="second-line wrap">
            {id || (match.type && CLASS_TYPES[match.type])} {more}
          </small>
        </>
      );
    },
  },
  start: { title: "Match", cell: (match) => <Residues of={match} /> },
  verdict: {
    cell: (match) => (
      <>
        <VerdictTag match={match} />
        <Known of={match} />
      </>
    ),
  },
  kept: { title: "In homologs", cell: (match) => <Kept match={match} /> },
  overall_p: { cell: (match) => <Grade match={match} />, numeric: true },
});

/** What is most likely in one or several proteins, with the known and the other likely places by name. */
export function ScanAnswer<Row extends ScanMatch>(props: {
  matches: readonly Row[];
  /** All places. */
  all: readonly Place<Row>[];
  tested: number;
  findClass: (motif: string) => ClassName;
  findProtein?: (match: Row) => string;
  /** How to read q. */
  children: ComponentChildren;
}) {
  const { matches, all, tested, findClass, findProtein } = props;
  const nameOf = (match: Row): string =>
    `${findProtein ? `${findProtein(match)} ` : ""}${findClass(match.motif).name}`;
  const lists = {
    Known: namePlaces(all, "known instance", nameOf),
    "Likely functional": namePlaces(all, "likely functional", nameOf),
  };
  return (
    <div class="answer">
      <p>{scanAnswer(matches, tested)}</p>
      {Object.entries(lists).map(
        ([title, names]) =>
          names && (
            <small key={title}>
              {title}: {names}.
            </small>
          ),
      )}
      <details class="hint">
        <summary>How to read this</summary>
        <p>
          The verdict follows P, the share of random matches that score as high: likely functional up to{" "}
          {LIKELY_P}, possible up to {POSSIBLE_P}. {props.children} A match with q ≤ {STRICT_Q} stands out and
          has a star. For a match that you expected, use P; in a list of candidates, q. Overlapping matches
          are one place.
        </p>
      </details>
    </div>
  );
}

/** The other matches of a place: `+3 classes, 1 known`. */
function othersText({ motif }: ScanMatch, others: readonly ScanMatch[]): string {
  const classes = new Set(others.map((other) => other.motif)).difference(new Set([motif])).size;
  const known = others.filter((match) => findVerdict(match) === "known instance").length;
  const count =
    classes > 0 ? pluralize(classes, "class", "classes") : pluralize(others.length, "match", "matches");
  return `+${count}${known > 0 ? `, ${known} known` : ""}`;
}

function OrderChoice() {
  const [query, setQuery] = useQuery();
  const chosen = query.get("order") ?? MATCH_TABLES.scan.order;
  return (
    <Segment<string>
      label="Order"
      value={chosen}
      choices={ORDERS}
      onChange={(order) =>
        setQuery({ order: order === MATCH_TABLES.scan.order ? null : order }, { replace: true })
      }
    />
  );
}

function Residues({ of: match }: { of: ScanMatch }) {
  const region = findRegion(match);
  return (
    <>
      <code>{shorten(match.text, 10)}</code>
      <small class="second-line">
        {match.start}–{match.end}
        {region && `, ${region}`}
        {match.notes?.domains.map((domain) => `, ${shorten(domain, 20)}`)}
      </small>
    </>
  );
}

/** Identifier of the known instance at a match, or where one is known that is aligned with it. */
function Known({ of: match }: { of: ScanMatch }) {
  const { sentence, instances = [], homologs = [] } = match.notes ?? {};
  if (!sentence) return null;
  const [{ id, logic } = { id: "", logic: "" }] = instances;
  const text = isKnown(match)
    ? id
    : id === ""
      ? `known in ${homologs[0].organism ?? homologs[0].accession}`
      : `${id}: ${logic}`;
  return (
    <small class="second-line wrap" title={sentence}>
      {text}
      <span class="unseen">{` ${sentence}`}</span>
    </small>
  );
}

const Legend = () => (
  <ul class="legend">
    {Object.entries({ "": "kept in place", nearby: "nearby, within 10 residues" }).map(([kind, text]) => (
      <li key={text}>
        <svg class="kept-bar" width="12" height="6" aria-hidden="true">
          <rect class={kind} width="12" height="6" rx="1" />
        </svg>
        {text}
      </li>
    ))}
    {Object.entries({ "mark tone-likely": "evidence for", against: "against" }).map(([kind, text]) => (
      <li key={text}>
        <svg width="6" height="12" aria-hidden="true">
          <rect class={kind} width="6" height="12" rx="1" />
        </svg>
        {text}
      </li>
    ))}
    <li>
      <Star /> stands out: q ≤ 0.05
    </li>
  </ul>
);
