import { describe, expect, test } from "bun:test";
import { MIGRATIONS } from "../../db/index.ts";
import type { JobRequest } from "../../src/scoring/jobs/job.ts";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";

const SCORING_VERSION = { corpus: "c", method: "m" };

function open() {
  let ids = 0;
  const database = openDatabase(":memory:", MIGRATIONS);
  const clock = { now: () => 1000, newId: () => `job-${++ids}` };
  return {
    database,
    store: new JobStore({ database, clock, scoringVersion: () => SCORING_VERSION, retention: 1 }),
  };
}

const request = (query: string): JobRequest => ({ identifier: "", query, model: "continuous", patterns: [] });
/** Inserts jobs of clients, given as `client query`. */
const insert = (store: JobStore, ...jobs: string[]): Promise<string[]> =>
  Promise.all(jobs.map((job) => store.insert(request(job.split(" ")[1]), job.split(" ")[0])));
/** Leases all jobs that can start. */
function leaseAll(store: JobStore): string[] {
  const leased: string[] = [];
  for (let lease = store.lease(1); lease; lease = store.lease(1)) leased.push(lease.id);
  return leased;
}

/** Deterministic pseudo-random numbers below `n`. */
function random(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

describe("turns", () => {
  test("alternate between clients, oldest job first, however many one submits", async () => {
    const { store } = open();
    const greedy = await insert(store, ...Array.from({ length: 1000 }, (_, i) => `greedy G${i}`));
    const [one, two, three, other] = await insert(store, "modest M1", "modest M2", "modest M3", "other T");
    const order = Array.from({ length: 9 }, () => store.lease(1)!.id);
    const [g1, g2, g3, g4, g5] = greedy;
    expect(order).toEqual([g1, one, other, g2, two, g3, three, g4, g5]);
  });

  test.each([1, 2, 3, 4])(
    "give every waiting client one turn per round, in the order that places predict (seed %d)",
    async (seed) => {
      const { store } = open();
      const next = random(seed);
      const ids: string[] = [];
      const clientOf = new Map<string, string>();
      for (let i = 0; i < 120; i++) {
        // Few clients with many jobs, many with few.
        const client = `client ${Math.floor(next(8) ** 2 / 8)}`;
        const id = await store.insert(request(`Q${i}`), client);
        ids.push(id);
        clientOf.set(id, client);
        if (next(4) === 0) clientOf.delete(store.lease(1)!.id);
      }
      const waiting = ids.filter((id) => clientOf.has(id));
      const foretold = [...waiting].sort((a, b) => store.get(a).place! - store.get(b).place!);
      expect(foretold.map((id) => store.get(id).place)).toEqual(waiting.map((_, i) => i + 1));
      const leased = leaseAll(store);
      expect(leased).toEqual(foretold);

      const left = Map.groupBy(leased, (id) => clientOf.get(id)!);
      const since = new Map<string, Set<string>>();
      for (const id of leased) {
        const client = clientOf.get(id)!;
        const others = [...left].filter(([other, jobs]) => other !== client && jobs.length > 0);
        const served = since.get(client);
        if (served) expect(others.filter(([other]) => !served.has(other))).toEqual([]);
        since.set(client, new Set());
        for (const [other, seen] of since) {
          if (other === client) continue;
          expect(seen.has(client)).toBe(false);
          seen.add(client);
        }
        left.get(client)!.shift();
        if (left.get(client)!.length === 0) since.delete(client);
      }
    },
  );
});

describe("twins", () => {
  const states = (store: JobStore, ids: string[]): string[] => ids.map((id) => store.get(id).state);

  test("are not leased while one of them runs, whoever submitted it", async () => {
    const { store } = open();
    const [first, retried, other, free] = await insert(store, "a SAME", "a SAME", "b SAME", "a OTHER");
    expect(new Set([first, retried, other]).size).toBe(3);
    const lease = store.lease(1)!;
    expect(lease.id).toBe(first);
    expect(store.lease(1)!.id).toBe(free);
    expect(store.lease(1)).toBeNull();
    store.finish(lease, SCORING_VERSION, "{}");
    expect(states(store, [first, retried, other])).toEqual(["finished", "finished", "finished"]);
    expect(store.lease(1)).toBeNull();
  });

  test("share a failure", async () => {
    const { store } = open();
    const ids = await insert(store, "a SAME", "a SAME", "b SAME");
    const lease = store.lease(1)!;
    store.fail(lease.rid, "Too slow.");
    expect(states(store, ids)).toEqual(["failed", "failed", "failed"]);
    expect(ids.map((id) => store.get(id).failure)).toEqual([
      "Too slow.",
      expect.stringMatching(/identical job.*Too slow\.$/),
      expect.stringMatching(/identical job.*Too slow\.$/),
    ]);
    expect(store.get(ids[1]).started).toBeNull();
    // A new job tries again.
    const again = await store.insert(request("SAME"), "a");
    expect(store.lease(1)!.id).toBe(again);
  });

  test("let the next one be leased if the first is cancelled", async () => {
    const { store } = open();
    const ids = await Promise.all([1, 2, 3].map(() => store.insert(request("SAME"), "a")));
    const free = await store.insert(request("OTHER"), "a");
    store.cancel(ids[0]);
    expect(store.get(ids[1]).place).toBe(1);
    expect(store.get(free).place).toBe(2);
    const lease = store.lease(1)!;
    expect(lease.id).toBe(ids[1]);
    // The one that runs is called off: what it was for is still asked for.
    store.cancel(ids[1]);
    expect(store.finish(lease, SCORING_VERSION, "{}")).toBe(false);
    expect(store.lease(1)!.id).toBe(ids[2]);
    expect(store.lease(1)!.id).toBe(free);
  });

  test("are cancelled alone", async () => {
    const { store } = open();
    const [first, second, third] = await insert(store, "a SAME", "a SAME", "a SAME");
    store.cancel(second);
    expect(states(store, [first, second, third])).toEqual(["queued", "cancelled", "queued"]);
    store.finish(store.lease(1)!, SCORING_VERSION, "{}");
    expect(states(store, [first, second, third])).toEqual(["finished", "cancelled", "finished"]);
  });

  test("take no turns", async () => {
    const { store } = open();
    await Promise.all(Array.from({ length: 1000 }, () => store.insert(request("SAME"), "a")));
    const free = await store.insert(request("OTHER"), "a");
    expect(store.get(free).place).toBe(2);
    store.lease(1);
    expect(store.lease(1)!.id).toBe(free);
  });
});

test("the counts of the queue are correct whatever happens to jobs", async () => {
  const { store, database } = open();
  const next = random(7);
  const ids: string[] = [];
  const running: { rid: number; digest: string }[] = [];
  const take = () => running.splice(next(running.length), 1)[0];
  for (let step = 0; step < 1500; step++) {
    const what = next(10);
    if (what < 5) ids.push(await store.insert(request(`Q${next(40)}`), `client ${next(5)}`));
    else if (what < 7) {
      const lease = store.lease(1);
      if (lease) running.push(lease);
    } else if (what === 7 && running.length > 0) {
      // Every other result is of a corpus that is not in use any more.
      store.finish(take(), next(2) === 0 ? SCORING_VERSION : { ...SCORING_VERSION, corpus: "old" }, "{}");
    } else if (what === 8 && running.length > 0) {
      if (next(2) === 0) store.fail(take().rid, "No.");
      else store.release(take().rid, true);
    } else if (what === 9 && ids.length > 0) {
      const id = ids[next(ids.length)];
      if (["queued", "running"].includes(store.get(id).state)) store.cancel(id);
    }
    if (step % 300 === 299) {
      store.recover();
      running.length = 0;
    }
    const counted = database
      .query(
        "SELECT client, count(*) AS waiting, sum(twin = 0) AS turns FROM job WHERE state = 'queued' GROUP BY client",
      )
      .all();
    expect(database.query("SELECT client, waiting, turns FROM queue ORDER BY client").all()).toEqual(counted);
    // Whoever waits for a question is behind exactly one of its own that does not.
    const broken = database
      .query(
        `SELECT client, digest FROM job WHERE state IN ('queued', 'running') GROUP BY client, digest HAVING sum(twin = 0) <> 1`,
      )
      .all();
    expect(broken).toEqual([]);
  }
  expect(ids.length).toBeGreaterThan(500);
});
