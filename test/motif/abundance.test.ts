import { expect, test } from "bun:test";
import { abundance, pathProbability, residueFrequencies } from "../../src/motif/abundance.ts";
import { BACKGROUND, encode } from "../../src/motif/alphabet.ts";
import { findMatches, findMatchPath } from "../../src/motif/automaton-matches.ts";
import { MAX_CHANCE } from "../../src/motif/options.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";

function findPath(expression: string, text: string): Int32Array {
  const { automaton } = parsePattern(expression);
  const residues = encode(text);
  return findMatchPath(automaton, residues, findMatches(automaton, residues, [])[0], [])!;
}

test("residue frequencies sum to 1 and ignore non-standard letters", () => {
  const shares = residueFrequencies(encode("AACXB"));
  expect(shares[0]).toBeCloseTo(2 / 3, 12);
  expect(shares[1]).toBeCloseTo(1 / 3, 12);
  expect([...residueFrequencies(encode("XX"))]).toEqual(Array.from({ length: 20 }, () => 0));
});

test("the probability of a path is the product over positions, without wildcards", () => {
  const shares = residueFrequencies(encode("WWWW"));
  const w = 0.5 + 0.5 * BACKGROUND[18];
  const p = 0.5 * BACKGROUND[12];
  expect(pathProbability(findPath("PW.P", "PWAP"), shares)).toBeCloseTo(p * w * p, 12);
  expect(pathProbability(findPath("W", "W"), shares)).toBe(MAX_CHANCE);
});

test("random proteins match patterns as often as their probability predicts", () => {
  const protein = randomProtein(random(81), 200_000);
  const shares = residueFrequencies(protein);
  for (const [expression, text] of [
    ["[ST]P", "SP"],
    ["P..P", "PAAP"],
    ["[KR].[KR]", "KAR"],
    ["L.[DE]", "LAD"],
  ]) {
    const { automaton } = parsePattern(expression);
    const found = findMatches(automaton, protein, []).length;
    const expected = protein.length * pathProbability(findPath(expression, text), shares);
    expect(Math.abs(found - expected)).toBeLessThan(5 * Math.sqrt(expected));
  }
});

test("abundance is that of the plain sum over fewer matches", () => {
  for (const mean of [0.004, 0.3, 2, 9, 25])
    for (const count of [1, 2, 5, 12, 30]) {
      let below = 0;
      let term = Math.exp(-mean);
      for (let k = 0; k < count; k++, term *= mean / k) below += term;
      if (below > 1 - 1e-6) continue;
      expect(abundance(count, 100, mean / 100)).toBeCloseTo(Math.log(1 - Math.log(1 - below)), 8);
    }
});

test("abundance is higher for a rare match than for one of many chance matches, and limited for any number", () => {
  expect(abundance(1, 400, 1e-5)).toBeCloseTo(Math.log(1 - Math.log(0.004)), 3);
  expect(abundance(1, 400, 0.01)).toBeCloseTo(Math.log(1 - Math.log(1 - Math.exp(-4))), 12);
  expect(abundance(9, 400, 1e-5)).toBeGreaterThan(abundance(1, 400, 1e-5));
  expect(abundance(1, 35_000, 0.3)).toBe(0);
  expect(abundance(10_400, 35_000, 0.3)).toBeCloseTo(0.164, 2);
  expect(abundance(3000, 35_000, 1e-6)).toBeWithin(9, 12);
});
