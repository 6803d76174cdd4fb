import type { PredictionReport } from "../contract/prediction.ts";

/** A prediction as a table: one row per match. `labd score` and the JSON service print the same. */

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
] as const;

/** Stands in the column `verdict` of the one row of a pattern that matches nowhere. */
const NO_MATCH = "no match";

/** The first line of the table, with its line end. */
export const HEADER_ROW = `${COLUMNS.join("\t")}\n`;

/** What a query is called that its owner gave no name. */
export const queryName = (identifier: string): string => (identifier === "" ? "query" : identifier);

/** The name by which a pattern was asked for: that of its motif class, else the expression. */
export const patternName = ({ name, expression }: { name: string | null; expression: string }): string =>
  name ?? expression;

/**
 * The rows of a prediction, without the first line: start and end count from 1; numbers have at most four decimals and
 * are empty where the value does not exist. A pattern without a match has one row, whose verdict says so. Tabs and line
 * ends within a name are shown as spaces, since the format (IANA text/tab-separated-values) has no way to write them.
 */
export function printRows({ identifier, prediction }: PredictionReport): string {
  const query = queryName(identifier);
  const rows = prediction.patterns.flatMap((pattern): string[][] => {
    const named = patternName(pattern);
    if (pattern.matches.length === 0) {
      return [[query, named, ...COLUMNS.slice(2, -1).map(() => ""), NO_MATCH]];
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
    ]);
  });
  return rows.map((row) => `${row.map(cell).join("\t")}\n`).join("");
}

/** The whole table, first line included. */
export const printTable = (report: PredictionReport): string => HEADER_ROW + printRows(report);

/** A number with at most four decimals; nothing where there is none. */
export function printDecimal(value: number | null): string {
  return value === null ? "" : String(Math.round(value * 1e4) / 1e4);
}

// oxlint-disable-next-line no-control-regex -- these are what must not stand in a cell
const cell = (text: string): string => text.replace(/[\u0000-\u001F\u007F\u0085\u2028\u2029]/g, " ");
