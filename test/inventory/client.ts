import { expect } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Requests of LabID's command line client (stocks-cli 0.3.1), and a record of each model that it has created. */

/** Parameters of all its reading requests. */
export const FLAT = "response_format=flat&deleted=False";

let lab: Lab;
/** Ids of the records that the client created, by model. */
export const made: Record<string, string> = {};

/** An installation in which alice's client has created a record of each model that it can create. */
export async function openClient(): Promise<Lab> {
  lab = await openLab();
  for (const model of Object.keys(NEW)) await create(model);
  return lab;
}

type Answered = { status: number; body: Record<string, Json>; text: string };
/** Asks as the client does. */
export const call = (method: string, path: string, body?: unknown, as = "alice"): Promise<Answered> =>
  lab.ask(method, path, {
    headers: { Authorization: `Token ${lab.tokens[as]}`, Accept: "*/*" },
    ...(body ? { body } : {}),
  });

/** Addresses by model, as the client has them. */
export const ADDRESSES: Record<string, string> = {
  annotation: "annotationtypes/",
  assay: "assays/assays/",
  archive: "data_management/archives",
  attachment: "attachments",
  consumable: "stocks/consumables/",
  equipment: "stocks/equipment/",
  dataset: "data_management/datasets/",
  datafile: "data_management/datafiles/",
  datafilecopy: "data_management/datafilecopies/",
  datasetcollection: "data_management/datasetcollections/",
  dropbox: "data_management/dropbox/",
  experiment: "assays/experiments/",
  group: "groups/",
  instrumentmodel: "stocks/instrumentmodels/",
  instrumentrun: "assays/instrumentruns/",
  project: "core/projects/",
  protocol: "protocols/protocols/",
  storagevolume: "data_management/storagevolume/",
  sample: "stocks/samples/",
  specimen: "stocks/specimen/",
  storageequipment: "stocks/storageequipment/",
  study: "core/studies/",
  term: "vocabularies/terms/",
  user: "users/",
  workflow: "protocols/workflows/",
};

