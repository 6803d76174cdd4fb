import { describe, expect, test } from "bun:test";
import { BACKGROUND, encode, X } from "../../src/motif/alphabet.ts";
import { BLOSUM62 } from "../../src/motif/matrix.ts";
import { chooseThreshold, indexSeeds, MAX_HITS_PER_RESIDUE } from "../../src/motif/seed-index.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";

const HIGHEST = 0x8000_0000;

/** Positions of each word, decoded from the table. */
function placesByWord({ table }: ReturnType<typeof indexSeeds>): Map<number, number[]> {
  const found = new Map<number, number[]>();
  expect(table.words).toEqual(table.words.toSorted());
  for (const [k, word] of table.words.entries()) {
    expect(found.has(word)).toBe(false);
    const places: number[] = [];
    for (let entry = table.heads[k], at = entry; ; at++) {
      if (entry < HIGHEST) entry = table.positions[at];
      places.push(entry % HIGHEST);
      if (entry >= HIGHEST) break;
    }
    found.set(word, places);
  }
  return found;
}

describe("a seed index", () => {
  test("a seed index contains exactly the words that reach the threshold, with their positions", () => {
    const query = encode("MKVLAWXRRPSSLLMKVLAWBGD");
    const { threshold, expectedHits } = chooseThreshold(query);
    const wanted = new Map<number, number[]>();
    let chance = 0;
    for (let i = 0; i + 5 <= query.length; i++) {
      const own = query.subarray(i, i + 5);
      if (own.some((code) => code >= 20)) continue;
      for (let word = 0; word < 3_200_000; word++) {
        let score = 0;
        for (let k = 4, rest = word; k >= 0; k--, rest = Math.floor(rest / 20)) {
          score += BLOSUM62[own[k] * 32 + (rest % 20)];
        }
        if (score < threshold) continue;
        const places = wanted.get(word) ?? [];
        wanted.set(word, [...places, i]);
        let likely = 1;
        for (let k = 0, rest = word; k < 5; k++, rest = Math.floor(rest / 20))
          likely *= BACKGROUND[rest % 20];
        chance += likely;
      }
    }
    expect(wanted.size).toBeGreaterThan(100);
    expect(placesByWord(indexSeeds([query]))).toEqual(new Map([...wanted].sort(([a], [b]) => a - b)));
    expect(expectedHits).toBeCloseTo(chance, 9);
  });

  test("raises the threshold with the query length, so that chance hits stay limited", () => {
    const next = random(31);
    const thresholds = [20, 100, 400, 2000, 10_000].map((length) => {
      const { threshold, expectedHits } = chooseThreshold(randomProtein(next, length));
      if (threshold < 24) expect(expectedHits).toBeLessThanOrEqual(MAX_HITS_PER_RESIDUE);
      return threshold;
    });
    expect(thresholds).toEqual(thresholds.toSorted((a, b) => a - b));
    expect(thresholds[4]).toBeGreaterThan(thresholds[0]);
  });

  test("a seed index without standard words is empty", () => {
    for (const query of [encode(""), encode("MKV"), new Uint8Array(50).fill(X), encode("BZUOJX")]) {
      expect(indexSeeds([query]).table.words).toHaveLength(0);
      expect(chooseThreshold(query).expectedHits).toBe(0);
    }
  });
});
