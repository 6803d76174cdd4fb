import { afterEach, beforeEach, describe, expect, mock, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { Corpora } from "../../src/scoring/corpus/corpus.ts";
import { Pool } from "../../src/scoring/jobs/pool.ts";
import type { JobSource, PoolOptions } from "../../src/scoring/jobs/pool-options.ts";
import { JobStore, type JobView } from "../../src/scoring/jobs/store.ts";
import { resolveWorkerUrl } from "../../src/platform/worker-address.ts";
import { workerAddress } from "../../src/scoring/jobs/worker-entrypoints.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { trackMemory } from "../../src/platform/memory.ts";
import { closeDatabase, type Database, openWriter } from "../../src/platform/sqlite.ts";
import { getWriteLock } from "../../src/platform/write-lock.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";
import { readPrediction } from "./job-queue.ts";
import { openMigrated } from "../database.ts";
import { runPending, waitFor } from "../wait.ts";

const FAULTY_WORKER = new URL("./faulty-worker.ts", import.meta.url).href;

let directory: string;
let database: Database;
let store: JobStore;
let corpora: Corpora;
let pool: Pool;
let logged: Record<string, unknown>[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-pool-"));
  database = openMigrated(join(directory, "labd.sqlite"));
  corpora = new Corpora(directory, database, systemClock);
  store = new JobStore({ database, clock: systemClock, scoringVersion: () => corpora.scoringVersion() });
  logged = [];
});
afterEach(() => {
  pool.close();
  closeDatabase(database);
  rmSync(directory, { recursive: true, force: true });
});

function open(options: Partial<PoolOptions> = {}): Pool {
  const log = {
    info: () => {},
    problem: (event: string, fields: Record<string, unknown> = {}) => void logged.push({ event, ...fields }),
  };
  // As the service has it.
  const source: JobSource = {
    lease: (milliseconds) => store.lease(milliseconds),
    finish: (lease, scoringVersion, prediction) => store.finishInGroup(lease, scoringVersion, prediction),
    fail: (rid, reason) => store.fail(rid, reason),
    retry: (rid, attempts, reason) => store.retry(rid, attempts, reason),
    release: (rid, counted) => store.release(rid, counted),
  };
  return (pool = new Pool({
    store: source,
    corpora,
    log,
    size: 2,
    timeout: 20_000,
    workerUrl: FAULTY_WORKER,
    ...options,
  }));
}

let queries = 0;
/** A job that makes the odd worker do this. Each has a query of its own, so that no result is reused. */
async function submit(word: string, query = `Q${"A".repeat(++queries)}`): Promise<string> {
  const id = await store.insert({ identifier: word, query, model: "continuous", patterns: [] });
  pool.wake();
  return id;
}

const state = (id: string): string => store.get(id).state;
/** A finished job. On a busy machine the first ones may miss the deadline. */
async function finished(): Promise<string> {
  for (;;) {
    const id = await submit("finish");
    await waitFor(() => ["finished", "failed"].includes(state(id)));
    if (state(id) === "finished") return id;
  }
}
/** Cancels a job, as the service does. */
function cancel(id: string): JobView {
  const job = store.cancel(id);
  pool.drop(id);
  return job;
}

test("finishes every job", async () => {
  open({ size: 3 });
  const ids = await Promise.all(Array.from({ length: 40 }, () => submit("finish")));
  await waitFor(() => store.counts().finished === 40);
  const answers = ids.map((id) => (readPrediction(store, id) as unknown as { query: string }).query);
  expect(answers).toEqual(ids.map((id) => store.request(id)!.query));
});

test("the queue stays unchanged without workers", async () => {
  open({ size: 0 });
  const id = await submit("finish");
  await runPending();
  expect(state(id)).toBe("queued");
});

test("reports the progress of running jobs only", async () => {
  open({ size: 1 });
  const id = await submit("progress");
  await waitFor(() => pool.progress(id)?.stage === "homologs");
  expect(pool.progress(id)).toEqual({ stage: "homologs", fraction: 0.25 });
  expect(state(id)).toBe("running");
  pool.close();
  expect(pool.progress(id)).toBeNull();
});

test("reports when a job starts, reaches another stage and ends", async () => {
  const reports: string[] = [];
  let id = "";
  open({ size: 1, changed: () => void reports.push(`${state(id)} ${pool.progress(id)?.stage}`) });
  id = await store.insert({ identifier: "progress", query: "MKL", model: "continuous", patterns: [] });
  pool.wake();
  await waitFor(() => reports.length === 2);
  cancel(id);
  expect(reports).toEqual(["running start", "running homologs", "cancelled undefined"]);
});

