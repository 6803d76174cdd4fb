import { type Grid, findSlot, formatRange, normalPosition, positionAt } from "../model/grid.ts";
import { shownName } from "../model/field.ts";
import { invalidField } from "../model/parse-body.ts";

/**
 * Files of rack scanners: one row for each position with the code of the tube there, separated by commas, semicolons or
 * tabs, with a header or without; `A01`, or row and column; the rack's own code in a column or above the header.
 */

/** One position of a scanned rack. */
export interface RackLine {
  position: string;
  /** Null if the scanner found no tube. */
  code: string | null;
  /** True if there may be a tube, whose code the scanner could not read. */
  unread: boolean;
}
export interface RackFile {
  /** Code of the rack itself; null if the file has none. */
  rack: string | null;
  lines: RackLine[];
}

type Column = "position" | "row" | "column" | "code" | "rack";
/** Titles of columns in files of common scanners, without spaces and signs; the first kind that fits counts. */
const TITLES: readonly (readonly [Column, RegExp])[] = [
  ["rack", /^(rack|plate|box|container)(id|barcode|code|name|number)?$/],
  ["row", /^(tube|well)?row$/],
  ["column", /^(tube|well)?col(umn)?$/],
  ["position", /^(tube|well|slot|rack)?(position|pos|well|slot|coordinates?|location|cell)(id|name)?$/],
  ["code", /^(tube|sample|vial|2d|well)?(barcode|code|id)s?$|^(tube|sample|vial)$/],
];
const EMPTY = /^(-*|no ?tube|empty|none|null|n\/a|free|0+)$/i;
const UNREAD = /^(no ?read|no ?code|read ?error|error|fail(ed)?|unread(able)?|\?+)$/i;
/** Rows in which a header is looked for. */
const HEAD_ROWS = 20;

type Rows = readonly (readonly string[])[];
type Columns = Partial<Record<Column, number>>;

/** @param rows cells of the file, without blank rows @throws Problem invalid_request */
export function readRackFile(rows: Rows, grid: Grid): RackFile {
  const head = findHeader(rows);
  const isAbove = (row: readonly string[], i: number): boolean =>
    head ? i <= head.row : columnOf(row[0]) === "rack";
  const body = rows.filter((row, i) => !isAbove(row, i));
  const columns = head?.columns ?? guessColumns(body, grid);
  const isPlaced =
    columns.position !== undefined || (columns.row !== undefined && columns.column !== undefined);
  if (!isPlaced || columns.code === undefined)
    throw invalidField("file", "Expected rows of a position, such as A01, and the code of a tube.");
  const lines = body.map((row, i) => readLine(row, columns, grid, i + 1));
  refuseRepeated(lines);
  const inColumn = body.map((row) => row[columns.rack ?? -1]).find(Boolean);
  const above = rows.find((row, i) => isAbove(row, i) && columnOf(row[0]) === "rack" && i !== head?.row)?.[1];
  return { rack: inColumn ?? above ?? null, lines };
}

const columnOf = (title = ""): Column | undefined =>
  TITLES.find(([, pattern]) => pattern.test(title.toLowerCase().replaceAll(/[^a-z0-9]/g, "")))?.[0];

function findHeader(rows: Rows): { row: number; columns: Columns } | undefined {
  for (const [row, cells] of rows.slice(0, HEAD_ROWS).entries()) {
    const columns: Columns = {};
    for (const [i, cell] of cells.entries()) {
      const column = columnOf(cell);
      if (column) columns[column] ??= i;
    }
    if (columns.position !== undefined || (columns.row !== undefined && columns.column !== undefined))
      return { row, columns };
  }
  return undefined;
}

/** Columns of a file without a header, by their values. */
function guessColumns(rows: Rows, grid: Grid): Columns {
  const width = Math.max(0, ...rows.map(({ length }) => length));
  const values = Array.from({ length: width }, (_, i) => rows.map((row) => row[i] ?? ""));
  const all = (test: (cell: string) => boolean): number => values.findIndex((cells) => cells.every(test));
  const known = all((cell) => toPosition(cell, grid) !== undefined);
  // Positions of a larger rack, about which the error is.
  const position = known >= 0 ? known : all((cell) => /^[A-Z]{1,2}0*\d{1,2}$/i.test(cell));
  const row = all((cell) => /^[A-Z]{1,2}$/i.test(cell));
  const column = values.findIndex((cells, i) => i !== row && cells.every((cell) => /^\d{1,2}$/.test(cell)));
  const placed: Columns = row >= 0 && column >= 0 ? { row, column } : position >= 0 ? { position } : {};
  const used = Object.values(placed);
  const counts = values.map((cells, i) => (used.includes(i) ? 0 : new Set(cells.filter(Boolean)).size));
  const most = Math.max(...counts);
  // The code of the rack is the same in all rows.
  const rack = counts.findIndex((count, i) => count === 1 && most > 1 && values[i].every(Boolean));
  return { ...placed, ...(most > 0 ? { code: counts.indexOf(most) } : {}), ...(rack >= 0 ? { rack } : {}) };
}

function readLine(row: readonly string[], columns: Columns, grid: Grid, number: number): RackLine {
  const cell = (name: Column): string => row[columns[name] ?? -1] ?? "";
  const typed = columns.position === undefined ? cell("row") + cell("column") : cell("position");
  const position = toPosition(typed, grid);
  if (position === undefined)
    throw invalidField(
      "file",
      `Row ${number}: ${shownName(typed)} is not a position of the box. Its positions: ${formatRange(grid)}.`,
    );
  const code = cell("code");
  const words = code.replaceAll(/[_\s]+/g, " ");
  const unread = UNREAD.test(words);
  return { position, code: unread || EMPTY.test(words) ? null : code, unread };
}

/** The position in the grid that a cell means, also in the other numbering. */
function toPosition(typed: string, grid: Grid): string | undefined {
  const position = normalPosition(typed);
  if (findSlot(grid, position) !== undefined) return position;
  const slot = findSlot({ ...grid, numbering: grid.numbering === "1" ? "A1" : "1" }, position);
  return slot === undefined ? undefined : positionAt(grid, slot);
}

function refuseRepeated(lines: readonly RackLine[]): void {
  for (const name of ["position", "code"] as const) {
    const known = new Map<string, string>();
    for (const line of lines) {
      const value = line[name];
      if (value === null) continue;
      if (known.has(value))
        throw invalidField(
          "file",
          name === "position"
            ? `The position ${value} occurs twice.`
            : `The code ${shownName(value)} is at ${known.get(value)} and at ${line.position}.`,
        );
      known.set(value, line.position);
    }
  }
}
