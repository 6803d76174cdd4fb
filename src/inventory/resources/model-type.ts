import { type Field, type FieldForm, text } from "../model/field.ts";
import { LISTS } from "./lists.ts";

/** `Restriction enzyme` as `RESTRICTION_ENZYME`. */
const toConstant =
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
  parseWords: toConstant("_"),
};

/** A state that programs know too, of one or several words such as `IN PROGRESS`. */
export const STATUS = {
  expression: /^[A-Z][A-Z0-9_]*( [A-Z0-9_]+)*$/,
  rule: "upper case letters, digits, _ and spaces",
  parseWords: toConstant(" "),
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
    synonyms: "kind,category,class",
    form: {
      label: "Type",
      hint: "Type, such as Antibody; you can enter a new type.",
      shownIn: "head",
      summary: true,
    },
  });

/** The name by which links of the specification filter by it. */
export const sameAsModelType = (): Field =>
  text("Equal to model_type, for filters.", {
    column: "model_type",
    shown: "extra",
    write: "never",
    form: { omitted: true },
  });

/** The state of a record, which pages show as a shape and in words. */
export const statusField = (doc: string, options: Partial<Field> = {}): Field =>
  text(doc, {
    pattern: CONSTANT,
    synonyms: "state,availability",
    form: { shownIn: "head", look: "state", beside: "model_type" },
    ...options,
  });

/** The code that is on a record, or printed for it. */
export const barcodeField = (doc = "Barcode.", options: Partial<Field> = {}): Field =>
  text(doc, {
    searchable: true,
    synonyms: "bar code,tube barcode,2d code,2d barcode,qr code,code,tube id",
    form: {
      hint: "If it is empty, a new record gets the next code by the pattern of its type.",
      shownIn: "head",
      look: "code",
      column: false,
      copied: false,
      summary: true,
    },
    ...options,
  });

const LISTS_OF_MODELS = Object.entries(LISTS).filter(([, { model }]) => model !== undefined);

/** Lists and models that metadata applies or refers to, in words. */
export const MODELS_IN_WORDS: NonNullable<FieldForm["words"]> = Object.fromEntries(
  LISTS_OF_MODELS.map(([, { model, title }]) => [model, [title]]),
);
export const LISTS_IN_WORDS: NonNullable<FieldForm["words"]> = Object.fromEntries(
  LISTS_OF_MODELS.map(([segment, { title }]) => [segment, [title]]),
);
