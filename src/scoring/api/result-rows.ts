import type { PredictionReport } from "../contract/prediction.ts";

export const COLUMNS = [
  "query",
  "pattern",
  "start",
  "end",
  "match",
  "homologs",
  "effective_homologs",
  "cs",
  "expected",
  "z",
  "p",
  "verdict",
  "kept",
  "overall_p",
  "overall_verdict",
  "p_is",
  "overall_p_is",
] as const;

/** The verdict in the row of a pattern without a match. */
const NO_MATCH = "no match";

export const HEADER_ROW = `${COLUMNS.join("\t")}\n`;

/** The name of a query, also without an identifier. */
export const queryName = (identifier: string): string => (identifier === "" ? "query" : identifier);

/** The motif class of a pattern, else its expression. */
export const patternName = ({ name, expression }: { name: string | null; expression: string }): string =>
  name ?? expression;

/**
 * One row per match, without the header: start and end from 1, numbers with at most four decimals, empty if missing. A
 * pattern without a match has one row. Control characters become spaces, because the format cannot escape them.
 */
export function printRows({ identifier, prediction }: PredictionReport): string {
  const query = queryName(identifier);
  const rows = prediction.patterns.flatMap((pattern): string[][] => {
    const named = patternName(pattern);
    if (pattern.matches.length === 0) {
      return [[query, named, ...COLUMNS.slice(2).map((column) => (column === "verdict" ? NO_MATCH : ""))]];
    }
    return pattern.matches.map((match) => [
      query,
      named,
      String(match.start),
      String(match.end),
      match.text,
      String(match.homologs),
      printDecimal(match.effectiveHomologs),
      printDecimal(match.score),
      printDecimal(match.expected),
      printDecimal(match.z),
      printDecimal(match.pValue),
      match.verdict,
      printDecimal(match.kept),
      printDecimal(match.overallPValue),
      match.overallVerdict ?? "",
      match.pValueIs ?? "",
      match.overallPValueIs ?? "",
    ]);
  });
  return printTsv(rows);
}

export const printTsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(cell).join("\t")}\n`).join("");

export const printTable = (report: PredictionReport): string => HEADER_ROW + printRows(report);

/** A number with at most four decimals; empty for null, and for a field that predictions of earlier versions lack. */
export function printDecimal(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(Math.round(value * 1e4) / 1e4);
}

// oxlint-disable-next-line no-control-regex -- these must not appear in a cell
const cell = (text: string): string => text.replace(/[\u0000-\u001F\u007F\u0085\u2028\u2029]/g, " ");
