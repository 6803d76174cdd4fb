import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { openScoring } from "../../src/scoring/index.ts";
import { E7 } from "../executable/messages.ts";
import { openScoringAlone, P53, type ParsedResponse, type ScoringAlone } from "./scoring-harness.ts";
import { waitFor } from "../wait.ts";

/** Batches on the server, in memory; test/executable/batch-kill.test.ts kills the server. */

setDefaultTimeout(300_000);

let alone: ScoringAlone;
afterEach(() => alone.close());

const open = async (options: Parameters<typeof openScoringAlone>[0] = {}) => {
  alone = await openScoringAlone({ workers: 1, corpus: true, ...options });
};
const post = (body: object, headers: Record<string, string> = {}): Promise<ParsedResponse> =>
  alone.ask("POST", "/batches", { body, headers });
const get = async (id: string, path = ""): Promise<ParsedResponse["json"]> =>
  (await alone.ask("GET", `/batches/${id}${path}`)).json;

const ended = (id: string): Promise<ParsedResponse["json"]> =>
  waitFor(async () => {
    const batch = await get(id);
    return batch.ended !== null && batch;
  });

const TWO = [
  { identifier: "p53", querySequence: P53 },
  { identifier: "E7", querySequence: E7 },
];

test("scores every protein, and shows its jobs in their order", async () => {
  await open();
  const { status, json, headers } = await post({
    proteins: TWO,
    patterns: ["P..P"],
    motifClasses: ["LxCxE"],
  });
  expect(status).toBe(202);
  expect(json).toMatchObject({
    title: "2 proteins, 2 motifs",
    state: "running",
    mayChange: true,
    groups: [[{ expression: "P..P", name: null }, { name: "LxCxE" }]],
    links: {
      self: headers.get("location"),
      items: `${headers.get("location")}/items`,
      events: `http://lab/api/tasks/${json.id}/events`,
    },
  });
  const batch = await ended(json.id);
  expect(batch).toMatchObject({
    state: "finished",
    message: "2 jobs scored.",
    fraction: 1,
    jobs: { total: 2, waiting: 0, queued: 0, running: 0, finished: 2, failed: 0 },
  });
  const { items, total } = await get(json.id, "/items");
  expect(total).toBe(2);
  expect(items).toMatchObject([
    { position: 0, name: "p53", group: 0, state: "finished", failure: null },
    { position: 1, name: "E7", group: 0, state: "finished", failure: null },
  ]);
  const job = (await alone.ask("GET", `/jobs/${items[1].job}`)).json;
  expect(job).toMatchObject({ identifier: "E7", patterns: [{ expression: "P..P" }, { name: "LxCxE" }] });
  expect((await get(json.id, "/items?offset=1&limit=1")).items).toEqual([items[1]]);
});

test("a repeated request with the same Idempotency-Key gets the same batch", async () => {
  await open();
  const body = { proteins: TWO, patterns: ["P..P"] };
  const once = (key: string, more: object = {}) => post({ ...body, ...more }, { "Idempotency-Key": key });
  const [first, again] = [await once("run 17"), await once("run 17")];
  expect([first.status, again.status, again.json.id]).toEqual([202, 202, first.json.id]);
  expect((await once("run 18")).json.id).not.toBe(first.json.id);
  expect(await once("run 17", { patterns: ["P.P"] })).toMatchObject({
    status: 422,
    json: { code: "key_reused" },
  });
  expect(await once("")).toMatchObject({ status: 400 });
});

test("a table is read as by labd score --batch", async () => {
  await open();
  const accession = alone.scoring.corpora.open().accession(0);
  const table = `# comment\n${accession}\tP..P\n${E7}\tL.C.E\n${accession}\tLxCxE\n`;
  const batch = await ended((await post({ table })).json.id);
  expect(batch).toMatchObject({ title: "2 proteins, 3 motifs", jobs: { total: 2, finished: 2 } });
  const { questions } = alone.scoring.readBatch(table);
  expect(batch.groups).toEqual(
    questions.map(({ patterns }) => patterns.map(({ expression, name }) => ({ expression, name }))),
  );
  const list = await ended(
    (await post({ table: `${accession}\nnone1\n`, patterns: ["P..P"], skipInvalid: true })).json.id,
  );
  expect(list).toMatchObject({
    jobs: { total: 1, finished: 1 },
    warnings: [expect.stringContaining("Batch line 2 (“none1”)")],
  });
});

test("a protein that cannot be scored does not stop other proteins", async () => {
  await open();
  const proteins = [
    { accession: "NONE1", line: 7 },
    TWO[1],
    { identifier: "long", querySequence: "A".repeat(1001) },
    {},
  ];
  const batch = await ended((await post({ proteins, patterns: ["L.C.E"] })).json.id);
  expect(batch).toMatchObject({ message: "1 job scored, 3 failed.", jobs: { finished: 1, failed: 3 } });
  expect((await get(batch.id, "/items")).items).toMatchObject([
    {
      name: "NONE1",
      line: 7,
      state: "failed",
      failure: expect.stringContaining("no protein with this accession"),
    },
    { name: "E7", state: "finished" },
    { name: "long", state: "failed", failure: expect.stringContaining("at most 1000 are scored") },
    { name: "sequence 4", state: "failed", failure: expect.stringContaining("give exactly one of") },
  ]);
});

