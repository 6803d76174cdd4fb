import { expect, test } from "bun:test";
import type { Statistic } from "../../src/motif/null-model.ts";
import { NULL_MODELS } from "../../src/motif/null-models.ts";
import {
  LEVELS,
  MIN_P,
  judgeOverall,
  computeProbability,
  computePValue,
  type Surroundings,
  judgeConservation,
} from "../../src/motif/p-value.ts";
import { SCORING_MODELS } from "../../src/motif/prediction.ts";

const NAMES: readonly Statistic[] = ["conservation", "z"];
const ANCHORS = [
  { start: false, end: false },
  { start: true, end: false },
  { start: false, end: true },
  { start: true, end: true },
];
const SURROUNDINGS: Surroundings[] = [0, 1, 2, 5, 30, 100].flatMap((homologs) =>
  [0.45, 0.6, 0.75, 0.85, 0.9, 0.95].flatMap((chainOrder) =>
    ANCHORS.map((anchors) => ({ homologs, chainOrder, anchors })),
  ),
);

/** Location and scale by the formulae of docs/method.md, written out. */
function plainScale(
  { location: a, logScale: b }: { location: readonly number[]; logScale: readonly number[] },
  { homologs, chainOrder, anchors }: Surroundings,
): { location: number; scale: number } {
  const d = Math.log(1 + homologs);
  const o = 10 * (chainOrder - 0.75);
  const sum = (w: readonly number[]): number =>
    w[0] +
    w[1] * d +
    w[2] * d ** 2 +
    (homologs === 0 ? w[3] : 0) +
    w[4] * o +
    w[5] * o ** 2 +
    (o > 1 ? w[6] * (o - 1) : 0) +
    (anchors.start ? w[7] : 0) +
    (anchors.end ? w[8] : 0);
  return { location: sum(a), scale: Math.exp(sum(b)) };
}

test("every model has enough matches, increasing quantiles, and unit distance from the location to the scale's level", () => {
  for (const model of SCORING_MODELS)
    for (const name of NAMES) {
      const { matches, quantiles, location, logScale } = NULL_MODELS[model][name];
      expect(matches).toBeGreaterThan(20_000);
      expect([location.length, logScale.length, quantiles.length]).toEqual([9, 9, LEVELS.length]);
      for (let i = 1; i < LEVELS.length; i++) expect(quantiles[i]).toBeGreaterThan(quantiles[i - 1]);
      expect(quantiles[LEVELS.indexOf(0.8)]).toBeCloseTo(0, 1);
      expect(quantiles[LEVELS.indexOf(0.975)]).toBeCloseTo(1, 1);
    }
});

test.each(NAMES)(
  "P values of %s are those of the plain formulae at and between quantiles, and follow an exponential tail",
  (name) => {
    for (const model of SCORING_MODELS)
      for (const surroundings of SURROUNDINGS) {
        const { quantiles, ...weights } = NULL_MODELS[model][name];
        const { location, scale } = plainScale(weights, surroundings);
        const at = (u: number) => computePValue(name, location + scale * u, model, surroundings);
        for (let i = 1; i < LEVELS.length; i++) {
          const middle = at((quantiles[i - 1] + quantiles[i]) / 2);
          expect(middle.p).toBeCloseTo(Math.sqrt((1 - LEVELS[i]) * (1 - LEVELS[i - 1])), 6);
          expect(middle.is).toBe("estimate");
        }
        // As far beyond the last quantile as that lies from the one at 0.99, P falls by the same factor.
        const next = at(2 * quantiles.at(-1)! - quantiles[LEVELS.indexOf(0.99)]);
        expect(next.p).toBeCloseTo(0.0004, 7);
        expect(at(50)).toEqual({ p: MIN_P, is: "at most" });
        expect(at(-50)).toEqual({ p: 0.99, is: "at least" });
      }
  },
);

test("P changes smoothly and falls with the value in every surroundings", () => {
  for (const model of SCORING_MODELS)
    for (const name of NAMES)
      for (const surroundings of SURROUNDINGS) {
        const ps = Array.from(
          { length: 60 },
          (_, i) => computePValue(name, i / 10 - 2, model, surroundings).p,
        );
        for (let i = 1; i < ps.length; i++) expect(ps[i]).toBeLessThanOrEqual(ps[i - 1]);
        const nearby = { ...surroundings, chainOrder: surroundings.chainOrder + 0.001 };
        const [one, other] = [surroundings, nearby].map((where) => computePValue(name, 1.5, model, where).p);
        expect(Math.abs(Math.log(one / other))).toBeLessThan(0.05);
      }
});

test("the probability is that of Bayes, rises with z, and is the prior where true and random matches are as frequent", () => {
  const plain = (z: number, prior: number): number => {
    const ratio = Math.exp(-0.979 + 1.115 * z + 0.126 * z ** 2);
    return (prior * ratio) / (prior * ratio + 1 - prior);
  };
  for (const prior of [0.001, 0.005, 0.5])
    for (let z = -3; z <= 4; z += 0.25) expect(computeProbability(z, prior)).toBeCloseTo(plain(z, prior), 12);
  expect(computeProbability(-9)).toBe(computeProbability(-3));
  expect(computeProbability(9)).toBe(computeProbability(4));
  for (let z = -3; z < 4; z += 0.1)
    expect(computeProbability(z + 0.1)).toBeGreaterThan(computeProbability(z));
});

test.each([
  [null, 1, "insufficient data"],
  [0.05, 0.2, "conserved"],
  [0.0501, 0.2, "weakly conserved"],
  [0.2, 0.2, "weakly conserved"],
  [0.201, 0.499, "not conserved"],
  [0.201, 0.5, "conserved like its surroundings"],
  [0.5, 1, "conserved like its surroundings"],
] as const)("describes P = %p and a fraction kept of %p as %s", (p, kept, verdict) => {
  expect(judgeConservation(p === null ? null : { p, is: "estimate" }, kept)).toBe(verdict);
});

test.each([
  [0.005, "likely functional"],
  [0.02, "likely functional"],
  [0.0201, "possible"],
  [0.1, "possible"],
  [0.101, "no evidence"],
] as const)("describes an overall P of %p as %s", (p, verdict) => {
  expect(judgeOverall({ p, is: "estimate" })).toBe(verdict);
});
