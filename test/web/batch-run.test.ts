import { afterEach, expect, spyOn, test } from "bun:test";
import { newBatch } from "../../src/web/batch/batch.ts";
import { BatchRun } from "../../src/web/batch/run.ts";
import { printReport } from "../../src/scoring/results/result-format.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const TABLE = printReport(SAMPLE, "tsv") as string;
type Reply = [status: number, body: unknown, retryAfter?: string];

let fetched: { mockRestore(): void } | undefined;
afterEach(() => fetched?.mockRestore());

/** A server that answers each request by the next of its replies; the last one stays. */
function serve(replies: Record<string, Reply[]>): string[] {
  const asked: string[] = [];
  fetched = spyOn(globalThis, "fetch").mockImplementation((async (address: string, init: RequestInit) => {
    const request = `${init.method} ${address}`;
    asked.push(request);
    const list = replies[request];
    if (!list) return Response.json({ code: "not_found", message: "Not found." }, { status: 404 });
    const [status, body, after] = list.length > 1 ? list.shift()! : list[0];
    if (status === 0) throw new TypeError("offline");
    const headers = after === undefined ? {} : { "Retry-After": after };
    return typeof body === "string"
      ? new Response(body, { status, headers })
      : Response.json(body, { status, headers });
  }) as unknown as typeof fetch);
  return asked;
}

const POST = "POST /api/scoring/jobs";
const job = (id: string) => `GET /api/scoring/jobs/${id}`;
const entry = (name: string, sequence: string | null = "MKT") => ({ name, sequence });
const batchOf = (...names: string[]) =>
  newBatch(
    names.map((name) => entry(name)),
    ["P..P"],
    [],
    "continuous",
  );

/** Follows a batch until all its jobs have ended. @returns the run, and the outcomes or the reason to wait at each change */
async function follow(batch: ReturnType<typeof batchOf>) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen: string[] = [];
  const run: BatchRun = new BatchRun(batch, () => {
    seen.push(run.waiting ?? run.outcomes.map(({ kind }) => kind).join());
    if (run.outcomes.every(({ kind }) => kind === "done" || kind === "failed")) resolve();
  });
  run.start();
  await promise;
  return { run, seen };
}

const P53 = {
  accession: "P04637",
  gene: "TP53",
  name: "Cellular tumor antigen p53; a=b ",
  organism: "Homo sapiens",
};

test("submits a job, follows it and reads its table", async () => {
  const asked = serve({
    [POST]: [[201, { id: "j1" }]],
    [job("j1")]: [
      [200, { state: "running", ended: null }],
      [200, { state: "finished", ended: "2026-01-01T00:00:00Z" }],
    ],
    [`${job("j1")}/result?format=tsv`]: [[200, TABLE]],
  });
  const batch = batchOf("one");
  const { run, seen } = await follow(batch);
  expect(seen).toEqual(["active", "active", "done"]);
  expect(run.outcomes).toEqual([{ kind: "done", table: TABLE, names: P53, summaries: expect.any(Array) }]);
  expect(batch.items[0]).toMatchObject({ job: "j1", query: null });
  expect(run.waiting).toBeNull();
  // This process has no browser storage.
  expect(run.isStored).toBe(false);
  expect(asked).toEqual([POST, job("j1"), job("j1"), `${job("j1")}/result?format=tsv`]);
});

test.each<[string, Reply, string]>([
  ["refused", [400, { code: "invalid_request", message: "Too long." }], "Too long."],
  ["refused by a proxy", [403, "<html>"], "403"],
])("a %s job fails with the reason", async (_, reply, message) => {
  const asked = serve({ [POST]: [reply] });
  const { run } = await follow(batchOf("one"));
  expect(run.outcomes).toEqual([{ kind: "failed", message: expect.stringContaining(message) }]);
  expect(asked).toEqual([POST]);
});

test.each<[state: object, message: string]>([
  [{ state: "failed", failure: "No memory." }, "No memory."],
  [{ state: "cancelled", failure: null }, "The job is cancelled."],
])("the client reports a job that ended as %j as failed: %s", async (state, message) => {
  serve({ [POST]: [[201, { id: "j1" }]], [job("j1")]: [[200, { ...state, ended: "2026-01-01T00:00:00Z" }]] });
  const { run } = await follow(batchOf("one"));
  expect(run.outcomes).toEqual([{ kind: "failed", message }]);
});

test("waits while the queue is full and while the server does not respond", async () => {
  serve({
    [POST]: [
      [429, { code: "queue_full", message: "The queue is full." }, "0.01"],
      [503, { code: "busy", message: "Busy." }, "0.01"],
      [201, { id: "j1" }],
    ],
    [job("j1")]: [
      [0, ""],
      [502, "<html>"],
      [404, { code: "not_found", message: "Not found." }],
    ],
  });
  const { run, seen } = await follow(batchOf("one"));
  expect(seen).toEqual(["The queue is full.", "Busy.", "active", "failed"]);
  expect(run.outcomes).toEqual([{ kind: "failed", message: "Not found." }]);
});

test("continues with jobs that were submitted before, and skips those without a query", async () => {
  const asked = serve({ [job("j7")]: [[200, { state: "failed", failure: "No.", ended: "2026-01-01" }]] });
  const batch = batchOf("one", "two");
  Object.assign(batch.items[0], { job: "j7", query: null });
  Object.assign(batch.items[1], { query: null });
  const { run } = await follow(batch);
  expect(run.outcomes).toEqual([
    { kind: "failed", message: "No." },
    { kind: "failed", message: "Not sent." },
  ]);
  expect(asked).toEqual([job("j7")]);
});

test("cancels the jobs that have not ended", async () => {
  const asked = serve({ "DELETE /api/scoring/jobs/j1": [[204, ""]] });
  const batch = batchOf("one", "two", "three");
  Object.assign(batch.items[0], { job: "j1", query: null });
  Object.assign(batch.items[1], { job: "ended", query: null });
  const run = new BatchRun(batch, () => {});
  await run.cancel();
  expect(run.outcomes).toEqual([
    { kind: "failed", message: "Cancelled." },
    { kind: "active", state: "queued" },
    { kind: "failed", message: "Not sent." },
  ]);
  expect(batch.items[2].query).toBeNull();
  expect(asked).toEqual(["DELETE /api/scoring/jobs/j1", "DELETE /api/scoring/jobs/ended"]);
  run.start();
  expect(asked).toHaveLength(2);
});
