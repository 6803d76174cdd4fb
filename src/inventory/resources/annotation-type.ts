import { text } from "../model/field.ts";
import type { Resource } from "../model/resource.ts";
import { typeFields, typeRules } from "./field-type.ts";
import { CONSTANT, MODEL_NAME } from "./model-type.ts";

/** Of the model fields, which the filters know, records of this resource show nothing. */
export const annotationType: Resource = {
  name: "annotation_type",
  segment: "annotationtypes",
  model: "core.annotationtype",
  summary: "Types of annotations on records.",
  table: "field_type",
  where: { kind: "annotation" },
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: typeFields("annotationtypes", {
    model_name: text("Model of the records that it applies to, such as stocks.specimen.", {
      shown: "extra",
      pattern: MODEL_NAME,
    }),
    model_type: text("Type of those records, such as ANTIBODY.", {
      shown: "extra",
      pattern: CONSTANT,
    }),
  }),
  rules: typeRules,
};
