import { number, prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { CONSTANT, modelType, sameAsModelType } from "./model-type.ts";
import { checkPosition, positionField, positionRules } from "./position.ts";

export const consumable = ownedResource({
  name: "consumable",
  segment: "stocks/consumables",
  aliases: ["consumables"],
  model: "stocks.consumable",
  summary: "Antibodies, enzymes, oligos, grids, slides and other consumables.",
  table: "consumable",
  fields: {
    name: nameField("Name of the consumable.", { example: "Anti-GFP", trigrams: "name" }),
    description: prose("Description.", { trigrams: "description" }),
    model_type: modelType("Kind of consumable, such as ANTIBODY."),
    type: sameAsModelType(),
    status: text("Status, such as AVAILABLE.", { pattern: CONSTANT }),
    barcode: text("Barcode."),
    location: reference("location", "Storage location."),
    amount: number("Amount, in the given unit."),
    unit: reference("term", "Unit of the amount: a term of a category of units."),
    position: positionField(),
  },
  rules(record, given, previous) {
    positionRules(record, given, previous);
    return record.amount !== null && Number(record.amount) < 0
      ? { amount: "Ensure this value is greater than or equal to 0." }
      : {};
  },
  check: checkPosition("consumable"),
});
