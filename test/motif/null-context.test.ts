import { expect, test } from "bun:test";
import { binOf, pValueInContext } from "../../src/motif/null-context.ts";
import { LEVELS } from "../../src/motif/null-distribution.ts";
import { NULL_DEPTHS, NULL_DISORDER, NULL_QUANTILES } from "../../src/motif/null-quantiles.ts";
import { MIN_HOMOLOGS } from "../../src/motif/options.ts";
import { SCORING_MODELS } from "../../src/motif/prediction.ts";

const BINS = NULL_DEPTHS.length * (NULL_DISORDER.length + 1);

test("the null is whole: every bin rests on enough matches, its quantiles rise", () => {
  expect(NULL_DEPTHS[0]).toBe(MIN_HOMOLOGS);
  for (const model of SCORING_MODELS) {
    expect(NULL_QUANTILES[model].length).toBe(BINS);
    for (const { matches, persistence: z } of NULL_QUANTILES[model]) {
      // 3 % to 7 % is then three standard errors around 5 %.
      expect(matches).toBeGreaterThan(1000);
      expect(z.length).toBe(LEVELS.length);
      for (let i = 1; i < z.length; i++) expect(z[i]).toBeGreaterThan(z[i - 1]);
    }
  }
});

test("bins: each depth with each state of disorder, borders belonging to the upper", () => {
  const [low, high] = NULL_DISORDER;
  const cases = [3, 5, 6, 15, 16, 500].map((n) =>
    [-0.9, low - 1e-9, low, high - 1e-9, high, 0.9].map((d) => binOf(n, d)),
  );
  const row = [0, 0, 1, 1, 2, 2];
  expect(cases).toEqual([0, 0, 1, 1, 2, 2].map((depth) => row.map((state) => 3 * depth + state)));
});

test("at every quantile of every bin the P value is what lies above", () => {
  for (const model of SCORING_MODELS) {
    for (const [depth, from] of NULL_DEPTHS.entries()) {
      for (const [state, disorder] of [-1, ...NULL_DISORDER].entries()) {
        const { persistence: z } = NULL_QUANTILES[model][3 * depth + state];
        for (const [i, level] of LEVELS.entries()) {
          const answer = pValueInContext(model, from, disorder, z[i])!;
          expect(answer.p).toBeCloseTo(1 - level, 9);
          expect(answer.is).toBe("estimate");
        }
        expect(pValueInContext(model, from, disorder, 50)).toEqual({ p: 0.005, is: "at most" });
        expect(pValueInContext(model, from, disorder, -50)).toEqual({ p: 0.5, is: "at least" });
      }
    }
  }
});

test("no P value below three homologs", () => {
  for (const homologs of [0, 1, 2]) expect(pValueInContext("continuous", homologs, 0, 3)).toBeNull();
});
