import { expect, test } from "bun:test";
import { findMatches, findMatchPath } from "../../src/motif/automaton-matches.ts";
import { encode } from "../../src/motif/alphabet.ts";
import { computeContributions } from "../../src/motif/evidence.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { findReferenceMatches, patternTerm } from "../../src/motif/pattern-reference.ts";
import { ORDER, SEQUENCES } from "../../src/motif/reference-proteins.ts";
import { TYPICAL_REFERENCE } from "../../src/motif/term-shapes.ts";

const termOf = (expression: string): number => patternTerm(parsePattern(expression, "elm").automaton);
const proteins = SEQUENCES.split(" ");
const order = Uint8Array.fromBase64(ORDER);

test("every reference residue has a predicted order", () => {
  expect(proteins.length).toBe(150);
  expect(proteins.every((letters) => /^[A-Z]{100,700}$/.test(letters))).toBe(true);
  expect(order.length).toBe(proteins.join("").length);
});

test("reference matches are those of the pattern in each protein, which weighs the root of their number", () => {
  const { automaton } = parsePattern("[ST]Q");
  const found = findReferenceMatches(automaton);
  const counts = proteins.map((letters) => findMatches(automaton, encode(letters), []).length);
  const weight = counts.reduce((sum, count) => sum + Math.sqrt(count), 0);
  expect(found.length).toBe(counts.reduce((sum, count) => sum + Math.min(count, 8), 0));
  expect(found.reduce((sum, one) => sum + one.weight, 0)).toBeCloseTo(weight, 9);
  const first = proteins.findIndex((letters) => /[ST]Q/.test(letters));
  const [start, from] = [proteins[first].search(/[ST]Q/), proteins.slice(0, first).join("").length];
  const expected = (order[from + start] + order[from + start + 1]) / 255 / 2;
  expect(found[0].terms.order).toBeCloseTo(expected, 6);
  expect(findMatchPath(automaton, encode(proteins[first]), { start, end: start + 2 }, [])).not.toBeNull();
});

test("the term is minus the weighted shares of mean contributions, beside ten typical matches", () => {
  const matches = findReferenceMatches(parsePattern("P..P").automaton);
  let [total, weights] = [10 * TYPICAL_REFERENCE, 10];
  for (const { terms, weight } of matches) {
    const { order, chainOrder, burial, terminusProximity, abundance } = computeContributions({
      ...terms,
      conservation: 0,
      pattern: 0,
    });
    total += weight * (0.5 * (order + chainOrder + burial + terminusProximity) + abundance);
    weights += weight;
  }
  expect(termOf("P..P")).toBeCloseTo(TYPICAL_REFERENCE - total / weights, 9);
});

test("counts against patterns whose random matches look like motifs", () => {
  expect(termOf("[ST]P.[KR]")).toBeLessThan(termOf("[ILV].[FWY]"));
  expect(termOf("WWWWWWWW")).toBe(0);
  expect(termOf("(?<=S)P..P")).not.toBe(termOf("P..P"));
});

test("a pattern that matches everywhere is read in some of the proteins", () => {
  const { automaton } = parsePattern(`(${"[ST]?".repeat(400)}){1,2}.`);
  expect(findReferenceMatches(automaton).length).toBeWithin(8, proteins.length * 8);
  expect(Number.isFinite(patternTerm(automaton))).toBe(true);
});
