import { prose, reference, text } from "../model/field.ts";
import { ownedResource } from "../model/resource.ts";

export const location = ownedResource({
  name: "location",
  segment: "locations",
  model: "stocks.location",
  summary: "Storage locations: shelves, drawers and boxes, in equipment and in places.",
  showsAccess: "extra",
  table: "location",
  key: "label",
  nameFields: ["label"],
  defaultOrder: ["label"],
  fields: {
    label: text("Name of the location.", {
      example: "Shelf 1",
      write: "required",
      blank: false,
      folded: "label_fold",
      trigrams: "label",
    }),
    equipment: reference("equipment", "The equipment that the location is, or is part of."),
    place: reference("place", "Place of the location."),
    description: prose("Purpose.", { shown: "extra", trigrams: "description" }),
    barcode: text("Barcode.", { shown: "extra" }),
    parent: reference("location", "The enclosing location.", { shown: "extra" }),
  },
});
