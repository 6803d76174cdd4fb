import { expect, test } from "bun:test";
import { encode } from "../../src/motif/alphabet.ts";
import { buildFamily, measureHomolog } from "../../src/motif/divergence.ts";
import { readAlignment } from "../../src/motif/query.ts";
import {
  burial,
  chainDisorder,
  familyDisorder,
  regionCharge,
  serThrFraction,
} from "../../src/motif/region.ts";

const middle = { start: 60, end: 64 };

test("burial is the best window of 19 near the match, cut at the ends", () => {
  // 4.5 of isoleucine, −3.5 of asparagine: published ends of the scale but one.
  const far = encode(`${"I".repeat(10)}${"N".repeat(110)}`);
  expect(burial(far, middle)).toBeCloseTo(-3.5, 12);
  const near = encode(`${"N".repeat(66)}${"I".repeat(19)}${"N".repeat(35)}`);
  // Centres go up to 72: that window has 16 of the 19.
  expect(burial(near, middle)).toBeCloseTo((16 * 4.5 - 3 * 3.5) / 19, 12);
  expect(burial(encode("IIII"), { start: 0, end: 4 })).toBeCloseTo(4.5, 12);
  expect(burial(encode(""), { start: 0, end: 0 })).toBe(0);
});

test("charge and serThrFraction count in 40 residues on each side, not in the match, not in letters beyond the twenty", () => {
  const query = encode(
    `${"K".repeat(20)}${"D".repeat(30)}${"S".repeat(10)}KKKK${"T".repeat(10)}${"X".repeat(30)}${"R".repeat(20)}`,
  );
  expect(regionCharge(query, middle)).toBeCloseTo(-30 / 80, 12);
  expect(serThrFraction(query, middle)).toBeCloseTo(20 / 80, 12);
  expect(regionCharge(encode("KKKK"), { start: 0, end: 4 })).toBe(0);
});

test("disorder is what the homologs have there; the query's where none has a residue", () => {
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
