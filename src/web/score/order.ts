import type { Column, Order } from "../components/table.tsx";

/** A column by which rows can be ordered. */
export const sortable = <Row>(
  name: string,
  title: string,
  cell: Column<Row>["cell"],
  options: Partial<Column<Row>> = {},
): Column<Row> => ({ name, title, cell, sortable: true, ...options });

/** Rows ordered by `name`, or descending by `-name`; null comes last. An empty order keeps them as they are. */
export function inOrder<Row>(
  rows: readonly Row[],
  order: Order,
  sortValue: (row: Row, name: string) => number | string | null | undefined,
): Row[] {
  const name = order.replace(/^-/, "");
  if (name === "") return [...rows];
  const sign = order.startsWith("-") ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [sortValue(a, name) ?? null, sortValue(b, name) ?? null];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return sign * (typeof x === "string" || typeof y === "string" ? compareText(x, y) : x === y ? 0 : x - y);
  });
}

const compareText = (a: unknown, b: unknown): number =>
  String(a).localeCompare(String(b), "en", { numeric: true });
