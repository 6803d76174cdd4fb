import { prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { CONSTANT } from "./model-type.ts";

export const equipment = ownedResource({
  name: "equipment",
  segment: "equipment",
  aliases: ["stocks/equipment"],
  model: "stocks.equipment",
  summary: "Freezers, cabinets and instruments.",
  table: "equipment",
  fields: {
    name: nameField("Name of the equipment.", { example: "Freezer 1", trigrams: "name" }),
    description: prose("Description.", { trigrams: "description" }),
    code: text("Serial or inventory number."),
    model_type: text("Kind of equipment, such as FREEZER.", { pattern: CONSTANT }),
    barcode: text("Barcode."),
    place: reference("place", "Place of the equipment."),
  },
});
