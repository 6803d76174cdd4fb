import { expect, test } from "bun:test";
import { BACKGROUND, encode } from "../../src/motif/alphabet.ts";
import { findMatches, findMatchPath } from "../../src/motif/automaton-matches.ts";
import { sumFrequencies, minBits, pathBits, positionBits } from "../../src/motif/information.ts";
import { MAX_POSITION_BITS } from "../../src/motif/options.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { random } from "../fixtures/random-protein.ts";
import { randomForm, write } from "./pattern-cases.ts";

const bits = (letters: string): number =>
  -Math.log2([...encode(letters)].reduce((sum, code) => sum + BACKGROUND[code], 0));

test("position information follows the background frequency", () => {
  expect(sumFrequencies(0b101)).toBeCloseTo(BACKGROUND[0] + BACKGROUND[2], 12);
  expect(positionBits(1)).toBeCloseTo(bits("A"), 12);
  expect(positionBits(2 ** 26 - 1)).toBe(0);
  expect(positionBits(2 ** 26 - 1 - 1)).toBeCloseTo(bits("CDEFGHIKLMNPQRSTVWY"), 12);
  // Only non-standard letters: the maximum.
  expect(positionBits(1 << 25)).toBe(MAX_POSITION_BITS);
});

test.each([
  ["AC", bits("A") + bits("C")],
  ["A.C", bits("A") + bits("C")],
  ["[ST]P|W", bits("W")],
  ["(W|CC)A{2,3}C*", bits("W") + 2 * bits("A")],
  ["^A$", bits("A")],
  ["", 0],
  ["A{0}", 0],
])("minimum information of %p", (expression, expected) => {
  expect(minBits(parsePattern(expression).root)).toBeCloseTo(expected, 10);
});

test("no path has less information than the minimum of its pattern", () => {
  const next = random(21);
  let matches = 0;
  for (let i = 0; i < 2000; i++) {
    const { automaton, root } = parsePattern(write(randomForm(next, 4)));
    const residues = encode(Array.from({ length: 8 }, () => "ACD"[Math.floor(next() * 3)]).join(""));
    const least = minBits(root);
    for (const match of findMatches(automaton, residues, [])) {
      expect(pathBits(findMatchPath(automaton, residues, match, [])!)).toBeGreaterThanOrEqual(least - 1e-9);
      matches++;
    }
  }
  expect(matches).toBeGreaterThan(1000);
});
