import { href } from "../address.ts";
import { type Column, Table } from "../components/table.tsx";
import { decimal, type Verdict, VERDICTS } from "../score/result.ts";
import { inOrder, VerdictTag } from "../score/tables.tsx";
import type { Batch } from "./batch.ts";
import type { Line, Outcome } from "./run.ts";

/** One motif in one protein, as far as it is known. */
export interface Row {
  key: string;
  protein: string;
  motif: string;
  job: string | null;
  outcome: Outcome;
  line: Line | null;
}

/** A row per protein and motif, whatever has become of its job so far. */
export function rowsOf({ items, groups }: Batch, outcomes: readonly Outcome[]): Row[] {
  return items.flatMap(({ name, group, job }, i) => {
    const outcome = outcomes[i];
    const { patterns, motifClasses } = groups[group];
    return [...patterns, ...motifClasses].map((motif, n): Row => {
      const line =
        outcome.kind === "done" ? (outcome.lines.find((one) => one.motif === motif) ?? null) : null;
      return { key: `${i} ${n}`, protein: name, motif, job, outcome, line };
    });
  });
}

/** What a row can be filtered by: verdicts, and what stands in their place. */
export const KINDS = [...VERDICTS, "no match", "waiting", "failed"] as const;
export type Kind = (typeof KINDS)[number];

export function kindOf({ outcome, line }: Row): Kind {
  if (outcome.kind === "failed") return "failed";
  if (outcome.kind !== "done") return "waiting";
  return line?.best?.verdict ?? "no match";
}

const best = (row: Row) => row.line?.best ?? null;
const KEYS: Record<string, (row: Row) => number | string> = {
  protein: (row) => row.protein,
  motif: (row) => row.motif,
  verdict: (row) => KINDS.indexOf(kindOf(row)),
  score: (row) => best(row)?.score ?? -1,
  expected: (row) => best(row)?.expected ?? -1,
  z: (row) => best(row)?.z ?? -99,
  p: (row) => best(row)?.p ?? 2,
  matches: (row) => row.line?.matches ?? -1,
};

/** Rows that are shown before one asks for more. */
const SHOWN = 200;

export function BatchTable(props: { rows: readonly Row[]; order: string; onOrder: (order: string) => void }) {
  const columns: Column<Row>[] = [
    { name: "protein", title: "Protein", sortable: true, heading: true, cell: (row) => row.protein },
    { name: "motif", title: "Motif", sortable: true, cell: (row) => <code>{row.motif}</code> },
    { name: "verdict", title: "Verdict", sortable: true, cell: (row) => <Kinds row={row} /> },
    { name: "match", title: "Best match", cell: (row) => <BestMatch row={row} /> },
    {
      name: "score",
      title: "Score",
      sortable: true,
      numeric: true,
      cell: (row) => known(row, best(row)?.score),
    },
    {
      name: "expected",
      title: "Expected",
      sortable: true,
      numeric: true,
      cell: (row) => known(row, best(row)?.expected),
    },
    { name: "z", title: "z", sortable: true, numeric: true, cell: (row) => known(row, best(row)?.z) },
    { name: "p", title: "P", sortable: true, numeric: true, cell: (row) => known(row, best(row)?.p, 3) },
    {
      name: "matches",
      title: "Matches",
      sortable: true,
      numeric: true,
      cell: (row) => row.line?.matches ?? "",
    },
  ];
  const ordered = inOrder(props.rows, props.order, KEYS);
  return (
    <Table
      caption="Proteins and motifs"
      columns={columns}
      rows={ordered}
      first={{ rows: SHOWN, of: "rows" }}
      keyOf={({ key }) => key}
      order={props.order}
      onOrder={props.onOrder}
    />
  );
}

const known = (row: Row, value: number | null | undefined, digits = 2): string =>
  best(row) === null ? "" : decimal(value ?? null, digits);

function Kinds({ row }: { row: Row }) {
  const { outcome } = row;
  if (outcome.kind === "failed") return <span class="tag bad">{outcome.message}</span>;
  if (outcome.kind === "unsent") return <span class="muted">to be sent</span>;
  if (outcome.kind === "going")
    return <span class="muted">{outcome.state === "running" ? "running…" : "waiting"}</span>;
  const kind = kindOf(row);
  return kind === "no match" ? <span class="muted">no match</span> : <VerdictTag verdict={kind as Verdict} />;
}

function BestMatch({ row }: { row: Row }) {
  const match = best(row);
  if (row.job === null) return null;
  const text = match ? match.text.slice(0, 16) + (match.text.length > 16 ? "…" : "") : "";
  return (
    <a href={href(`/score/${row.job}`, { match: match?.number })}>
      {match ? (
        <>
          <code>{text}</code> <small>{match.start}</small>
        </>
      ) : (
        "job"
      )}
      <span class="unseen">{` in ${row.protein}`}</span>
    </a>
  );
}
