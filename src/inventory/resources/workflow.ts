import { prose, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { modelType, sameAsModelType } from "./model-type.ts";

export const workflow = ownedResource({
  name: "workflow",
  segment: "protocols/workflows",
  forClients: true,
  model: "protocols.workflow",
  summary: "Computational workflows.",
  table: "workflow",
  fields: {
    name: nameField("Name of the workflow.", { example: "RNA-seq" }),
    description: prose("The steps of the workflow."),
    summary: text("The workflow in a sentence."),
    model_type: modelType("Kind of workflow, such as GALAXY or NEXTFLOW."),
    type: sameAsModelType(),
    uri: text("Where the workflow is, such as the address of its repository."),
    workflow_version: text("Version of the workflow."),
  },
});
