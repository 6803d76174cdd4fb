import { integer, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";

const line = (doc: string) => text(doc);

/** Addresses have numbers for identifiers: a place refers to its address by an integer. */
export const address: Resource = {
  name: "address",
  segment: "addresses",
  model: "core.address",
  summary: "Postal addresses of places.",
  table: "address",
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["organisation", "street", "city"],
  defaultOrder: ["name"],
  fields: {
    ...commonFields(),
    id: integer("Identifier of the record, a number.", { column: "rid", write: "never" }),
    name: text("Short name, such as that of the institute.", {
      write: "required",
      blank: false,
      folded: "name_fold",
    }),
    organisation: line("Organisation."),
    street: line("Street and number."),
    postcode: line("Postal code."),
    city: line("City."),
    region: line("Region or state."),
    country: line("Country."),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
};
