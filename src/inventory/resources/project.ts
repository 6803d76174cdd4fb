import { prose, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";

export const project: Resource = {
  name: "project",
  segment: "core/projects",
  aliases: ["projects"],
  model: "core.project",
  summary: "What experiments are part of.",
  table: "project",
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: {
    ...commonFields(),
    name: text("Name of the project.", { write: "required", blank: false, folded: "name_fold" }),
    description: prose("What it is about."),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
};
