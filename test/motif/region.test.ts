import { expect, test } from "bun:test";
import { encode } from "../../src/motif/alphabet.ts";
import { TERMINUS_DECAY } from "../../src/motif/options.ts";
import { burial, terminusProximity } from "../../src/motif/region.ts";

test("terminus proximity is 1 at either end and decays with the distance", () => {
  expect(terminusProximity(100, { start: 0, end: 4 })).toBe(1);
  expect(terminusProximity(100, { start: 96, end: 100 })).toBe(1);
  expect(terminusProximity(1000, { start: TERMINUS_DECAY, end: 40 })).toBeCloseTo(Math.exp(-1), 12);
  expect(terminusProximity(1000, { start: 30, end: 34 })).toBeCloseTo(
    terminusProximity(1000, { start: 966, end: 970 }),
    12,
  );
});

const middle = { start: 60, end: 64 };

test("burial is the most hydrophobic window of 19 near the match", () => {
  // 4.5 of isoleucine, −3.5 of asparagine: published ends of the scale but one.
  const far = encode(`${"I".repeat(10)}${"N".repeat(110)}`);
  expect(burial(far, middle)).toBeCloseTo(-3.5, 12);
  const near = encode(`${"N".repeat(66)}${"I".repeat(19)}${"N".repeat(35)}`);
  // Centres go up to 72: that window has 16 of the 19.
  expect(burial(near, middle)).toBeCloseTo((16 * 4.5 - 3 * 3.5) / 19, 12);
  expect(burial(encode("IIII"), { start: 0, end: 4 })).toBeCloseTo(4.5, 12);
  expect(burial(encode(""), { start: 0, end: 0 })).toBe(0);
});
