import { compareEvidence } from "../../motif/match-order.ts";
import { readCell, type Column } from "./column.ts";
import { type FilterValues, filterRows } from "./filters.ts";
import { isMatch, type MatchRow, type TableRow } from "./match-row.ts";
import { EVIDENCE, type MatchTable } from "./match-tables.ts";

/** Names by which the API ordered before, and those of the columns that they mean. */
const ALIASES: Readonly<Record<string, string>> = {
  protein: "accession",
  species: "organism",
  p: "overall_p",
};
/** `p` has meant P of all evidence since the first version. */
const OWN_NAMES: Readonly<Record<string, string>> = { p: "conservation_p" };

/** The name of a column in orders. */
export const orderName = ({ name }: Column): string => OWN_NAMES[name] ?? name;

/** All orders of a table: by evidence, and by each column, ascending and descending. */
export const listOrders = ({ columns }: MatchTable): string[] => {
  const names = columns.map(orderName);
  const aliases = Object.keys(ALIASES).filter((alias) => names.includes(ALIASES[alias]));
  return [EVIDENCE, ...[...new Set([...names, ...aliases])].flatMap((name) => [name, `-${name}`])];
};

/** The column that an order names; undefined for an unknown name. */
export function orderColumn({ columns }: MatchTable, order: string): Column | undefined {
  const name = order.replace(/^-/, "");
  const wanted = ALIASES[name] ?? name;
  return columns.find((column) => orderName(column) === wanted);
}

/** The value by which a row is ordered: a choice by its place among the choices. */
function sortValue(column: Column, row: TableRow): string | number | null {
  if (column.order)
    return (isMatch(row) || column.of === "query" ? column.order(row as never) : null) ?? null;
  const cell = readCell(column, row);
  if (column.choices && typeof cell === "string") {
    const place = column.choices.indexOf(cell);
    return place < 0 ? null : place;
  }
  return typeof cell === "boolean" ? Number(!cell) : cell === "" ? null : cell;
}

const collator = new Intl.Collator("en", { numeric: true });

function compare(a: string | number | null, b: string | number | null, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return sign * (typeof a === "string" ? collator.compare(a, String(b)) : a - Number(b));
}

/**
 * Rows ordered by evidence, by a column, or descending by `-column`. Rows without a value come last; equal rows stay in
 * their order. Without an order, or with an unknown one, the table's own applies.
 */
export function orderRows<Row extends TableRow>(
  table: MatchTable,
  rows: readonly Row[],
  asked: string | undefined,
): readonly Row[] {
  const order = asked && (asked === EVIDENCE || orderColumn(table, asked)) ? asked : table.order;
  const column = orderColumn(table, order);
  if (!column) return rows.toSorted((a, b) => compareEvidence(readScores(a), readScores(b)));
  const sign = order.startsWith("-") ? -1 : 1;
  return rows
    .map((row) => ({ row, value: sortValue(column, row) }))
    .sort((a, b) => compare(a.value, b.value, sign))
    .map(({ row }) => row);
}

const readScores = (row: TableRow): Partial<MatchRow> => (isMatch(row) ? row : {});

/** Rows that are listed, and their order. */
export interface TableView {
  values: FilterValues;
  order?: string | undefined;
}

/** The rows that pass the filters of a view, in its order. */
export const viewRows = <Row extends TableRow>(
  table: MatchTable,
  rows: readonly Row[],
  { values, order }: TableView,
): readonly Row[] => orderRows(table, filterRows(rows, table.filters, values), order);

/** True if a view needs imported features. */
export const dependsOnFeatures = (table: MatchTable, { values, order = "" }: TableView): boolean =>
  orderColumn(table, order)?.of === "features" ||
  table.columns.some(
    ({ of, filter }) => of === "features" && filter !== undefined && values[filter.name] !== undefined,
  );
