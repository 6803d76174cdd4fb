import { expect, test } from "bun:test";
import { jobsAhead } from "../../src/farm/queue-filler.ts";

test("a queue has jobs ahead for every place, and not more than can be compared in passing", () => {
  expect([1, 100, 1000].map((places) => jobsAhead(places, false))).toEqual([32, 3200, 32_000]);
  expect([1024, 4000, 100_000].map((places) => jobsAhead(places, false))).toEqual([32_768, 32_768, 200_000]);
  expect([0, 1, 4000].map((places) => jobsAhead(places, true))).toEqual([0, 2, 8000]);
});