test("fails a job on an error and writes the cause only to the log", async () => {
  open({ size: 1 });
  const hidden = await submit("fail");
  const shown = await submit("fail-with");
  await waitFor(() => store.counts().failed === 2);
  expect(store.get(hidden).failure).toContain("defect of the program");
  expect(store.get(shown).failure).toBe("The corpus is gone.");
  expect(logged).toEqual([
    { event: "job", job: hidden, cause: "secret stack" },
    { event: "job", job: shown, cause: "secret stack" },
  ]);
});

test.each(["throw", "reject", "exit"])(
  "retries a job after a crash (%s), then fails it, and continues",
  async (word) => {
    open({ size: 1 });
    const id = await submit(word);
    const after = await submit("finish");
    await waitFor(() => state(after) === "finished");
    expect(store.get(id)).toMatchObject({ state: "failed" });
    expect(store.get(id).failure).toContain("ended 2 times");
    expect(logged.filter(({ event }) => event === "worker").map(({ attempts }) => attempts)).toEqual([1, 2]);
  },
);

test("finishes a job after one crash", async () => {
  open({ size: 1 });
  const id = await submit(`die-once ${join(directory, "died")}`);
  await waitFor(() => state(id) === "finished");
  expect(logged.length).toBe(1);
});

test("ends a worker at the deadline and starts another", async () => {
  open({ size: 1, timeout: 300 });
  const id = await submit("spin");
  const after = await finished();
  expect(store.get(id)).toMatchObject({ state: "failed" });
  expect(store.get(after).started!).toBeGreaterThanOrEqual(store.get(id).ended!);
  expect(store.get(id).failure).toContain("0.3 seconds");
});

test("ends a worker that takes too much memory, and finishes the other jobs", async () => {
  open({ size: 2, workerMemory: 100 * 1024 * 1024 });
  const id = await submit("grow");
  const after = await submit("finish");
  await waitFor(() => state(after) === "finished" && state(id) === "failed");
  expect(store.get(id).failure).toMatch(/stopped 2 times because the service took more than \d+ MB/);
  const last = await submit("finish");
  await waitFor(() => state(last) === "finished");
});

test("does not count mapped files as memory of the workers", async () => {
  const path = join(directory, "corpus");
  writeFileSync(path, "");
  truncateSync(path, 64 * 1024 * 1024);
  open({ size: 1, workerMemory: 200 * 1024 * 1024 });
  const id = await submit(`map ${path}`);
  await waitFor(() => pool.progress(id)?.stage === "homologs");
  // The memory is checked four times a second.
  await Bun.sleep(1000);
  rmSync(path);
  await waitFor(() => state(id) === "finished");
  expect(logged).toEqual([]);
});

test("ends a process that is not needed before a job", async () => {
  const path = join(directory, "corpus");
  writeFileSync(path, "x".repeat(65_536));
  open({ size: 1, workerMemory: 200 * 1024 * 1024 });
  const script =
    "globalThis.bytes = new Uint8Array(300_000_000).fill(1); console.log(1); setInterval(() => {}, 1000)";
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  await child.stdout.getReader().read();
  const uncount = trackMemory(child.pid, () => {
    uncount();
    child.kill();
    return true;
  });
  const id = await submit(`map ${path}`);
  await child.exited;
  rmSync(path);
  await waitFor(() => state(id) === "finished");
  expect(logged).toEqual([]);
});

test("frees the worker of a cancelled job", async () => {
  open({ size: 1 });
  const id = await submit("spin");
  const after = await submit("finish");
  expect(state(id)).toBe("running");
  expect(cancel(id)).toMatchObject({ id, state: "cancelled", failure: "The job was cancelled." });
  expect(pool.progress(id)).toBeNull();
  await waitFor(() => state(after) === "finished");
  expect(state(id)).toBe("cancelled");
  expect(cancel(id).state).toBe("cancelled");
  expect(() => cancel(after)).toThrow(expect.objectContaining({ code: "conflict" }));
  expect(() => cancel("none")).toThrow(expect.objectContaining({ code: "unknown_job" }));
  expect(logged).toEqual([]);
});

test("requeues running jobs on close, without counting the attempt", async () => {
  open({ size: 2 });
  const ids = [await submit("spin"), await submit("wait"), await submit("finish")];
  await waitFor(() => store.counts().running === 2);
  pool.close();
  expect(ids.map(state)).toEqual(["queued", "queued", "queued"]);
  expect(store.recover()).toEqual({ requeued: 0, failed: 0 });
  expect(store.lease(1)!.attempts).toBe(1);
});