/** New records, each of which may refer to earlier ones; and what the client needs of them. */
export const NEW: Record<string, () => { sent: object; shown: object }> = {
  project: () => ({ sent: {}, shown: { description: "x" } }),
  study: () => ({
    sent: { project: { id: made.project }, design: [{ id: IDS.liver }] },
    shown: { project: made.project, design: [{ id: IDS.liver, name: "liver" }] },
  }),
  protocol: () => ({
    sent: { summary: "Tn5", type: { name: "LIBRARY_PREPARATION" } },
    shown: { summary: "Tn5", type: "LIBRARY_PREPARATION" },
  }),
  workflow: () => ({ sent: { uri: "https://git/x" }, shown: { uri: "https://git/x" } }),
  specimen: () => ({ sent: {}, shown: {} }),
  consumable: () => ({ sent: {}, shown: {} }),
  experiment: () => ({ sent: { project: { id: made.project } }, shown: { status: "PLANNED" } }),
  sample: () => ({
    sent: { barcode: "ACGT", specimen: { id: made.specimen }, application: "RNA-seq" },
    shown: { barcode: "ACGT", specimen: made.specimen, application: "RNA-seq", parents: [] },
  }),
  instrumentmodel: () => ({
    sent: { technology: { value: "sequencing" }, platform: "ILLUMINA" },
    shown: { technology: "sequencing", platform: "ILLUMINA" },
  }),
  storageequipment: () => ({ sent: { model_type: "FREEZER" }, shown: { instrumentmodel: null } }),
  equipment: () => ({
    sent: { code: "NB5", instrumentmodel: { id: made.instrumentmodel } },
    shown: { code: "NB5", instrumentmodel: small("instrumentmodel") },
  }),
  instrumentrun: () => ({
    sent: {
      instrument: { id: made.equipment, name: "equipment of the client", code: "NB5", deleted: false },
      responsible_person: { username: "alice" },
      start_datetime: "2023-06-14T16:38:49",
      producer: "GeneCore",
      assays: [],
    },
    shown: {
      instrument: small("equipment"),
      responsible_person: "alice",
      start_datetime: "2023-06-14T16:38:49.000000+00:00",
      end_datetime: null,
      assays: [],
    },
  }),
  assay: () => ({
    sent: {
      type: { name: "NGSILLUMINAASSAY" },
      multiplexed: true,
      instrumentrun: { id: made.instrumentrun, name: "instrumentrun of the client" },
      instrument: { id: made.equipment, name: "equipment of the client" },
      instrumentmodel: "",
      flowcell: "F1",
      lane: "1",
      runtype: { value: "paired-end" },
      live_base_calling: { value: "None" },
      adaptive_mode: { value: "None" },
      demultiplexed: true,
      run_dir: "/runs/1",
    },
    shown: {
      model_type: "NGSILLUMINAASSAY",
      instrumentrun: made.instrumentrun,
      instrumentmodel: null,
      flowcell: "F1",
      lane: "1",
      runtype: { value: "paired-end" },
      live_base_calling: { value: "None" },
      state: { value: "" },
      demultiplexed: true,
    },
  }),
  datasetcollection: () => ({ sent: { is_raw: true }, shown: { is_raw: true, datasets: [] } }),
  dataset: () => ({
    sent: {
      assay: { id: made.assay },
      studies: [made.study],
      samples: [{ id: made.sample }],
      collections: ["datasetcollection of the client"],
      is_raw: true,
    },
    shown: {
      assay: small("assay"),
      studies: [named("study")],
      samples: [named("sample")],
      collections: [named("datasetcollection")],
      datafiles: [],
      dataset_type: "generic",
    },
  }),
  datafile: () => ({
    sent: { dataset: { id: made.dataset }, uri: "/runs/1/a.fastq", filetype: "fastq", byte: 7 },
    shown: { dataset: small("dataset"), filetype: "fastq", is_folder: false, copies: [] },
  }),
  storagevolume: () => ({ sent: {}, shown: {} }),
  datafilecopy: () => ({
    sent: { datafile: { id: made.datafile }, uri: "/tier1/a.fastq", is_primary_copy: true },
    shown: {
      datafile: small("datafile"),
      uri: "/tier1/a.fastq",
      shortname: "datafilecopy of the client",
      is_primary_copy: true,
    },
  }),
  archive: () => ({
    sent: { storage_volume: { id: made.storagevolume } },
    shown: { storage_volume: small("storagevolume") },
  }),
  dropbox: () => ({
    sent: { path: "/data/genomics", group: { name: "Genomics" } },
    shown: {
      path: "/data/genomics",
      group: { value: expect.objectContaining({ id: expect.any(String), name: "Genomics" }) },
    },
  }),
};

export const named = (model: string) => ({ id: made[model], name: `${model} of the client` });
const small = (model: string) => expect.objectContaining({ ...named(model), deleted: false });
export const findList = (model: string): string => ADDRESSES[model].replace(/\/?$/, "/");

async function create(model: string): Promise<void> {
  const { sent, shown } = NEW[model]();
  // The client sends this type of all records that have no other.
  const type = { type: "DEFAULT" };
  const results = { name: `${model} of the client`, description: "x", deleted: false, ...type, ...sent };
  const typed = "type" in sent ? `&type=${(sent.type as { name: string }).name}` : "";
  const path = `${findList(model)}?format=json&response_format=flat${typed}`;
  const { status, body } = await call("POST", path, { results });
  expect({ model, status, body }).toEqual({
    model,
    status: 201,
    body: {
      results: expect.objectContaining({
        name: results.name,
        ...shown,
        owner: "alice",
        owned_by: "Genomics",
      }),
    },
  });
  made[model] = String((body.results as { id: string }).id);
}
