/**
 * The address of a page of a list is the address of the list in the interface: the same parameters. So what is shown
 * can be sent to a colleague, kept as a view, or asked for by a program.
 */

/** Parameters that say how a list is shown, not what is in it. */
const LOOK = new Set(["fields", "ordering", "page", "page_size"]);

export type Filters = Record<string, string[]>;

/** What is asked of the list: all parameters that are filters. */
export function filtersOf(search: URLSearchParams): Filters {
  const filters: Filters = {};
  for (const name of new Set(search.keys()))
    if (!LOOK.has(name)) filters[name] = search.getAll(name).filter((value) => value !== "");
  return Object.fromEntries(Object.entries(filters).filter(([, values]) => values.length > 0));
}

/** The same where something must be named: a filter that finds everything. */
export const filtersOrAll = (search: URLSearchParams): Filters => {
  const filters = filtersOf(search);
  return Object.keys(filters).length > 0 ? filters : { deleted: ["false"] };
};

/** What the list is asked for, but for its fields. */
export const pageQuery = (search: URLSearchParams): Record<string, string | readonly string[]> => ({
  ...filtersOf(search),
  ...given(search, "ordering"),
  ...given(search, "page"),
  page_size: search.get("page_size") ?? "50",
});

const given = (search: URLSearchParams, name: string): Record<string, string> => {
  const value = search.get(name);
  return value ? { [name]: value } : {};
};

/** What a view keeps of an address. */
export function viewQuery(search: URLSearchParams): string {
  const dropped = new Set(["page", "format", "explain", "as_of"]);
  const kept = new URLSearchParams([...search].filter(([name, value]) => value !== "" && !dropped.has(name)));
  kept.sort();
  return kept.toString();
}

/** Columns that were chosen; undefined where none were. */
export const chosenColumns = (search: URLSearchParams): string[] | undefined => {
  const names = (search.get("fields") ?? "").split(",").filter((name) => name !== "");
  return names.length === 0 ? undefined : names;
};
