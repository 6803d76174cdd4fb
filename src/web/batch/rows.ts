import { type PValue, rank, VERDICT_ORDER } from "../score/result.ts";
import type { ProteinNames } from "../score/protein-identity.tsx";
import { type Batch, nameMotif } from "./batch.ts";
import type { Outcome, Summary } from "./run.ts";

/** One motif in one protein. */
export interface Row {
  key: string;
  protein: string;
  /** Those in the corpus, once the job has ended. */
  names: ProteinNames | null;
  motif: string;
  job: string | null;
  /** Line of the protein in a list. */
  line: number | null;
  outcome: Outcome;
  summary: Summary | null;
}

/** A row per protein and motif, whatever the state of its job. */
export const rowsOf = ({ items, groups }: Batch, outcomes: readonly Outcome[]): Row[] =>
  items.flatMap(({ name, group, job, line }, i) => {
    const outcome = outcomes[i];
    return groups[group].map(nameMotif).map((motif, n): Row => {
      const found = outcome.kind === "done" && outcome.summaries.find((one) => one.motif === motif);
      const names = outcome.kind === "done" ? outcome.names : null;
      return { key: `${i} ${n}`, protein: name, names, motif, job, line, outcome, summary: found || null };
    });
  });

/** Whether a row has a text in a name of the protein or motif, ignoring case. */
export const isNamed = ({ protein, names, motif }: Row, text: string): boolean =>
  [protein, names?.accession, names?.gene, names?.name, names?.organism, motif].some((name) =>
    name?.toLowerCase().includes(text),
  );

/** What rows can be filtered by: verdicts, and states without one. */
export const KINDS = [...VERDICT_ORDER, "no match", "waiting", "failed"] as const;
export type Kind = (typeof KINDS)[number];

export function kindOf({ outcome, summary }: Row): Kind {
  if (outcome.kind === "failed") return "failed";
  if (outcome.kind !== "done") return "waiting";
  return summary?.best?.verdict ?? "no match";
}

/** Why jobs failed, once per protein. */
export const failuresOf = (rows: readonly Row[]): string[] => [
  ...new Set(
    rows.flatMap(({ protein, line, outcome }) => {
      if (outcome.kind !== "failed") return [];
      const place = line === null ? "" : `Line ${line}, `;
      return `${place}${protein}: ${outcome.message.replace(/^accession: /, "")}`;
    }),
  ),
];

export const bestP = ({ overallPValue, overallPValueIs }: NonNullable<Summary["best"]>): PValue => ({
  p: overallPValue,
  is: overallPValueIs,
});

/** Values by which rows are ordered. */
export const KEYS: Readonly<Record<string, (row: Row) => number | string | null | undefined>> = {
  protein: ({ protein }) => protein,
  motif: ({ motif }) => motif,
  verdict: (row) => KINDS.indexOf(kindOf(row)),
  p: ({ summary }) => (summary?.best ? rank(summary.best) : Infinity),
  kept: ({ summary }) => summary?.best && summary.best.kept / Math.max(1, summary.best.homologs),
  score: ({ summary }) => summary?.best?.score,
  expected: ({ summary }) => summary?.best?.expected,
  z: ({ summary }) => summary?.best?.z,
  matches: ({ summary }) => summary?.matches,
};
