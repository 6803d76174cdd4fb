import { afterEach, beforeEach, expect, test } from "bun:test";
import { MIGRATIONS } from "../../db/index.ts";
import { expireJobs, openSweeper } from "../../src/scoring/jobs/expiry.ts";
import type { JobRequest } from "../../src/scoring/jobs/job.ts";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { type Database, openDatabase } from "../../src/platform/sqlite.ts";

const DAY = 86_400_000;
const SCORING_VERSION = { corpus: "c", method: "m" };
const START = Date.UTC(2026, 1, 3);

let now: number;
let ids: number;
let database: Database;
let store: JobStore;
const clock = { now: () => now, newId: () => `job-${++ids}` };

beforeEach(() => {
  now = START;
  ids = 0;
  database = openDatabase(":memory:", MIGRATIONS);
  store = new JobStore({ database, clock, scoringVersion: () => SCORING_VERSION, retention: 90 * DAY });
});
afterEach(() => database.close());

const request = (query: string): JobRequest => ({
  identifier: "i",
  query,
  model: "continuous",
  patterns: [],
});
const results = (): number => (database.query("SELECT count(*) AS n FROM result").get() as { n: number }).n;

async function finished(query: string): Promise<string> {
  const id = await store.insert(request(query));
  const lease = store.lease(1);
  if (lease) store.finish(lease, SCORING_VERSION, '{"a":1}');
  expect(store.get(id).state).toBe("finished");
  return id;
}

test("a job expires after the retention time, with a reason", async () => {
  const id = await finished("MKL");
  expect(store.get(id).expires).toBe(START + 90 * DAY);
  expect(expireJobs(database, START + 90 * DAY - 1)).toBe(0);
  expect(store.prediction(id)).toEqual({ a: 1 } as never);
  expect(expireJobs(database, START + 90 * DAY)).toBe(1);
  expect(store.get(id)).toMatchObject({
    state: "expired",
    expires: null,
    failure: "The job ended as finished on 2026-02-03 and was kept for 90 days (setting job_retention_days).",
  });
  expect(store.prediction(id)).toBeNull();
  expect(store.request(id)).toBeNull();
  expect(results()).toBe(0);
  expect(expireJobs(database, START + 900 * DAY)).toBe(0);
  expect(() => store.cancel(id)).toThrow(expect.objectContaining({ code: "conflict" }));
});

test("an expired job keeps nothing of its query", async () => {
  const id = await finished("MSECRETSEQVENCE");
  expireJobs(database, now + 91 * DAY);
  const row = JSON.stringify(database.query("SELECT * FROM job WHERE id = ?").get(id));
  expect(row).not.toContain("SECRET");
  expect(row).toContain('"digest":""');
});

test("failed and cancelled jobs expire, waiting and running ones do not", async () => {
  const failed = await store.insert(request("F"));
  store.fail(store.lease(1)!.rid, "No.");
  const cancelled = await store.insert(request("C"));
  store.cancel(cancelled);
  const running = await store.insert(request("R"));
  store.lease(1);
  const queued = await store.insert(request("Q"));
  expect(expireJobs(database, now + 1000 * DAY)).toBe(2);
  const states = [failed, cancelled, running, queued].map((id) => store.get(id).state);
  expect(states).toEqual(["expired", "expired", "running", "queued"]);
  expect(store.get(failed).failure).toContain("ended as failed on");
});

test("a shared result is deleted with its last job", async () => {
  const first = await finished("SAME");
  now += 50 * DAY;
  const second = await finished("SAME");
  expect(results()).toBe(1);
  now = START + 95 * DAY;
  expect(expireJobs(database, now)).toBe(1);
  expect(store.get(first).state).toBe("expired");
  expect(store.prediction(second)).toEqual({ a: 1 } as never);
  now = START + 141 * DAY;
  expect(expireJobs(database, now)).toBe(1);
  expect(results()).toBe(0);
  const third = await store.insert(request("SAME"));
  expect(store.get(third).state).toBe("queued");
});

test("without a retention time nothing expires", async () => {
  store = new JobStore({ database, clock, scoringVersion: () => SCORING_VERSION });
  const id = await finished("MKL");
  expect(store.get(id).expires).toBeNull();
  expect(expireJobs(database, now + 100_000 * DAY)).toBe(0);
});

test("the sweeper expires jobs in batches and logs their number", async () => {
  const all = await Promise.all(Array.from({ length: 450 }, () => store.insert(request("SAME"))));
  store.finish(store.lease(1)!, SCORING_VERSION, "{}");
  now += 91 * DAY;
  const said: unknown[] = [];
  const log = {
    info: (event: string, fields: unknown) => void said.push([event, fields]),
    problem: () => {},
  };
  const sweeper = openSweeper({ database, clock, log }, 60_000, 1);
  expect(said).toEqual([["jobs expired", { expired: 200 }]]);
  while (said.length < 3) await Bun.sleep(1);
  sweeper.close();
  expect(said[2]).toEqual(["jobs expired", { expired: 50 }]);
  expect(new Set(all.map((id) => store.get(id).state))).toEqual(new Set(["expired"]));
  expect(results()).toBe(0);
});

test("the sweeper logs a failed write and tries again", async () => {
  const id = await finished("MKL");
  now += 91 * DAY;
  const problems: string[] = [];
  const log = { info: () => {}, problem: (event: string) => void problems.push(event) };
  database.run("PRAGMA query_only = 1");
  const sweeper = openSweeper({ database, clock, log }, 1);
  expect(problems).toEqual(["expiry"]);
  database.run("PRAGMA query_only = 0");
  while (store.get(id).state !== "expired") await Bun.sleep(1);
  sweeper.close();
});
