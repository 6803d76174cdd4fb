import { describe, expect, test } from "bun:test";
import { BACKGROUND, encode } from "../../src/motif/alphabet.ts";
import { BLOSUM62 } from "../../src/motif/matrix.ts";
import {
  bitScore,
  composition,
  compositionScale,
  eValue,
  normal,
  ungappedLambda,
} from "../../src/motif/statistics.ts";

/**
 * blastp 2.12.0+ (`-comp_based_stats 0 -seg no`) for three queries against 48,869 proteins of Swiss-Prot,
 * January 2014, 25,563,454 residues: query length, subject length, raw score, E-value.
 */
const RESIDUES = 25_563_454;
const BLASTP: [number, number, number, number][] = [
  [393, 399, 84, 0.034],
  [393, 5588, 73, 0.99],
  [393, 1397, 78, 0.24],
  [393, 347, 75, 0.4],
  [393, 1643, 75, 0.55],
  [198, 198, 932, 7.91e-130],
  [198, 348, 75, 0.13],
  [198, 766, 94, 5.98e-4],
  [198, 335, 83, 0.012],
  [198, 5120, 69, 0.97],
  [939, 480, 201, 8.8e-16],
  [939, 1804, 167, 2.48e-11],
  [939, 1670, 153, 1.09e-9],
  [939, 914, 110, 1.12e-4],
  [939, 226, 75, 0.87],
];

describe("E-values", () => {
  test.each(BLASTP)("query %d, subject %d, score %d: E-value %p", (query, subject, score, wanted) => {
    const ratio = eValue(score, query, subject, RESIDUES) / wanted;
    // Two or three digits were printed.
    expect(Math.abs(ratio - 1)).toBeLessThan(0.05);
  });

  test("bit scores equal blastp's", () => {
    for (const [raw, bits] of [
      [97, 42],
      [139, 58.2],
      [105, 45.1],
      [102, 43.9],
    ]) {
      expect(bitScore(raw)).toBeCloseTo(bits, 1);
    }
  });

  test("E-values fall with the score and rise with the corpus", () => {
    for (const m of [1, 5, 30, 300, 35_000]) {
      for (const n of [1, 10, 400, 30_000]) {
        let last = Infinity;
        for (let score = 1; score < 3000; score += 7) {
          const e = eValue(score, m, n, 1e8);
          expect(e).toBeGreaterThanOrEqual(0);
          expect(e).toBeLessThanOrEqual(last);
          expect(eValue(score, m, n, 2e8)).toBeCloseTo(2 * e, 10);
          last = e;
        }
      }
    }
    expect(eValue(50, 0, 100, 1000)).toBe(Infinity);
  });
});

describe("normal distribution", () => {
  test("the normal distribution has known values and complementary tails", () => {
    // Abramowitz & Stegun, tables 26.1 and 26.2.
    for (const [z, p] of [
      [0, 0.5],
      [-1, 0.158655253931457],
      [-1.96, 0.02499789514822],
      [-2.5, 0.006209665325776],
      [-3, 0.00134989803163],
      [-5, 2.866515718791939e-7],
      [-10, 7.61985302416053e-24],
    ]) {
      expect(normal(z) / p).toBeCloseTo(1, 9);
    }
    for (let z = -6; z < 6; z += 0.37) expect(normal(z) + normal(-z)).toBeCloseTo(1, 14);
  });
});

describe("composition", () => {
  test("composition sums to 1 and equals the background without standard residues", () => {
    expect(composition(encode("AAX"))[0]).toBe(1);
    expect(composition(encode("ACXB")).slice(0, 2)).toEqual(Float64Array.of(0.5, 0.5));
    expect(composition(encode("XX"))).toEqual(BACKGROUND);
  });

  test("lambda solves its equation and is close to the published .3176", () => {
    const p = composition(encode("MKVLAWRRPSSLLMKVLAWGDEEKQNTTYFHICA"));
    for (const q of [BACKGROUND, p]) {
      const lambda = ungappedLambda(p, q);
      let sum = 0;
      for (let a = 0; a < 20; a++) {
        for (let b = 0; b < 20; b++) sum += p[a] * q[b] * Math.exp(lambda * BLOSUM62[a * 32 + b]);
      }
      expect(sum).toBeCloseTo(1, 6);
    }
    expect(ungappedLambda(BACKGROUND, BACKGROUND)).toBeCloseTo(0.3176, 2);
    const only = composition(encode("WWWW"));
    expect(ungappedLambda(only, only)).toBe(0);
  });

  test("a shared composition bias lowers scores and never raises them", () => {
    const plain = composition(encode("MKVLAWRRPSSLLMKVLAWGDEEKQNTTYFHICA"));
    const prolines = composition(encode("PPPPAPPPSPPPQPPPTPPPG"));
    const acids = composition(encode("EEDEEDEEEDDEKEEEDE"));
    expect(compositionScale(BACKGROUND, BACKGROUND)).toBe(1);
    expect(compositionScale(plain, BACKGROUND)).toBeGreaterThan(0.85);
    expect(compositionScale(prolines, prolines)).toBe(0.5);
    expect(compositionScale(prolines, acids)).toBe(1);
    expect(compositionScale(prolines, plain)).toBe(compositionScale(plain, prolines));
  });
});
