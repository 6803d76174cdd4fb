import { type Column, type Order, Table } from "../components/table.tsx";
import { inOrder, sortable } from "./order.ts";
import { decimal, nameOf, type NumberedMatch, pText, shorten, tally, VERDICT_ORDER } from "./result.ts";
import { Kept, VerdictTag } from "./verdict.tsx";

/** What the columns are ordered by. */
const KEYS: Readonly<Record<string, (match: NumberedMatch) => number | null>> = {
  start: ({ start }) => start,
  kept: (match) => (match.homologs === 0 ? 0 : tally(match).kept / match.homologs),
  verdict: ({ verdict }) => VERDICT_ORDER.indexOf(verdict),
  score: ({ score }) => score,
  z: ({ z }) => z,
  p: ({ pValue }) => pValue ?? 2,
};

/** The matches a filter leaves, in an order. */
export const filterMatches = (
  matches: readonly NumberedMatch[],
  { verdict, pattern }: { verdict: string; pattern: string },
  order: Order,
): NumberedMatch[] =>
  inOrder(
    matches.filter(
      (match) =>
        (verdict === "" || match.verdict === verdict) &&
        (pattern === "" || nameOf(match.pattern) === pattern),
    ),
    order,
    (match, name) => KEYS[name]?.(match),
  );

const NUMBER = { numeric: true, phone: "hide" } as const;

/** All matches; the residues of a row are a link to its match. */
export function MatchTable(props: {
  matches: readonly NumberedMatch[];
  order: Order;
  onOrder: (order: Order) => void;
  selected: number | undefined;
  addressOf: (number: number) => string;
  onSelect: (number: number) => void;
}) {
  const columns: Column<NumberedMatch>[] = [
    sortable(
      "start",
      "Match",
      ({ number, text, start, end, pattern }) => (
        <a
          href={props.addressOf(number)}
          aria-current={number === props.selected ? "true" : undefined}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            props.onSelect(number);
          }}
        >
          <code>{shorten(text, 20)}</code>
          <small class="second-line">
            {start}–{end} · {nameOf(pattern)}
          </small>
        </a>
      ),
      { heading: true },
    ),
    sortable("kept", "Kept in homologs", (match) => <Kept kept={tally(match).kept} of={match.homologs} />),
    sortable("verdict", "Verdict", ({ verdict }) => <VerdictTag verdict={verdict} />, { phone: "end" }),
    sortable("score", "Score", ({ score }) => decimal(score), NUMBER),
    sortable("z", "z", ({ z }) => decimal(z), NUMBER),
    sortable("p", "P", pText, NUMBER),
  ];
  return (
    <Table
      caption="Matches"
      columns={columns}
      rows={props.matches}
      first={{ rows: 100, of: "matches" }}
      keyOf={({ number }) => number}
      order={props.order}
      onOrder={props.onOrder}
      selected={props.selected}
    />
  );
}

/** What the columns mean. */
export const ColumnHelp = () => (
  <details>
    <summary>What the numbers mean</summary>
    <dl class="kv">
      <dt>Score</dt>
      <dd>How well homologs keep the match, from 0 to 1; near-identical proteins share their weight.</dd>
      <dt>z</dt>
      <dd>The evidence for the match in standard deviations of random matches.</dd>
      <dt>P</dt>
      <dd>
        Share of comparable random matches that score as high. With many matches, some are low by chance.
      </dd>
      <dt>Verdict</dt>
      <dd>P in words; “Insufficient data” where too few homologs reach the match.</dd>
    </dl>
  </details>
);
