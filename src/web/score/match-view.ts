import { useMemo } from "preact/hooks";
import {
  type Facets,
  facetRows,
  filterParameters,
  filtersIn,
  type FilterValues,
} from "../../scoring/table/filters.ts";
import type { TableRow } from "../../scoring/table/match-row.ts";
import type { MatchTable } from "../../scoring/table/match-tables.ts";
import { orderRows } from "../../scoring/table/view.ts";
import type { Query } from "../address.ts";
import { useQuery } from "../page.tsx";

/** The rows of a table that the address of the page asks for. */
export interface MatchView<Row> {
  rows: readonly Row[];
  /** All rows, and the rows that pass the filters; the rows of a search may be one page. */
  total: number;
  passing: number;
  facets: Facets;
}

/** Filters and order of rows that the page has, as the address says. */
export function useMatchView<Row extends TableRow>(table: MatchTable, rows: readonly Row[]): MatchView<Row> {
  const [query] = useQuery();
  const key = query.toString();
  return useMemo(() => {
    const { passing, facets } = facetRows(rows, table.filters, filtersIn(table.filters, query));
    const ordered = orderRows(table, passing, query.get("order") ?? undefined);
    return { rows: ordered, total: rows.length, passing: passing.length, facets };
  }, [table, rows, key]);
}

/** The filters and the order in an address, as parameters of requests. */
export const viewParameters = ({ filters }: MatchTable, query: URLSearchParams): Query => ({
  ...filterParameters(filtersIn(filters, query)),
  order: query.get("order") ?? undefined,
});

/** Changes of an address that clear all filters. */
export const withoutFilters = ({ filters }: MatchTable): Query =>
  Object.fromEntries(filters.map(({ name }) => [name, null]));

/** Changes of an address that lead to the first page, where the rows are one of several. */
export const firstPage = ({ isPaged = false }: { isPaged?: boolean }): Query =>
  isPaged ? { from: null } : {};

export const isFiltered = (values: FilterValues): boolean => Object.keys(values).length > 0;
