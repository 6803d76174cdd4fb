import { integer, prose, reference, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";

export const term: Resource = {
  name: "term",
  segment: "vocabularies/terms",
  aliases: ["terms"],
  model: "vocabularies.term",
  summary: "Terms of controlled vocabularies, units among them.",
  table: "vocabulary_term",
  key: "name",
  shownAs: "id",
  nameFields: ["name", "label"],
  descriptionFields: ["description"],
  defaultOrder: ["category__name", "position", "name"],
  fields: {
    ...commonFields(),
    name: text("The term.", { write: "required", blank: false, folded: "name_fold", trigrams: "name" }),
    category: reference("category", "The vocabulary that it belongs to.", {
      write: "required",
      nullable: false,
    }),
    label: text("How it is shown; the name where it is empty.", { folded: "label_fold", trigrams: "label" }),
    description: prose("What it means.", { trigrams: "description" }),
    dbxref_id: text("Accession in an ontology, such as UO:0000016."),
    position: integer("Its place among the terms of its category, from 0."),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
  rules(record) {
    if (record.label === "") record.label = record.name;
    return {};
  },
};
