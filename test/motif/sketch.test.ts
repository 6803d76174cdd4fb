import { describe, expect, test } from "bun:test";
import { BACKGROUND, encode, X } from "../../src/motif/alphabet.ts";
import { BLOSUM62 } from "../../src/motif/matrix.ts";
import { HITS_PER_RESIDUE, sketch } from "../../src/motif/sketch.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";

const HIGHEST = 0x8000_0000;

/** The places that a sketch gives to each of its words, read as assembly/scan.ts says. */
function placesByWord({ words }: ReturnType<typeof sketch>): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const [k, word] of words.words.entries()) {
    expect(found.has(word)).toBe(false);
    const places: number[] = [];
    for (let entry = words.heads[k], at = entry; ; at++) {
      if (entry < HIGHEST) entry = words.positions[at];
      places.push(entry % HIGHEST);
      if (entry >= HIGHEST) break;
    }
    found.set(word, places);
  }
  return found;
}

describe("a sketch", () => {
  test("has exactly the words that score enough, and where: all 160,000 looked at", () => {
    const query = encode("MKVLAWXRRPSSLLMKVLAWBGD");
    const made = sketch(query, 0.05);
    const placesOf = placesByWord(made);
    let chance = 0;
    for (let word = 0; word < 160_000; word++) {
      const codes = [
        Math.floor(word / 8000),
        Math.floor(word / 400) % 20,
        Math.floor(word / 20) % 20,
        word % 20,
      ];
      const wanted: number[] = [];
      for (let i = 0; i + 4 <= query.length; i++) {
        const own = query.subarray(i, i + 4);
        if (own.some((code) => code >= 20)) continue;
        const score = codes.reduce((sum, code, k) => sum + BLOSUM62[own[k] * 32 + code], 0);
        if (score < made.threshold) continue;
        wanted.push(i);
        chance += codes.reduce((p, code) => p * BACKGROUND[code], 1);
      }
      const places = placesOf.get(word) ?? [];
      if (places.length !== wanted.length || places.some((p, k) => p !== wanted[k])) {
        expect(places).toEqual(wanted);
      }
    }
    expect(made.expectedHits).toBeCloseTo(chance, 9);
  });

  test("the threshold follows the length, so that chance hits stay within bounds", () => {
    const next = random(31);
    const thresholds = [20, 100, 400, 2000, 10_000].map((length) => {
      const made = sketch(randomProtein(next, length));
      if (made.threshold < 20) expect(made.expectedHits).toBeLessThanOrEqual(HITS_PER_RESIDUE);
      return made.threshold;
    });
    expect(thresholds).toEqual(thresholds.toSorted((a, b) => a - b));
    expect(thresholds[4]).toBeGreaterThan(thresholds[0]);
  });

  test("nothing to look for", () => {
    for (const query of [encode(""), encode("MKV"), new Uint8Array(50).fill(X), encode("BZUOJX")]) {
      const { words, expectedHits } = sketch(query);
      expect(words.words).toHaveLength(0);
      expect(expectedHits).toBe(0);
    }
  });
});
