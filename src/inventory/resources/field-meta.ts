import { prose, text } from "../model/field.ts";
import { beginning, life, owners, permissions, publicFlag, type Resource } from "../model/resource.ts";

export const fieldMeta: Resource = {
  name: "field_meta",
  segment: "fieldmeta",
  model: "core.fieldmeta",
  summary: "What annotation types and custom property types with the same meaning have in common.",
  table: "field_meta",
  key: "name",
  printed: "id",
  names: ["name"],
  descriptions: ["description"],
  order: ["name"],
  fields: {
    ...beginning(),
    name: text("Name, which no other has.", {
      write: "required",
      blank: false,
      folded: "name_fold",
      unique: true,
    }),
    description: prose("What it means."),
    public: publicFlag({ shown: "always" }),
    permissions: permissions({ shown: "extra" }),
    ...owners({ shown: "always" }),
    ...life(),
  },
};
