import type { PValueKind } from "../../motif/index.ts";
import type { Filter } from "./filters.ts";
import { type EmptyRow, isMatch, type MatchRow, type QueryPart, type TableRow } from "./match-row.ts";

/** The content of a cell; null and undefined mean that there is no value. */
export type Cell = string | number | boolean | null | undefined;

interface Named {
  /** Name in TSV, GFF3, XLSX and orders. */
  name: string;
  /** Heading on pages. */
  title: string;
  /** Used in the OpenAPI document and in the help of pages. */
  description: string;
  type: "text" | "count" | "number" | "fraction" | "boolean";
  unit?: string;
  /** All values, in the order in which rows are ordered by them. */
  choices?: readonly string[];
  /** Name in JSON objects of matches; columns without one are members of a nested object. */
  json?: string;
  /** True if the value is never null in JSON. */
  required?: boolean;
  /** The column that has replaced it: pages do not offer the column. */
  replacedBy?: string;
  /** What the number is, where it may be a bound: `at most`, `at least` or `estimate`. */
  bound?: (row: MatchRow) => PValueKind | null | undefined;
  /** The value by which rows are ordered, if it is not the cell. */
  order?: (row: MatchRow) => string | number | null | undefined;
  filter?: Filter;
}

/**
 * A column of tables of matches. Its part of the row decides which tables have it: `query` columns also have a value in
 * rows without a match, `ranking` columns are only in tables of a ranking, `features` columns need imported features.
 */
export type Column = Named &
  (
    | { of: "query"; value: (row: QueryPart) => Cell }
    | {
        of: "match" | "ranking" | "features";
        value: (row: MatchRow) => Cell;
        /** The cell of a row without a match. */
        missing?: (row: EmptyRow) => Cell;
      }
  );

/** @throws Error for a name that no column has */
export function findColumn(name: string, columns: readonly Column[]): Column {
  const found = columns.find((column) => column.name === name);
  if (!found) throw new Error(`There is no column ${name}.`);
  return found;
}

/** The content of a cell; null without a value. */
export function readCell(column: Column, row: TableRow): string | number | boolean | null {
  if (column.of === "query") return column.value(row) ?? null;
  return (isMatch(row) ? column.value(row) : column.missing?.(row)) ?? null;
}

/** Whether the content of a cell is a bound. */
export const readBound = ({ bound }: Column, row: TableRow): PValueKind =>
  (isMatch(row) && bound?.(row)) || "estimate";

/** A match as JSON: the members that columns have, without nested objects. */
export const matchObject = (columns: readonly Column[], row: MatchRow): MatchRow =>
  Object.fromEntries(
    columns.flatMap((column) => (column.json ? [[column.json, readCell(column, row)]] : [])),
  ) as unknown as MatchRow;
