import { flag, instant, prose, reference, referring, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";

const time = (doc: string) => instant(doc, { write: "optional", nullable: true, initial: null });

export const instrumentRun = ownedResource({
  name: "instrument_run",
  segment: "assays/instrumentruns",
  forClients: true,
  model: "assays.instrumentrun",
  summary: "Runs of instruments, with the assays that they measured.",
  table: "instrument_run",
  fields: {
    name: nameField("Name of the run.", { example: "Flow cell 42" }),
    description: prose("Description."),
    instrument: reference("equipment", "The instrument.", { nested: true }),
    start_datetime: time("When the run started."),
    end_datetime: time("When the run ended."),
    producer: text("Producer of the data, such as a core facility."),
    responsible_person: reference("user", "Username of the person responsible for the run."),
    managed: flag("Whether a core facility manages the data of the run.", false),
    assays: referring("assay", "instrumentrun", "The assays of the run that the caller may view."),
  },
  rules: ({ start_datetime: start, end_datetime: end }) =>
    start !== null && end !== null && Number(end) < Number(start)
      ? { end_datetime: "end_datetime must not be before start_datetime." }
      : {},
});
