import { expect, test } from "bun:test";
import { encode } from "../../src/motif/alphabet.ts";
import { ORDER_FLANK, TERMINUS_DECAY } from "../../src/motif/options.ts";
import { burial, orderAround, terminusProximity } from "../../src/motif/region.ts";

test("order around a match is the mean of both flanks without the match", () => {
  const order = Float32Array.from({ length: 100 }, (_, p) => (p < 50 ? 0.25 : 0.75));
  const both = { start: 50 - ORDER_FLANK, end: 50 };
  expect(orderAround(order, both)).toBeCloseTo(
    (0.25 * (50 - ORDER_FLANK - Math.max(0, 50 - 2 * ORDER_FLANK)) + 0.75 * ORDER_FLANK) / (2 * ORDER_FLANK),
    9,
  );
  expect(orderAround(order, { start: 98, end: 100 })).toBe(0.75);
  expect(orderAround(order, { start: 0, end: 4 })).toBe(0.25);
  expect(orderAround(order, { start: 0, end: 100 })).toBe(0.5);
  const near = order.map((_, p) => (p === 60 - ORDER_FLANK - 1 || p === 63 + ORDER_FLANK ? 1 : 0));
  expect(orderAround(near, { start: 60, end: 63 })).toBe(0);
});

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
