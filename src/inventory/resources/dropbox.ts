import { prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource, type Resource } from "../model/resource.ts";

export const dropbox = ownedResource({
  name: "dropbox",
  segment: "data_management/dropbox",
  forClients: true,
  model: "data_management.dropbox",
  summary: "Folders in which groups put files that are to be registered.",
  table: "dropbox",
  filters: { username: "members__username" },
  fields: {
    name: nameField("Name of the dropbox.", { example: "Genomics uploads" }),
    description: prose("Description."),
    path: text("Path of the folder.", {
      write: "required",
      blank: false,
      maxLength: 4096,
      example: "/data/genomics",
    }),
    group: reference("group", "The group that uses the folder.", {
      column: "user_group",
      nested: true,
      wrapped: true,
    }),
  },
});

/** True if LabID's client reads the whole list, requested without a page, as bare JSON. */
export const isBareList = (resource: Resource): boolean => resource.name === dropbox.name;
