import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashRequest, type JobRequest, MAX_INTERRUPTIONS } from "../../src/scoring/jobs/job.ts";
import { expireJobs } from "../../src/scoring/jobs/expiry.ts";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Database } from "../../src/platform/sqlite.ts";
import { getWriteLock } from "../../src/platform/write-lock.ts";
import { openQueue, PREDICTION, request, START, VERSION, readPrediction } from "./job-queue.ts";
import { rejection } from "./rejection.ts";
import { openMigrated } from "../database.ts";
import { runPending } from "../wait.ts";

const directory = mkdtempSync(join(tmpdir(), "labd-store-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Counts the transactions of a database from now on. */
function countCommits(database: Database): () => number {
  let commits = 0;
  const original = database.transaction.bind(database);
  database.transaction = ((inside: () => unknown) => {
    commits++;
    return original(inside);
  }) as typeof database.transaction;
  return () => commits;
}

describe("finishInGroup", () => {
  test("finishes jobs in one transaction with submissions, and finishes identical jobs", async () => {
    const { store, database, insert, states } = openQueue();
    const leases = (await insert("a A", "a C", "a D")).map(() => store.lease(1000)!);
    const commits = countCommits(database);
    const [[same]] = await Promise.all([
      insert("a A"),
      ...leases.map((lease) => store.finishInGroup(lease, VERSION, PREDICTION)),
      insert("a E"),
    ]);
    expect(commits()).toBe(1);
    expect(store.counts()).toMatchObject({ queued: 1, running: 0, finished: 4 });
    expect(states([same])).toEqual(["finished"]);
  });

  test("makes identical jobs available if the corpus has changed", async () => {
    const { store, version, insert } = openQueue();
    await insert("anna A", "anna A");
    const lease = store.lease(1000)!;
    expect(store.lease(1000)).toBeNull();
    version.corpus = "decaf";
    await store.finishInGroup(lease, VERSION, PREDICTION);
    expect(store.lease(1000)).not.toBeNull();
  });

  test("finishInGroup changes no ended job, and writes immediately once the store is closed", async () => {
    const { store, insert, states } = openQueue();
    const [one, two] = await insert("a A", "a C");
    const leases = [store.lease(1000)!, store.lease(1000)!];
    const finishing = store.finishInGroup(leases[0], VERSION, PREDICTION);
    store.cancel(one);
    await finishing;
    store.close();
    void store.finishInGroup(leases[1], VERSION, PREDICTION);
    expect(states([one, two])).toEqual(["cancelled", "finished"]);
  });

  test("finishing rejects with the error of the database and can be repeated", async () => {
    const { store, database, insert, states } = openQueue();
    const ids = await insert("a A");
    const lease = store.lease(1000)!;
    database.run(
      "CREATE TEMP TRIGGER refuse BEFORE INSERT ON result BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    const { message } = await rejection(store.finishInGroup(lease, VERSION, PREDICTION));
    expect(message).toBe("no room");
    expect(states(ids)).toEqual(["running"]);
    database.run("DROP TRIGGER refuse");
    await store.finishInGroup(lease, VERSION, PREDICTION);
    expect(states(ids)).toEqual(["finished"]);
  });
});

test("ending a job reads only identical jobs, not the whole queue", async () => {
  const { store, database, insert, finishNext } = openQueue();
  await insert("a A", "a C", "a D");
  const statements = new Set<string>();
  const original = database.query.bind(database);
  database.query = ((sql: string) => {
    statements.add(sql);
    return original(sql);
  }) as typeof database.query;
  finishNext();
  store.fail(store.lease(1000)!.rid, "No.");
  store.cancel(store.lease(1000)!.id);
  const details = [...statements].flatMap((sql) => {
    const count = new Set(sql.match(/\?\d*/g)).size === 1 ? sql.match(/\?/g)!.length : 2;
    const plan = original(`EXPLAIN QUERY PLAN ${sql}`).all(...Array.from({ length: count }, () => null));
    return (plan as { detail: string }[]).map(({ detail }) => detail);
  });
  expect(details.some((detail) => detail.includes("job_question"))).toBe(true);
  expect(details.filter((detail) => /job_state|SCAN (job|result)/.test(detail))).toEqual([]);
});

describe("inserting jobs", () => {
  test("inserts jobs in one transaction, with an identifier for each", async () => {
    const { store, database, insert } = openQueue();
    const commits = countCommits(database);
    const ids = await insert(...Array<string>(50).fill("a A"));
    expect(new Set(ids).size).toBe(50);
    expect(commits()).toBe(1);
    expect(store.counts()).toMatchObject({ queued: 50, running: 0, finished: 0 });
  });

  test("insert waits for another writer", async () => {
    const { store, database, insert } = openQueue();
    const other = Promise.withResolvers<void>();
    const held = getWriteLock(database).hold(() => other.promise);
    let accepted = 0;
    const jobs = ["a A", "a A"].map((job) => insert(job).then(() => accepted++));
    await runPending();
    expect([accepted, store.counts().queued]).toEqual([0, 0]);
    other.resolve();
    await Promise.all([held, ...jobs]);
    expect([accepted, store.counts().queued]).toEqual([2, 2]);
  });

  test("a job survives when the process is killed right after insert", async () => {
    const path = join(directory, "killed.sqlite");
    const words = [process.execPath, join(import.meta.dir, "insert-and-hang.ts"), path];
    const child = Bun.spawn(words, { stdout: "pipe", stderr: "inherit" });
    const { value } = await child.stdout.getReader().read();
    child.kill("SIGKILL");
    await child.exited;
    const database = openMigrated(path);
    const store = new JobStore({ database, clock: systemClock, scoringVersion: () => VERSION });
    const id = new TextDecoder().decode(value).trim();
    expect(store.get(id).state).toBe("queued");
    expect(store.request(id)!.query).toBe("MKILLED");
    database.close();
  });

  test.each([
    ["the queue is full", { maxQueued: 2 }, ["a A", "b C", "c D"], 2, "The queue is full: 2 jobs wait."],
    [
      "a client has too many",
      { maxQueued: 10, maxQueuedPerClient: 2 },
      ["b B", "a A", "a C", "a D"],
      3,
      "The limit of 2 queued jobs per client",
    ],
  ])(
    "rejects jobs with Retry-After while %s, unless their result is known",
    async (_, limits, jobs, refused, words) => {
      const { store, insert, finishNext } = openQueue(limits);
      await insert("a KNOWN");
      finishNext();
      const answers = await Promise.allSettled(jobs.map((job) => insert(job)));
      expect(answers.map(({ status }) => status === "rejected")).toEqual(jobs.map((_, i) => i === refused));
      const { message, ...problem } = await rejection(insert("a MORE"));
      expect(message).toStartWith(words);
      expect(problem).toMatchObject({ code: "busy", headers: { "Retry-After": "60" } });
      expect(store.get((await insert("a KNOWN"))[0]).state).toBe("finished");
      while (store.lease(1000));
      expect(await insert("a MORE")).toEqual([expect.stringMatching(/^job-/)]);
    },
  );

  test("writes pending jobs on close, and rejects later ones", async () => {
    const { store, insert, states } = openQueue();
    const pending = insert("a A");
    store.close();
    expect(states(await pending)).toEqual(["queued"]);
    expect((await rejection(insert("a A"))).code).toBe("busy");
    expect(store.queued()).toBe(1);
  });

  test("insert rejects if the database is read-only", async () => {
    const { store, database, insert } = openQueue();
    database.run("PRAGMA query_only = 1");
    expect((await rejection(insert("a A"))).code).toBe("busy");
    database.run("PRAGMA query_only = 0");
    expect(store.queued()).toBe(0);
  });
});

describe("leasing jobs", () => {
  test("leases the oldest job once, with a deadline", async () => {
    const { store, insert } = openQueue();
    const [first, second] = await insert("a AAA", "a CCC");
    expect(store.get(second).place).toBe(2);
    const digest = hashRequest(request("AAA"));
    const lease = { id: first, attempts: 1, deadline: START + 5000, digest, request: request("AAA") };
    expect(store.lease(5000)).toMatchObject(lease);
    expect(store.get(first)).toMatchObject({ state: "running", started: START, place: null });
    expect(store.get(second).place).toBe(1);
    expect(store.lease(5000)!.id).toBe(second);
    expect(store.lease(5000)).toBeNull();
  });

  test("a released job is leased again, and only a counted release keeps its attempt", async () => {
    const { store, insert } = openQueue();
    const [first] = await insert("a A", "a A");
    store.release(store.lease(1000)!.rid, false);
    expect(store.get(first)).toMatchObject({ state: "queued", place: 1, started: null });
    const again = store.lease(1000)!;
    expect(again).toMatchObject({ id: first, attempts: 1 });
    store.release(again.rid, true);
    expect(store.lease(1000)!).toMatchObject({ id: first, attempts: 2 });
  });

  test("counts attempts, and the second failed one ends the job", async () => {
    const { store, insert } = openQueue();
    const [id] = await insert("a A");
    const states = [1, 2].map((attempts) => store.retry(store.lease(1000)!.rid, attempts, "Too slow."));
    expect(states).toEqual(["queued", "failed"]);
    expect(store.get(id).failure).toBe("Too slow.");
  });
});

describe("the end of a job", () => {
  test.each(["finish", "fail"] as const)("the end of a job by %s is final", async (event) => {
    const { store, pass, insert } = openQueue();
    const [id] = await insert("a A");
    expect(readPrediction(store, id)).toBeNull();
    const lease = store.lease(1000)!;
    pass(250);
    const prediction = event === "finish" ? JSON.parse(PREDICTION) : null;
    if (event === "finish") expect(store.finish(lease, VERSION, PREDICTION)).toBe(true);
    else expect(store.fail(lease.rid, "Too slow.")).toBe(true);
    expect(store.finish(lease, VERSION, "{}")).toBe(false);
    expect(store.fail(lease.rid, "late")).toBe(false);
    expect(store.release(lease.rid, true)).toBe(false);
    expect(store.get(id)).toMatchObject({
      state: event === "finish" ? "finished" : "failed",
      started: START,
      ended: START + 250,
      failure: event === "finish" ? null : "Too slow.",
    });
    expect(readPrediction(store, id)).toEqual(prediction);
  });

  test("a job cannot end before its lease", async () => {
    const { store, database, insert, states } = openQueue();
    const ids = await insert("a A");
    const { rid, digest } = database.query("SELECT rid, digest FROM job").get() as {
      rid: number;
      digest: string;
    };
    expect(store.finish({ rid, digest }, VERSION, PREDICTION)).toBe(false);
    expect(store.fail(rid, "no")).toBe(false);
    expect(states(ids)).toEqual(["queued"]);
  });
});

describe("results are computed once", () => {
  test("reuses a result for a new identical job", async () => {
    const { store, database, insert, finishNext } = openQueue();
    await insert("a A");
    finishNext();
    const same = await store.insert({ ...request("A"), identifier: "another name" }, "a");
    expect(store.get(same)).toMatchObject({ state: "finished", started: START, ended: START });
    expect(readPrediction(store, same)).toEqual(JSON.parse(PREDICTION));
    expect(store.request(same)!.identifier).toBe("another name");
    expect(database.query("SELECT count(*) AS n FROM result").get()).toEqual({ n: 1 });
  });

  test("computes a job again that another client has finished, waits for or failed", async () => {
    const { store, database, insert, states, finishNext } = openQueue();
    await insert("a A");
    finishNext();
    // A job that ended at once would reveal that of the other client.
    const [again, other] = await insert("b A", "c A");
    expect(states([again, other])).toEqual(["queued", "queued"]);
    const [first, second] = [store.lease(1000)!, store.lease(1000)!];
    expect([first.id, second.id]).toEqual([again, other]);
    store.fail(first.rid, "Too slow.");
    expect(states([again, other])).toEqual(["failed", "running"]);
    store.finish(second, VERSION, PREDICTION);
    expect(readPrediction(store, other)).toEqual(JSON.parse(PREDICTION));
    expect(database.query("SELECT count(*) AS n FROM result").get()).toEqual({ n: 1 });
    // Now it is its own.
    expect(states(await insert("c A", "b A"))).toEqual(["finished", "queued"]);
  });

  test.each(["corpus", "method"] as const)("does not reuse a result if the %s differs", async (part) => {
    const { store, version, insert, states, finishNext } = openQueue();
    const [old] = await insert("a A");
    finishNext();
    version[part] = "other";
    const ids = await insert("a A");
    expect(states(ids)).toEqual(["queued"]);
    // Both results are kept.
    store.finish(store.lease(1000)!, version, '{"method":"new"}');
    expect(readPrediction(store, ids[0])).toEqual({ method: "new" } as never);
    expect(readPrediction(store, old)).toEqual(JSON.parse(PREDICTION));
  });

  test("reuses a result for queued identical jobs, unless the corpus has changed", async () => {
    const { store, version, insert, states, finishNext } = openQueue();
    const ids = await insert("a A", "a A", "a A", "a OTHER");
    finishNext();
    expect(states(ids)).toEqual(["finished", "finished", "finished", "queued"]);
    expect(ids.map((id) => store.get(id).started)).toEqual([START, START, START, null]);
    expect(readPrediction(store, ids[2])).toEqual(JSON.parse(PREDICTION));

    version.corpus = "second";
    store.fail(store.lease(1000)!.rid, "out of the way");
    const later = await insert("a A", "a A", "a A");
    const lease = store.lease(1000)!;
    version.corpus = "third";
    store.finish(lease, { ...VERSION, corpus: "second" }, PREDICTION);
    expect(states(later)).toEqual(["finished", "queued", "queued"]);
  });

  test("identifies results by query, model and patterns in order, regardless of the client's identifier", () => {
    const one = request();
    const [p] = one.patterns;
    const others: JobRequest[] = [
      { ...one, query: "MEEPQSDPSI" },
      { ...one, model: "discontinuous" },
      { ...one, patterns: [] },
      { ...one, patterns: [{ ...p, expression: "S.." }] },
      { ...one, patterns: [{ ...p, name: "S" }] },
      { ...one, patterns: [{ ...p, dialect: "elm" }] },
      { ...one, patterns: [p, p] },
    ];
    expect(new Set([one, ...others].map(hashRequest)).size).toBe(others.length + 1);
    expect(hashRequest({ ...one, identifier: "x" })).toBe(hashRequest(one));
  });
});

describe("recovery at start", () => {
  test("recovery requeues running jobs in their previous place, and fails them the tenth time", async () => {
    const { store, insert } = openQueue();
    const [first, second] = await insert("a AAA", "a CCC");
    for (let interruptions = 1; interruptions < MAX_INTERRUPTIONS; interruptions++) {
      expect(store.lease(1000)).toMatchObject({ id: first, attempts: 1 });
      expect(store.recover()).toEqual({ requeued: 1, failed: 0 });
      expect([first, second].map((id) => store.get(id).place)).toEqual([1, 2]);
    }
    store.lease(1000);
    expect(store.recover()).toEqual({ requeued: 0, failed: 1 });
    expect(store.get(first)).toMatchObject({ state: "failed" });
    expect(store.get(first).failure).toContain("ended 10 times");
    expect(store.get(second).state).toBe("queued");
    expect(store.recover()).toEqual({ requeued: 0, failed: 0 });
  });

  test("recovery precedes the first lease even if the disk was full at start", async () => {
    const { store, database, insert } = openQueue();
    const [id] = await insert("a A");
    store.lease(1000);
    database.run("PRAGMA query_only = 1");
    expect(() => store.recover()).toThrow();
    database.run("PRAGMA query_only = 0");
    expect(store.lease(1000)).toMatchObject({ id, attempts: 1 });
    expect(database.query("SELECT interruptions FROM job").get()).toEqual({ interruptions: 1 });
  });
});

test.each(["", "job-2", "JOB-1", "job-1 ", "%", "job-_", "' OR 1=1 --", "__proto__", "\0"])(
  "does not find the job %p",
  async (id) => {
    const { store, insert } = openQueue();
    await insert("a A");
    for (const read of [() => store.get(id), () => readPrediction(store, id), () => store.request(id)])
      expect(read).toThrow(expect.objectContaining({ code: "unknown_job" }));
  },
);

describe("idempotency keys", () => {
  test("returns the job that the client submitted with the same key, also within one commit and after its end", async () => {
    const { store, finishNext } = openQueue();
    const [first, second] = await Promise.all([
      store.insert(request(), "a", "key"),
      store.insert(request(), "a", "key"),
    ]);
    expect(second).toBe(first);
    finishNext();
    expect(await store.insert(request(), "a", "key")).toBe(first);
    expect(store.counts()).toMatchObject({ queued: 0, finished: 1 });
  });

  test("rejects an idempotency key with another request, but not from another client", async () => {
    const { store } = openQueue();
    const first = await store.insert(request(), "a", "key");
    for (const other of [request("MKL"), { ...request(), identifier: "other" }])
      await expect(store.insert(other, "a", "key")).rejects.toMatchObject({ code: "key_reused" });
    expect(await store.insert(request(), "b", "key")).not.toBe(first);
    expect(store.counts().queued).toBe(2);
  });

  test("returns the job of an idempotency key even if the queue is full", async () => {
    const { store } = openQueue({ maxQueued: 1 });
    const first = await store.insert(request(), "a", "key");
    expect(await store.insert(request(), "a", "key")).toBe(first);
  });

  test("an idempotency key expires with its job", async () => {
    const { store, database, pass, clock, finishNext } = openQueue({ retention: 1000 });
    const first = await store.insert(request(), "a", "key");
    finishNext();
    pass(1000);
    expect(expireJobs(database, clock.now())).toBe(1);
    expect(await store.insert(request("MKL"), "a", "key")).not.toBe(first);
  });
});

test("a request stored by an earlier version keeps its digest", () => {
  const stored = {
    ...request(),
    patterns: [{ expression: "S.P", name: null, dialect: "soap" }],
  } as unknown as JobRequest;
  const now: JobRequest = { ...request(), patterns: [{ expression: "S.P", name: null, dialect: "plain" }] };
  expect(hashRequest(stored)).toBe(hashRequest(now));
  const canonical = JSON.stringify([now.query, now.model, [["S.P", null, "soap"]]]);
  expect(hashRequest(now)).toBe(new Bun.CryptoHasher("sha256").update(canonical).digest("hex"));
});
