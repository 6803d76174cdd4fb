import type { InventorySample } from "../../src/inventory/records/sample.ts";

const id = (n: number): string => `10000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** Ids that tests name. */
export const IDS = {
  a101: id(1),
  a102: id(2),
  cellar: id(3),
  freezer: id(11),
  cabinet: id(12),
  shelf: id(21),
  drawer: id(22),
  bench: id(23),
  secret: id(24),
  tissue: id(31),
  mass: id(32),
  liver: id(41),
  gram: id(43),
  note: id(51),
  organ: id(52),
  weight: id(53),
  project: id(61),
  experiment: id(62),
  assay: id(63),
  antibody: id(64),
  fish: id(65),
  hidden: id(66),
  view: id(67),
  stocktake: id(68),
};

/** A small installation: public records of the program, and some that only Genomics (alice) may see. */
export const SAMPLE = {
  addresses: [
    { name: "Institute", organisation: "Institute of Examples", street: "Hauptstr. 1", city: "Heidelberg" },
  ],
  places: [
    { id: IDS.a101, building: "A", room: "101", address: "Institute", description: "Cold room" },
    { id: IDS.a102, building: "A", room: "102", address: "Institute" },
    {
      id: IDS.cellar,
      building: "",
      room: "Cellar",
      address: "Institute",
      public: false,
      owned_by: "Genomics",
    },
  ],
  equipment: [
    { id: IDS.freezer, name: "Freezer 1", code: "F-1", model_type: "FREEZER", place: "A 101" },
    { id: IDS.cabinet, name: "Cabinet", place: "A 102" },
  ],
  locations: [
    { id: IDS.shelf, label: "Shelf 1", place: "A 101", equipment: "Freezer 1", description: "Antibodies" },
    { id: IDS.drawer, label: "drawer", place: "A 101", equipment: "Freezer 1", parent: "Shelf 1" },
    { id: IDS.bench, label: "Bench ÄÖ", place: "A 102" },
    { id: IDS.secret, label: "Secret", place: "Cellar", public: false, owned_by: "Genomics" },
  ],
  categories: [
    { id: IDS.tissue, name: "Tissue", kind: "term" },
    { id: IDS.mass, name: "Mass", kind: "unit" },
  ],
  terms: [
    { id: IDS.liver, name: "liver", category: "Tissue", dbxref_id: "UBERON:0002107" },
    { name: "kidney", category: "Tissue", dbxref_id: "UBERON:0002113" },
    { id: IDS.gram, name: "gram", category: "Mass", dbxref_id: "UO:0000021" },
  ],
  field_metas: [{ name: "organ" }],
  annotation_types: [
    { id: IDS.note, name: "note", type: "TEXT", label: "Note", description: "Free words" },
    { id: IDS.organ, name: "organ", type: "VOCABULARYTERM", cv_category: "Tissue", field_meta: "organ" },
    { id: IDS.weight, name: "weight", type: "NUMBERUNIT", unit_category: "Mass", mandatory: true },
    { name: "settings", type: "JSON" },
    { name: "dilution", type: "DMAPPANNOTATION" },
    { name: "stored_in", type: "OBJECT", choices_target: "equipment" },
  ],
  custom_property_types: [
    { name: "clone", type: "TEXT", model_name: "stocks.consumable", model_type: "ANTIBODY", mandatory: true },
    {
      name: "host",
      type: "TEXT",
      model_name: "stocks.consumable",
      model_type: "ANTIBODY",
      has_default: true,
      default: "rabbit",
      value_choices: [
        ["rabbit", "Rabbit"],
        ["goat", "Goat"],
      ],
    },
  ],
  projects: [{ id: IDS.project, name: "Atlas" }],
  experiments: [
    {
      id: IDS.experiment,
      name: "Time course",
      status: "IN PROGRESS",
      project: "Atlas",
      start_date: "2026-01-31",
    },
  ],
  assays: [
    {
      id: IDS.assay,
      name: "Imaging",
      model_type: "NGSILLUMINAASSAY",
      state: "REGISTERED",
      multiplexed: true,
      experiment: "Time course",
    },
  ],
  consumables: [
    { id: IDS.antibody, name: "anti-p53", model_type: "ANTIBODY", status: "AVAILABLE", amount: 0.5 },
    { name: "buffer", model_type: "OTHER" },
  ],
  specimens: [
    { id: IDS.fish, name: "Fish 12", model_type: "FISH" },
    { id: IDS.hidden, name: "Fish 13", model_type: "FISH", public: false, owned_by: "Genomics" },
  ],
  views: [{ id: IDS.view, name: "Cold room", list: "locations", query: "place__room=101&ordering=-label" }],
  stocktakes: [{ id: IDS.stocktake, name: "Shelf 1 in spring", location: IDS.shelf }],
} satisfies InventorySample;

/** Nothing but what every installation needs. */
export const EMPTY: InventorySample = {
  addresses: [{ name: "x" }],
  places: [],
  equipment: [],
  locations: [],
  categories: [],
  terms: [],
  field_metas: [],
  annotation_types: [],
  custom_property_types: [],
  projects: [],
  experiments: [],
  assays: [],
  consumables: [],
  specimens: [],
};
