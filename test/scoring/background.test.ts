import { expect, test } from "bun:test";
import type { StoredFamily } from "../../src/motif/index.ts";
import { BackgroundQueue } from "../../src/scoring/jobs/background.ts";
import type { CarryTask, FamiliesReport, FamiliesTask } from "../../src/scoring/jobs/worker-messages.ts";

const task = (...members: number[]): FamiliesTask => ({ ticket: 0, corpusPath: "c", members });
const carryTask = { ticket: 0, corpusPath: "c", families: "f", among: [1] } as unknown as CarryTask;
const families = (proteins: readonly number[]): StoredFamily[] =>
  proteins.map((protein) => ({ protein, record: new Uint8Array(), sizes: [1, 2] }));
const report = (proteins: readonly number[], isInterrupted = false): FamiliesReport => ({
  ticket: 1,
  kind: "families",
  families: families(proteins),
  isInterrupted,
});
const readMembers = (message: FamiliesTask | CarryTask): number[] => (message as FamiliesTask).members;
const { signal } = new AbortController();

/** Collects the reports of tasks. */
async function run(queue: BackgroundQueue, tasks: (FamiliesTask | CarryTask)[], stop = signal) {
  const found: [number, number[]][] = [];
  for await (const { ticket, families: own } of queue.run(tasks, stop))
    found.push([ticket, own.map(({ protein }) => protein)]);
  return found;
}

test("yields reports in the order of the tasks", async () => {
  const queue = new BackgroundQueue();
  let wakes = 0;
  queue.wake = () => wakes++;
  const found = run(queue, [task(1, 2), task(3)]);
  expect(wakes).toBe(1);
  const [first, second] = [queue.take()!, queue.take()!];
  expect(queue.take()).toBeNull();
  second.report(report([3]));
  first.report(report([1, 2]));
  expect(await found).toEqual([
    [0, [1, 2]],
    [1, [3]],
  ]);
});

test("an interrupted task continues with its remaining proteins, before other tasks", async () => {
  const queue = new BackgroundQueue();
  const found = run(queue, [task(1, 2, 3), task(4)]);
  const first = queue.take()!;
  const { stop } = first.message(1);
  first.interrupt();
  expect(stop![0]).toBe(1);
  first.report(report([1], true));
  const again = queue.take()!;
  const message = again.message(2);
  expect([message.stop![0], readMembers(message)]).toEqual([0, [2, 3]]);
  again.report(report([2, 3]));
  queue.take()!.report(report([4]));
  expect(await found).toEqual([
    [0, [1, 2, 3]],
    [1, [4]],
  ]);
});

test("offers half of the members after an interruption before the first family", async () => {
  const queue = new BackgroundQueue();
  const found = run(queue, [task(1, 2, 3, 4, 5)]);
  const sizes: number[] = [];
  for (const done of [0, 0, 0, 1, 1, 1, 1, 1]) {
    const next = queue.take()!;
    const members = readMembers(next.message(1));
    sizes.push(members.length);
    next.report(report(members.slice(0, done), done === 0));
  }
  expect(sizes).toEqual([5, 3, 2, 1, 1, 1, 1, 1]);
  expect(await found).toEqual([[0, [1, 2, 3, 4, 5]]]);
});

test("repeats an interrupted carry-over as a whole", async () => {
  const queue = new BackgroundQueue();
  const found = run(queue, [carryTask]);
  queue.take()!.report(report([7], true));
  queue.take()!.report(report([7, 8]));
  expect(await found).toEqual([[0, [7, 8]]]);
});

test("tries a task again after a worker died, but not forever", async () => {
  const queue = new BackgroundQueue();
  const found = run(queue, [task(1)]);
  for (const cause of ["a", null, "b", null]) queue.take()!.lose(cause);
  queue.take()!.lose("out of memory");
  await expect(found).rejects.toThrow("A worker ended 3 times: out of memory");
  expect(queue.take()).toBeNull();
});

test("passes on why a task failed", async () => {
  const queue = new BackgroundQueue();
  const found = run(queue, [task(1)]);
  queue.take()!.report({ ticket: 1, kind: "failed", reason: "The corpus is damaged.", cause: "x" });
  await expect(found).rejects.toThrow("The corpus is damaged.");
});

test("forgets all tasks and interrupts the running ones when it is aborted", async () => {
  const queue = new BackgroundQueue();
  const stop = new AbortController();
  const found = run(queue, [task(1), task(2)], stop.signal);
  const running = queue.take()!;
  const message = running.message(1);
  stop.abort(new Error("stopped"));
  await expect(found).rejects.toThrow("stopped");
  expect(message.stop![0]).toBe(1);
  running.report(report([], true));
  expect(queue.take()).toBeNull();
});
