import { prose } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { barcodeField, modelType, sameAsModelType, statusField } from "./model-type.ts";
import { checkPosition, positionField, positionRules, storageField } from "./position.ts";
import { amountFields, consumableStock, stockRules } from "./stock.ts";

export const consumable = ownedResource({
  name: "consumable",
  segment: "stocks/consumables",
  aliases: ["consumables"],
  model: "stocks.consumable",
  summary: "Antibodies, enzymes, oligos, grids, slides and other consumables.",
  table: "consumable",
  fields: {
    name: nameField("Name of the consumable.", { example: "Anti-GFP", searchable: true }),
    description: prose("Description.", { searchable: true }),
    model_type: modelType("Kind of consumable, such as ANTIBODY."),
    type: sameAsModelType(),
    status: statusField("Status, such as AVAILABLE."),
    barcode: barcodeField(),
    location: storageField(),
    ...amountFields(),
    position: positionField(),
    ...consumableStock(),
  },
  rules: (...written) => ({ ...positionRules(...written), ...stockRules(...written) }),
  check: checkPosition("consumable"),
});
