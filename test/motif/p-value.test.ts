import { expect, test } from "bun:test";
import type { Statistic } from "../../src/motif/null-model.ts";
import { NULL_MODELS } from "../../src/motif/null-models.ts";
import {
  LEVELS,
  MIN_P,
  judgeOverall,
  computeProbability,
  computePValue,
  conservationFeatures,
  type Divergence,
  type Surroundings,
  judgeConservation,
  zFeatures,
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

const DIVERGENCES: Divergence[] = [3, 10, 100].flatMap((homologs) =>
  [0.2, 0.5, 0.9].flatMap((localIdentity) =>
    [0.01, 0.3, 0.9].flatMap((expected) =>
      [1, 3, 5, 8].flatMap((positions) =>
        ANCHORS.map((anchors) => ({ homologs, localIdentity, expected, positions, anchors })),
      ),
    ),
  ),
);

/** A case of the null distribution: features of the code, and what they are by the formulae of docs/method.md. */
interface Case {
  features: number[];
  nearby: number[];
  plain: (weights: readonly number[]) => number;
}

const CASES: Readonly<Record<Statistic, Case[]>> = {
  z: SURROUNDINGS.map((one) => ({
    features: zFeatures(one),
    nearby: zFeatures({ ...one, chainOrder: one.chainOrder + 0.001 }),
    plain: (w) => plainOfZ(w, one),
  })),
  conservation: DIVERGENCES.map((one) => ({
    features: conservationFeatures(one),
    nearby: conservationFeatures({ ...one, localIdentity: one.localIdentity + 0.001 }),
    plain: (w) => plainOfConservation(w, one),
  })),
};

function plainOfConservation(
  w: readonly number[],
  { homologs, localIdentity, expected, positions, anchors }: Divergence,
): number {
  const d = Math.log(1 + homologs);
  const c = 5 * (localIdentity - 0.4);
  const e = Math.log(expected);
  return (
    w[0] +
    w[1] * d +
    w[2] * d ** 2 +
    (anchors.start ? w[3] : 0) +
    (anchors.end ? w[4] : 0) +
    w[5] * c +
    w[6] * c ** 2 +
    w[7] * positions +
    (positions > 3 ? w[8] * (positions - 3) : 0) +
    w[9] * e +
    w[10] * e ** 2
  );
}

function plainOfZ(w: readonly number[], { homologs, chainOrder, anchors }: Surroundings): number {
  const d = Math.log(1 + homologs);
  const o = 10 * (chainOrder - 0.75);
  return (
    w[0] +
    w[1] * d +
    w[2] * d ** 2 +
    (homologs === 0 ? w[3] : 0) +
    w[4] * o +
    w[5] * o ** 2 +
    (o > 1 ? w[6] * (o - 1) : 0) +
    (anchors.start ? w[7] : 0) +
    (anchors.end ? w[8] : 0)
  );
}

test("every model has enough matches, increasing quantiles, and unit distance from the location to the scale's level", () => {
  for (const model of SCORING_MODELS)
    for (const name of NAMES) {
      const { matches, quantiles, location, logScale } = NULL_MODELS[model][name];
      const width = CASES[name][0].features.length;
      expect(matches).toBeGreaterThan(20_000);
      expect([location.length, logScale.length, quantiles.length]).toEqual([width, width, LEVELS.length]);
      for (let i = 1; i < LEVELS.length; i++) expect(quantiles[i]).toBeGreaterThan(quantiles[i - 1]);
      expect(quantiles[LEVELS.indexOf(0.8)]).toBeCloseTo(0, 1);
      expect(quantiles[LEVELS.indexOf(0.975)]).toBeCloseTo(1, 1);
    }
});

test.each(NAMES)(
  "P values of %s are those of the plain formulae at and between quantiles, and follow an exponential tail",
  (name) => {
    for (const model of SCORING_MODELS)
      for (const { features, plain } of CASES[name]) {
        const { quantiles, location, logScale } = NULL_MODELS[model][name];
        const at = (u: number) =>
          computePValue(name, plain(location) + Math.exp(plain(logScale)) * u, model, features);
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
      for (const { features, nearby } of CASES[name]) {
        const ps = Array.from({ length: 60 }, (_, i) => computePValue(name, i / 10 - 2, model, features).p);
        for (let i = 1; i < ps.length; i++) expect(ps[i]).toBeLessThanOrEqual(ps[i - 1]);
        const [one, other] = [features, nearby].map((each) => computePValue(name, 1.5, model, each).p);
        expect(Math.abs(Math.log(one / other))).toBeLessThan(0.05);
      }
});

test("the probability is that of Bayes, rises with z, and is the prior where true and random matches are as frequent", () => {
  const plain = (z: number, prior: number): number => {
    const ratio = Math.exp(-1.066 + 1.194 * z + 0.081 * z ** 2);
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
