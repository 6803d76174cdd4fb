import { expect, test } from "bun:test";
import { NULL_DEPTHS, NULL_DISORDER, NULL_MATCHES, NULL_QUANTILES } from "../../src/motif/null-quantiles.ts";
import { MIN_HOMOLOGS } from "../../src/motif/options.ts";
import { binOf, LEVELS, NULL_BINS, pValueOf, verdictOf } from "../../src/motif/p-value.ts";
import { SCORING_MODELS } from "../../src/motif/prediction.ts";

test("every bin has enough matches and increasing quantiles", () => {
  expect(NULL_DEPTHS[0]).toBe(MIN_HOMOLOGS);
  // Three standard errors around 5 % are then 3 % to 7 %.
  expect(Math.min(...NULL_MATCHES)).toBeGreaterThan(1000);
  expect(NULL_MATCHES).toHaveLength(NULL_BINS);
  for (const model of SCORING_MODELS) {
    expect(NULL_QUANTILES[model]).toHaveLength(NULL_BINS);
    for (const persistence of NULL_QUANTILES[model]) {
      expect(persistence).toHaveLength(LEVELS.length);
      for (let i = 1; i < LEVELS.length; i++) expect(persistence[i]).toBeGreaterThan(persistence[i - 1]);
    }
  }
});

test("bins divide matches by depth and disorder, and borders belong to the upper bin", () => {
  const [low, high] = NULL_DISORDER;
  const cases = [3, 5, 6, 15, 16, 500].map((n) =>
    [-0.9, low - 1e-9, low, high - 1e-9, high, 0.9].map((d) => binOf(n, d)),
  );
  const row = [0, 0, 1, 1, 2, 2];
  expect(cases).toEqual(row.map((depth) => row.map((state) => 3 * depth + state)));
});

test("P values interpolate between quantiles and are limits beyond them", () => {
  const disorders = [-1, ...NULL_DISORDER];
  const bins = NULL_DEPTHS.flatMap((homologs) => disorders.map((disorder) => ({ homologs, disorder })));
  for (const model of SCORING_MODELS)
    for (const [bin, conditions] of bins.entries()) {
      const quantiles = NULL_QUANTILES[model][bin];
      const at = (persistence: number) => pValueOf(model, { ...conditions, persistence })!;
      for (const [i, level] of LEVELS.entries()) {
        expect(at(quantiles[i]).p).toBeCloseTo(1 - level, 9);
        expect(at(quantiles[i]).is).toBe("estimate");
        if (i === 0) continue;
        const { p, is } = at((quantiles[i - 1] + quantiles[i]) / 2);
        expect(p).toBeWithin(1 - level, 1 - LEVELS[i - 1]);
        expect(is).toBe("estimate");
      }
      expect(at(50)).toEqual({ p: 0.005, is: "at most" });
      expect(at(-50)).toEqual({ p: 0.5, is: "at least" });
    }
});

test("returns no P value below three homologs or without a score", () => {
  for (const homologs of [0, 1, 2])
    expect(pValueOf("continuous", { homologs, disorder: 0, persistence: 3 })).toBeNull();
  expect(pValueOf("continuous", { homologs: 9, disorder: 0, persistence: null })).toBeNull();
});

test.each([
  [null, "insufficient data"],
  [0.05, "conserved"],
  [0.0501, "weakly conserved"],
  [0.2, "weakly conserved"],
  [0.201, "not conserved"],
] as const)("describes P = %p as %s", (p, verdict) => {
  expect(verdictOf(p === null ? null : { p, is: "estimate" })).toBe(verdict);
});
