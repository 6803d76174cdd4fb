import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { digestOf, type JobRequest, MAX_INTERRUPTIONS } from "../../src/scoring/jobs/job.ts";
import { JobStore, type StoreOptions } from "../../src/scoring/jobs/store.ts";
import { type Database, openDatabase } from "../../src/platform/sqlite.ts";
import { writeLockOf } from "../../src/platform/write-lock.ts";
import { rejection } from "./rejection.ts";

const directory = mkdtempSync(join(tmpdir(), "labd-store-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function request(query = "MEEPQSDPSV"): JobRequest {
  return {
    identifier: "my query",
    query,
    model: "continuous",
    patterns: [{ expression: "S.P", name: null, dialect: "soap" }],
  };
}

function open(options: Partial<StoreOptions> = {}) {
  let time = 1_000_000;
  let ids = 0;
  const clock = { now: () => time, newId: () => `job-${++ids}` };
  const database = openDatabase(":memory:", MIGRATIONS);
  const scoringVersion = { ...SCORING_VERSION };
  const store = new JobStore({ database, clock, scoringVersion: () => scoringVersion, ...options });
  return { store, database, scoringVersion, pass: (milliseconds: number) => (time += milliseconds) };
}

const SCORING_VERSION = { corpus: "c0ffee", method: "test-1" };
const PREDICTION = JSON.stringify({ method: "test-1", warnings: ["a"] });

/** Asks and answers `request()`. */
async function answered(store: JobStore): Promise<void> {
  await store.insert(request());
  store.finish(store.lease(1000)!, SCORING_VERSION, PREDICTION);
}

test("jobs are accepted once another writer has finished", async () => {
  const { store, database } = open();
  const other = Promise.withResolvers<void>();
  const held = writeLockOf(database).hold(() => other.promise);
  let accepted = 0;
  const jobs = [1, 2].map(() => store.insert(request()).then(() => accepted++));
  await Bun.sleep(5);
  expect([accepted, store.counts().queued]).toEqual([0, 0]);
  other.resolve();
  await Promise.all([held, ...jobs]);
  expect([accepted, store.counts().queued]).toEqual([2, 2]);
});

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
  test("shares a transaction with submissions, and finishes identical ones", async () => {
    const { store, database } = open();
    const asked = await Promise.all(["A", "C", "D"].map((query) => store.insert(request(query))));
    const leases = asked.map(() => store.lease(1000)!);
    const commits = countCommits(database);
    const [same] = await Promise.all([
      store.insert(request("A")),
      ...leases.map((lease) => store.finishInGroup(lease, SCORING_VERSION, PREDICTION)),
      store.insert(request("E")),
    ]);
    expect(commits()).toBe(1);
    expect(store.counts()).toMatchObject({ queued: 1, running: 0, finished: 4 });
    expect(store.get(same as string).state).toBe("finished");
  });

  test("lets a twin be leased if the corpus has changed", async () => {
    const { store, scoringVersion } = open();
    await store.insert(request(), "anna");
    await store.insert(request(), "bert");
    const lease = store.lease(1000)!;
    // The other's waits for the same answer.
    expect(store.lease(1000)).toBeNull();
    // On another corpus the answer is not the one that it needs.
    scoringVersion.corpus = "decaf";
    await store.finishInGroup(lease, SCORING_VERSION, PREDICTION);
    expect(store.lease(1000)).not.toBeNull();
  });

  test("changes no job that has ended, and writes immediately once the store is closed", async () => {
    const { store } = open();
    const [one, two] = await Promise.all(["A", "C"].map((query) => store.insert(request(query))));
    const leases = [store.lease(1000)!, store.lease(1000)!];
    const handed = store.finishInGroup(leases[0], SCORING_VERSION, PREDICTION);
    store.cancel(one);
    await handed;
    expect(store.get(one).state).toBe("cancelled");
    store.close();
    void store.finishInGroup(leases[1], SCORING_VERSION, PREDICTION);
    expect(store.get(two).state).toBe("finished");
  });

  test("rejects with the error of the database, and can be repeated", async () => {
    const { store, database } = open();
    const id = await store.insert(request());
    const lease = store.lease(1000)!;
    database.run(
      "CREATE TEMP TRIGGER refuse BEFORE INSERT ON result BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    const { message } = await rejection(store.finishInGroup(lease, SCORING_VERSION, PREDICTION));
    expect(message).toBe("no room");
    expect(store.get(id).state).toBe("running");
    database.run("DROP TRIGGER refuse");
    await store.finishInGroup(lease, SCORING_VERSION, PREDICTION);
    expect(store.get(id).state).toBe("finished");
  });
});

