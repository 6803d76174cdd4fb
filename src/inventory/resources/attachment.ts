import { computed, integer, Shape, text } from "../model/field.ts";
import { subResource } from "./sub-resource.ts";

/** A file; its bytes are in the table `attachment_content`, under their SHA-256. */
export const attachment = subResource({
  name: "attachment",
  segment: "attachments",
  summary: "Files of records.",
  table: "attachment",
  nameFields: ["name"],
  searchFields: ["name"],
  defaultOrder: ["-created"],
  fields: {
    name: text("Name of the file."),
    media_type: text("Media type of the file."),
    size: integer("Size in bytes."),
    sha256: text("SHA-256 of the content."),
    url: computed("Address of the file.", {
      from: ["id"],
      shape: Shape.String(),
      compute: ({ id }, { base }) => `${base}attachments/${String(id)}/`,
    }),
  },
});
