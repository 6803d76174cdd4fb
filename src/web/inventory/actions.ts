/**
 * What else can be done with a list or a record, besides what its page itself offers: one row per action, shown in the
 * menus of all lists and records that it is for. `href` says where it leads.
 */
export interface ListAction {
  label: string;
  /** Lists that it is for; without it, all. */
  for?: (segment: string) => boolean;
  /** A path of this service for what is listed, or for the selected records where there are any. */
  path: (list: { segment: string; query: string; ids: readonly string[] }) => string;
}

export interface RecordAction {
  label: string;
  for?: (segment: string) => boolean;
  path: (record: { segment: string; id: string }) => string;
}

/** Lists whose records have no ids that a label could hold. */
const labelled = (segment: string): boolean => segment !== "fieldmeta";

export const LIST_ACTIONS: readonly ListAction[] = [
  {
    label: "Labels",
    for: labelled,
    path: ({ segment, query }) => `/inventory/labels?list=${segment}${query && `&${query}`}`,
  },
];

export const RECORD_ACTIONS: readonly RecordAction[] = [
  {
    label: "Show in the tree",
    for: (segment) => ["locations", "equipment", "places"].includes(segment),
    path: ({ segment, id }) => `/inventory/tree?of=${segment}/${id}`,
  },
  {
    label: "Label",
    for: labelled,
    path: ({ segment, id }) => `/inventory/labels?list=${segment}&id=${id}`,
  },
  {
    label: "Stocktake",
    for: (segment) => segment === "locations",
    path: ({ id }) => `/inventory/stocktake?location=${id}`,
  },
  {
    label: "Scan, and apply",
    for: (segment) => segment === "stocktakes",
    path: ({ id }) => `/inventory/stocktake/${id}`,
  },
];
