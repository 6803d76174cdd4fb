import { expect, test } from "bun:test";
import { FairPriority } from "../../src/farm/fair-priority.ts";
import { targetLength } from "../../src/farm/queue-filler.ts";

/** A queue that gives out the lowest priority first, then the oldest, as BullMQ does. */
class Queue {
  readonly #fair = new FairPriority();
  readonly #waiting: { client: string; priority: number; order: number }[] = [];
  #order = 0;

  submit(client: string, jobs: number): void {
    for (let i = 0; i < jobs; i++)
      this.#waiting.push({ client, priority: this.#fair.next(client)!, order: this.#order++ });
  }

  take(count: number): string {
    let taken = "";
    for (let i = 0; i < count; i++) {
      this.#waiting.sort((a, b) => a.priority - b.priority || a.order - b.order);
      const { client, priority } = this.#waiting.shift()!;
      this.#fair.started(priority);
      taken += client;
    }
    return taken;
  }
}

test.each([
  ["clients take turns, however much they submit", ["a4", "b2"], 6, "ababaa"],
  ["a late client joins the current round", ["a100", -50, "b3"], 6, "bababa"],
  ["clients with one job each do not overtake one with many", ["a9", "b1", "c1", -3, "b1", "c1"], 3, "abc"],
] as [string, (string | number)[], number, string][])("%s", (_, steps, count, expected) => {
  const queue = new Queue();
  for (const step of steps) {
    if (typeof step === "number") queue.take(-step);
    else queue.submit(step[0], Number(step.slice(1)));
  }
  expect(queue.take(count)).toBe(expected);
});

test("priorities stop at BullMQ's maximum and restart when the queue is empty", () => {
  const fair = new FairPriority();
  fair.recordPriority("a", 1_999_999);
  fair.recordPriority("a", 5);
  expect(fair.next("a")).toBe(2_000_000);
  expect(fair.next("a")).toBeNull();
  expect(fair.next("b")).toBe(1);
  fair.reset();
  expect(fair.next("a")).toBe(1);
});

test.each([
  [0, false, 0],
  [1, false, 32],
  [100, false, 3200],
  [1000, false, 32_000],
  [1024, false, 32_768],
  [4000, false, 32_768],
  [100_000, false, 200_000],
  [0, true, 0],
  [1, true, 2],
  [4000, true, 8000],
])("the queue of %d slots (with pool: %p) holds %d jobs", (slots, withPool, length) =>
  expect(targetLength(slots, withPool)).toBe(length),
);
