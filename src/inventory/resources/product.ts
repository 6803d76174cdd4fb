import { type Json, json, number, prose, reference, Shape, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { modelType } from "./model-type.ts";
import { purchaseFields, stockErrors } from "./stock.ts";

/** Pictograms of the Globally Harmonized System (GHS, revision 10, annex 3) in words. */
export const PICTOGRAMS: Readonly<Record<string, string>> = {
  GHS01: "Explosive",
  GHS02: "Flammable",
  GHS03: "Oxidizing",
  GHS04: "Gas under pressure",
  GHS05: "Corrosive",
  GHS06: "Toxic",
  GHS07: "Harmful",
  GHS08: "Health hazard",
  GHS09: "Hazardous to the environment",
};
const CODES = Object.keys(PICTOGRAMS);

const checkHazards = (value: Json): string | undefined =>
  Array.isArray(value) &&
  value.every((code) => CODES.includes(String(code))) &&
  new Set(value).size === value.length
    ? undefined
    : `Expected a list of different pictograms among ${CODES.join(", ")}.`;

export const product = ownedResource({
  name: "product",
  segment: "stocks/products",
  aliases: ["products"],
  model: "stocks.product",
  summary: "Products that are bought, whose tubes and lots are consumables.",
  table: "product",
  fields: {
    name: nameField("Name of the product.", { example: "T4 DNA ligase", searchable: true }),
    description: prose("Description.", { searchable: true }),
    model_type: modelType("Kind, such as ENZYME."),
    ...purchaseFields(),
    unit: reference("term", "Unit of the amounts; without one they are numbers of tubes.", {
      imports: "unit",
      form: { group: "Stock", column: false },
    }),
    minimum_amount: number("Reorder point: minimum amount in all tubes.", {
      form: { group: "Stock", label: "Reorder below", suffix: "unit", column: false },
    }),
    full_amount: number("Amount of a full stock.", {
      form: { group: "Stock", label: "Full stock", beside: "minimum_amount", suffix: "unit", column: false },
    }),
    hazards: json("Hazards: pictograms of the GHS.", {
      initial: "[]",
      shape: Shape.Array(Shape.Enum(CODES)),
      example: ["GHS07"],
      check: checkHazards,
      form: {
        group: "Hazards",
        hint: "",
        words: Object.fromEntries(CODES.map((code) => [code, [`${code} ${PICTOGRAMS[code]}`]])),
        lines: "texts",
      },
    }),
    hazard_statements: prose("Hazard statements, such as H319.", {
      form: { group: "Hazards" },
    }),
    safety_sheet: text("Address of the safety data sheet.", {
      maxLength: 1000,
      pattern: {
        expression: /^https:\/\/[^\s/?#@"<>\\]+(?:[/?#][^\s"<>\\]*)?$/i,
        rule: "an address that begins with https://",
      },
      form: {
        group: "Hazards",
        hint: "Link to the document, beginning with https://.",
        look: "link",
        column: false,
      },
    }),
  },
  rules: (record) => stockErrors(record),
});