test("keeps a result until the disk accepts it", async () => {
  open({ size: 1, retryInterval: 10 });
  database.run(
    "CREATE TEMP TRIGGER full BEFORE INSERT ON result BEGIN SELECT RAISE(ABORT, 'disk full'); END",
  );
  const id = await submit("finish");
  const other = await submit("fail");
  await waitFor(() => logged.length >= 3);
  expect([state(id), state(other)]).toEqual(["running", "failed"]);
  expect(logged.some(({ cause }) => String(cause).includes("disk full"))).toBe(true);
  database.run("DROP TRIGGER full");
  await waitFor(() => state(id) === "finished");
  expect(readPrediction(store, id)).toMatchObject({ query: store.request(id)!.query });
});

test("writes a result once an import has unlocked the database", async () => {
  const lock = getWriteLock(database);
  const refused = mock(() => lock.free());
  open({ size: 1, retryInterval: 60_000, waitUntilWritable: refused });
  const [first, second] = [await submit("finish"), await submit("finish")];
  const writer = openWriter(database.filename);
  const over = Promise.withResolvers<void>();
  const held = lock.hold(async () => {
    writer.run("BEGIN IMMEDIATE");
    await over.promise;
    writer.run("COMMIT");
  });
  await waitFor(() => refused.mock.calls.length > 0);
  expect(store.counts()).toMatchObject({ finished: 0 });
  over.resolve();
  await held;
  writer.close();
  await waitFor(() => state(first) === "finished" && state(second) === "finished");
  expect(logged).toEqual([]);
});

test("continues with the queue once the disk accepts writes", async () => {
  open({ size: 1, retryInterval: 10 });
  database.run(
    "CREATE TEMP TRIGGER full BEFORE UPDATE ON job WHEN new.state = 'running' BEGIN SELECT RAISE(ABORT, 'disk full'); END",
  );
  const id = await submit("finish");
  await waitFor(() => logged.length >= 2);
  expect(state(id)).toBe("queued");
  database.run("DROP TRIGGER full");
  await waitFor(() => state(id) === "finished");
});

describe("idle workers", () => {
  const hits = (id: string): number[] | undefined =>
    (readPrediction(store, id) as unknown as { hits?: number[] }).hits;
  /** A pool of two whose first worker has had a job and gets the next one too; the second one only helps. */
  async function openPair(options: Partial<PoolOptions> = {}): Promise<void> {
    await corpora.add({ name: "one", bytes: ">a\nMKL" });
    open({ size: 2, minSharedSequences: 1, ...options });
    const first = await finished();
    expect(hits(first)).toHaveLength(2);
    logged.length = 0;
  }

  test("idle workers share the search of a large corpus", async () => {
    await openPair();
    const ids = await Promise.all(Array.from({ length: 20 }, () => submit("finish")));
    await waitFor(() => ids.every((id) => state(id) === "finished"));
    // While another waits nobody helps; the last one has nobody behind it.
    for (const id of ids) expect([1, 2]).toContain(hits(id)!.length);
    const alone = await submit("finish");
    await waitFor(() => state(alone) === "finished");
    expect(hits(alone)).toHaveLength(2);
  });

  test.each(["DIE", "FAIL"])(
    "if an idle worker dies (%s), the worker of the job searches alone",
    async (query) => {
      await openPair();
      const id = await submit("finish", query);
      await waitFor(() => state(id) === "finished");
      expect(hits(id)).toBeUndefined();
      expect(database.query("SELECT attempts FROM job WHERE id = ?").get(id)).toEqual({ attempts: 1 });
      expect(logged.map(({ event }) => event)).toEqual(query === "DIE" ? ["worker"] : []);
      const next = await submit("finish");
      await waitFor(() => state(next) === "finished");
      expect(hits(next)).toHaveLength(2);
    },
  );

  test("idle workers that hang end with the deadline of the job", async () => {
    await openPair({ timeout: 300 });
    const id = await submit("finish", "SPIN");
    await waitFor(() => state(id) === "failed");
    expect(store.get(id).failure).toContain("0.3 seconds");
    const next = await finished();
    expect(hits(next)).toHaveLength(2);
    expect(logged).toEqual([]);
  });

  test("idle workers that hang end when the job is cancelled or the pool closes", async () => {
    await openPair();
    const id = await submit("finish", "SPIN");
    cancel(id);
    const next = await submit("finish");
    await waitFor(() => state(next) === "finished");
    expect(hits(next)).toHaveLength(2);
    const last = await submit("finish", "SPINS");
    pool.close();
    expect(state(last)).toBe("queued");
  });
});

