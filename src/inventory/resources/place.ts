import { prose, reference, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";

export const place: Resource = {
  name: "place",
  segment: "places",
  model: "stocks.place",
  summary: "Rooms of buildings.",
  table: "place",
  key: "name",
  shownAs: "id",
  nameFields: ["building", "room", "name"],
  descriptionFields: ["description", "address__name", "address__street", "address__city"],
  defaultOrder: ["building", "room"],
  fields: {
    ...commonFields(),
    building: text("Building; may be empty.", { folded: "building_fold", trigrams: "building" }),
    room: text("Room.", { write: "required", blank: false, folded: "room_fold", trigrams: "room" }),
    address: reference("address", "Address of the building.", { write: "required", nullable: false }),
    name: text("Building and room, with a space between.", {
      shown: "extra",
      write: "never",
      trigrams: "name",
    }),
    description: prose("What the place is.", { shown: "extra", trigrams: "description" }),
    public: publicField({ shown: "extra" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "extra" }),
    ...deletionFields(),
  },
};