test("ending a job reads identical jobs, not the whole queue", async () => {
  const { store, database } = open();
  for (const query of ["A", "C", "D"]) await store.insert(request(query));
  const asked = new Set<string>();
  const original = database.query.bind(database);
  database.query = ((sql: string) => {
    asked.add(sql);
    return original(sql);
  }) as typeof database.query;
  store.finish(store.lease(1000)!, SCORING_VERSION, PREDICTION);
  store.fail(store.lease(1000)!.rid, "No.");
  store.cancel(store.lease(1000)!.id);
  const plans = [...asked].flatMap((sql) => {
    const places = new Set(sql.match(/\?\d*/g)).size === 1 ? (sql.match(/\?/g) ?? []).length : 2;
    return original(`EXPLAIN QUERY PLAN ${sql}`).all(...Array.from({ length: places }, () => null)) as {
      detail: string;
    }[];
  });
  const details = plans.map(({ detail }) => detail);
  expect(details.some((detail) => detail.includes("job_question"))).toBe(true);
  expect(details.filter((detail) => /job_state|SCAN (job|result)/.test(detail))).toEqual([]);
});

describe("insert", () => {
  test("shares a transaction, with an identifier for each job", async () => {
    const { store, database } = open();
    const commits = countCommits(database);
    const ids = await Promise.all(Array.from({ length: 50 }, () => store.insert(request())));
    expect(new Set(ids).size).toBe(50);
    expect(commits()).toBe(1);
    expect(store.counts()).toMatchObject({ queued: 50, running: 0, finished: 0 });
  });

  test("is durable: a job is there after the process is killed when insert returns", async () => {
    const path = join(directory, "killed.sqlite");
    const words = [process.execPath, join(import.meta.dir, "insert-and-hang.ts"), path];
    const child = Bun.spawn(words, { stdout: "pipe", stderr: "inherit" });
    const { value } = await child.stdout.getReader().read();
    child.kill("SIGKILL");
    await child.exited;
    const database = openDatabase(path, MIGRATIONS);
    const clock = { now: Date.now, newId: () => "unused" };
    const store = new JobStore({ database, clock, scoringVersion: () => SCORING_VERSION });
    const id = new TextDecoder().decode(value).trim();
    expect(store.get(id).state).toBe("queued");
    expect(store.request(id)!.query).toBe("MKILLED");
    database.close();
  });

  test("refuses jobs with Retry-After while the queue is full", async () => {
    const { store } = open({ maxQueued: 2 });
    const answers = await Promise.allSettled([1, 2, 3].map(() => store.insert(request())));
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    const refused = await rejection(store.insert(request()));
    expect(refused).toMatchObject({ code: "busy", headers: { "Retry-After": "60" } });
    store.lease(1000);
    expect(await store.insert(request())).toStartWith("job-");
  });

  test("limits the jobs of each client", async () => {
    const { store } = open({ maxQueued: 10, maxQueuedPerClient: 2 });
    const answers = await Promise.allSettled(
      ["a", "a", "a", "b"].map((who) => store.insert(request(who), who)),
    );
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    const refused = await rejection(store.insert(request("NEW"), "a"));
    expect(refused).toMatchObject({ code: "busy", message: expect.stringContaining("per client") });
    store.lease(1000);
    expect(await store.insert(request("NEW"), "a")).toStartWith("job-");
  });

  test("finishes known jobs also while the queue is full", async () => {
    const { store } = open({ maxQueued: 1 });
    await answered(store);
    await store.insert(request("WAITS"));
    expect((await rejection(store.insert(request("MORE")))).code).toBe("busy");
    expect(store.get(await store.insert(request())).state).toBe("finished");
  });

  test("writes pending jobs on close, and refuses later ones", async () => {
    const { store } = open();
    const id = store.insert(request());
    store.close();
    expect(store.get(await id).state).toBe("queued");
    expect((await rejection(store.insert(request()))).code).toBe("busy");
    expect(store.queued()).toBe(1);
  });

  test("rejects if the database is read-only", async () => {
    const { store, database } = open();
    database.run("PRAGMA query_only = 1");
    expect((await rejection(store.insert(request()))).code).toBe("busy");
    database.run("PRAGMA query_only = 0");
    expect(store.queued()).toBe(0);
  });
});

