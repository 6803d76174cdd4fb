import { prose, reference, text } from "../model/field.ts";
import { beginning, life, owners, permissions, publicFlag, type Resource } from "../model/resource.ts";
import { CONSTANT, modelType, sameAsModelType } from "./model-type.ts";

export const assay: Resource = {
  name: "assay",
  segment: "assays/assays",
  aliases: ["assays"],
  model: "assays.assay",
  summary: "Measurements within an experiment.",
  table: "assay",
  key: "name",
  printed: "id",
  names: ["name"],
  descriptions: ["description"],
  order: ["name"],
  fields: {
    ...beginning(),
    name: text("Name of the assay.", { write: "required", blank: false, folded: "name_fold" }),
    description: prose("What is measured, and how."),
    model_type: modelType("Kind of assay, such as CONFOCAL."),
    type: sameAsModelType(),
    state: text("How far it is, such as INITIALIZED.", { pattern: CONSTANT }),
    experiment: reference("experiment", "The experiment that it is part of."),
    public: publicFlag({ shown: "always" }),
    permissions: permissions({ shown: "extra" }),
    ...owners({ shown: "always" }),
    ...life(),
  },
};