test("gives the same predictions with one and three workers", async () => {
  const next = random(7);
  const founder = randomProtein(next, 120);
  const letters = (codes: Uint8Array): string => decode(codes);
  // More than two of the parts that workers take in turns, relatives in all of them.
  const records = Array.from({ length: 20_000 }, (_, i) =>
    i % 400 === 0 ? mutated(next, founder, 0.2 + i / 40_000) : randomProtein(next, 60),
  );
  await corpora.add({
    name: "parts",
    bytes: records.map((codes, i) => `>R${i}\n${letters(codes)}\n`).join(""),
  });
  const patterns = [{ expression: "[ST]P|L..[DE]", name: null, dialect: "plain" as const }];
  const found: string[][] = [];
  for (const size of [1, 3]) {
    open({ size, workerUrl: workerAddress(), minSharedSequences: 1 });
    // Results are kept by question: the identifiers differ, the queries' ends too.
    const queries = [0, 20].map((cut) => letters(founder.subarray(cut)));
    const ids = await Promise.all(
      queries.map((query) => store.insert({ identifier: "", query, model: "continuous", patterns })),
    );
    pool.wake();
    await waitFor(() => ids.every((id) => state(id) === "finished"));
    found.push(ids.map((id) => JSON.stringify(readPrediction(store, id))));
    pool.close();
    database.run("DELETE FROM job");
    database.run("DELETE FROM result");
  }
  expect(JSON.parse(found[0][0]).homologs.length).toBeGreaterThan(20);
  expect(found[1]).toEqual(found[0]);
});

test("starts the real worker from source, which reports a missing corpus", async () => {
  open({ size: 1, workerUrl: workerAddress() });
  const { path } = await corpora.add({ name: "one", bytes: ">a\nMKL" });
  rmSync(path);
  const id = await submit("anything");
  await waitFor(() => state(id) === "failed");
  expect(store.get(id).failure).toMatch(/^corpora\/[0-9a-f]{64}\.labc cannot be read\.$/);
});

test("jobs keep running when their corpus is truncated, and reading it again fails jobs but not the process", async () => {
  const options = { size: 2, workerUrl: workerAddress() };
  open(options);
  const { path } = await corpora.add({ name: "one", bytes: ">a\nMKLACDEFGHIKLMNPQRSTVWY" });
  const before = await submit("anything");
  await waitFor(() => state(before) === "finished");
  truncateSync(path, 0);
  const after = await submit("anything");
  await waitFor(() => state(after) === "finished");
  pool.close();
  open(options);
  const later = [await submit("anything"), await submit("anything")];
  await waitFor(() => later.every((id) => state(id) === "failed"));
  for (const id of later)
    expect(store.get(id).failure).toMatch(
      /^corpora\/\S+ is truncated or altered: .* Add the corpus again\.$/,
    );
});

test.skipIf(process.platform !== "linux")("lowers only the priority of workers", async () => {
  const threads = (): string[] => readdirSync("/proc/self/task");
  /** proc(5), field 19; "" where the thread has ended meanwhile. */
  const readNiceness = (thread: string): string => {
    try {
      return readFileSync(`/proc/self/task/${thread}/stat`, "utf8").split(") ")[1].split(" ")[16];
    } catch {
      return "";
    }
  };
  const before = new Set(threads());
  open({ size: 1, workerUrl: workerAddress() });
  const id = await submit("anything");
  await waitFor(() => state(id) === "finished");
  const others = threads().filter((thread) => !before.has(thread));
  // The tests themselves may have been started with one.
  const own = getPriority();
  expect(readNiceness(String(process.pid))).toBe(String(own));
  expect(others.map(readNiceness)).toContain(String(Math.min(own + 5, 19)));
});

test.each([
  ["file:///opt/labd/src/platform/worker-address.ts", "file:///opt/labd/src/scoring/worker.ts"],
  ["file:///$bunfs/root/labd", "file:///$bunfs/root/scoring/worker.ts"],
  ["file:///B:/~BUN/top/labd.exe", "file:///B:/~BUN/top/scoring/worker.ts"],
])("the module %s finds the worker %s", (module, worker) => {
  expect(resolveWorkerUrl("scoring/worker.ts", module)).toBe(worker);
});
