import { prose, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";

export const category: Resource = {
  name: "category",
  segment: "vocabularies/categories",
  aliases: ["categories"],
  model: "vocabularies.category",
  summary: "Controlled vocabularies and lists of units.",
  table: "cv_category",
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
    description: prose("What its terms are about."),
    kind: text("Whether its terms are words to choose from or units of numbers.", {
      blank: false,
      initial: "term",
      choices: ["term", "unit"],
    }),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
};
