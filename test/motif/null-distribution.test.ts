import { expect, test } from "bun:test";
import { pValueOf } from "../../src/motif/null-distribution.ts";
import { SCORING_MODELS } from "../../src/motif/prediction.ts";
import golden from "../golden/motif/null-quantiles.json";

const RANGES = [
  [3, 5],
  [6, 15],
  [16, 100],
] as const;

test("at every quantile the P value is what lies above it", () => {
  let compared = 0;
  for (const model of SCORING_MODELS) {
    for (const [from, to] of RANGES) {
      const { q } = golden[`${model[0]}:${from}-${to}` as keyof typeof golden];
      for (const [level, z] of Object.entries(q)) {
        for (const homologs of [from, to]) {
          const { p, is } = pValueOf(model, homologs, z)!;
          expect(p).toBeCloseTo(1 - Number(level), 9);
          expect(is).toBe("estimate");
          compared++;
        }
      }
    }
  }
  expect(compared).toBe(2 * 3 * 10 * 2);
});

test("between the quantiles it falls steadily, beyond them it is a bound and says so", () => {
  for (const model of SCORING_MODELS) {
    for (const [homologs] of RANGES) {
      let last = 1;
      for (let z = -5; z < 40; z += 0.05) {
        const { p, is } = pValueOf(model, homologs, z)!;
        expect(p).toBeLessThanOrEqual(last);
        if (is === "estimate") expect(p).toBeLessThan(last);
        if (is === "at least") expect(p).toBe(0.5);
        if (is === "at most") expect(p).toBe(0.005);
        last = p;
      }
    }
  }
});

test("below three homologs there is no null; above a hundred the last row serves", () => {
  for (const homologs of [0, 1, 2]) expect(pValueOf("continuous", homologs, 5)).toBeNull();
  expect(pValueOf("continuous", 5000, 5)).toEqual(pValueOf("continuous", 100, 5));
});
