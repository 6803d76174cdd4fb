import { integer, prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { MD5, requireNonNegative } from "./datafile.ts";

export const archive = ownedResource({
  name: "archive",
  segment: "data_management/archives",
  forClients: true,
  model: "data_management.archive",
  summary: "Archives of data, such as tapes and archive files.",
  table: "archive",
  fields: {
    name: nameField("Name of the archive.", { example: "Tape 7" }),
    description: prose("Contents."),
    uri: text("Path or address of the archive.", { maxLength: 4096 }),
    storage_volume: reference("storage_volume", "The volume that the archive is on.", { nested: true }),
    collection: reference("dataset_collection", "The archived collection of datasets.", { nested: true }),
    md5sum: text("MD5 sum.", { pattern: MD5 }),
    byte: integer("Size in bytes."),
  },
  rules: ({ byte }) => requireNonNegative("byte", byte),
});
