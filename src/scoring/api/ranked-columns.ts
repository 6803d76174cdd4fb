import { type MatchScore, type RankedMatch } from "../../motif/index.ts";
import { printDecimal } from "./result-rows.ts";

/** What rows of scans and of proteome searches share. */
type RankedRow = Pick<RankedMatch, "q" | "label" | "disorder"> &
  Pick<MatchScore, "start" | "end" | "text" | "overallPValue" | "z" | "verdict" | "kept" | "homologs">;

/** A column of TSV, and its cell in a row. */
export type Column<Row> = readonly [name: string, cell: (row: Row) => string];

const CELLS = {
  start: ({ start }) => String(start),
  end: ({ end }) => String(end),
  match: ({ text }) => text,
  overall_p: ({ overallPValue }) => printDecimal(overallPValue),
  q: ({ q }) => printDecimal(q),
  label: ({ label }) => label ?? "",
  z: ({ z }) => printDecimal(z),
  verdict: ({ verdict }) => verdict,
  kept: ({ kept }) => String(kept),
  homologs: ({ homologs }) => String(homologs),
  disorder: ({ disorder }) => printDecimal(disorder),
} as const satisfies Record<string, (row: RankedRow) => string>;

export const rankedColumns = (...names: (keyof typeof CELLS)[]): Column<RankedRow>[] =>
  names.map((name) => [name, CELLS[name]]);
