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

export const assay: Resource = {
  name: "assay",
  segment: "assays/assays",
  aliases: ["assays"],
  model: "assays.assay",
  summary: "Measurements within an experiment.",
  table: "assay",
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: {
    ...commonFields(),
    name: text("Name of the assay.", { write: "required", blank: false, folded: "name_fold" }),
    description: prose("What is measured, and how."),
    model_type: modelType("Kind of assay, such as CONFOCAL."),
    type: sameAsModelType(),
    state: text("How far it is, such as INITIALIZED.", { pattern: CONSTANT }),
    experiment: reference("experiment", "The experiment that it is part of."),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
};
