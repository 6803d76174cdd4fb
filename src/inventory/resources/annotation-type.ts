import { text } from "../model/field.ts";
import type { Resource } from "../model/resource.ts";
import { typeFields, typeRules } from "./field-type.ts";

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
      pattern: { expression: /^[a-z_]+\.[a-z_]+$/, rule: "application and model, such as stocks.specimen" },
    }),
    model_type: text("Type of those records, such as ANTIBODY.", {
      shown: "extra",
      pattern: { expression: /^[A-Z][A-Z0-9_]*$/, rule: "upper case letters, digits and _" },
    }),
  }),
  rules: typeRules,
};