test.each([
  ["proteins: give exactly one of proteins and table.", {}],
  ["proteins: give exactly one of proteins and table.", { proteins: TWO, table: "x", patterns: ["A"] }],
  ["patterns: give a pattern or a motif class.", { proteins: TWO }],
  ["patterns[0]: character", { proteins: TWO, patterns: ["("] }],
  ["motifClasses[0]: No motif class", { proteins: TWO, motifClasses: ["none"] }],
  ["skipInvalid: the parameter is for tables only.", { proteins: TWO, patterns: ["A"], skipInvalid: true }],
  ["The batch has no protein to score.", { proteins: [], patterns: ["A"] }],
  ["2 of 2 batch lines are invalid.", { table: "none1\tP..P\nnone2\tP..P\n" }],
  ["The batch has no protein to score.", { table: "none1\tP..P\n", skipInvalid: true }],
  ["more:", { proteins: TWO, patterns: ["A"], more: 1 }],
])("a batch is refused with “%s”", async (message, body) => {
  await open();
  const { status, json } = await post(body);
  expect([status, json.message]).toEqual([400, expect.stringContaining(message)]);
});

test("jobs wait for room in the queue, and the batch says why", async () => {
  await open({ maxQueuedPerClient: 1 });
  const proteins = Array.from({ length: 6 }, (_, i) => ({ querySequence: P53.slice(i) }));
  const { id } = (await post({ proteins, patterns: ["P..P"] })).json;
  await waitFor(async () => {
    const { message, state } = await get(id);
    expect(state).toBe("running");
    return message.includes("The limit of 1 queued jobs per client is reached.");
  });
  expect(await ended(id)).toMatchObject({ jobs: { finished: 6, failed: 0 } });
});

test("cancelling ends the jobs that wait and keeps results", async () => {
  await open({ workers: 0 });
  const { id } = (await post({ proteins: TWO, patterns: ["P..P"] })).json;
  await waitFor(async () => (await get(id)).jobs.queued === 2);
  const cancelled = await alone.ask("DELETE", `/batches/${id}`);
  expect(cancelled.json).toMatchObject({
    state: "cancelled",
    message: "Cancelled.",
    jobs: { failed: 2, queued: 0 },
  });
  const { items } = await get(id, "/items");
  expect(items.map(({ state }: { state: string }) => state)).toEqual(["cancelled", "cancelled"]);
  expect((await alone.ask("DELETE", `/batches/${id}`)).status).toBe(409);
  expect((await alone.ask("GET", "/batches/none")).status).toBe(404);
});

test("a batch continues after a restart, with each job once", async () => {
  await open({ workers: 0 });
  const proteins = Array.from({ length: 250 }, (_, i) => ({
    identifier: `p${i}`,
    querySequence: E7.slice(i % 20),
  }));
  const { id } = (await post({ proteins, patterns: ["L.C.E"] })).json;
  const { database } = alone;
  const jobs = (): { identifier: string }[] =>
    database
      .query("SELECT json_extract(request, '$.identifier') AS identifier FROM job ORDER BY rid")
      .all() as never;
  await waitFor(() => jobs().length >= 100);
  await alone.scoring.close();
  // A kill between the commit of the jobs and that of the batch.
  database.run("UPDATE batch_item SET query = ?, job = NULL WHERE position < 100", [E7]);
  const second = await openScoring({ ...alone.settings, workers: 1 });
  const count = () => database.query("SELECT state FROM task WHERE id = ?").get(id) as { state: string };
  await waitFor(() => count().state !== "running");
  expect(jobs().map(({ identifier }) => identifier)).toEqual(proteins.map(({ identifier }) => identifier));
  expect(
    database
      .query("SELECT count(*) AS n FROM batch_item JOIN job ON job.rid = job WHERE job.state = 'finished'")
      .get(),
  ).toEqual({ n: 250 });
  await second.close();
});

test("a cancellation that a kill interrupted is finished by the next process", async () => {
  await open({ workers: 0 });
  const { id } = (await post({ proteins: TWO, patterns: ["P..P"] })).json;
  const { database } = alone;
  const jobs = () => database.query("SELECT state FROM job").all() as { state: string }[];
  await waitFor(() => jobs().length >= 2);
  await alone.scoring.close();
  database.run("UPDATE task SET state = 'cancelled', ended = 1 WHERE id = ?", [id]);
  // No worker takes the jobs: the corpus is gone.
  const second = await openScoring({ ...alone.settings, workers: 1 });
  await waitFor(() => jobs().every(({ state }) => state !== "queued"));
  expect(jobs()).toEqual([{ state: "cancelled" }, { state: "cancelled" }]);
  await second.close();
});

test("a client has a limited number of unfinished batches", async () => {
  await open({ workers: 0 });
  for (let i = 0; i < 20; i++) expect((await post({ proteins: TWO, patterns: ["P..P"] })).status).toBe(202);
  const refused = await post({ proteins: TWO, patterns: ["P..P"] });
  expect([refused.status, refused.json.code]).toEqual([503, "busy"]);
});
