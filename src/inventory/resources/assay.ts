import { flag, prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { CONSTANT, modelType, sameAsModelType } from "./model-type.ts";

export const assay = ownedResource({
  name: "assay",
  segment: "assays/assays",
  aliases: ["assays"],
  model: "assays.assay",
  summary: "Measurements within an experiment.",
  table: "assay",
  fields: {
    name: nameField("Name of the assay.", { example: "Confocal scan" }),
    description: prose("Measurement and method."),
    model_type: modelType("Kind of assay, such as CONFOCAL."),
    type: sameAsModelType(),
    state: text("State, such as INITIALIZED.", { pattern: CONSTANT, wrapped: true }),
    multiplexed: flag("Whether several samples are measured together.", false),
    experiment: reference("experiment", "The experiment of the assay."),
  },
});
