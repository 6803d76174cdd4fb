import { afterEach, beforeEach, expect, test } from "bun:test";
import { expireJobs, openSweeper } from "../../src/scoring/jobs/expiry.ts";
import { openQueue, START, readPrediction } from "./job-queue.ts";
import { waitFor } from "../wait.ts";

const DAY = 86_400_000;

let queue: ReturnType<typeof openQueue>;
beforeEach(() => void (queue = openQueue({ retention: 90 * DAY })));
afterEach(() => queue.database.close());

const expire = (day: number): number => expireJobs(queue.database, START + day * DAY);
const results = (): unknown => queue.database.query("SELECT count(*) AS n FROM result").get();

async function finished(query: string): Promise<string> {
  const [id] = await queue.insert(`a ${query}`);
  if (queue.store.get(id).state === "queued") queue.finishNext('{"a":1}');
  return id;
}

test("a job expires after the retention time, with a reason, and keeps nothing of its query", async () => {
  const { store, database } = queue;
  const id = await finished("MSECRETSEQVENCE");
  expect(store.get(id).expires).toBe(START + 90 * DAY);
  expect(expireJobs(database, START + 90 * DAY - 1)).toBe(0);
  expect(readPrediction(store, id)).toEqual({ a: 1 } as never);
  expect(expire(90)).toBe(1);
  expect(store.get(id)).toMatchObject({
    state: "expired",
    expires: null,
    failure: "The job ended as finished on 2026-02-03 and was kept for 90 days (setting job_retention_days).",
  });
  expect([readPrediction(store, id), store.request(id), results()]).toEqual([null, null, { n: 0 }]);
  const row = JSON.stringify(database.query("SELECT * FROM job").get());
  expect(row).not.toContain("SECRET");
  expect(row).toContain('"digest":""');
  expect(expire(900)).toBe(0);
  expect(() => store.cancel(id)).toThrow(expect.objectContaining({ code: "conflict" }));
});

test("failed and cancelled jobs expire, queued and running ones do not", async () => {
  const { store, insert, states } = queue;
  const ids = await insert("a F", "a C", "a R", "a Q");
  store.fail(store.lease(1)!.rid, "No.");
  store.cancel(ids[1]);
  store.lease(1);
  expect(expire(1000)).toBe(2);
  expect(states(ids)).toEqual(["expired", "expired", "running", "queued"]);
  expect(store.get(ids[0]).failure).toContain("ended as failed on");
});

test("a shared result is deleted with its last job", async () => {
  const { store, insert, pass, states } = queue;
  const first = await finished("SAME");
  pass(50 * DAY);
  const second = await finished("SAME");
  expect(results()).toEqual({ n: 1 });
  expect(expire(95)).toBe(1);
  expect(states([first, second])).toEqual(["expired", "finished"]);
  expect(readPrediction(store, second)).toEqual({ a: 1 } as never);
  expect(expire(141)).toBe(1);
  expect(results()).toEqual({ n: 0 });
  expect(states(await insert("a SAME"))).toEqual(["queued"]);
});

test("no job expires without a retention time", async () => {
  queue = openQueue();
  const id = await finished("MKL");
  expect(queue.store.get(id).expires).toBeNull();
  expect(expire(100_000)).toBe(0);
});

test("the sweeper expires jobs in batches and logs their number", async () => {
  const { clock, database, insert, pass, finishNext, states } = queue;
  const all = await insert(...Array<string>(450).fill("a SAME"));
  finishNext();
  pass(91 * DAY);
  const logged: unknown[] = [];
  const log = { info: (...words: unknown[]) => void logged.push(words), problem: () => {} };
  const sweeper = openSweeper({ database, clock, log }, 60_000, 1);
  expect(logged).toEqual([["jobs expired", { expired: 200 }]]);
  await waitFor(() => logged.length >= 3);
  sweeper.close();
  expect(logged[2]).toEqual(["jobs expired", { expired: 50 }]);
  expect(new Set(states(all))).toEqual(new Set(["expired"]));
  expect(results()).toEqual({ n: 0 });
});

test("the sweeper logs a failed write and retries", async () => {
  const { clock, database, pass, store } = queue;
  const id = await finished("MKL");
  pass(91 * DAY);
  const problems: string[] = [];
  const log = { info: () => {}, problem: (event: string) => void problems.push(event) };
  database.run("PRAGMA query_only = 1");
  const sweeper = openSweeper({ database, clock, log }, 1);
  expect(problems).toEqual(["expiry"]);
  database.run("PRAGMA query_only = 0");
  await waitFor(() => store.get(id).state === "expired");
  sweeper.close();
});
