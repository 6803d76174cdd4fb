import { prose, reference, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";

export const equipment: Resource = {
  name: "equipment",
  segment: "equipment",
  aliases: ["stocks/equipment"],
  model: "stocks.equipment",
  summary: "Freezers, cabinets, instruments: what locations are parts of.",
  table: "equipment",
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: {
    ...commonFields(),
    name: text("Name of the equipment.", {
      write: "required",
      blank: false,
      folded: "name_fold",
      trigrams: "name",
    }),
    description: prose("What it is.", { trigrams: "description" }),
    code: text("Serial or inventory number."),
    model_type: text("Kind of equipment, such as FREEZER.", {
      pattern: { expression: /^[A-Z][A-Z0-9_]*$/, rule: "upper case letters, digits and _" },
    }),
    barcode: text("What a scanner reads."),
    place: reference("place", "Where it stands."),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
};
