import { flag, instant, prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { CONSTANT } from "./model-type.ts";

export const experiment = ownedResource({
  name: "experiment",
  segment: "assays/experiments",
  aliases: ["experiments"],
  model: "assays.experiment",
  summary: "Experiments, planned, running or completed.",
  table: "experiment",
  fields: {
    name: nameField("Name of the experiment."),
    description: prose("Purpose."),
    status: text("Status, such as RUNNING.", { pattern: CONSTANT }),
    project: reference("project", "The project of the experiment."),
    is_frozen: flag("Whether the experiment is closed to changes.", false),
    start_date: instant("Start date.", { write: "optional", nullable: true, initial: null }),
    completed_date: instant("Completion date.", { write: "optional", nullable: true, initial: null }),
  },
  rules(record) {
    const ordered =
      record.start_date === null ||
      record.completed_date === null ||
      Number(record.start_date) <= Number(record.completed_date);
    return ordered ? {} : { completed_date: "completed_date must not be before start_date." };
  },
});
