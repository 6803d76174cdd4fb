import { expect, test } from "bun:test";
import { BurstLimiter } from "../../src/farm/burst-limiter.ts";

test("at once a few times in a row, then once in so many milliseconds, and again after a rest", () => {
  const pace = new BurstLimiter(3, 10);
  let now = performance.now();
  const waits = (times: number): number[] =>
    Array.from({ length: times }, () => {
      const wait = pace.next(now);
      now += wait;
      return wait;
    });
  expect(waits(6)).toEqual([0, 0, 0, 10, 10, 10]);
  now += 20;
  expect(waits(3)).toEqual([0, 0, 10]);
  now += 1000;
  expect(waits(4)).toEqual([0, 0, 0, 10]);
});
