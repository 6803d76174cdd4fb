import { prose } from "../model/field.ts";
import { subResource } from "./sub-resource.ts";

export const note = subResource({
  name: "note",
  segment: "notes",
  summary: "Free text on records.",
  table: "note",
  nameFields: ["content"],
  searchFields: ["content"],
  fields: {
    content: prose("Text of the note.", {
      write: "required",
      blank: false,
      example: "Thawed twice.",
      searchable: true,
    }),
  },
  docs: { list: "List notes", add: "Add a note", body: '{"content": "…"}' },
});
