import { list, prose, reference } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";

export const study = ownedResource({
  name: "study",
  segment: "core/studies",
  forClients: true,
  model: "core.study",
  summary: "Studies, which collect datasets for a publication.",
  table: "study",
  fields: {
    name: nameField("Name of the study.", { example: "Sperm methylation" }),
    description: prose("Purpose of the study."),
    project: reference("project", "The project of the study."),
    design: list("term", "Terms that describe the design of the study."),
  },
});
