import { describe, expect, test } from "bun:test";
import { alignLocal } from "../../src/motif/align.ts";
import { encode } from "../../src/motif/alphabet.ts";
import { adjustedScores, adjustedScorer } from "../../src/motif/composition-adjustment.ts";
import { readFasta } from "../../src/motif/fasta.ts";
import { BLOSUM62, STRIDE } from "../../src/motif/matrix.ts";
import { composition } from "../../src/motif/statistics.ts";
import PROTEINS from "../../src/sample/proteins.fasta" with { type: "text" };
import { random, randomProtein } from "../fixtures/random-protein.ts";

/** E-values of blastp 2.12.0+ with defaults, for proteins of the sample (201,250 residues) against it. */
const BLASTP: [query: string, subject: string, eValue: number][] = [
  ["P10361", "P10360", 8.07e-117],
  ["P79734", "Q8SPZ3", 1.56e-116],
  ["Q60439", "P46527", 7.77e-130],
  ["P30304", "P48966", 5.05e-127],
  ["B7XHS8", "Q5XIP6", 2.19e-102],
  ["P36831", "P22161", 2.57e-22],
  ["P06788", "P26558", 1.91e-25],
  ["P22160", "P22161", 2.12e-14],
  ["P36817", "Q80949", 3.84e-10],
  ["O70139", "P27775", 4.66e-7],
  ["P30284", "P43449", 5.47e-51],
  ["Q9BDP6", "O95997", 9.29e-75],
  ["Q9UQV4", "P49129", 1.09e-18],
  ["Q9STD3", "P29413", 1.02e-136],
  ["P97562", "Q9ZQP2", 7.05e-145],
  ["P31097", "P08721", 5.58e-93],
  ["O88942", "Q60591", 3.18e-165],
  ["Q7YS78", "P51468", 5.94e-153],
  ["P51487", "Q9EQP6", 4.82e-84],
  ["P05857", "P05855", 1.62e-141],
  ["P35959", "P05856", 1.48e-136],
  ["P04600", "P03404", 2.42e-44],
  ["Q9CPP0", "P07222", 1.29e-30],
  ["O60516", "Q0P5A7", 7.85e-29],
  ["O57337", "Q26263", 1.54e-49],
  ["Q2NL18", "P14003", 2.07e-14],
  ["Q90346", "Q90423", 7.13e-79],
  ["Q08821", "Q98SI1", 9.54e-89],
  ["P03255", "P06499", 1.41e-41],
  // Subjects with 36 to 168 residues of low complexity.
  ["P39689", "P49918", 2.06e-12],
  ["P49032", "P20389", 1.04e-30],
  ["Q29031", "P06295", 4.8e-164],
  ["P52160", "P01106", 2.76e-136],
  ["P03966", "P52160", 2.19e-37],
  ["P28491", "P27798", 3.63e-167],
  ["Q8K3H7", "Q61KR9", 4.82e-168],
  ["Q23858", "P15253", 9.52e-133],
  ["P93508", "Q7Z1E6", 1.26e-130],
  ["Q5R440", "P27798", 5.12e-74],
  ["Q9Z0V1", "Q14003", 1.58e-52],
  ["P97305", "Q60591", 3.95e-135],
  ["Q6IRB2", "P14003", 6.41e-43],
  ["Q9HCC6", "P14003", 1.2e-36],
  ["Q90423", "O08656", 4.15e-51],
];

/** Pair frequencies implied by the scores and the residue frequencies. */
function pairs(scores: Float64Array, p: Float64Array, q: Float64Array): Float64Array {
  return scores.map((score, k) => p[Math.floor(k / 20)] * q[k % 20] * Math.exp(score * 0.3176));
}

