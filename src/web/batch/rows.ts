import { isMatch, type MatchRow, type TableRow } from "../../scoring/table/match-row.ts";
import { MISSING } from "../../scoring/table/match-values.ts";
import { findVerdict } from "../../scoring/table/verdict.ts";
import { VERDICT_ORDER } from "../score/result.ts";
import { type Batch, nameMotif } from "./batch.ts";
import type { Outcome } from "./run.ts";

/** One motif in one protein: its best match, or why there is none. */
export type Row = TableRow & {
  key: string;
  query: string;
  job: string | null;
  /** Line of the protein in a list. */
  line: number | null;
};

/** A row per protein and motif, whatever the state of its job. */
export const makeRows = ({ items, groups }: Batch, outcomes: readonly Outcome[]): Row[] =>
  items.flatMap(({ name, group, job, line }, i) => {
    const outcome = outcomes[i];
    const protein = outcome.kind === "done" ? outcome.protein : null;
    return groups[group].map(nameMotif).map((motif, n): Row => {
      const of = { key: `${i} ${n}`, query: name, protein, motif, job, line };
      const found = outcome.kind === "done" && outcome.best.find((match) => match.motif === motif);
      return found ? Object.assign({}, found, of) : Object.assign(missingIn(outcome), of);
    });
  });

/** Why a row has no match. */
function missingIn(outcome: Outcome) {
  if (outcome.kind === "failed") return { missing: "failed" as const, problem: outcome.message };
  return { missing: outcome.kind === "done" ? ("no match" as const) : ("waiting" as const) };
}

/** True if a row has a text in a name of the protein or motif, ignoring case. */
export const isNamed = ({ query, protein, motif }: Row, text: string): boolean =>
  [query, protein?.accession, protein?.gene, protein?.name, protein?.organism, motif].some((name) =>
    name?.toLowerCase().includes(text),
  );

/** Filters of rows: verdicts, and states without one. */
export const KINDS = [...VERDICT_ORDER, ...(Object.keys(MISSING) as (keyof typeof MISSING)[])];
export type Kind = (typeof KINDS)[number];

export const findKind = (row: Row): Kind => (isMatch(row) ? findVerdict(row) : row.missing);

/** The best match of a row; undefined without one. */
export const findMatch = (row: Row | undefined): (Row & MatchRow) | undefined =>
  row && isMatch(row) ? row : undefined;

/** Why jobs failed, once per protein. */
export const listFailures = (rows: readonly Row[]): string[] => [
  ...new Set(
    rows.flatMap((row) => {
      if (isMatch(row) || row.problem === undefined) return [];
      const place = row.line === null ? "" : `Line ${row.line}, `;
      return `${place}${row.query}: ${row.problem.replace(/^accession: /, "")}`;
    }),
  ),
];
