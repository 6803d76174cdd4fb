import { text } from "../model/field.ts";
import type { Resource } from "../model/resource.ts";
import { typeFields, typeRules } from "./field-type.ts";

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
      pattern: { expression: /^[a-z_]+\.[a-z_]+$/, rule: "application and model, such as stocks.specimen" },
    }),
    model_type: text("Type of those records, such as ANTIBODY or OTHER.", {
      write: "required",
      blank: false,
      pattern: { expression: /^[A-Z][A-Z0-9_]*$/, rule: "upper case letters, digits and _" },
    }),
  }),
  rules: typeRules,
};