describe("lease", () => {
  test("takes the oldest job once, with a deadline", async () => {
    const { store } = open();
    const first = await store.insert(request("AAA"));
    const second = await store.insert(request("CCC"));
    expect(store.get(second).place).toBe(2);
    const lease = store.lease(5000)!;
    expect(lease).toMatchObject({
      id: first,
      attempts: 1,
      deadline: 1_005_000,
      digest: digestOf(request("AAA")),
    });
    expect(lease.request).toEqual(request("AAA"));
    expect(store.get(first)).toMatchObject({ state: "running", started: 1_000_000, place: null });
    expect(store.get(second).place).toBe(1);
    expect(store.lease(5000)!.id).toBe(second);
    expect(store.lease(5000)).toBeNull();
  });

  test("takes a released job again; only a counted release keeps the attempt", async () => {
    const { store } = open();
    const first = await store.insert(request());
    await store.insert(request());
    store.release(store.lease(1000)!.rid, false);
    expect(store.get(first)).toMatchObject({ state: "queued", place: 1, started: null });
    const again = store.lease(1000)!;
    expect(again).toMatchObject({ id: first, attempts: 1 });
    store.release(again.rid, true);
    expect(store.lease(1000)!).toMatchObject({ id: first, attempts: 2 });
  });
});

describe("ends", () => {
  test("by finish store the prediction, and are final", async () => {
    const { store, pass } = open();
    const id = await store.insert(request());
    expect(store.prediction(id)).toBeNull();
    const { rid, digest } = store.lease(1000)!;
    pass(250);
    expect(store.finish({ rid, digest }, SCORING_VERSION, PREDICTION)).toBe(true);
    expect(store.get(id)).toMatchObject({ state: "finished", ended: 1_000_250, failure: null });
    expect(store.prediction(id)).toEqual(JSON.parse(PREDICTION));
    expect(store.finish({ rid, digest }, SCORING_VERSION, "{}")).toBe(false);
    expect(store.fail(rid, "late")).toBe(false);
    expect(store.release(rid, true)).toBe(false);
    expect(store.prediction(id)).toEqual(JSON.parse(PREDICTION));
  });

  test("by fail keep the reason, and are final", async () => {
    const { store } = open();
    const id = await store.insert(request());
    const { rid, digest } = store.lease(1000)!;
    store.fail(rid, "Too slow.");
    expect(store.get(id)).toMatchObject({ state: "failed", failure: "Too slow." });
    expect(store.finish({ rid, digest }, SCORING_VERSION, PREDICTION)).toBe(false);
    expect(store.get(id).state).toBe("failed");
    expect(store.prediction(id)).toBeNull();
  });

  test("do not apply to queued jobs", async () => {
    const { store, database } = open();
    const id = await store.insert(request());
    const { rid, digest } = database.query("SELECT rid, digest FROM job").get() as {
      rid: number;
      digest: string;
    };
    expect(store.finish({ rid, digest }, SCORING_VERSION, PREDICTION)).toBe(false);
    expect(store.fail(rid, "no")).toBe(false);
    expect(store.get(id).state).toBe("queued");
  });
});

