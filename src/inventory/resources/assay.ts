import { type Field, flag, prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { CONSTANT, modelType, sameAsModelType } from "./model-type.ts";

const CALLING = ["fast", "high accuracy", "super high accuracy", "methylation", "other", "None"];
const mode = (doc: string, choices: readonly string[]) =>
  text(doc, { choices, initial: "None", blank: false, wrapped: true });

/** Instruments and sequencing, as LabID's client reads and writes them. */
const MEASUREMENT: Readonly<Record<string, Field>> = {
  technology: text("Technology, such as sequencing."),
  platform: text("Platform, such as ILLUMINA."),
  instrumentrun: reference("instrument_run", "The run of the instrument.", { column: "instrument_run" }),
  instrumentmodel: reference("instrument_model", "The model of the instrument.", {
    column: "instrument_model",
  }),
  instrument: reference("equipment", "The instrument."),
  run_dir: text("Folder with the data of the run.", { maxLength: 4096 }),
  flowcell: text("Flow cell."),
  flowcell_version: text("Version of the flow cell."),
  lane: text("Lane of the flow cell."),
  runtype: text("single-end, paired-end or multi-end.", {
    choices: ["single-end", "paired-end", "multi-end"],
    nullable: true,
    initial: null,
    wrapped: true,
  }),
  runmode: text("Mode of the run."),
  readlength: text("Length of the reads."),
  chemistry: text("Chemistry."),
  demultiplexed: flag("Whether the reads were assigned to samples.", false),
  live_base_calling: mode("Model of base calling during the run.", CALLING),
  live_read_mapping: flag("Whether reads were mapped during the run.", false),
  ref_genome: text("Reference genome."),
  adaptive_mode: mode("Adaptive sampling.", ["None", "Other", "Enrich", "Deplete"]),
  adaptive_mode_details: text("Details of adaptive sampling."),
  info: prose("Lanes of an initialized assay, as JSON."),
};

export const assay = ownedResource({
  name: "assay",
  segment: "assays/assays",
  aliases: ["assays"],
  model: "assays.assay",
  summary: "Measurements within an experiment.",
  table: "assay",
  fields: {
    name: nameField("Name of the assay.", { example: "Confocal scan", searchable: true }),
    description: prose("Measurement and method.", { searchable: true }),
    model_type: modelType("Kind of assay, such as CONFOCAL."),
    type: sameAsModelType(),
    state: text("State, such as INITIALIZED.", { pattern: CONSTANT, wrapped: true }),
    multiplexed: flag("Whether several samples are measured together.", false),
    experiment: reference("experiment", "The experiment of the assay."),
    ...Object.fromEntries(
      Object.entries(MEASUREMENT).map(([name, field]) => [name, { ...field, forClients: true as const }]),
    ),
  },
});
