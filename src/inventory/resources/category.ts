import { prose, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";

export const category = ownedResource({
  name: "category",
  segment: "vocabularies/categories",
  aliases: ["categories"],
  model: "vocabularies.category",
  summary: "Lists of choices and of units.",
  table: "cv_category",
  fields: {
    name: nameField("Name; unique among the records that the caller may view.", {
      example: "Tissue",
      unique: true,
    }),
    description: prose("Subject of the terms."),
    kind: text("Whether the terms are vocabulary terms or units.", {
      blank: false,
      initial: "term",
      choices: ["term", "unit"],
    }),
  },
});
