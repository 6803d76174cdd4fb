import { beforeEach, expect, test } from "bun:test";
import { FarmJobs, UNKNOWN_WORKER } from "../../src/scoring/jobs/farm-jobs.ts";
import { openQueue, PREDICTION, START, VERSION, readPrediction } from "./job-queue.ts";

let queue: ReturnType<typeof openQueue>;
let farm: FarmJobs;
/** Three jobs of client a, and one of client b. */
let ids: string[];
beforeEach(async () => {
  queue = openQueue();
  farm = new FarmJobs(queue.database, queue.store, queue.clock);
  ids = await queue.insert("a A", "a C", "a D", "b E");
});

const lease = (id: string, worker = "w1", attempts = 1) => ({ id, worker, attempts });
const handed = (id: string) => ({ ...lease(id), prediction: PREDICTION, scoringVersion: VERSION });
const workers = () => ids.map((id) => farm.find(id)?.worker);

test("offers jobs fairly between clients, at most as many as requested", () => {
  expect(farm.offer(2).map(({ id, client }) => [id, client])).toEqual([
    [ids[0], "a"],
    [ids[3], "b"],
  ]);
  expect(workers()).toEqual(["", null, null, ""]);
  expect(farm.offer(0)).toEqual([]);
  // The pool leaves them alone.
  expect(queue.store.lease(1000)!.id).toBe(ids[1]);
  expect(farm.offer(5).map(({ id }) => id)).toEqual([ids[2]]);
  expect(farm.offer(5)).toEqual([]);
  expect(
    farm
      .remoteJobs()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual([ids[0], ids[2], ids[3]]);
});

test("withdraws some offers by identifier, or all", () => {
  farm.offer(4);
  farm.begin([lease(ids[0])], 1000);
  expect(farm.withdraw([ids[0], ids[1], ids[2], "none"])).toBe(2);
  expect(workers()).toEqual(["w1", null, null, ""]);
  expect(farm.withdraw()).toBe(1);
  expect(farm.withdraw()).toBe(0);
  expect(farm.remoteJobs().map(({ id }) => id)).toEqual([ids[0]]);
});

test("begins offered jobs, also for a repeated attempt, but no jobs of the pool or ended jobs", () => {
  const [offered] = farm.offer(1);
  const pools = queue.store.lease(1000)!;
  queue.store.cancel(ids[2]);
  const all = [offered.id, pools.id, ids[2], "none"].map((id) => lease(id));
  expect(farm.begin(all, 1000)).toEqual([true, false, false, false]);
  expect(farm.running()).toBe(1);
  expect(farm.begin([lease(offered.id, "w2", 2)], 1000)).toEqual([true]);
  expect(farm.find(offered.id)).toMatchObject({ state: "running", worker: "w2", attempts: 2 });
  expect(queue.database.query("SELECT started, deadline FROM job WHERE id = ?").get(offered.id)).toEqual({
    started: START,
    deadline: START + 1000,
  });
});

test("releases only offered and started jobs to the queue", () => {
  farm.offer(2);
  farm.begin([lease(ids[0])], 1000);
  expect([ids[0], ids[3], ids[1], "none"].map((id) => farm.release(id))).toEqual([true, true, false, false]);
  const pools = queue.store.lease(1000)!;
  expect(farm.release(pools.id)).toBe(false);
  expect(workers()).toEqual([null, null, null, null]);
  expect(queue.states([ids[1], ids[3]])).toEqual(["queued", "queued"]);
});

test("releases started jobs whose deadline passed long enough ago", () => {
  farm.offer(2);
  farm.begin([lease(ids[0])], 1000);
  farm.begin([lease(ids[3])], 2000);
  queue.pass(1500);
  expect(farm.releaseOverdue(500)).toBe(0);
  expect(farm.releaseOverdue(499)).toBe(1);
  expect(workers()).toEqual([null, null, null, "w1"]);
});

test("marks only queued and remote jobs as offered", () => {
  farm.offer(1);
  farm.begin([lease(ids[0])], 1000);
  const pools = queue.store.lease(1000)!;
  queue.store.cancel(ids[2]);
  const marked = [ids[0], ids[3], ids[2], pools.id, "none"].map((id) => farm.markOffered(id));
  expect(marked).toEqual([true, true, false, false, false]);
  expect(farm.find(ids[0])).toMatchObject({ state: "queued", worker: "" });
});

test("finishes started, offered and pool jobs, and reports which had already ended", () => {
  expect(farm.finish([])).toEqual([]);
  farm.offer(2);
  farm.begin([lease(ids[0])], 1000);
  const pools = queue.store.lease(1000)!;
  const dropped: string[] = [];
  queue.store.cancel(ids[2]);
  const all = [ids[0], ids[3], pools.id, ids[2], "none"].map(handed);
  expect(farm.finish(all, (id) => void dropped.push(id))).toEqual([true, true, true, false, false]);
  expect(dropped).toEqual([pools.id]);
  expect(readPrediction(queue.store, ids[3])).toEqual(JSON.parse(PREDICTION));
  expect(farm.running()).toBe(0);
});

test("fails jobs once, and records the worker and the attempt", () => {
  farm.offer(2);
  farm.begin([lease(ids[0]), lease(ids[3])], 1000);
  expect(farm.fail(lease(ids[0], "w2", 3), "Too slow.")).toBe(true);
  expect(farm.fail(lease(ids[0], "w2", 3), "Too slow.")).toBe(false);
  expect(farm.fail(lease(ids[3], UNKNOWN_WORKER, 9), "Too slow.")).toBe(true);
  const rows = queue.database.query(
    "SELECT worker, attempts, failure FROM job WHERE state = 'failed' ORDER BY rid",
  );
  expect(rows.all()).toEqual([
    { worker: "w2", attempts: 3, failure: "Too slow." },
    { worker: "w1", attempts: 1, failure: "Too slow." },
  ]);
});

test("recovery leaves remote jobs to the farm, or requeues them if no farm is configured", () => {
  farm.offer(2);
  farm.begin([lease(ids[0])], 1000);
  queue.store.lease(1000);
  expect(queue.store.recover(true)).toEqual({ requeued: 1, failed: 0 });
  expect(workers()).toEqual(["w1", null, null, ""]);
  queue.store.recover();
  expect(workers()).toEqual([null, null, null, null]);
  expect(farm.running()).toBe(0);
});
