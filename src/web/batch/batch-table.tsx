import { href } from "../address.ts";
import { Tag } from "../components/layout.tsx";
import { type Column, Table } from "../components/table.tsx";
import { inOrder, sortable } from "../score/order.ts";
import { decimal, shorten, type Verdict, VERDICT_ORDER } from "../score/result.ts";
import { VerdictTag } from "../score/verdict.tsx";
import type { Batch } from "./batch.ts";
import type { Outcome, Summary } from "./run.ts";

/** One motif in one protein. */
export interface Row {
  key: string;
  protein: string;
  motif: string;
  job: string | null;
  outcome: Outcome;
  summary: Summary | null;
}

/** A row per protein and motif, whatever the state of its job. */
export const rowsOf = ({ items, groups }: Batch, outcomes: readonly Outcome[]): Row[] =>
  items.flatMap(({ name, group, job }, i) => {
    const outcome = outcomes[i];
    return [...groups[group].patterns, ...groups[group].motifClasses].map((motif, n): Row => {
      const found = outcome.kind === "done" && outcome.summaries.find((one) => one.motif === motif);
      return { key: `${i} ${n}`, protein: name, motif, job, outcome, summary: found || null };
    });
  });

/** What rows can be filtered by: verdicts, and states without one. */
export const KINDS = [...VERDICT_ORDER, "no match", "waiting", "failed"] as const;
export type Kind = (typeof KINDS)[number];

export function kindOf({ outcome, summary }: Row): Kind {
  if (outcome.kind === "failed") return "failed";
  if (outcome.kind !== "done") return "waiting";
  return summary?.best?.verdict ?? "no match";
}

const KEYS: Readonly<Record<string, (row: Row) => number | string | null | undefined>> = {
  protein: ({ protein }) => protein,
  motif: ({ motif }) => motif,
  verdict: (row) => KINDS.indexOf(kindOf(row)),
  score: ({ summary }) => summary?.best?.score,
  expected: ({ summary }) => summary?.best?.expected,
  z: ({ summary }) => summary?.best?.z,
  p: ({ summary }) => summary?.best?.p ?? 2,
  matches: ({ summary }) => summary?.matches,
};

const NUMBER = { numeric: true, phone: "hide" } as const;
const numeric = (name: "score" | "expected" | "z" | "p", title: string, digits = 2): Column<Row> =>
  sortable(name, title, ({ summary }) => summary?.best && decimal(summary.best[name], digits), NUMBER);

const COLUMNS: readonly Column<Row>[] = [
  sortable("protein", "Protein", ({ protein }) => protein, { heading: true }),
  sortable("motif", "Motif", ({ motif }) => <code>{motif}</code>),
  sortable("verdict", "Verdict", (row) => <RowState row={row} />, { phone: "end" }),
  { name: "match", title: "Best match", cell: (row) => <BestMatch row={row} /> },
  numeric("score", "Score"),
  numeric("expected", "Expected"),
  numeric("z", "z"),
  numeric("p", "P", 3),
  sortable("matches", "Matches", ({ summary }) => summary?.matches, NUMBER),
];

export const BatchTable = (props: {
  rows: readonly Row[];
  order: string;
  onOrder: (order: string) => void;
}) => (
  <Table
    caption="Proteins and motifs"
    columns={COLUMNS}
    rows={inOrder(props.rows, props.order, (row, name) => KEYS[name]?.(row))}
    first={{ rows: 200, of: "rows" }}
    keyOf={({ key }) => key}
    order={props.order}
    onOrder={props.onOrder}
  />
);

function RowState({ row }: { row: Row }) {
  const { outcome } = row;
  if (outcome.kind === "failed") return <Tag tone="danger">{outcome.message}</Tag>;
  if (outcome.kind === "unsent") return <span class="muted">not sent yet</span>;
  if (outcome.kind === "active")
    return <span class="muted">{outcome.state === "running" ? "running" : "waiting"}</span>;
  const kind = kindOf(row);
  return kind === "no match" ? <span class="muted">no match</span> : <VerdictTag verdict={kind as Verdict} />;
}

function BestMatch({ row: { job, protein, summary } }: { row: Row }) {
  if (job === null) return null;
  const match = summary?.best;
  return (
    <a href={href(`/score/${job}`, { match: match?.number })}>
      {match ? (
        <>
          <code>{shorten(match.text, 16)}</code> <small>{match.start}</small>
        </>
      ) : (
        "job"
      )}
      <span class="unseen">{` in ${protein}`}</span>
    </a>
  );
}
