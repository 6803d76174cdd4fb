import { prose, reference, text } from "../model/field.ts";
import { ownedResource, uniquePathField } from "../model/resource.ts";

export const place = ownedResource({
  name: "place",
  segment: "places",
  model: "stocks.place",
  summary: "Rooms, with their buildings and addresses.",
  showsAccess: "extra",
  table: "place",
  nameFields: ["building", "room", "name"],
  descriptionFields: ["description", "address__name", "address__street", "address__city"],
  defaultOrder: ["building", "room"],
  fields: {
    ...uniquePathField(),
    building: text("Building; may be empty.", {
      example: "A",
      folded: "building_fold",
      searchable: true,
    }),
    room: text("Room.", {
      example: "101",
      write: "required",
      blank: false,
      folded: "room_fold",
      searchable: true,
    }),
    address: reference("address", "Address of the building."),
    name: text("Building and room, separated by a space.", {
      example: "A 101",
      shown: "extra",
      write: "never",
      searchable: true,
    }),
    description: prose("Description.", { shown: "extra", searchable: true }),
  },
});
