import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch, serve, type Server } from "./labd.ts";
import { waitFor } from "../wait.ts";

/** Behaviour that only the process itself shows: another language's client, its memory, and its sudden end. */

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
  expect((await labd(["user", "add", "ada", "--admin"], { env })).code).toBe(0);
  const admin = (await labd(["token", "add", "ada"], { env })).stdout.trim();
  server = await serve(place.directory);
  // Kim may use the box into which the client puts a record.
  const { results } = await (await send("GET", "locations/?label=Box%20oligos%201&fields=id")).json();
  const shared = await fetch(`${server.url}/api/v2/locations/${results[0].id}/permissions/`, {
    method: "PATCH",
    headers: { authorization: `Token ${admin}`, "content-type": "application/json" },
    body: JSON.stringify({ users: [{ user: "kim", view: true }] }),
  });
  expect(shared.status).toBe(200);
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
const total = async (path: string): Promise<number> =>
  Number(((await (await send("GET", path)).json()) as { total: number }).total);

test.skipIf(!existsSync(PYTHON))("serves stocks-cli requests made by Python's standard library", async () => {
  const script = join(import.meta.dir, "clients/stocks-cli.py");
  const run = Bun.spawn([PYTHON, script, server.url, "kim", "correct horse"], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all(
    [run.stdout, run.stderr].map((stream) => new Response(stream).text()),
  );
  expect(errors).toBe("");
  expect(JSON.parse(out)).toEqual({
    refused: expect.any(String),
    user: ["kim", "Yeast", ["Yeast"]],
    version: { version: "v2" },
    antibodies: ["anti-GFP", "anti-mouse IgG 568", "anti-p53 DO-1"],
    experiments: ["Degron reporter screen", "MDM2 peptide competition"],
    assay: ["str", false],
    made: ["cli oligo", "OLIGO", true, "Yeast"],
    file: ["gel.txt", "text/plain", "txt", "lane 1", true],
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
    registered: [1, 1, 1],
    table: [
      ["a_R1.fastq.gz", "cli library", "cli model", ""],
      ["a_R1.fastq.gz", "cli sample", "cli model", "mutant"],
      ["p.fastq", "cli pool", "cli model", ""],
      ["peaks.bed", "", "", ""],
    ],
    csv: expect.arrayContaining(["cli oligo", "p53 TAD forward", "p53 TAD reverse"]),
  });
});

const COUNT = 20_000;
const TUBES = "consumables/?name=tube&page_size=1";

test("imports and lists many records with bounded memory", async () => {
  const rows = Array.from({ length: COUNT }, (_, i) => `tube ${i};OTHER;${i / 8}`).join("\n");
  const file = new Blob([`name;model_type;amount\n${rows}\n`]);
  const answer = await send("POST", "consumables/import/", file);
  expect(await answer.json()).toMatchObject({ rows: COUNT, created: COUNT, errors: [] });
  const whole = await send("GET", "consumables/?page_size=max&name=tube&fields=name");
  expect(((await whole.json()) as { results: unknown[] }).results).toBeArrayOfSize(COUNT);
  const status = `/proc/${server.process.pid}/status`;
  const resident = existsSync(status) ? /VmRSS:\s+(\d+)/.exec(readFileSync(status, "utf8")) : null;
  expect(Number(resident?.[1] ?? 0) / 1000).toBeLessThan(500);
}, 300_000);

test("after a kill, a bulk change is complete or not started", async () => {
  for (const delay of [40, 150, 400, 800]) {
    const description = `after ${delay}`;
    const request = send("PATCH", "consumables/?name=tube", JSON.stringify({ description })).then(
      () => true,
      () => false,
    );
    await Bun.sleep(delay);
    await server.end("SIGKILL");
    const isAnswered = await request;
    server = await serve(place.directory);
    const changed = await total(`${TUBES}&description=${description}`);
    // A response means that the change is on the disk.
    expect(isAnswered ? [COUNT] : [0, COUNT]).toContain(changed);
    expect(await total(TUBES)).toBe(COUNT);
  }
}, 300_000);

/** Conditions on every record, of which none is indexed. */
const SLOW = `consumables/?${["name", "description", "owner__username", "created_by__username"]
  .flatMap((field) => Array.from({ length: 20 }, (_, i) => `${field}__iendswith=${i < 19 ? `${i}~` : ""}`))
  .join("&")}`;

test.skipIf(process.platform !== "linux")(
  "answers other requests during a slow search, which ends with the server",
  async () => {
    const { pid } = server.process;
    const processes = () =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
    const isSearching = (): boolean =>
      processes().some((child) => /\0request-process\0/.test(readFileSync(`/proc/${child}/cmdline`, "utf8")));
    const slow = send("GET", SLOW).then(
      ({ status }) => status,
      () => "cut off",
    );
    await waitFor(() => isSearching());
    let turns = 0;
    for (; turns < 20; turns++) expect((await send("GET", "places/?page_size=3")).status).toBe(200);
    const searching = processes();
    // When memory runs out, the kernel ends them, not the server.
    const scores = searching.map((child) => readFileSync(`/proc/${child}/oom_score_adj`, "utf8").trim());
    expect(new Set(scores)).toEqual(new Set(["1000"]));
    await server.end("SIGKILL");
    expect(await slow).toBe("cut off");
    const hasEnded = (child: number | string): boolean =>
      !existsSync(`/proc/${child}/maps`) || readFileSync(`/proc/${child}/stat`, "utf8").split(" ")[2] === "Z";
    await waitFor(() => searching.every(hasEnded));
    server = await serve(place.directory);
    expect(await total(TUBES)).toBe(COUNT);
  },
  60_000,
);
