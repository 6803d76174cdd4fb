import { text } from "../model/field.ts";
import type { Resource } from "../model/resource.ts";
import { typeFields, typeRules } from "./field-type.ts";
import { CONSTANT, MODEL_NAME } from "./model-type.ts";

export const customPropertyType: Resource = {
  name: "custom_property_type",
  segment: "custompropertytypes",
  model: "core.custompropertytype",
  summary: "Additional properties of records of one model and type.",
  table: "field_type",
  where: { kind: "customproperty" },
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: typeFields("custompropertytypes", {
    model_name: text("Model of the records that have it, such as stocks.specimen.", {
      write: "required",
      blank: false,
      pattern: MODEL_NAME,
    }),
    model_type: text("Type of those records, such as ANTIBODY or OTHER.", {
      write: "required",
      blank: false,
      pattern: CONSTANT,
    }),
  }),
  rules: typeRules,
};
