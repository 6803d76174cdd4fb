import { type Field, type FieldForm, text } from "../model/field.ts";

/** `Restriction enzyme` as `RESTRICTION_ENZYME`. */
const constantOf =
  (separator: string) =>
  (words: string): string =>
    words
      .trim()
      .toUpperCase()
      .replaceAll(/[\s_-]+/g, separator);

/** A word that programs know too. */
export const CONSTANT = {
  expression: /^[A-Z][A-Z0-9_]*$/,
  rule: "upper case letters, digits and _",
  ofWords: constantOf("_"),
};

/** A state that programs know too, of one or several words such as `IN PROGRESS`. */
export const STATUS = {
  expression: /^[A-Z][A-Z0-9_]*( [A-Z0-9_]+)*$/,
  rule: "upper case letters, digits, _ and spaces",
  ofWords: constantOf(" "),
};

/** The name of a model, as records refer to it. */
export const MODEL_NAME = {
  expression: /^[a-z_]+\.[a-z_]+$/,
  rule: "application and model, such as stocks.specimen",
};

/** The kind of a record within its resource. The set is open: custom property types may be added for new kinds. */
export const modelType = (doc: string): Field =>
  text(doc, {
    pattern: CONSTANT,
    form: { label: "Type", hint: "Such as Antibody; new types can be typed in." },
  });

/** The name by which links of the specification filter by it. */
export const sameAsModelType = (): Field =>
  text("The same as model_type, as a filter.", { column: "model_type", shown: "extra", write: "never" });

/** Lists that metadata applies or refers to, by segment: model and name. */
const LISTS = {
  "stocks/consumables": ["stocks.consumable", "Consumables"],
  "stocks/specimen": ["stocks.specimen", "Specimens"],
  equipment: ["stocks.equipment", "Equipment"],
  locations: ["stocks.location", "Locations"],
  places: ["stocks.place", "Places"],
  "core/projects": ["core.project", "Projects"],
  "assays/experiments": ["assays.experiment", "Experiments"],
  "assays/assays": ["assays.assay", "Assays"],
} as const;

export const MODELS_IN_WORDS: NonNullable<FieldForm["words"]> = Object.fromEntries(
  Object.values(LISTS).map(([model, name]) => [model, [name]]),
);
export const LISTS_IN_WORDS: NonNullable<FieldForm["words"]> = Object.fromEntries(
  Object.entries(LISTS).map(([segment, [, name]]) => [segment, [name]]),
);
