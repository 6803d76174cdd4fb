import { Button } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Select } from "../components/field.tsx";
import { Card } from "../components/layout.tsx";
import { type Column, type Order, Table } from "../components/table.tsx";
import { useQuery } from "../page.tsx";
import { inOrder, sortable } from "./order.ts";
import {
  conservationName,
  decimal,
  nameOf,
  type NumberedMatch,
  overallP,
  pText,
  rank,
  type Result,
  shorten,
  VERDICT_ORDER,
  verdictOf,
} from "./result.ts";
import { ColumnHelp, Kept, VerdictTag } from "./verdict.tsx";

/** What the columns are ordered by. */
const KEYS: Readonly<Record<string, (match: NumberedMatch) => number | null>> = {
  start: ({ start }) => start,
  verdict: (match) => VERDICT_ORDER.indexOf(verdictOf(match)),
  p: rank,
  kept: ({ kept, homologs }) => (homologs === 0 ? 0 : kept / homologs),
  score: ({ score }) => score,
  z: ({ z }) => z,
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
        (verdict === "" || verdictOf(match) === verdict) &&
        (pattern === "" || nameOf(match.pattern) === pattern),
    ),
    order,
    (match, name) => KEYS[name]?.(match),
  );

const NUMBER = { numeric: true, phone: "hide" } as const;

/** All matches; the residues of a row are a link to its match. */
export function MatchesCard(props: {
  result: Result;
  matches: readonly NumberedMatch[];
  shown: readonly NumberedMatch[];
  order: Order;
  filter: { pattern: string };
  match: NumberedMatch;
  select: (number: number) => void;
}) {
  const { result, matches, shown, match } = props;
  const [query, setQuery] = useQuery();
  const columns: Column<NumberedMatch>[] = [
    sortable(
      "start",
      "Match",
      ({ number, text, start, end, pattern }) => (
        <a
          href={`?${new URLSearchParams({ ...Object.fromEntries(query), match: String(number) })}`}
          aria-current={number === match.number ? "true" : undefined}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            props.select(number);
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
    sortable("verdict", "Verdict", (match) => <VerdictTag verdict={verdictOf(match)} />, { phone: "end" }),
    sortable("p", "P", (match) => pText(overallP(match)), NUMBER),
    sortable("kept", "Kept in homologs", (match) => (
      <Kept kept={match.kept} of={match.homologs} words={conservationName(match)} />
    )),
    sortable("score", "CS", ({ score }) => decimal(score), NUMBER),
    sortable("z", "z", ({ z }) => decimal(z), NUMBER),
  ];
  const patterns = result.patterns.map((each): [string, string] => [nameOf(each), nameOf(each)]);
  return (
    <Card
      title="Matches"
      bare
      count={shown.length === matches.length ? matches.length : `${shown.length} of ${matches.length}`}
      actions={
        patterns.length > 1 && (
          <Select
            small
            label="Pattern"
            value={props.filter.pattern}
            choices={[["", "All motifs"], ...patterns]}
            onChange={(pattern) => setQuery({ pattern }, { replace: true })}
          />
        )
      }
      foot={<ColumnHelp />}
    >
      {shown.length > 0 ? (
        <Table
          caption="Matches"
          columns={columns}
          rows={shown}
          first={{ rows: 100, of: "matches" }}
          keyOf={({ number }) => number}
          order={props.order}
          onOrder={(sort) => setQuery({ sort }, { replace: true })}
          selected={match.number}
        />
      ) : (
        <Empty title="No matches pass the filter">
          <Button onClick={() => setQuery({ verdict: null, pattern: null }, { replace: true })}>
            Show all
          </Button>
        </Empty>
      )}
    </Card>
  );
}
