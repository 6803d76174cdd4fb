import { expect, test } from "bun:test";
import { readMicroseconds, systemClock, timestampOrNull } from "../../src/platform/clock.ts";

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
