import { prose, reference, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";
import { CONSTANT, modelType, sameAsModelType } from "./model-type.ts";

export const specimen: Resource = {
  name: "specimen",
  segment: "stocks/specimen",
  aliases: ["specimens", "specimen"],
  model: "stocks.specimen",
  summary: "What lives or was taken from life: lines of fish, planarians, cnidarians, viruses.",
  table: "specimen",
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: {
    ...commonFields(),
    name: text("Name of the specimen.", {
      write: "required",
      blank: false,
      folded: "name_fold",
      trigrams: "name",
    }),
    description: prose("What it is.", { trigrams: "description" }),
    model_type: modelType("Kind of specimen, such as FISH."),
    type: sameAsModelType(),
    status: text("Whether it can be had, such as ALIVE or FROZEN.", { pattern: CONSTANT }),
    barcode: text("What a scanner reads."),
    location: reference("location", "Where it is kept."),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
};
