import type { Limit } from "../../platform/limits.ts";

/** Limits of one request to the inventory, which docs/rest.md lists. */
export const LIMITS = {
  conditions: {
    max: 200,
    of: "conditions in the parameters and the filter expression together",
    instead: "Split the request.",
  },
  values: {
    max: 1000,
    of: "values of one parameter that compares for equality",
    instead: "Split the request.",
  },
  texts: { max: 20, of: "values of one parameter that compares otherwise", instead: "Split the request." },
  words: { max: 20, of: "words in one search", instead: "Search for fewer words." },
  nesting: { max: 16, of: "levels of and, or, not in an expression", instead: "Use fewer levels." },
  terms: { max: 10, of: "fields in an ordering", instead: "Order by fewer fields." },
  search: {
    max: 131_072,
    of: "bytes in the body of a search",
    instead: "Split the request.",
  },
  rows: {
    max: 1000,
    of: "records on a page",
    instead: "Request smaller pages, or all records with page_size=max.",
  },
  labels: {
    max: 2000,
    of: "labels in a file",
    instead: "Filter the list, or request pages: page_size=2000&page=1.",
  },
  archive: {
    max: 1000,
    of: "records in an archive",
    instead: "Filter the list, or request pages: page_size=1000&page=1.",
  },
  archiveFiles: { max: 7000, of: "files in an archive", instead: "Filter the list." },
  archiveBytes: { max: 2_000_000_000, of: "bytes of files in an archive", instead: "Filter the list." },
  records: { max: 100_000, of: "records in one write", instead: "Split the request." },
  operations: { max: 1000, of: "patch operations on one record", instead: "Split the patch." },
  growth: {
    max: 250_000,
    of: "characters of JSON added to a record by one patch",
    instead: "Split the patch.",
  },
  unknown: { max: 20, of: "unknown fields named in an error", instead: "Others are only counted." },
  refusals: {
    max: 1000,
    of: "rejected records described in an error",
    instead: "Correct the listed errors and try again.",
  },
  depth: { max: 50, of: "locations inside each other", instead: "Choose an outer location." },
  fileRows: { max: 200_000, of: "rows in an imported file", instead: "Split the file." },
  columns: { max: 200, of: "columns in an imported file", instead: "Delete columns that are not imported." },
  cell: { max: 32_767, of: "characters in a cell of an imported file", instead: "Shorten the text." },
} as const satisfies Record<string, Limit>;
