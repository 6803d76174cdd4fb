import { number, prose, reference, text } from "../model/field.ts";
import { beginning, life, owners, permissions, publicFlag, type Resource } from "../model/resource.ts";
import { CONSTANT, modelType, sameAsModelType } from "./model-type.ts";

export const consumable: Resource = {
  name: "consumable",
  segment: "stocks/consumables",
  aliases: ["consumables"],
  model: "stocks.consumable",
  summary: "What is used up: antibodies, enzymes, oligos, grids, slides.",
  table: "consumable",
  key: "name",
  printed: "id",
  names: ["name"],
  descriptions: ["description"],
  order: ["name"],
  fields: {
    ...beginning(),
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
    public: publicFlag({ shown: "always" }),
    permissions: permissions({ shown: "extra" }),
    ...owners({ shown: "always" }),
    ...life(),
  },
  before(record) {
    return record.amount !== null && Number(record.amount) < 0 ? { amount: "It is below 0." } : {};
  },
};
