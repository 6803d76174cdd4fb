/** Quantile regression (Koenker & Bassett, Econometrica 1978, 46:33), and the null model fitted with it. */
import type { NullModel } from "../../src/motif/null-model.ts";
import { LEVELS, standardise, weightedSum } from "../../src/motif/p-value.ts";
import { solve } from "../../src/motif/logistic.ts";

/** Distances from the fit below which the absolute value is rounded off, in turn. */
const SMOOTHING = [0.3, 0.1, 0.03, 0.01];
const ROUNDS = 25;

/** Levels of the two quantiles that define location and scale. */
const LOCATION = 0.8;
const SCALE = 0.975;

/**
 * Weights of the rows' columns whose sum is the quantile of the values at a level; by weighted least squares (Hunter & Lange,
 * J. Comput. Graph. Stat. 2000, 9:60).
 */
export function quantileRegression(
  rows: readonly (readonly number[])[],
  values: readonly number[],
  level: number,
): number[] {
  const width = rows[0].length;
  const sorted = values.toSorted((a, b) => a - b);
  let weights = Array.from({ length: width }, (_, k) =>
    k === 0 ? sorted[Math.floor(level * sorted.length)] : 0,
  );
  for (const smoothing of SMOOTHING)
    for (let round = 0; round < ROUNDS; round++)
      weights = improvedWeights(weights, { rows, values, level, smoothing });
  return weights;
}

interface Regression {
  rows: readonly (readonly number[])[];
  values: readonly number[];
  level: number;
  smoothing: number;
}

/** One step of the iteration. */
function improvedWeights(
  former: readonly number[],
  { rows, values, level, smoothing }: Regression,
): number[] {
  const matrix = Array.from(former, (_, k) => new Float64Array(former.length).with(k, 1e-6));
  const right = new Float64Array(former.length);
  for (const [i, row] of rows.entries()) {
    const weight = 1 / Math.max(smoothing, Math.abs(values[i] - weightedSum(former, row)));
    const pull = weight * values[i] + 2 * level - 1;
    for (const [k, x] of row.entries()) {
      right[k] += pull * x;
      for (let l = 0; l < row.length; l++) matrix[k][l] += weight * x * row[l];
    }
  }
  return solve(matrix, right);
}

/**
 * Location (the quantile at LOCATION) and scale (the distance from there to the quantile at SCALE) by regression, and the
 * quantiles of what is left. The logarithm of a quantile is the quantile of the logarithm, so the scale is positive.
 *
 * @param features of each random match, by `zFeatures` or `conservationFeatures`.
 */
export function fitNullModel(features: readonly (readonly number[])[], values: readonly number[]): NullModel {
  const location = quantileRegression(features, values, LOCATION);
  const excess = features.map((row, i) => values[i] - weightedSum(location, row));
  const above = [...excess.keys()].filter((i) => excess[i] > 0);
  const logScale = quantileRegression(
    above.map((i) => features[i]),
    above.map((i) => Math.log(excess[i])),
    (SCALE - LOCATION) / (1 - LOCATION),
  );
  const model = { location: location.map(rounded), logScale: logScale.map(rounded) };
  const quantiles = quantilesOf(features.map((row, i) => standardise(model, values[i], row)));
  return { matches: values.length, ...model, quantiles };
}

const rounded = (value: number): number => Number(value.toPrecision(6));

/** Quantiles at LEVELS, to four decimals and strictly increasing. */
export function quantilesOf(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  let last = -Infinity;
  return LEVELS.map((level) => {
    const at = level * (sorted.length - 1);
    const low = Math.floor(at);
    const value = sorted[low] + (at - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
    last = Math.max(Math.round(value * 10_000), last + 1);
    return last / 10_000;
  });
}
