import { text, uuid } from "../model/field.ts";
import { type Resource, rowNumber } from "../model/resource.ts";

export const group: Resource = {
  name: "group",
  segment: null,
  model: "core.group",
  summary: "Groups, as records refer to them.",
  table: "user_group",
  key: "name",
  printed: "key",
  names: ["name"],
  descriptions: ["description"],
  order: ["name"],
  fields: {
    rid: rowNumber(),
    id: uuid("Identifier of the group."),
    name: text("Name of the group.", { write: "never", unique: true }),
    description: text("What the group is.", { write: "never" }),
  },
};