describe("composition-adjusted scores", () => {
  test("adjusted scores have the given marginals and relative entropy", () => {
    const next = random(81);
    for (let round = 0; round < 20; round++) {
      const [p, q] = [0, 1].map(() => composition(randomProtein(next, 40 + Math.floor(next() * 400))));
      for (const part of [p, q]) for (let a = 0; a < 20; a++) part[a] = (part[a] + 0.002) / 1.04;
      const entropy = 0.3 + next() * 0.4;
      const scores = adjustedScores(p, q, entropy);
      const frequencies = pairs(scores, p, q);
      for (let a = 0; a < 20; a++) {
        let [row, column] = [0, 0];
        for (let b = 0; b < 20; b++) {
          row += frequencies[a * 20 + b];
          column += frequencies[b * 20 + a];
        }
        expect(Math.abs(row / p[a] - 1)).toBeLessThan(1e-3);
        expect(Math.abs(column / q[a] - 1)).toBeLessThan(1e-3);
      }
      const sum = frequencies.reduce((total, f, k) => total + f * scores[k] * 0.3176, 0);
      expect(Math.abs(sum - entropy)).toBeLessThan(1e-3);
    }
  });

  test("scores adjusted to BLOSUM62's own composition and entropy equal unrounded BLOSUM62", () => {
    // The residues of the BLOSUM blocks, A C D E F G H I K L M N P Q R S T V W Y.
    const own = [
      0.074, 0.025, 0.054, 0.054, 0.047, 0.074, 0.026, 0.068, 0.058, 0.099, 0.025, 0.045, 0.039, 0.034, 0.052,
      0.057, 0.051, 0.073, 0.013, 0.032,
    ];
    const p = Float64Array.from(own, (part) => part / own.reduce((sum, one) => sum + one, 0));
    // 0.70 bits according to the matrix file; its unit is half a bit, a little less than 1 / 0.3176
    // nats.
    const scores = adjustedScores(p, p, 0.6979 * Math.LN2);
    // Differences are rounding, and rare pairs published with one digit.
    const differences = Array.from(scores, (score, k) =>
      Math.abs((score * 0.3176 * 2) / Math.LN2 - BLOSUM62[Math.floor(k / 20) * STRIDE + (k % 20)]),
    );
    expect(differences.reduce((sum, one) => sum + one, 0) / 400).toBeLessThan(0.35);
    expect(Math.max(...differences)).toBeLessThan(1.5);
  });

  test("adjusted scores are finite for extreme compositions", () => {
    const poor = composition(encode("A".repeat(300))).map((part) => (part * 300 + 1) / 320);
    const other = composition(encode("W".repeat(300))).map((part) => (part * 300 + 1) / 320);
    for (const [p, q] of [
      [poor, poor],
      [poor, other],
    ]) {
      for (const score of adjustedScores(p, q)) expect(Number.isFinite(score)).toBe(true);
    }
  });
});

describe("E-values of composition-adjusted scores", () => {
  const entries = new Map(readFasta(PROTEINS).map(({ accession, residues }) => [accession, residues]));
  const residueCount = [...entries.values()].reduce((sum, { length }) => sum + length, 0);

  test("adjusted E-values are within a factor of 3 of blastp's, most within 2", () => {
    const ratios = BLASTP.map(([query, subject, wanted]) => {
      const [own, other] = [entries.get(query)!, entries.get(subject)!];
      const { eValue } = adjustedScorer(own, residueCount)(other, alignLocal(own, [other])[0]);
      return Math.max(eValue / wanted, wanted / eValue);
    });
    expect(Math.max(...ratios)).toBeLessThanOrEqual(3);
    expect(ratios.filter((ratio) => ratio <= 2).length).toBeGreaterThanOrEqual(BLASTP.length * 0.9);
  });

  test("adjusted E-values exceed any limit for empty or low-complexity alignments", () => {
    const poly = encode("Q".repeat(80));
    for (const subject of [poly, encode("")]) {
      const { eValue } = adjustedScorer(poly, 1e6)(subject, alignLocal(poly, [subject])[0]);
      expect(eValue).toBeGreaterThan(1);
    }
  });
});
