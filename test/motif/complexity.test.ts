import { describe, expect, test } from "bun:test";
import { decode, encode, X } from "../../src/motif/alphabet.ts";
import { lowComplexity, maskLowComplexity, SEG } from "../../src/motif/complexity.ts";
import { readFasta } from "../../src/motif/fasta.ts";
import PROTEINS from "../../src/sample/proteins.fasta" with { type: "text" };
import { random, randomProtein } from "../fixtures/random-protein.ts";

const WIDE = SEG;
/** blastp's parameters for subjects. */
const NARROW = { window: 10, trigger: 1.8, extension: 2.1 };

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

  test.each([
    // segmasker 1.0.0 (BLAST 2.12.0+), regions that overlap joined.
    ["Q14003", WIDE, "13-61 77-87 202-239 249-265 408-424 447-461 517-528 576-603 620-648"],
    ["Q14003", NARROW, "18-61 77-87 203-222 224-241 249-265 447-456 551-560 576-588 593-603 621-634"],
    ["P29303", WIDE, "21-27 91-104 152-189 194-205 239-288 299-331"],
    ["P29303", NARROW, "21-27 94-104 155-165 194-205 248-287 299-311 314-324"],
    ["P27797", WIDE, "1-20 249-263 357-407"],
    ["P27797", NARROW, "1-16 362-407"],
    ["P49918", WIDE, "100-124 136-219 250-262 290-306"],
    ["Q05037", WIDE, "21-64 77-86 122-136 161-172 318-330 432-443 449-462 485-499 577-589"],
    ["Q05037", NARROW, "37-50 52-64 77-86 122-136 161-172 432-443"],
  ])("regions of %s equal segmasker's %#", (accession, parameters, wanted) => {
    const { residues } = readFasta(PROTEINS).find((entry) => entry.accession === accession)!;
    const regions = lowComplexity(residues, parameters);
    expect(regions.map(([from, to]) => `${from}-${to - 1}`).join(" ")).toBe(wanted);
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
