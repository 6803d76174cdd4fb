import { expect, test } from "bun:test";
import { NULL_DEPTHS, NULL_ORDER, NULL_QUANTILES } from "../../src/motif/null-quantiles.ts";
import { MIN_HOMOLOGS } from "../../src/motif/options.ts";
import {
  findBin,
  LEVELS,
  MIN_P,
  NULL_BINS,
  judgeOverall,
  computePValue,
  type Statistics,
  judgeConservation,
} from "../../src/motif/p-value.ts";
import { SCORING_MODELS } from "../../src/motif/prediction.ts";

const NAMES: readonly (keyof Statistics)[] = ["conservation", "z"];
const ORDERS = [0, ...NULL_ORDER];
const BINS = NULL_DEPTHS.flatMap((homologs) => ORDERS.map((order) => ({ homologs, order })));

test("every bin has enough matches and increasing quantiles", () => {
  expect(NULL_DEPTHS.slice(0, 2)).toEqual([0, MIN_HOMOLOGS]);
  for (const model of SCORING_MODELS) {
    expect(NULL_QUANTILES[model]).toHaveLength(NULL_BINS);
    for (const row of NULL_QUANTILES[model]) {
      // Three standard errors around 5 % are then 3 % to 7 %.
      expect(row.matches).toBeGreaterThan(1000);
      for (const quantiles of [row.z, row.conservation ?? row.z]) {
        expect(quantiles).toHaveLength(LEVELS.length);
        for (let i = 1; i < LEVELS.length; i++) expect(quantiles[i]).toBeGreaterThan(quantiles[i - 1]);
      }
    }
  }
});

test("bins divide matches by depth and order, and borders belong to the upper bin", () => {
  const [low, high] = NULL_ORDER;
  const cases = [0, 2, 3, 5, 6, 15, 16, 500].map((n) =>
    [0, low - 1e-9, low, high - 1e-9, high, 1].map((order) => findBin(n, order)),
  );
  const row = [0, 0, 1, 1, 2, 2];
  expect(cases).toEqual([0, 0, 1, 1, 2, 2, 3, 3].map((depth) => row.map((state) => 3 * depth + state)));
});

test.each(NAMES)(
  "P values of %s interpolate between quantiles and follow an exponential tail down to MIN_P",
  (name) => {
    for (const model of SCORING_MODELS)
      for (const [bin, surroundings] of BINS.entries()) {
        const quantiles = NULL_QUANTILES[model][bin][name];
        if (quantiles === null) continue;
        const at = (value: number) => computePValue(name, value, model, surroundings)!;
        for (const [i, level] of LEVELS.entries()) {
          expect(at(quantiles[i]).p).toBeCloseTo(1 - level, 9);
          expect(at(quantiles[i]).is).toBe("estimate");
          if (i === 0) continue;
          const { p, is } = at((quantiles[i - 1] + quantiles[i]) / 2);
          expect(p).toBeCloseTo(Math.sqrt((1 - level) * (1 - LEVELS[i - 1])), 9);
          expect(is).toBe("estimate");
        }
        // As far beyond the last quantile as that lies from the one at 0.975, P falls by the same factor.
        const next = at(2 * quantiles.at(-1)! - quantiles[LEVELS.indexOf(0.975)]);
        expect(next.p).toBeCloseTo(0.001, 9);
        expect(next.is).toBe("estimate");
        expect(at(50)).toEqual({ p: MIN_P, is: "at most" });
        expect(at(-50)).toEqual({ p: 0.5, is: "at least" });
      }
  },
);

test("conservation has no P value below three homologs, all evidence has one", () => {
  for (const homologs of [0, 1, 2])
    for (const order of ORDERS) {
      expect(computePValue("conservation", 3, "continuous", { homologs, order })).toBeNull();
      expect(computePValue("z", 50, "continuous", { homologs, order })).toEqual({ p: MIN_P, is: "at most" });
    }
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
  [0.05, "likely functional"],
  [0.0501, "possible"],
  [0.2, "possible"],
  [0.201, "no evidence"],
] as const)("describes an overall P of %p as %s", (p, verdict) => {
  expect(judgeOverall({ p, is: "estimate" })).toBe(verdict);
});
