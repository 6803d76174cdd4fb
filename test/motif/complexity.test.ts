import { describe, expect, test } from "bun:test";
import { decode, encode, X } from "../../src/motif/alphabet.ts";
import { lowComplexity, maskLowComplexity } from "../../src/motif/complexity.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";

describe("low complexity", () => {
  test("masks a homopolymer and not its surroundings", () => {
    const next = random(41);
    const before = decode(randomProtein(next, 80)).replaceAll("Q", "A");
    const after = decode(randomProtein(next, 80)).replaceAll("Q", "A");
    const masked = maskLowComplexity(encode(before + "Q".repeat(25) + after));
    const regions = lowComplexity(encode(before + "Q".repeat(25) + after));
    expect(regions.some(([from, to]) => from <= 80 && to >= 105 && to - from < 45)).toBe(true);
    expect(masked.subarray(80, 105).every((code) => code === X)).toBe(true);
  });

  test("finds published low-complexity regions", () => {
    // Wootton & Federhen 1993 mask repeats of few residues such as these; a globular stretch stays.
    for (const letters of [
      "PPPPPPPPPPPPPPP",
      "SRSRSRSRSRSRSRSRSR",
      "QQQQQQHHHHHHQQQQQQ",
      "GGSGGSGGSGGSGGS",
    ]) {
      expect(decode(maskLowComplexity(encode(letters)))).toBe("X".repeat(letters.length));
    }
    const ubiquitin = "MQIFVKTLTGKTITLEVEPSDTIENVKAKIQDKEGIPPDQQRLIFAGKQLEDGRTLSDYNIQKESTLHLVLRLRGG";
    expect(decode(maskLowComplexity(encode(ubiquitin)))).toBe(ubiquitin);
  });

  test("regions are ascending and disjoint; random proteins have few", () => {
    const next = random(42);
    let masked = 0;
    let all = 0;
    for (let round = 0; round < 200; round++) {
      const protein = randomProtein(next, Math.floor(next() * 400));
      let last = 0;
      for (const [from, to] of lowComplexity(protein)) {
        expect(from).toBeGreaterThanOrEqual(last);
        expect(to).toBeGreaterThan(from);
        expect(to).toBeLessThanOrEqual(protein.length);
        masked += to - from;
        last = to;
      }
      all += protein.length;
    }
    expect(masked / all).toBeLessThan(0.05);
  });

  test("finds nothing in sequences shorter than the window", () => {
    expect(lowComplexity(encode(""))).toEqual([]);
    expect(lowComplexity(encode("QQQQQQQQQQQ"))).toEqual([]);
  });
});
