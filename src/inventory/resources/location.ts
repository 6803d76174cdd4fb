import { prose, reference, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";

export const location: Resource = {
  name: "location",
  segment: "locations",
  model: "stocks.location",
  summary: "Where things are kept: a shelf, a drawer, a box, in equipment and in a place.",
  table: "location",
  key: "label",
  shownAs: "id",
  nameFields: ["label"],
  descriptionFields: ["description"],
  defaultOrder: ["label"],
  fields: {
    ...commonFields(),
    label: text("Name of the location.", {
      write: "required",
      blank: false,
      folded: "label_fold",
      trigrams: "label",
    }),
    equipment: reference("equipment", "The equipment that it is, or is inside of."),
    place: reference("place", "The place in which it is."),
    description: prose("What it is for.", { shown: "extra", trigrams: "description" }),
    barcode: text("What a scanner reads.", { shown: "extra" }),
    parent: reference("location", "The location that holds it.", { shown: "extra" }),
    public: publicField({ shown: "extra" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "extra" }),
    ...deletionFields(),
  },
};
