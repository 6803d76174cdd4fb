import { href } from "../address.ts";
import { Tag } from "../components/layout.tsx";
import type { Column } from "../components/table.tsx";
import { Table } from "../components/table.tsx";
import { sortable } from "./order.ts";
import { conservationName, pText, shorten, VERDICT_ORDER } from "./result.ts";
import { labelOf, REGIONS, regionOf, type ScanMatch, shortNumber, TYPES, typeOf } from "./scan.ts";
import { Kept, VerdictTag } from "./verdict.tsx";

/** What the columns are ordered by; matches without a value are first, as in all tables. */
export const KEYS: Readonly<Record<string, (match: ScanMatch) => number | string | null>> = {
  motif: ({ motif }) => motif,
  label: (match) => VERDICT_ORDER.indexOf(labelOf(match)),
  start: ({ start }) => start,
  kept: ({ kept, homologs }) => (homologs === 0 ? 0 : (kept ?? 0) / homologs),
  p: ({ overallPValue }) => overallPValue ?? null,
  q: ({ q }) => q ?? null,
};

const regionName = (match: ScanMatch): string => {
  const region = regionOf(match);
  return region === null ? "" : `, ${REGIONS[region].toLowerCase()}`;
};

/** Says that a match is a known instance, or aligned with one. */
function KnownTag({ match: { notes } }: { match: ScanMatch }) {
  if (!notes?.sentence) return null;
  const { instances, homologs = [], sentence } = notes;
  const isKnown = instances.some(({ logic }) => logic === "true positive");
  const [{ id, logic } = { id: "", logic: "" }] = instances;
  const text = isKnown
    ? `Known: ${id}`
    : id === ""
      ? `Known in ${homologs[0].organism ?? homologs[0].accession}`
      : `${id}: ${logic}`;
  return (
    <span title={sentence}>
      <Tag tone={isKnown ? "ok" : undefined}>{text}</Tag>
      <span class="unseen">{` ${sentence}`}</span>
    </span>
  );
}

/** Where rows lead, and the proteins that they are of if there are several. */
export interface RowContext {
  jobOf: (match: ScanMatch) => string;
  proteinOf?: (match: ScanMatch) => string;
}

const columnsOf = ({ jobOf, proteinOf }: RowContext): readonly Column<ScanMatch>[] => [
  sortable(
    "motif",
    "Motif class",
    (match) => (
      <a href={href(`/score/${jobOf(match)}`, { match: match.number })}>
        {proteinOf && <b>{proteinOf(match)}: </b>}
        {match.motif}
        <small class="second-line">
          {TYPES[typeOf(match)].name}, group {match.group}
          {match.isBest && ", best"}
          <span class="unseen">{` at ${match.start}`}</span>
        </small>
        <KnownTag match={match} />
      </a>
    ),
    { heading: true },
  ),
  sortable("label", "Label", (match) => <VerdictTag verdict={labelOf(match)} />, { phone: "end" }),
  sortable("start", "Match", (match) => (
    <>
      <code>{shorten(match.text, 14)}</code>
      <small class="second-line">
        {match.start}–{match.end}
        {regionName(match)}
        {match.notes?.domains.map((domain) => `, ${shorten(domain, 30)}`)}
      </small>
    </>
  )),
  sortable("kept", "Kept in homologs", (match) => (
    <Kept kept={match.kept ?? 0} of={match.homologs} words={conservationName(match)} />
  )),
  sortable("p", "P", ({ overallPValue: p, overallPValueIs: is }) => pText({ p, is }), { numeric: true }),
  sortable("q", "q", ({ q }) => shortNumber(q), { numeric: true }),
];

/** The matches of a scan; each row leads to its match in the result. */
export const ScanTable = (
  props: RowContext & {
    rows: readonly ScanMatch[];
    order: string;
    onOrder: (order: string) => void;
  },
) => (
  <Table
    caption="Matches of all motif classes"
    columns={columnsOf(props)}
    rows={props.rows}
    first={{ rows: 100, of: "matches" }}
    keyOf={(match) => `${props.jobOf(match)} ${match.number}`}
    order={props.order}
    onOrder={props.onOrder}
  />
);
