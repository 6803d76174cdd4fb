import { expect, test } from "bun:test";
import { FairPriority } from "../../src/farm/fair-priority.ts";

/** A queue that hands out the least priority first, of equal ones the oldest: what BullMQ does. */
class Queue {
  readonly #fair = new FairPriority();
  readonly #waiting: { client: string; priority: number; order: number }[] = [];
  #order = 0;

  submit(client: string, jobs = 1): void {
    for (let i = 0; i < jobs; i++)
      this.#waiting.push({ client, priority: this.#fair.next(client)!, order: this.#order++ });
  }

  take(count = 1): string {
    let taken = "";
    for (let i = 0; i < count; i++) {
      this.#waiting.sort((a, b) => a.priority - b.priority || a.order - b.order);
      const { client, priority } = this.#waiting.shift()!;
      this.#fair.begun(priority);
      taken += client;
    }
    return taken;
  }
}

test("clients take turns, whoever submits how much", () => {
  const queue = new Queue();
  queue.submit("a", 4);
  queue.submit("b", 2);
  expect(queue.take(6)).toBe("ababaa");
});

test("who comes later has a turn in the round that is on, and not before", () => {
  const queue = new Queue();
  queue.submit("a", 100);
  expect(queue.take(50)).toBe("a".repeat(50));
  queue.submit("b", 3);
  expect(queue.take(6)).toBe("bababa");
});

test("those who always have one job waiting do not pass by one who has many", () => {
  const queue = new Queue();
  queue.submit("a", 100);
  let taken = "";
  for (let i = 0; i < 30; i++) {
    queue.submit("b");
    queue.submit("c");
    taken += queue.take(3);
  }
  const turns = (client: string): number => taken.split(client).length - 1;
  expect([turns("a"), turns("b"), turns("c")]).toEqual([30, 30, 30]);
});

test("priorities end where BullMQ's do, and begin anew when none waits", () => {
  const fair = new FairPriority();
  fair.seen("a", 1_999_999);
  expect(fair.next("a")).toBe(2_000_000);
  expect(fair.next("a")).toBeNull();
  expect(fair.next("b")).toBe(1);
  fair.reset();
  expect(fair.next("a")).toBe(1);
});
