import { prose, text } from "../model/field.ts";
import { beginning, life, owners, permissions, publicFlag, type Resource } from "../model/resource.ts";

export const project: Resource = {
  name: "project",
  segment: "core/projects",
  aliases: ["projects"],
  model: "core.project",
  summary: "What experiments are part of.",
  table: "project",
  key: "name",
  printed: "id",
  names: ["name"],
  descriptions: ["description"],
  order: ["name"],
  fields: {
    ...beginning(),
    name: text("Name of the project.", { write: "required", blank: false, folded: "name_fold" }),
    description: prose("What it is about."),
    public: publicFlag({ shown: "always" }),
    permissions: permissions({ shown: "extra" }),
    ...owners({ shown: "always" }),
    ...life(),
  },
};
