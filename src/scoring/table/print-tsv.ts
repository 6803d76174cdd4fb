import type { PValueKind } from "../../motif/index.ts";
import { type Cell, readCell } from "./column.ts";
import type { MatchTable } from "./match-tables.ts";
import type { TablePart } from "./rows.ts";

/** The names of the columns, as in the first line of TSV and XLSX. */
export const listHeads = ({ columns, heads }: MatchTable): string[] =>
  columns.map(({ name }) => heads[name] ?? name);

export const printTsvHead = (table: MatchTable): string => `${listHeads(table).join("\t")}\n`;

/** One line per row: rounded numbers, empty without a value. */
export const printTsv = ({ columns }: MatchTable, { rows }: TablePart): string =>
  rows
    .map((row) => `${columns.map((column) => removeControls(printCell(readCell(column, row)))).join("\t")}\n`)
    .join("");

/** A cell as text. */
export function printCell(value: Cell): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return printDecimal(value);
  return typeof value === "boolean" ? (value ? "yes" : "no") : value;
}

/** A number with four decimals; below 0.001 with two digits, because P and q reach 0.00001. */
export const roundNumber = (value: number): number =>
  Math.abs(value) < 0.001 ? Number(value.toPrecision(2)) : Math.round(value * 1e4) / 1e4;

/** A rounded number; empty for null, and for a member that predictions of earlier versions lack. */
export const printDecimal = (value: number | null | undefined): string =>
  value === null || value === undefined ? "" : String(roundNumber(value));

/** A number that may be a bound, for people: `≥ 0.99`. */
export const printBounded = (
  value: number | null | undefined,
  is: PValueKind | null | undefined,
  print = printDecimal,
): string => {
  const text = print(value);
  return text === "" || !is || is === "estimate" ? text : `${is === "at most" ? "≤" : "≥"} ${text}`;
};

/** Control characters become spaces, because the format cannot escape them. */
export const removeControls = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these must not appear in a cell
  text.replace(/[\u0000-\u001F\u007F\u0085\u2028\u2029]/g, " ");
