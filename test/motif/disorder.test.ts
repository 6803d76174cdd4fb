import { expect, test } from "bun:test";
import { encode } from "../../src/motif/alphabet.ts";
import { disorderAround, terminusProximity } from "../../src/motif/region.ts";
import { DISORDER_FLANK, TERMINUS_DECAY } from "../../src/motif/options.ts";

test("the scale's ends and middle, as published", () => {
  const around = (letter: string): number =>
    disorderAround(encode(`${letter.repeat(30)}GGG${letter.repeat(30)}`), { start: 30, end: 33 });
  expect(around("W")).toBeCloseTo(-0.884, 9);
  expect(around("P")).toBeCloseTo(0.987, 9);
  expect(around("N")).toBeCloseTo(0.007, 9);
  // From order to disorder: Campen et al. 2008, table of the scale.
  const order = [..."WFYIMLVNCTAGRDHQSKEP"].map(around);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

test("only the flanks count, each to its length, and letters beyond the twenty not at all", () => {
  const inside = encode(`${"E".repeat(60)}WWWW${"E".repeat(60)}`);
  expect(disorderAround(inside, { start: 60, end: 64 })).toBeCloseTo(0.736, 9);
  const far = encode(`${"W".repeat(40)}${"K".repeat(DISORDER_FLANK)}AA${"K".repeat(DISORDER_FLANK)}WWWW`);
  expect(disorderAround(far, { start: 60, end: 62 })).toBeCloseTo(0.586, 9);
  const oneSided = encode(`AA${"X".repeat(10)}${"S".repeat(10)}${"W".repeat(20)}`);
  expect(disorderAround(oneSided, { start: 0, end: 2 })).toBeCloseTo(0.341, 9);
  expect(disorderAround(encode("AXX"), { start: 0, end: 1 })).toBe(0);
});

test("terminusProximity is 1 at either end and wears off with the distance to the nearer", () => {
  expect(terminusProximity(100, { start: 0, end: 4 })).toBe(1);
  expect(terminusProximity(100, { start: 96, end: 100 })).toBe(1);
  expect(terminusProximity(1000, { start: TERMINUS_DECAY, end: 40 })).toBeCloseTo(Math.exp(-1), 12);
  expect(terminusProximity(1000, { start: 30, end: 34 })).toBeCloseTo(
    terminusProximity(1000, { start: 966, end: 970 }),
    12,
  );
});
