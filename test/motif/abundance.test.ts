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
    expect(Math.abs(abundance(found, protein.length, expected / protein.length))).toBeLessThan(0.2);
  }
});

test("abundance is higher for a rare match than for one of many chance matches", () => {
  expect(abundance(1, 400, 1e-5)).toBeCloseTo(Math.LN2, 2);
  expect(abundance(1, 400, 0.01)).toBeCloseTo(Math.log(2 / 5), 12);
  expect(abundance(9, 400, 1e-5)).toBeGreaterThan(abundance(1, 400, 1e-5));
});
