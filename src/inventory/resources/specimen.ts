import { prose } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { barcodeField, modelType, sameAsModelType, statusField } from "./model-type.ts";
import { checkPosition, positionField, positionRules, storageField } from "./position.ts";
import { specimenStock, stockRules } from "./stock.ts";

export const specimen = ownedResource({
  name: "specimen",
  segment: "stocks/specimen",
  aliases: ["specimens", "specimen"],
  model: "stocks.specimen",
  summary: "Biological specimens: lines of fish, planarians, cnidarians, viruses.",
  table: "specimen",
  fields: {
    name: nameField("Name of the specimen.", { example: "casper", searchable: true }),
    description: prose("Description.", { searchable: true }),
    model_type: modelType("Kind of specimen, such as FISH."),
    type: sameAsModelType(),
    status: statusField("Status, such as ALIVE or FROZEN."),
    barcode: barcodeField(),
    location: storageField(),
    position: positionField(),
    ...specimenStock(),
  },
  rules: (...written) => ({ ...positionRules(...written), ...stockRules(...written) }),
  check: checkPosition("specimen"),
});
