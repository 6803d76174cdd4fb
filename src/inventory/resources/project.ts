import { prose } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";

export const project = ownedResource({
  name: "project",
  segment: "core/projects",
  aliases: ["projects"],
  model: "core.project",
  summary: "Projects, which consist of experiments.",
  table: "project",
  fields: {
    name: nameField("Name of the project.", { example: "Cell atlas", searchable: true }),
    description: prose("Purpose of the project.", { searchable: true }),
  },
});
