import type { ComponentChildren } from "preact";
import { readCell, type Column } from "../../scoring/table/column.ts";
import { isMatch, type TableRow } from "../../scoring/table/match-row.ts";
import { orderName } from "../../scoring/table/view.ts";
import type { Column as TableColumn } from "../components/table.tsx";
import { formatCount } from "../format.tsx";
import { decimal, formatPValue, shortNumber } from "./result.ts";
import { Grade, Kept, QValue, VerdictTag } from "./verdict.tsx";

/** A column on a page, where it differs from the registry. */
export type PageColumn<Row> = Partial<Omit<TableColumn<Row>, "name">>;

/** Cells that are more than a text or a number. */
const CELLS: Readonly<Record<string, (row: TableRow) => ComponentChildren>> = {
  verdict: (row) => (isMatch(row) ? <VerdictTag match={row} /> : row.missing),
  overall_p: (row) =>
    isMatch(row) && (
      <>
        <Grade match={row} />
        {row.z != null && <small class="second-line">z {decimal(row.z)}</small>}
      </>
    ),
  p: (row) => isMatch(row) && formatPValue({ p: row.pValue, is: row.pValueIs }),
  q: (row) => isMatch(row) && <QValue match={row} />,
  kept: (row) => isMatch(row) && <Kept match={row} named />,
};
/** Fractions other than probabilities: always two decimals. */
const DECIMALS = new Set(["cs", "expected", "disorder"]);

function cell(column: Column, row: TableRow): ComponentChildren {
  const own = CELLS[column.name];
  if (own) return own(row);
  const value = readCell(column, row);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return value ?? (column.type === "text" || !isMatch(row) ? "" : "–");
  if (column.type === "count") return formatCount(value);
  return column.type === "fraction" && !DECIMALS.has(column.name) ? shortNumber(value) : decimal(value);
}

const IS_NUMBER = new Set<Column["type"]>(["count", "number", "fraction"]);
/** Places of cells on phones; other numbers are not shown. */
const ON_PHONES: Readonly<Record<string, "end" | "left" | "right">> = {
  start: "left",
  verdict: "end",
  kept: "left",
  overall_p: "right",
  q: "right",
};

/** A column of the registry as a column of a page's table. */
export const pageColumn = <Row extends TableRow>(
  column: Column,
  own: PageColumn<Row> | undefined,
): TableColumn<Row> => ({
  name: column.name,
  order: orderName(column),
  title: column.title,
  sortable: true,
  ...(IS_NUMBER.has(column.type) && column.name !== "kept" && !own?.cell
    ? { numeric: true, phone: "hide" as const }
    : {}),
  ...(column.name in ON_PHONES && { phone: ON_PHONES[column.name] }),
  cell: (row) => cell(column, row),
  ...own,
});
