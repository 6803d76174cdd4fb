import { expect, test } from "bun:test";
import { newRowId, readMicroseconds, systemClock, timestampOrNull } from "../../src/platform/clock.ts";

test("microseconds agree with the milliseconds of the clock, and never go back", () => {
  let last = 0;
  for (let i = 0; i < 1000; i++) {
    const before = Date.now();
    const time = readMicroseconds(systemClock);
    expect(time).toBeGreaterThanOrEqual(before * 1000);
    expect(time).toBeLessThan((Date.now() + 1) * 1000);
    expect(time).toBeGreaterThanOrEqual(last);
    expect(Number.isInteger(time)).toBe(true);
    last = time;
  }
});

test.each([
  [0, 0],
  [1.0004, 1000],
  [1.0006, 1001],
  [1_700_000_000_000, 1_700_000_000_000_000],
])("a clock without microseconds converts %p ms to %p µs", (now, microseconds) => {
  expect(readMicroseconds({ now: () => now, newId: () => "" })).toBe(microseconds);
});

test.each([
  [null, null],
  [0, "1970-01-01T00:00:00.000Z"],
  [1, "1970-01-01T00:00:00.001Z"],
])("the time %p is %p", (time, text) => {
  expect(timestampOrNull(time)).toBe(text);
});

test("ids for rows are of UUID version 7, begin with the time and differ", () => {
  const before = Date.now();
  const ids = Array.from({ length: 100 }, () => newRowId(systemClock));
  const after = Date.now();
  expect(new Set(ids).size).toBe(100);
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
    expect(before <= time && time <= after).toBe(true);
  }
});

test("a clock without ordered ids gives its own ids to rows", () => {
  expect(newRowId({ now: () => 0, newId: () => "own" })).toBe("own");
});
