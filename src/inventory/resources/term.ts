import { integer, prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource, urlField } from "../model/resource.ts";

export const term = ownedResource({
  name: "term",
  segment: "vocabularies/terms",
  aliases: ["terms"],
  model: "vocabularies.term",
  summary: "Choices of the choice lists, and units.",
  table: "vocabulary_term",
  nameFields: ["name", "label"],
  defaultOrder: ["category__name", "position", "name"],
  fields: {
    url: urlField("vocabularies/terms"),
    name: nameField("The term.", { example: "liver", searchable: true }),
    category: reference("category", "The choice list that it belongs to.", {
      write: "required",
      nullable: false,
      form: { label: "Choice list" },
    }),
    label: text("Label; by default the name.", { folded: "label_fold", searchable: true }),
    description: prose("Definition.", { searchable: true }),
    dbxref_id: text("Accession in an ontology, such as UO:0000016.", {
      form: { label: "Ontology accession" },
    }),
    position: integer("Position in the category, from 0.", { form: { column: false } }),
  },
  rules(record) {
    if (record.label === "") record.label = record.name;
    return {};
  },
});
