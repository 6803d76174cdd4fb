import { type Field, text } from "../model/field.ts";

/** A word that programs know too. */
export const CONSTANT = { expression: /^[A-Z][A-Z0-9_]*$/, rule: "upper case letters, digits and _" };

/** A state that programs know too, of one or several words such as `IN PROGRESS`. */
export const STATUS = {
  expression: /^[A-Z][A-Z0-9_]*( [A-Z0-9_]+)*$/,
  rule: "upper case letters, digits, _ and spaces",
};

/** The name of a model, as records refer to it. */
export const MODEL_NAME = {
  expression: /^[a-z_]+\.[a-z_]+$/,
  rule: "application and model, such as stocks.specimen",
};

/** The kind of a record within its resource. The set is open: custom property types may be added for new kinds. */
export const modelType = (doc: string): Field => text(doc, { pattern: CONSTANT });

/** The name by which links of the specification filter by it. */
export const sameAsModelType = (): Field =>
  text("The same as model_type, as a filter.", { column: "model_type", shown: "extra", write: "never" });