describe("results are computed once", () => {
  test("for a new identical job", async () => {
    const { store, database } = open();
    await answered(store);
    const same = await store.insert({ ...request(), identifier: "another name" });
    expect(store.get(same)).toMatchObject({ state: "finished", started: 1_000_000, ended: 1_000_000 });
    expect(store.prediction(same)).toEqual(JSON.parse(PREDICTION));
    expect(store.request(same)!.identifier).toBe("another name");
    expect(database.query("SELECT count(*) AS n FROM result").get()).toEqual({ n: 1 });
    const other = await store.insert(request("OTHER"));
    expect(store.get(other).state).toBe("queued");
  });

  test.each(["corpus", "method"] as const)("not if the %s differs", async (part) => {
    const { store, scoringVersion } = open();
    await answered(store);
    scoringVersion[part] = "other";
    const id = await store.insert(request());
    expect(store.get(id).state).toBe("queued");
    // It is scored anew, and both results are kept.
    store.finish(store.lease(1000)!, scoringVersion, '{"method":"new"}');
    expect(store.prediction(id)).toEqual({ method: "new" } as never);
    expect(store.prediction("job-1")).toEqual(JSON.parse(PREDICTION));
  });

  test("for waiting identical jobs, unless the corpus has changed", async () => {
    const { store, scoringVersion } = open();
    const ask = (): Promise<string[]> => Promise.all([1, 2, 3].map(() => store.insert(request())));
    const ids = [...(await ask()), await store.insert(request("OTHER"))];
    store.finish(store.lease(1000)!, SCORING_VERSION, PREDICTION);
    expect(ids.map((id) => store.get(id).state)).toEqual(["finished", "finished", "finished", "queued"]);
    expect(ids.map((id) => store.get(id).started)).toEqual([1_000_000, 1_000_000, 1_000_000, null]);
    expect(store.prediction(ids[2])).toEqual(JSON.parse(PREDICTION));

    scoringVersion.corpus = "second";
    store.fail(store.lease(1000)!.rid, "out of the way");
    const later = await ask();
    const lease = store.lease(1000)!;
    scoringVersion.corpus = "third";
    store.finish(lease, { ...SCORING_VERSION, corpus: "second" }, PREDICTION);
    expect(later.map((id) => store.get(id).state)).toEqual(["finished", "queued", "queued"]);
  });

  test("by query, model and patterns in order, whatever the client's identifier", () => {
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
    expect(new Set([one, ...others].map(digestOf)).size).toBe(others.length + 1);
    expect(digestOf({ ...one, identifier: "x" })).toBe(digestOf(one));
  });
});

describe("recovery at start", () => {
  test("recover requeues running jobs in their old place, and fails them the tenth time", async () => {
    const { store } = open();
    const first = await store.insert(request("AAA"));
    const second = await store.insert(request("CCC"));
    for (let interruptions = 1; interruptions < MAX_INTERRUPTIONS; interruptions++) {
      expect(store.lease(1000)).toMatchObject({ id: first, attempts: 1 });
      expect(store.recover()).toEqual({ requeued: 1, failed: 0 });
      expect(store.get(first)).toMatchObject({ state: "queued", place: 1 });
      expect(store.get(second).place).toBe(2);
    }
    store.lease(1000);
    expect(store.recover()).toEqual({ requeued: 0, failed: 1 });
    expect(store.get(first)).toMatchObject({ state: "failed" });
    expect(store.get(first).failure).toContain("ended 10 times");
    expect(store.get(second).state).toBe("queued");
    expect(store.recover()).toEqual({ requeued: 0, failed: 0 });
  });

  test("recover precedes the first lease if the disk was full at start", async () => {
    const { store, database } = open();
    const id = await store.insert(request());
    store.lease(1000);
    database.run("PRAGMA query_only = 1");
    expect(() => store.recover()).toThrow();
    database.run("PRAGMA query_only = 0");
    expect(store.lease(1000)).toMatchObject({ id, attempts: 1 });
    expect(database.query("SELECT interruptions FROM job").get()).toEqual({ interruptions: 1 });
  });
});

test.each(["", "job-2", "JOB-1", "job-1 ", "%", "job-_", "' OR 1=1 --", "__proto__", "\0"])(
  "%p is unknown",
  async (id) => {
    const { store } = open();
    await store.insert(request());
    for (const read of [() => store.get(id), () => store.prediction(id), () => store.request(id)]) {
      expect(read).toThrow(expect.objectContaining({ code: "unknown_job" }));
    }
  },
);
