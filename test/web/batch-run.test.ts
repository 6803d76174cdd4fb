import { afterEach, expect, spyOn, test } from "bun:test";
import type { Item } from "../../src/web/batch/batch.ts";
import { BatchRun } from "../../src/web/batch/run.ts";
import { makeScan } from "../../src/scoring/results/scan.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const SCAN = makeScan(SAMPLE);
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
    const headers = after === undefined ? {} : { "Retry-After": after };
    return typeof body === "string"
      ? new Response(body, { status, headers })
      : Response.json(body, { status, headers });
  }) as unknown as typeof fetch);
  return asked;
}

const items = (offset: number) => `GET /api/scoring/batches/b/items?offset=${offset}`;
const job = (id: string) => `GET /api/scoring/jobs/${id}`;
const scan = (id: string) => `${job(id)}/scan`;
const item = (position: number, more: Partial<Item> = {}): Item => ({
  position,
  name: `protein ${position}`,
  line: null,
  group: 0,
  job: `j${position}`,
  state: "queued",
  failure: null,
  ...more,
});

/** Follows jobs until all have ended. @returns the run, and the outcomes at each change */
async function follow(known: Item[]) {
  const seen: string[] = [];
  const run: BatchRun = new BatchRun("b", known, () =>
    seen.push(run.outcomes.map(({ kind }) => kind).join()),
  );
  await run.start();
  return { run, seen };
}

test("follows the jobs of a batch in their order, and reads their matches", async () => {
  const waiting = item(1, { state: "waiting", job: null });
  const asked = serve({
    [items(0)]: [
      [200, { total: 2, items: [item(0, { state: "running" }), waiting] }],
      [200, { total: 2, items: [item(0, { state: "finished" }), item(1)] }],
    ],
    [items(1)]: [[200, { total: 2, items: [item(1, { state: "failed", failure: "No memory." })] }]],
    [scan("j0")]: [[200, SCAN]],
  });
  const { run, seen } = await follow([item(0), waiting]);
  expect(seen).toEqual(["active,unsent", "active,active", "done,active", "done,active", "done,failed"]);
  expect(run.outcomes).toEqual([
    { kind: "done", protein: SCAN.protein, best: expect.any(Array) },
    { kind: "failed", message: "No memory." },
  ]);
  expect(asked).toEqual([items(0), items(0), scan("j0"), items(1)]);
});

test.each<[state: Partial<Item>, message: string]>([
  [{ state: "failed", failure: "Too long.", job: null }, "Too long."],
  [{ state: "cancelled" }, "The job is cancelled."],
  [{ state: "finished" }, "Not found."],
])("a job that ended as %j has failed: %s", async (state, message) => {
  serve({ [items(0)]: [[200, { total: 1, items: [item(0, state)] }]] });
  const { run } = await follow([item(0)]);
  expect(run.outcomes).toEqual([{ kind: "failed", message }]);
});

test("waits while the server does not respond", async () => {
  const all = [200, { total: 1, items: [item(0, { state: "finished" })] }] as Reply;
  const busy = [503, { code: "busy", message: "Busy." }, "0.01"] as Reply;
  serve({ [items(0)]: [busy, all], [scan("j0")]: [busy, [200, SCAN]] });
  const { seen } = await follow([item(0)]);
  expect(seen).toEqual(["unsent", "unsent", "done"]);
});

test("a closed page stops following", async () => {
  const asked = serve({ [items(0)]: [[200, { total: 1, items: [item(0)] }]] });
  const run: BatchRun = new BatchRun("b", [item(0)], () => run.stop());
  await run.start();
  expect(asked).toEqual([items(0)]);
});
