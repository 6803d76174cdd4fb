import { afterEach, expect, spyOn, test } from "bun:test";
import { closeDatabase } from "../../src/platform/sqlite.ts";
import { BackgroundQueue, BackgroundTask } from "../../src/scoring/jobs/background.ts";
import { Pool } from "../../src/scoring/jobs/pool.ts";
import { openQueue, VERSION } from "./job-queue.ts";
import { waitFor } from "../wait.ts";

const FAULTY_WORKER = new URL("./faulty-worker.ts", import.meta.url).href;

let queue: ReturnType<typeof openQueue>;
let pool: Pool;
let background: BackgroundQueue;
let stop: AbortController;
afterEach(() => {
  stop.abort(new Error("over"));
  pool.close();
  closeDatabase(queue.database);
});

/** Starts tasks that end when they are interrupted. */
function start(tasks: number, size: number): void {
  [queue, background, stop] = [openQueue(), new BackgroundQueue(), new AbortController()];
  const { store } = queue;
  pool = new Pool({
    store,
    corpora: { active: () => null, scoringVersion: () => VERSION },
    log: { info: () => {}, problem: () => {} },
    size,
    timeout: 20_000,
    background,
    workerUrl: FAULTY_WORKER,
  });
  background.wake = () => pool.wake();
  const all = Array.from({ length: tasks }, () => ({ ticket: 0, corpusPath: "none", members: [1, 2] }));
  const run = async (): Promise<void> => {
    for await (const _ of background.run(all, stop.signal));
  };
  run().catch(() => {});
}

let queries = 0;
async function submit(word: string): Promise<string> {
  const query = `Q${"A".repeat(++queries)}`;
  const id = await queue.store.insert({ identifier: word, query, model: "continuous", patterns: [] });
  pool.wake();
  return id;
}
const state = (id: string): string => queue.store.get(id).state;

test("a job interrupts a background task, which is taken up again afterwards", async () => {
  start(1, 1);
  const taken = spyOn(background, "take");
  expect(background.take()).toBeNull();
  for (let i = 0; i < 3; i++) {
    const id = await submit("finish");
    await waitFor(() => state(id) === "finished");
  }
  await waitFor(() => taken.mock.results.filter(({ value }) => value !== null).length > 2);
});

test("a job takes an idle worker and does not interrupt background tasks", async () => {
  start(1, 2);
  const interrupt = spyOn(BackgroundTask.prototype, "interrupt");
  const id = await submit("finish");
  await waitFor(() => state(id) === "finished");
  expect(interrupt).not.toHaveBeenCalled();
  interrupt.mockRestore();
});

test("all workers take background tasks, and give them up for jobs", async () => {
  start(3, 2);
  expect(background.take()).not.toBeNull();
  const ids = await Promise.all(Array.from({ length: 4 }, () => submit("finish")));
  await waitFor(() => ids.every((id) => state(id) === "finished"));
});

test("the deadline of a job that waits for the interruption ends the worker, not the task", async () => {
  start(1, 1);
  const lease = queue.store.lease.bind(queue.store);
  // This job alone has little time: for a job that has to end, a busy machine may take longer to start a worker.
  spyOn(queue.store, "lease").mockImplementation((milliseconds) => {
    const next = lease(milliseconds);
    return next?.request.identifier === "spin" ? { ...next, timeout: 100 } : next;
  });
  const interrupt = spyOn(BackgroundTask.prototype, "interrupt").mockImplementation(() => {});
  const id = await submit("spin");
  await waitFor(() => state(id) === "failed");
  interrupt.mockRestore();
  const next = await submit("finish");
  await waitFor(() => state(next) === "finished");
});
