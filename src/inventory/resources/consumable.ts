import { number, prose, reference, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";
import { CONSTANT, modelType, sameAsModelType } from "./model-type.ts";

export const consumable: Resource = {
  name: "consumable",
  segment: "stocks/consumables",
  aliases: ["consumables"],
  model: "stocks.consumable",
  summary: "What is used up: antibodies, enzymes, oligos, grids, slides.",
  table: "consumable",
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: {
    ...commonFields(),
    name: text("Name of the consumable.", {
      write: "required",
      blank: false,
      folded: "name_fold",
      trigrams: "name",
    }),
    description: prose("What it is.", { trigrams: "description" }),
    model_type: modelType("Kind of consumable, such as ANTIBODY."),
    type: sameAsModelType(),
    status: text("Whether it can be had, such as AVAILABLE.", { pattern: CONSTANT }),
    barcode: text("What a scanner reads."),
    location: reference("location", "Where it is kept."),
    amount: number("How much there is, in the unit."),
    unit: reference("term", "Unit of the amount: a term of a list of units."),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
  rules(record) {
    return record.amount !== null && Number(record.amount) < 0 ? { amount: "It is below 0." } : {};
  },
};
