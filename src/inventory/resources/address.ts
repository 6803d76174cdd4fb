import { integer, text } from "../model/field.ts";
import { DETAILS_FORM, nameField, ownedResource } from "../model/resource.ts";

const line = (doc: string) => text(doc);

/** Addresses have numbers for identifiers: a place refers to its address by an integer. */
export const address = ownedResource({
  name: "address",
  segment: "addresses",
  model: "core.address",
  summary: "Postal addresses of rooms.",
  table: "address",
  descriptionFields: ["organisation", "street", "city"],
  fields: {
    id: integer("Identifier of the record, a number.", {
      column: "rid",
      write: "never",
      ...DETAILS_FORM,
    }),
    name: nameField("Short name, such as the name of the institute.", { example: "Alder Institute" }),
    organisation: line("Organisation."),
    street: line("Street and number."),
    postcode: line("Postal code."),
    city: line("City."),
    region: line("Region or state."),
    country: line("Country."),
  },
});
