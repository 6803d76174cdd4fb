import { expect, test } from "bun:test";
import { encode } from "../../src/motif/alphabet.ts";
import { DISORDER_FLANK, TERMINUS_DECAY } from "../../src/motif/options.ts";
import {
  burial,
  chainDisorder,
  disorderAround,
  familyDisorder,
  regionCharge,
  serThrFraction,
  terminusProximity,
} from "../../src/motif/region.ts";
import { buildFamily, measureHomolog } from "../../src/motif/divergence.ts";
import { readAlignment } from "../../src/motif/query.ts";

test("disorder follows the published TOP-IDP scale", () => {
  const around = (letter: string): number =>
    disorderAround(encode(`${letter.repeat(30)}GGG${letter.repeat(30)}`), { start: 30, end: 33 });
  expect(around("W")).toBeCloseTo(-0.884, 9);
  expect(around("P")).toBeCloseTo(0.987, 9);
  expect(around("N")).toBeCloseTo(0.007, 9);
  // From order to disorder: Campen et al. 2008, table of the scale.
  const order = [..."WFYIMLVNCTAGRDHQSKEP"].map(around);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

test("disorder averages the flanks without the match and non-standard letters", () => {
  const inside = encode(`${"E".repeat(60)}WWWW${"E".repeat(60)}`);
  expect(disorderAround(inside, { start: 60, end: 64 })).toBeCloseTo(0.736, 9);
  const far = encode(`${"W".repeat(40)}${"K".repeat(DISORDER_FLANK)}AA${"K".repeat(DISORDER_FLANK)}WWWW`);
  expect(disorderAround(far, { start: 60, end: 62 })).toBeCloseTo(0.586, 9);
  const oneSided = encode(`AA${"X".repeat(10)}${"S".repeat(10)}${"W".repeat(20)}`);
  expect(disorderAround(oneSided, { start: 0, end: 2 })).toBeCloseTo(0.341, 9);
  expect(disorderAround(encode("AXX"), { start: 0, end: 1 })).toBe(0);
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

test("charge and serThrFraction cover 40 residues on each side of the match", () => {
  const query = encode(
    `${"K".repeat(20)}${"D".repeat(30)}${"S".repeat(10)}KKKK${"T".repeat(10)}${"X".repeat(30)}${"R".repeat(20)}`,
  );
  expect(regionCharge(query, middle)).toBeCloseTo(-30 / 80, 12);
  expect(serThrFraction(query, middle)).toBeCloseTo(20 / 80, 12);
  expect(regionCharge(encode("KKKK"), { start: 0, end: 4 })).toBe(0);
});

test("family disorder averages homologs, or uses the query at positions without homologous residues", () => {
  const flank = (one: string, rest: string): string => `${one.repeat(10)}GGGG${rest.repeat(10)}`;
  const letters = [flank("W", "P"), flank("E", "-"), flank("K", "-"), flank("E", "-")];
  const { query, rows } = readAlignment(letters.map((text, i) => ({ name: `s${i}`, letters: text })));
  const { homologs } = buildFamily(
    query,
    rows.map((row) => measureHomolog(query, row)),
  );
  const [e, k, other] = homologs.map(({ weight }) => weight);
  const left = (0.736 * (e + other) + 0.586 * k) / (e + k + other);
  expect(familyDisorder(query, homologs, { start: 10, end: 14 })).toBeCloseTo((left + 0.987) / 2, 9);
  expect(familyDisorder(query, [], { start: 10, end: 14 })).toBeCloseTo((0.987 - 0.884) / 2, 9);
  expect(chainDisorder(encode("WPXX"))).toBeCloseTo((0.987 - 0.884) / 4, 12);
  expect(chainDisorder(encode(""))).toBe(0);
});
