import { prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource, uniquePathField } from "../model/resource.ts";
import { barcodeField, CONSTANT } from "./model-type.ts";

export const equipment = ownedResource({
  name: "equipment",
  segment: "equipment",
  aliases: ["stocks/equipment", "stocks/storageequipment"],
  model: "stocks.equipment",
  summary: "Freezers, cabinets and instruments.",
  table: "equipment",
  filters: { technology: "instrumentmodel__technology", platform: "instrumentmodel__platform" },
  fields: {
    ...uniquePathField(),
    name: nameField("Name of the equipment.", { example: "Freezer 1", searchable: true }),
    description: prose("Description.", { searchable: true }),
    code: text("Serial or inventory number."),
    model_type: text("Kind of equipment, such as FREEZER.", {
      pattern: CONSTANT,
      form: {
        label: "Type",
        shownIn: "head",
        inNames: ["FREEZER", "FRIDGE", "CABINET", "INCUBATOR", "MICROSCOPE", "CENTRIFUGE"],
      },
    }),
    barcode: barcodeField(),
    place: reference("place", "Place of the equipment.", { form: { shownIn: "location" } }),
    instrumentmodel: reference("instrument_model", "The model of an instrument.", {
      column: "instrument_model",
      nested: true,
      forClients: true,
    }),
  },
});
