import { afterAll, beforeAll, expect, test } from "bun:test";
import { call, FLAT, findList, made, named, openClient } from "../client.ts";
import type { Json } from "../../../src/inventory/model/field.ts";
import type { Lab } from "../harness.ts";
import { IDS } from "../sample.ts";

/** The registration of datasets by LabID's client, its table of files, and its usage logs. */

let lab: Lab;
beforeAll(async () => {
  lab = await openClient();
});
afterAll(() => lab.database.close());

/** The requests of `stocks-cli register assays`. */
const registration = () => ({
  input_dir: "/data/genomics/run7",
  allow_pooled_samples: true,
  transfer_whole_input_dir: true,
  owned_by: "Genomics",
  assays: [{ id: made.assay, name: "ignored", type: "NGSILLUMINAASSAY", technology: "sequencing" }],
  collections: [{ id: crypto.randomUUID(), name: "Lane 7", is_raw: true, owner: "alice", deleted: false }],
  samples: [
    { id: "s1", new: true, name: "Lib 1", barcode: "AC", type: "SEQUENCINGLIBRARY", owner: "alice" },
    { id: "s2", new: true, name: "Lib 2", barcode: "GT", type: "SEQUENCINGLIBRARY", owner: "alice" },
  ],
  datasets: [
    {
      id: "dataset_0_0",
      name: "Lib 1",
      is_raw: true,
      is_managed: false,
      dataset_type: "fastq",
      type: "DATASET",
      collection: "",
      samples: ["s1", made.sample],
      studies: [made.study],
      assay: made.assay,
      owner: "alice",
      owned_by: "Genomics",
      datafiles: [
        { name: "l1_R1.fastq.gz", uri: "l1_R1.fastq.gz", type: "fastq", is_folder: false, status: "NEW" },
        { name: "/raw/l1_R2.fastq.gz", uri: "/raw/l1_R2.fastq.gz", type: "fastq", is_managed: false },
      ],
    },
    { id: "dataset_0_1", name: "Lib 2", samples: ["s2"], studies: [made.study], datafiles: [] },
  ],
});

const REGISTER = "data_management/datasetcollections/register/?format=json";
const get = async (path: string) => (await lab.send("alice", "GET", path)).body;

test("registers datasets with new samples, a collection and files in one batch, which can be undone", async () => {
  const sent = registration();
  sent.datasets[0].collection = sent.collections[0].id;
  const counted = async () =>
    Promise.all(
      ["datasets", "datafiles", "datafilecopies", "datasetcollections"].map(async (list) =>
        Number((await get(`data_management/${list}/?page_size=1`)).total),
      ),
    );
  const before = await counted();
  const preview = await lab.send("alice", "POST", `${REGISTER}&dry_run=1`, sent);
  expect(preview.body).toMatchObject({ dry_run: true, count: 10 });
  expect(await counted()).toEqual(before);
  const done = await lab.send("alice", "POST", REGISTER, sent);
  expect([done.status, done.body.results]).toMatchObject([
    201,
    {
      collections: [{ name: "Lane 7" }],
      samples: [{ name: "Lib 1" }, { name: "Lib 2" }],
      datasets: [{ name: "Lib 1" }, { name: "Lib 2" }],
      assays: [{ id: made.assay }],
      datafiles: 2,
    },
  ]);
  expect(await counted()).toEqual([before[0] + 2, before[1] + 2, before[2] + 2, before[3] + 1]);
  const { datasets } = done.body.results as { datasets: { id: string }[] };
  expect(await get(`data_management/datasets/${datasets[0].id}/`)).toMatchObject({
    samples: [{ name: "Lib 1" }, named("sample")],
    studies: [named("study")],
    collections: [{ name: "Lane 7" }],
    datafiles: [{ name: "l1_R1.fastq.gz" }, { name: "l1_R2.fastq.gz" }],
    owned_by: "Genomics",
  });
  const files = await get(`data_management/datafiles/?dataset=${datasets[0].id}&fields=uri,filetype`);
  expect(files.results).toEqual([
    { uri: "/data/genomics/run7/l1_R1.fastq.gz", filetype: "fastq" },
    { uri: "/raw/l1_R2.fastq.gz", filetype: "fastq" },
  ]);
  const copies = await get(`data_management/datafilecopies/?dataset_id=${datasets[0].id}`);
  expect(copies.results).toMatchObject([{ is_primary_copy: true }, { is_primary_copy: true }]);
  expect((await get(`assays/assays/${made.assay}/`)).state).toEqual({ value: "REGISTERED" });
  const undone = await lab.send("alice", "POST", `batches/${done.headers.get("batch-id")}/undo/`, {});
  expect(undone.status).toBe(200);
  expect(await counted()).toEqual(before);
  expect((await get(`assays/assays/${made.assay}/`)).state).toEqual({ value: "" });
});

