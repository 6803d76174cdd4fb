import { day, flag, prose, reference } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { STATUS, statusField } from "./model-type.ts";

export const experiment = ownedResource({
  name: "experiment",
  segment: "assays/experiments",
  aliases: ["experiments"],
  model: "assays.experiment",
  summary: "Experiments, planned, running or completed.",
  table: "experiment",
  fields: {
    name: nameField("Name of the experiment.", { example: "Light sheet, day 3", searchable: true }),
    description: prose("Purpose.", { searchable: true }),
    status: statusField("Status; LabID's client knows PLANNED, IN PROGRESS, COMPLETED and FAILED.", {
      pattern: STATUS,
      initial: "PLANNED",
    }),
    project: reference("project", "The project of the experiment."),
    is_frozen: flag("Whether the experiment is closed to changes.", false),
    start_date: day("Start date."),
    completed_date: day("Completion date."),
  },
  rules(record) {
    const ordered =
      record.start_date === null ||
      record.completed_date === null ||
      Number(record.start_date) <= Number(record.completed_date);
    return ordered ? {} : { completed_date: "completed_date must not be before start_date." };
  },
});
