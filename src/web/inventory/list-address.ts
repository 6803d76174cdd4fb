/** A list's page has the same parameters as the list in the REST API, so its address can be shared and saved as a view. */

/** Parameters that are not filters. */
const DISPLAY = new Set(["fields", "ordering", "page", "page_size"]);

export type Filters = Record<string, string[]>;

/** The filters in an address. */
export function parseFilters(search: URLSearchParams): Filters {
  const filters: Filters = {};
  for (const name of new Set(search.keys()))
    if (!DISPLAY.has(name)) filters[name] = search.getAll(name).filter((value) => value !== "");
  return Object.fromEntries(Object.entries(filters).filter(([, values]) => values.length > 0));
}

/** The filters, or one that finds everything, where the API requires one. */
export const filtersOrAll = (search: URLSearchParams): Filters => {
  const filters = parseFilters(search);
  return Object.keys(filters).length > 0 ? filters : { deleted: ["false"] };
};

/** The query of a list, without its fields. */
export const pageQuery = (search: URLSearchParams): Record<string, string | readonly string[]> => ({
  ...parseFilters(search),
  ...given(search, "ordering"),
  ...given(search, "page"),
  page_size: search.get("page_size") ?? "50",
});

const given = (search: URLSearchParams, name: string): Record<string, string> => {
  const value = search.get(name);
  return value ? { [name]: value } : {};
};

/** The query that a saved view stores. */
export function viewQuery(search: URLSearchParams): string {
  const dropped = new Set(["page", "format", "explain", "as_of"]);
  const kept = new URLSearchParams([...search].filter(([name, value]) => value !== "" && !dropped.has(name)));
  kept.sort();
  return kept.toString();
}

/** The columns in an address. */
export const chosenColumns = (search: URLSearchParams): string[] | undefined => {
  const names = (search.get("fields") ?? "").split(",").filter((name) => name !== "");
  return names.length === 0 ? undefined : names;
};
