import { prose } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";

export const fieldMeta = ownedResource({
  name: "field_meta",
  segment: "fieldmeta",
  model: "core.fieldmeta",
  summary: "Meanings that several fields share.",
  table: "field_meta",
  fields: {
    name: nameField("Name; unique among the records that the caller may view.", {
      example: "organ",
      unique: true,
    }),
    description: prose("Definition."),
  },
});
