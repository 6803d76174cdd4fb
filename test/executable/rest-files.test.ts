import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch, serve, type Server } from "./labd.ts";

/** The sample inventory as LabID's client sees it, annotations, and files in both directions, over a socket. */

const PYTHON = "/usr/bin/python3";
const place = scratch();
const env = { LABD_DATA_DIR: place.directory };
let server: Server;
let token = "";
beforeAll(async () => {
  const filled = ["demo", "--once", "--data-dir", place.directory, "--port", "0", "--log", "off"];
  expect((await labd(filled, { env })).code).toBe(0);
  const kim = ["user", "add", "kim", "--password-stdin", "--group", "Yeast"];
  expect((await labd(kim, { env, stdin: "correct horse\n" })).code).toBe(0);
  token = (await labd(["token", "add", "kim"], { env })).stdout.trim();
  server = await serve(place.directory);
}, 300_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const send = (method: string, path: string, body?: BodyInit): Promise<Response> =>
  fetch(`${server.url}/api/v2/${path}`, {
    method,
    headers: {
      authorization: `Token ${token}`,
      ...(typeof body === "string" ? { "content-type": "application/json" } : {}),
    },
    ...(body === undefined ? {} : { body }),
  });

test.skipIf(!existsSync(PYTHON))("stocks-cli's calls, with Python's own library", async () => {
  const script = join(import.meta.dir, "clients/stocks-cli.py");
  const run = Bun.spawn([PYTHON, script, server.url, "kim", "correct horse"], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([
    Bun.readableStreamToText(run.stdout),
    Bun.readableStreamToText(run.stderr),
  ]);
  expect(errors).toBe("");
  expect(JSON.parse(out)).toEqual({
    refused: expect.any(String),
    user: ["kim", "Yeast", ["Yeast"]],
    version: { version: "v2" },
    antibodies: ["anti-GFP", "anti-mouse IgG 568", "anti-p53 DO-1"],
    experiments: ["Degron reporter screen", "MDM2 peptide competition"],
    made: ["cli oligo", "OLIGO", true, "Yeast"],
    annotations: [["genotype", "wild type"]],
    resolved: {
      id: expect.any(String),
      name: "cli oligo",
      model_type: "OLIGO",
      model_name: "consumable",
      app_name: "stocks",
    },
    unknown: null,
    error: "name: This field is required.",
    csv: ["cli oligo", "p53 TAD forward", "p53 TAD reverse"],
  });
});

test("a list goes out as a spreadsheet, and comes back with locations that were not there", async () => {
  const out = await send("GET", "stocks/consumables/?format=xlsx&model_type=ENZYME");
  expect(out.headers.get("content-disposition")).toBe('attachment; filename="stocks-consumables.xlsx"');
  const bytes = await out.bytes();
  const archive = new TextDecoder("latin1").decode(bytes);
  expect([archive.slice(0, 4), archive.includes("xl/worksheets/sheet1.xml")]).toEqual(["PK\x03\x04", true]);
  const back = (await (await send("POST", "consumables/import/?dry_run=1", bytes)).json()) as Record<
    string,
    unknown
  >;
  expect(back).toMatchObject({ dry_run: true, rows: 2, unchanged: 2, errors: [] });

  const form = new FormData();
  form.append(
    "file",
    new File(["name;model type;location\nXhoI;ENZYME;A / 2 / Freezer X / Box 1\n"], "new.csv"),
  );
  const made = await send("POST", "consumables/import/", form);
  const report = (await made.json()) as Record<string, unknown>;
  expect(report).toMatchObject({ created: 1, locations_made: 4, errors: [] });
  const query = "consumables/?name=XhoI&fields=name,location__label,location__parent__label";
  const found = (await (await send("GET", query)).json()) as { results: unknown[] };
  expect(found.results).toEqual([
    { name: "XhoI", location__label: "Box 1", location__parent__label: "Freezer X" },
  ]);
  const undone = await send("POST", `batches/${String(report.batch)}/undo/`, "{}");
  expect(undone.status).toBe(200);
  const template = await send("GET", "consumables/import/");
  expect([template.status, (await template.bytes()).length > 2000]).toEqual([200, true]);
});

test("annotations and notes of a record of the sample are for those who may change it", async () => {
  const [{ id }] = (
    (await (await send("GET", "specimens/?name=AAV2")).json()) as { results: { id: string }[] }
  ).results;
  const refused = await send(
    "POST",
    `stocks/specimen/${id}/annotations/`,
    '{"annotation_type_id": "genotype", "value": "x"}',
  );
  expect(refused.status).toBe(403);
  const made = await send("POST", "stocks/specimen/", '{"name": "AAV9", "model_type": "VIRUS"}');
  const mine = ((await made.json()) as { id: string }).id;
  const titre = '{"annotation_type_id": "titre", "value": "2.5e12 viral genomes per milliliter"}';
  const annotated = await send("POST", `stocks/specimen/${mine}/annotations/`, titre);
  expect(await annotated.json()).toMatchObject({
    name: "titre",
    value: { value: 2.5e12, unit: { name: "viral genomes per milliliter" } },
  });
  expect((await send("POST", `specimens/${mine}/notes`, '{"content": "thawed twice"}')).status).toBe(201);
  const noted = await send("GET", "specimens/?notes__content__icontains=THAWED&fields=name");
  expect(await noted.json()).toMatchObject({ total: 1, results: [{ name: "AAV9" }] });
});

test("a file of many rows is taken in without filling the memory", async () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => `tube ${i};OTHER;${i / 8}`).join("\n");
  const answer = await send(
    "POST",
    "consumables/import/?progress=1",
    new Blob([`name;model_type;amount\n${rows}\n`]),
  );
  const lines = (await answer.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.at(-1).report).toMatchObject({ rows: 20_000, created: 20_000, errors: [] });
  expect(lines.filter(({ phase }) => phase === "reading").length).toBe(41);
  const csv = await (await send("GET", "consumables/?format=csv&name=tube&fields=name")).text();
  expect(csv.trim().split("\r\n").length).toBe(20_001);
  const whole = await send("GET", "consumables/?page_size=max&name=tube&fields=name");
  expect(whole.headers.get("etag")).toStartWith('W/"s');
  const { total, results } = (await whole.json()) as { total: number; results: unknown[] };
  expect([total, results.length]).toEqual([20_000, 20_000]);
  const rss = await Bun.file(`/proc/${server.process.pid}/status`)
    .text()
    .catch(() => "");
  const megabytes = Number(/VmRSS:\s+(\d+)/.exec(rss)?.[1] ?? 0) / 1000;
  expect(megabytes).toBeLessThan(500);
}, 300_000);