test.each<[string, (sent: ReturnType<typeof registration>) => object, string, string]>([
  ["no datasets", (sent) => ({ ...sent, datasets: [] }), "datasets", "Must not be empty."],
  [
    "no files",
    ({ datasets: [{ name }] }) => ({ datasets: [{ name }] }),
    "datasets",
    "datafiles: This field is required.",
  ],
  ["another's assay", (sent) => ({ ...sent, assays: [{ id: IDS.fish }] }), "assays", "There is no assay"],
  [
    "an unknown sample",
    ({ datasets: [first] }) => ({ datasets: [{ ...first, samples: ["s9"] }] }),
    "datasets",
    'datasets[0]: samples: Object with name="s9" does not exist.',
  ],
  [
    "a wrong file",
    ({ datasets: [first] }) => ({
      datasets: [{ ...first, samples: [], datafiles: [{ uri: "a", byte: -1 }] }],
    }),
    "datafiles",
    "byte: Ensure this value",
  ],
  [
    "pooled samples that are not allowed",
    ({ datasets: [first] }) => ({ allow_pooled_samples: false, datasets: [first, first] }),
    "datasets",
    "datasets[1]: the sample is already that of another dataset",
  ],
])("registers nothing with %s", async (_, change, field, message) => {
  const before = (await get("data_management/datasets/?page_size=1&deleted=all")).total;
  const { status, body } = await lab.send("alice", "POST", REGISTER, change(registration()));
  expect([status, body.message, Object.keys(body)]).toEqual([
    400,
    expect.stringContaining(message),
    expect.arrayContaining([expect.stringMatching(new RegExp(`${field}|datasets`))]),
  ]);
  expect((await get("data_management/datasets/?page_size=1&deleted=all")).total).toBe(before);
});

test("registers datasets of a run with one assay, and of an assay in the client's older form", async () => {
  const ofRun = await lab.send("alice", "PUT", `assays/instrumentruns/${made.instrumentrun}/register/`, {
    datasets: [{ name: "Of the run", datafiles: [{ uri: "/raw/run.fastq" }] }],
  });
  expect([ofRun.status, ofRun.body.results]).toMatchObject([
    200,
    { assays: [{ id: made.assay }], datafiles: 1 },
  ]);
  const foreign = { datasets: [{ name: "x", assay: IDS.assay, datafiles: [] }] };
  const refused = await lab.send(
    "alice",
    "PUT",
    `assays/instrumentruns/${made.instrumentrun}/register/`,
    foreign,
  );
  expect([refused.status, refused.body.message]).toEqual([
    400,
    expect.stringContaining("an assay of the run"),
  ]);
  const file = {
    uri: "/raw/p.fastq",
    name: "p",
    filetype: "fastq",
    readtype: "read_1",
    checksum: "",
    filesize: 9,
  };
  const older = {
    datasets: [
      {
        datafiles: { value: [file] },
        owner: { value: { id: 7, username: "alice" } },
        sample: { value: "Pool" },
        barcode: { value: "TTT" },
        studies: { value: [{ id: made.study }] },
      },
    ],
  };
  const path = `assays/assays/${made.assay}/register/?allow_pooled_samples=True`;
  const { status, body } = await call("PUT", path, older);
  expect([status, body.results]).toMatchObject([
    200,
    { samples: [{ name: "Pool" }], datasets: [{ name: "Pool" }] },
  ]);
  const [{ id }] = (body.results as { datasets: { id: string }[] }).datasets;
  expect(await get(`data_management/datasets/${id}/`)).toMatchObject({
    is_raw: true,
    studies: [named("study")],
    assay: { id: made.assay },
    samples: [{ name: "Pool" }],
  });
  expect((await get(`data_management/datafiles/?dataset=${id}`)).results).toMatchObject([
    { byte: 9, readtype: "read_1", filetype: "fastq" },
  ]);
  expect((await lab.send("bob", "PUT", path, older)).status).toBe(404);
  expect((await lab.ask("PUT", path, { body: older })).status).toBe(401);
});

/** The rows of the table of files. */
async function fetchTable(query: string, as?: string): Promise<Record<string, string>[]> {
  const path = `data_management/datasets/datafilemeta_export?${FLAT}&page_size=max&${query}`;
  const { status, text } = await call("GET", path, undefined, as);
  expect(status).toBe(200);
  const [header, ...lines] = text.trim().split("\r\n");
  return lines.map((line) =>
    Object.fromEntries(line.split(",").map((cell, i) => [header.split(",")[i], cell])),
  );
}

