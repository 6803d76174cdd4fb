/** The lists of the inventory in words, for pages and documents. Pages bundle this file, so it imports nothing. */

export interface ListInWords {
  title: string;
  /** Noun for one record; by default the title in the singular. */
  one?: string;
  /** Application and model of its records, where annotation types may be for one list or refer to it. */
  model?: string;
  /** Heading of the overview under which it is; lists without one are for clients of LabID, or have pages of their own. */
  section?: "Stock" | "Supply" | "Locations" | "Projects" | "Metadata";
  /** The lists that pages show as further tabs of this one. */
  beside?: readonly string[];
  icon?: "flask-conical" | "test-tubes" | "microscope" | "map-pin" | "clipboard-check" | "tags";
  /** Field that names a record for people; by default `name`. */
  key?: string;
  /** Fields that distinguish records of the same name. */
  context?: readonly string[];
  /** Fields that pickers ask for to create a record, first the one that gets the typed text. */
  asked?: readonly string[];
  /** Of records in the tree of locations: the fields by which they are inside others, by lists; the first that is set decides. */
  inside?: Readonly<Record<string, string>>;
  /** True if records of the list are not stored, so that no labels are printed. */
  withoutLabels?: true;
}

/** Lists by segment, in the order of the overview. */
export const LISTS: Readonly<Record<string, ListInWords>> = {
  "stocks/consumables": {
    title: "Consumables",
    model: "stocks.consumable",
    section: "Stock",
    icon: "flask-conical",
  },
  "stocks/specimen": {
    title: "Specimens",
    model: "stocks.specimen",
    section: "Stock",
    icon: "test-tubes",
  },
  "stocks/products": {
    title: "Products",
    model: "stocks.product",
    section: "Supply",
    context: ["supplier", "catalogue_number"],
    asked: ["name", "supplier", "catalogue_number"],
    withoutLabels: true,
  },
  "stocks/orders": { title: "Orders", section: "Supply", withoutLabels: true },
  locations: {
    title: "Locations",
    model: "stocks.location",
    section: "Locations",
    icon: "map-pin",
    key: "label",
    context: ["equipment__name", "place__name"],
    asked: ["label", "parent", "equipment"],
    inside: { locations: "parent", equipment: "equipment", places: "place" },
  },
  equipment: {
    title: "Equipment",
    model: "stocks.equipment",
    section: "Locations",
    icon: "microscope",
    context: ["place__name"],
    asked: ["name", "model_type", "place"],
    inside: { places: "place" },
  },
  places: {
    title: "Rooms",
    model: "stocks.place",
    section: "Locations",
    icon: "map-pin",
    asked: ["room", "building"],
    inside: {},
  },
  addresses: { title: "Addresses", section: "Locations", asked: ["name"] },
  stocktakes: { title: "Stocktakes", section: "Locations", icon: "clipboard-check", withoutLabels: true },
  "core/projects": { title: "Projects", model: "core.project", section: "Projects", asked: ["name"] },
  "assays/experiments": {
    title: "Experiments",
    model: "assays.experiment",
    section: "Projects",
    asked: ["name", "project"],
  },
  "assays/assays": {
    title: "Assays",
    model: "assays.assay",
    section: "Projects",
    context: ["experiment__name"],
  },
  annotationtypes: {
    title: "Fields",
    section: "Metadata",
    icon: "tags",
    beside: ["custompropertytypes", "codepatterns"],
    withoutLabels: true,
  },
  custompropertytypes: {
    title: "Fields of one type",
    one: "field of one type",
    section: "Metadata",
    icon: "tags",
    beside: ["annotationtypes", "codepatterns"],
    withoutLabels: true,
  },
  "vocabularies/categories": {
    title: "Choice lists",
    section: "Metadata",
    beside: ["vocabularies/terms"],
    asked: ["name"],
    withoutLabels: true,
  },
  "vocabularies/terms": {
    title: "Choices",
    section: "Metadata",
    beside: ["vocabularies/categories"],
    context: ["category__name"],
    asked: ["name", "category"],
    withoutLabels: true,
  },
  codepatterns: {
    title: "Codes",
    one: "pattern of codes",
    section: "Metadata",
    beside: ["annotationtypes", "custompropertytypes"],
    key: "pattern",
    withoutLabels: true,
  },
  fieldmeta: {
    title: "Meanings of fields",
    one: "meaning of a field",
    section: "Metadata",
    withoutLabels: true,
  },
  views: { title: "Saved views", withoutLabels: true },
  users: { title: "Users", key: "username", context: ["username"] },
  groups: { title: "Groups" },
  "assays/instrumentruns": { title: "Instrument runs" },
  "stocks/instrumentmodels": { title: "Instrument models" },
  "stocks/samples": { title: "Samples" },
  "core/studies": { title: "Studies" },
  "protocols/protocols": { title: "Protocols" },
  "protocols/workflows": { title: "Workflows" },
  "data_management/datafiles": { title: "Data files" },
  "data_management/datafilecopies": { title: "Data file copies" },
  "data_management/datasets": { title: "Datasets" },
  "data_management/datasetcollections": { title: "Dataset collections" },
  "data_management/dropbox": { title: "Dropboxes" },
  "data_management/archives": { title: "Archives" },
  "data_management/storagevolume": { title: "Storage volumes" },
};

/** `Consumables` for `stocks/consumables`. */
export const listTitle = (segment: string): string => LISTS[segment]?.title ?? segment;

/** `consumable` for `stocks/consumables`. */
export const listSingular = (segment: string): string =>
  LISTS[segment]?.one ??
  listTitle(segment)
    .toLowerCase()
    .replace(/ies$/, "y")
    .replace(/(ss|x)es$|s$/, "$1");

/** Segments of the lists in a section of the overview. */
export const listsIn = (section: ListInWords["section"]): string[] =>
  Object.keys(LISTS).filter((segment) => LISTS[segment].section === section);

/** Lists whose records are kept in slots of locations. */
export const STOCK_LISTS: readonly string[] = listsIn("Stock");

/** True if records of a list are in the tree of locations, in which paths name them. */
export const isInTree = (segment: string): boolean => LISTS[segment]?.inside !== undefined;
