import { afterAll, beforeAll, expect, test } from "bun:test";
import type { JsonObject } from "../../src/inventory/model/field.ts";
import type { ImportReport } from "../../src/inventory/imports/import-report.ts";
import { printResult } from "../../src/scoring/results/result-format.ts";
import { SAMPLE as PREDICTION } from "../scoring/sample-prediction.ts";
import { openEln } from "../eln-rules.ts";
import { type Lab, letUse, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Archives that labd exports are imported again, here and elsewhere, without loss. */

const LIST = "stocks/consumables";
let lab: Lab;
let empty: Lab;
beforeAll(async () => {
  lab = await openLab();
  empty = await openLab({ sample: {} });
});
afterAll(() => {
  lab.database.close();
  empty.database.close();
});

const made = async (path: string, body: JsonObject): Promise<string> => {
  const answer = await lab.send("alice", "POST", path, body);
  expect([path, answer.status]).toEqual([path, 201]);
  return String(answer.body.id);
};
const exported = async (path: string) => (await lab.bytes("GET", path, { as: "alice" })).bytes;
const restore = async (list: string, archive: Uint8Array<ArrayBuffer>, query = "", to = empty) => {
  const { status, bytes } = await to.bytes("POST", `${list}/import/?${query}`, {
    as: "alice",
    body: archive,
  });
  return { status, report: JSON.parse(new TextDecoder().decode(bytes)) as ImportReport };
};

test("restore records with their ids, references, annotations, notes and files in an empty installation", async () => {
  const box = await made("locations/", {
    label: "Box 7",
    grid_rows: 9,
    grid_columns: 9,
    description: "Enzymes",
  });
  const rack = await made("locations/", { label: "A rack" });
  await lab.send("alice", "PATCH", `locations/${box}/`, { parent: rack });
  const fields = {
    name: "Taq",
    model_type: "ENZYME",
    description: "Cold",
    lot: "L7",
    unit: "gram",
    amount: 2.5,
    expiry: "2027-01-02",
  };
  const tube = await made(`${LIST}/`, {
    ...fields,
    location: box,
    position: "B3",
    supplier: 'ACME, "Inc"',
  });
  const aliquot = await made(`${LIST}/`, { name: "Aliquot", model_type: "ENZYME", aliquot_of: tube });
  await made(`${LIST}/${tube}/annotations/`, { annotation_type_id: "host", value: "goat" });
  await made(`${LIST}/${tube}/notes/`, { content: "Thawed twice.\nStill fine." });
  const form = new FormData();
  form.set("file", new File(["GEL"], "gel.png", { type: "image/png" }));
  expect((await lab.bytes("POST", `${LIST}/${tube}/attachments/`, { as: "alice", body: form })).status).toBe(
    201,
  );

  const places = await restore("locations", await exported(`locations/?id=${box},${rack}&format=eln`));
  expect([places.report.created, places.report.errors, places.report.archive!.left_out]).toEqual([2, [], []]);
  const mapping = encodeURIComponent('{"annotations.host":"new"}');
  const archive = await exported(`${LIST}/?id=${tube},${aliquot}&ordering=name&format=eln`);
  const { report } = await restore(LIST, archive, `mapping=${mapping}`);
  expect(report).toMatchObject({
    created: 2,
    errors: [],
    archive: { source: "labd", list: LIST, files: 1, notes: 1, left_out: [] },
  });

  const shown = async (of: Lab, id: string) => {
    const { body } = await of.send(
      "alice",
      "GET",
      `${LIST}/${id}/?fields=*,unit__name,annotations__host&response_format=flat`,
    );
    // A unit of this name was made.
    const { unit: _, ...rest } = body.results as JsonObject;
    return rest;
  };
  for (const id of [tube, aliquot]) expect(await shown(empty, id)).toEqual(await shown(lab, id));
  const place = (
    await empty.send("alice", "GET", `locations/${box}/?fields=label,description,parent,grid_rows`)
  ).body;
  expect(place).toEqual({ label: "Box 7", description: "Enzymes", parent: rack, grid_rows: 9 });
  const parts = async (part: string) =>
    (await empty.send("alice", "GET", `${LIST}/${tube}/${part}/`)).body.results as JsonObject[];
  expect((await parts("notes")).map(({ content }) => content)).toEqual([
    "Thawed twice.\nStill fine.\n\n— alice, 2026-01-01T00:00:00.000000+00:00",
  ]);
  const [file, another] = await parts("attachments");
  expect([file.name, file.media_type, another]).toEqual([
    "gel.png",
    "image/png",
    undefined as unknown as JsonObject,
  ]);
  const { bytes } = await empty.bytes("GET", `attachments/${String(file.id)}/`, { as: "alice" });
  expect(new TextDecoder().decode(bytes)).toBe("GEL");
  // Nothing is left to do, here or there.
  for (const target of [empty, lab]) {
    const again = await target.bytes("POST", `${LIST}/import/`, { as: "alice", body: archive });
    expect(JSON.parse(new TextDecoder().decode(again.bytes))).toMatchObject({
      created: 0,
      unchanged: 2,
      batch: null,
    });
  }
  // The archive of the restored records is read like the first.
  const second = await empty.bytes("GET", `${LIST}/?id=${tube}&format=eln`, { as: "alice" });
  expect((await restore(LIST, second.bytes)).report).toMatchObject({
    unchanged: 1,
    archive: { notes: 0, files: 0 },
  });
});

test("archives name their list, and keep references by name if the record is missing", async () => {
  await letUse(lab, "alice", IDS.shelf);
  const id = await made(`${LIST}/`, { name: "Pfu", location: IDS.shelf, model_type: "ENZYME" });
  const archive = await exported(`${LIST}/${id}/?format=eln`);
  const { report } = await restore("stocks/specimen", archive, "dry_run=1");
  expect(report.archive).toMatchObject({
    list: LIST,
    left_out: [{ row: 1, column: "location", message: expect.stringContaining("Kept in a note.") }],
  });
  await restore(LIST, archive);
  const { body } = await empty.send("alice", "GET", `${LIST}/${id}/notes/`);
  expect((body.results as JsonObject[]).map(({ content }) => content)).toEqual(["location: Shelf 1"]);
});

test("archives of scoring jobs are imported like archives of other notebooks", async () => {
  const job = printResult({
    parts: [new Uint8Array(Bun.zstdCompressSync(JSON.stringify(PREDICTION.prediction)))],
    identifier: "p53",
    protein: null,
    as: {
      archive: {
        id: crypto.randomUUID(),
        url: "http://lab/score/1",
        publisher: "http://lab",
        submitted: 0,
        started: 0,
        ended: 1,
        query: "MEEP",
        homologs: undefined,
      },
    },
    source: { dataDirectory: "/nowhere", corpusPath: null, synonyms: [] },
  });
  const { report } = await restore(LIST, job as Uint8Array<ArrayBuffer>);
  expect(report).toMatchObject({
    created: 1,
    archive: { source: "labd", list: null, files: 7, left_out: [] },
  });
});

test("imported records get new ids if their ids are in use", async () => {
  const id = await made(`${LIST}/`, { name: "Gone" });
  const archive = await exported(`${LIST}/${id}/?format=eln`);
  await lab.send("alice", "DELETE", `${LIST}/${id}/`);
  expect((await restore(LIST, archive, "", lab)).report.created).toBe(1);
  const { results } = (await lab.send("alice", "GET", `${LIST}/?name=Gone`)).body;
  expect((results as JsonObject[])[0].id).not.toBe(id);
});

/** The lists of the sample, those that others refer to first. */
const LISTS = [
  "addresses",
  "places",
  "equipment",
  "locations",
  "vocabularies/categories",
  "vocabularies/terms",
  "fieldmeta",
  "annotationtypes",
  "custompropertytypes",
  "core/projects",
  "assays/experiments",
  "assays/assays",
  "stocks/consumables",
  "stocks/specimen",
];

test("archives of all lists move an installation record by record, and change nothing in the original", async () => {
  const from = await openLab();
  const to = await openLab({ sample: {} });
  const fetchArchive = async (of: Lab, list: string) =>
    (await of.bytes("GET", `${list}/?format=eln&page_size=50&page=1`, { as: "admin" })).bytes;
  const send = async (target: Lab, list: string, body: Uint8Array<ArrayBuffer>, match = "none") => {
    const { bytes } = await target.bytes("POST", `${list}/import/?match=${match}`, { as: "admin", body });
    return JSON.parse(new TextDecoder().decode(bytes)) as ImportReport;
  };
  /** The records in an archive: names, texts and properties. */
  const readStatements = (bytes: Uint8Array) => {
    const { graph, node } = openEln(bytes);
    return graph
      .filter((each) => each["@type"] === "Dataset" && each["@id"] !== "./")
      .map(({ name, text = "", variableMeasured = [] }) => [
        name,
        text,
        (variableMeasured as { "@id": string }[])
          .map((each) => node(each["@id"]))
          .map(
            ({ propertyID, value, unitText }) => `${String(propertyID)} ${String(value)} ${String(unitText)}`,
          )
          .toSorted(),
      ])
      .toSorted();
  };
  try {
    // A required reference cannot be left out.
    const early = await send(to, "annotationtypes", await fetchArchive(from, "annotationtypes"));
    expect([early.batch, early.errors.map(({ message }) => message)]).toEqual([
      null,
      expect.arrayContaining(['Object with name="Tissue" does not exist.']),
    ]);
    for (const list of LISTS) {
      const archive = await fetchArchive(from, list);
      // Addresses have numbers instead of ids, which archives do not keep.
      const match = list === "addresses" ? "name" : "none";
      const { unchanged, rows, archive: same, batch } = await send(from, list, archive, match);
      expect([list, unchanged, batch, same?.left_out]).toEqual([list, rows, null, []]);
      const moved = await send(to, list, archive);
      expect([list, moved.errors, moved.archive?.left_out]).toEqual([list, [], []]);
      expect([list, moved.created + moved.unchanged]).toEqual([list, rows]);
      expect(readStatements(await fetchArchive(to, list))).toEqual(readStatements(archive));
    }
  } finally {
    from.database.close();
    to.database.close();
  }
});
