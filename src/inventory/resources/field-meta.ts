import { prose, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";

export const fieldMeta: Resource = {
  name: "field_meta",
  segment: "fieldmeta",
  model: "core.fieldmeta",
  summary: "What annotation types and custom property types with the same meaning have in common.",
  table: "field_meta",
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: {
    ...commonFields(),
    name: text("Name, which no other has.", {
      write: "required",
      blank: false,
      folded: "name_fold",
      unique: true,
    }),
    description: prose("What it means."),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
};