test("exports the titles that the client requires, and annotations of samples, assays and datasets", async () => {
  const type = async (name: string, more: object = {}) => {
    const body = { name, type: "TEXT", public: true, ...more };
    return String((await lab.send("admin", "POST", "annotationtypes/", body)).body.id);
  };
  const annotate = async (model: string, annotation_type_id: string, value: Json, as = "alice") => {
    const path = `${findList(model)}${made[model]}/annotations/`;
    const { status, text } = await lab.send(as, "POST", path, { annotation_type_id, value });
    expect([status, text]).toEqual([201, expect.any(String)]);
  };
  const protocols = { type: "OBJECT", choices_target: "protocols/protocols", multiple: true };
  await annotate("sample", await type("age"), "8 weeks");
  await annotate("sample", await type("library_strategy"), "RNA-Seq");
  await annotate("sample", await type("protocols", protocols), [made.protocol]);
  await annotate("assay", await type("temperature"), "25");
  await annotate("dataset", await type("ena_run_accession"), "ERR1");
  await type("unused");
  await annotate("specimen", await type("of specimens"), "x");
  await annotate("sample", await type("private", { public: false }), "hidden", "admin");
  const [row] = await fetchTable(`dataset_id=${made.dataset}`);
  expect(row).toMatchObject({
    "Assay ID": made.assay,
    "Assay Name": "assay of the client",
    "Instrument Model": "instrumentmodel of the client",
    "Dataset ID": made.dataset,
    "Sample ID": made.sample,
    Barcode: "ACGT",
    // That of the primary copy, by which the client finds it.
    FilePath: "/tier1/a.fastq",
    "File Name": "datafile of the client",
    Type: "fastq",
    Checksum: "",
    Organism: "",
    Protocols: made.protocol,
    "Library Source": "",
    "Library Strategy": "RNA-Seq",
    "Library Selection": "",
    "Sample[age]": "8 weeks",
    "Assay[temperature]": "25",
    "Dataset[ena_run_accession]": "ERR1",
  });
  const annotated = Object.keys(row).filter((title) => title.includes("["));
  expect(annotated).toEqual(["Sample[age]", "Assay[temperature]", "Dataset[ena_run_accession]"]);
  const second = await lab.send("alice", "POST", "stocks/samples/", { name: "Second" });
  const samples = [made.sample, String(second.body.id)];
  await lab.send("alice", "PATCH", `data_management/datasets/${made.dataset}/`, { samples });
  const rows = await fetchTable(`dataset_id=${made.dataset}`);
  expect(rows.map((each) => [each["File ID"], each.Sample, each["Sample[age]"]])).toEqual([
    [made.datafile, "Second", ""],
    [made.datafile, "sample of the client", "8 weeks"],
  ]);
  await lab.send("alice", "PATCH", `data_management/datasets/${made.dataset}/`, { samples: [made.sample] });
});

test("exports a table of files with their datasets, samples and studies", async () => {
  const path = `data_management/datasets/datafilemeta_export?${FLAT}&page_size=max&study_id=${made.study}`;
  const rows = await fetchTable(`study_id=${made.study}`);
  expect(rows.find((row) => row["File ID"] === made.datafile)).toMatchObject({
    Study: "study of the client",
    Collection: "datasetcollection of the client",
    Platform: "",
    "Run Type": "paired-end",
    Sample: "sample of the client",
    Dataset: "dataset of the client",
  });
  const total = async (query: string) =>
    (await call("GET", path.replace(/study_id.*/, query))).text.split("\r\n").length;
  expect(await total(`study_id=${made.project}`)).toBe(2);
  expect(await total(`assay=${made.assay}`)).toBeGreaterThan(2);
  expect(await total(`dataset_id=${made.dataset}`)).toBe(3);
  expect(await fetchTable(`study_id=${made.study}`, "bob")).toEqual([]);
  const xlsx = await lab.bytes("GET", `${path}&format=xlsx`, { as: "alice" });
  expect([xlsx.status, [...xlsx.bytes.subarray(0, 2)]]).toEqual([200, [0x50, 0x4b]]);
});

test("counts users for administrators", async () => {
  const usage = (query: string, as = "admin") =>
    call("GET", `core/usagelogs?${FLAT}&start_date=2025-12-01&end_date=2026-12-31&${query}`, undefined, as);
  const aggregated = await usage("format=json&resolution=year&aggregate=True");
  expect(JSON.parse(aggregated.text)).toEqual([{ period: "2026", users: expect.any(Number) }]);
  const each = JSON.parse((await usage("format=json&resolution=month&aggregate=False")).text);
  expect(each).toContainEqual({ period: "2026-01", username: "alice", actions: expect.any(Number) });
  expect((await usage("format=csv&resolution=day&aggregate=True")).text).toStartWith(
    "period,users\r\n2026-01-01,",
  );
  expect(
    JSON.parse((await call("GET", "core/usagelogs?end_date=2025-12-31", undefined, "admin")).text),
  ).toEqual([]);
  expect((await usage("resolution=week")).body.message).toContain("day, month, year");
  expect((await usage("aggregate=maybe")).status).toBe(400);
  expect((await usage("", "alice")).status).toBe(403);
  expect((await lab.ask("GET", "core/usagelogs")).status).toBe(401);
});
