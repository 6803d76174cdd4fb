import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../src/motif/random.ts";
import type { JobStore } from "../../src/scoring/jobs/store.ts";
import { openQueue, VERSION } from "./job-queue.ts";

/** Leases all jobs that can start. */
function leaseAll(store: JobStore): string[] {
  const leased: string[] = [];
  for (let lease = store.lease(1); lease; lease = store.lease(1)) leased.push(lease.id);
  return leased;
}

/** Deterministic pseudo-random integers below `n`. */
function random(seed: number): (n: number) => number {
  const next = seededRandom(seed);
  return (n) => Math.floor(next() * n);
}

describe("the order of leases", () => {
  test("alternates between clients, oldest job first, no matter how many jobs one submits", async () => {
    const { store, insert } = openQueue();
    const greedy = await insert(...Array.from({ length: 1000 }, (_, i) => `greedy G${i}`));
    const [one, two, three, other] = await insert("modest M1", "modest M2", "modest M3", "other T");
    const order = Array.from({ length: 9 }, () => store.lease(1)!.id);
    const [g1, g2, g3, g4, g5] = greedy;
    expect(order).toEqual([g1, one, other, g2, two, g3, three, g4, g5]);
  });

  test.each([1, 2, 3, 4])(
    "leases one job per round to every waiting client, as their places predict (seed %d)",
    async (seed) => {
      const { store, insert } = openQueue();
      const next = random(seed);
      const waiting = new Map<string, string>();
      for (let i = 0; i < 120; i++) {
        // Few clients with many jobs, many with few.
        const client = `client-${Math.floor(next(8) ** 2 / 8)}`;
        const [id] = await insert(`${client} Q${i}`);
        waiting.set(id, client);
        if (next(4) === 0) waiting.delete(store.lease(1)!.id);
      }
      const predicted = [...waiting.keys()].sort((a, b) => store.get(a).place! - store.get(b).place!);
      expect(predicted.map((id) => store.get(id).place)).toEqual(predicted.map((_, i) => i + 1));
      const leased = leaseAll(store);
      expect(leased).toEqual(predicted);
      // Between two jobs of a client come those of all others that wait, one each.
      const clients = leased.map((id) => waiting.get(id)!);
      for (const [i, client] of clients.entries()) {
        const last = clients.lastIndexOf(client, i - 1);
        if (i === 0 || last < 0) continue;
        const between = clients.slice(last + 1, i);
        expect(between.toSorted()).toEqual(
          [...new Set(clients.slice(last + 1))].filter((other) => other !== client).toSorted(),
        );
      }
    },
  );
});

describe("identical jobs", () => {
  test("while a job runs, identical jobs of its client wait and jobs of other clients are leased", async () => {
    const { store, insert, states } = openQueue();
    const [first, retried, other, free] = await insert("a SAME", "a SAME", "b SAME", "a OTHER");
    expect(new Set([first, retried, other]).size).toBe(3);
    const lease = store.lease(1)!;
    expect(lease.id).toBe(first);
    expect(leaseAll(store)).toEqual([other, free]);
    store.finish(lease, VERSION, "{}");
    expect(states([first, retried, other])).toEqual(["finished", "finished", "running"]);
    expect(store.lease(1)).toBeNull();
  });

  test("identical jobs share a failure, after which a new job is tried again", async () => {
    const { store, insert, states } = openQueue();
    const ids = await insert("a SAME", "a SAME", "a SAME");
    store.fail(store.lease(1)!.rid, "Too slow.");
    expect(states(ids)).toEqual(["failed", "failed", "failed"]);
    const inherited = "The identical job that this one waited for failed: Too slow.";
    expect(ids.map((id) => store.get(id).failure)).toEqual(["Too slow.", inherited, inherited]);
    expect(store.get(ids[1]).started).toBeNull();
    expect(await insert("a SAME")).toEqual(leaseAll(store));
  });

  test("an identical job replaces a job that was cancelled while queued or running", async () => {
    const { store, insert } = openQueue();
    const [first, second, third, free] = await insert("a SAME", "a SAME", "a SAME", "a OTHER");
    store.cancel(first);
    expect([second, free].map((id) => store.get(id).place)).toEqual([1, 2]);
    const lease = store.lease(1)!;
    expect(lease.id).toBe(second);
    store.cancel(second);
    expect(store.finish(lease, VERSION, "{}")).toBe(false);
    expect(leaseAll(store)).toEqual([third, free]);
  });

  test("cancelling a job does not cancel identical ones", async () => {
    const { store, insert, states, finishNext } = openQueue();
    const ids = await insert("a SAME", "a SAME", "a SAME");
    store.cancel(ids[1]);
    expect(states(ids)).toEqual(["queued", "cancelled", "queued"]);
    finishNext();
    expect(states(ids)).toEqual(["finished", "cancelled", "finished"]);
  });

  test("identical jobs count once for places in the queue", async () => {
    const { store, insert } = openQueue();
    await insert(...Array<string>(1000).fill("a SAME"));
    const [free] = await insert("a OTHER");
    expect(store.get(free).place).toBe(2);
    store.lease(1);
    expect(leaseAll(store)).toEqual([free]);
  });
});

test("queue counts are correct after random changes of jobs", async () => {
  const { store, database, insert } = openQueue();
  const next = random(7);
  const ids: string[] = [];
  const running: { rid: number; digest: string }[] = [];
  const take = () => running.splice(next(running.length), 1)[0];
  const actions: (() => unknown)[] = [
    () => {
      const lease = store.lease(1);
      if (lease) running.push(lease);
    },
    // Every other result is of a corpus that is not in use any more.
    () =>
      running.length > 0 &&
      store.finish(take(), { ...VERSION, corpus: ["old", VERSION.corpus][next(2)] }, "{}"),
    () => running.length > 0 && store.fail(take().rid, "No."),
    () => running.length > 0 && store.release(take().rid, true),
    () => {
      const id = ids[next(ids.length)];
      if (["queued", "running"].includes(store.get(id).state)) store.cancel(id);
    },
  ];
  for (let step = 0; step < 1500; step++) {
    if (next(2) === 0 || ids.length === 0) ids.push(...(await insert(`client-${next(5)} Q${next(40)}`)));
    else actions[next(actions.length)]();
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
    // Of a client's identical jobs, exactly one does not wait for another.
    const broken = database
      .query(
        `SELECT client, digest FROM job WHERE state IN ('queued', 'running') GROUP BY client, digest HAVING sum(twin = 0) <> 1`,
      )
      .all();
    expect(broken).toEqual([]);
  }
  expect(ids.length).toBeGreaterThan(500);
});
