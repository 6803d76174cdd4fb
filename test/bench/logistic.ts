/** Logistic regression, areas under the curve and their bootstrap for the score benchmarks. */
import { random } from "../fixtures/random-protein.ts";

export interface Sample {
  /** Samples of one group stay together in cross-validation and bootstrap. */
  group: string;
  isTrue: boolean;
  values: readonly number[];
}

/** Area under the ROC curve, 0..1; ties count half. NaN if a side is empty. */
export function areaUnderCurve(scored: readonly { isTrue: boolean; score: number }[]): number {
  const sorted = scored.toSorted((a, b) => a.score - b.score);
  const positives = scored.filter(({ isTrue }) => isTrue).length;
  let ranks = 0;
  for (let i = 0; i < sorted.length;) {
    let same = i;
    while (same < sorted.length && sorted[same].score === sorted[i].score) same++;
    for (let k = i; k < same; k++) if (sorted[k].isTrue) ranks += (i + same + 1) / 2;
    i = same;
  }
  return (ranks - (positives * (positives + 1)) / 2) / (positives * (scored.length - positives));
}

/** Bounds of the 95 % interval of a statistic when groups are resampled. */
export function bootstrap<T extends { group: string }>(
  samples: readonly T[],
  statistic: (resampled: T[]) => number,
  times: number,
  seed: number,
): [low: number, high: number] {
  const groups = [...Map.groupBy(samples, ({ group }) => group).values()];
  const next = random(seed);
  const values = Array.from({ length: times }, () =>
    statistic(groups.flatMap(() => groups[Math.floor(next() * groups.length)])),
  ).sort((a, b) => a - b);
  return [values[Math.floor(0.025 * times)], values[Math.ceil(0.975 * times) - 1]];
}

/**
 * Weights (the intercept first) that make true and random samples, each side counting half, likeliest; by
 * Newton's method with a ridge that shrinks standardised weights. Returned for the values as they are given.
 */
export function fitLogistic(samples: readonly Sample[], ridge = 3): number[] {
  const width = samples[0].values.length;
  const columns = Array.from({ length: width }, (_, k) => samples.map(({ values }) => values[k]));
  const means = columns.map((column) => column.reduce((a, b) => a + b, 0) / column.length);
  const spreads = columns.map((column, k) =>
    Math.sqrt(column.reduce((sum, x) => sum + (x - means[k]) ** 2, 0) / column.length),
  );
  const positives = samples.filter(({ isTrue }) => isTrue).length / samples.length;
  const rows = samples.map(({ values, isTrue }) => ({
    x: [1, ...values.map((value, k) => (value - means[k]) / spreads[k])],
    y: isTrue ? 1 : 0,
    weight: isTrue ? 0.5 / positives : 0.5 / (1 - positives),
  }));
  const b = Array.from({ length: width + 1 }, () => 0);
  for (let round = 0; round < 25; round++) {
    const gradient = b.map((value, k) => (k === 0 ? 0 : -ridge * value));
    const hessian = b.map((_, k) => b.map((__, l) => (k === l && k > 0 ? ridge : k === l ? 1e-9 : 0)));
    for (const { x, y, weight } of rows) {
      const p = 1 / (1 + Math.exp(-x.reduce((sum, value, k) => sum + value * b[k], 0)));
      for (let k = 0; k <= width; k++) {
        gradient[k] += weight * (y - p) * x[k];
        for (let l = 0; l <= width; l++) hessian[k][l] += weight * p * (1 - p) * x[k] * x[l];
      }
    }
    solve(hessian, gradient).forEach((step, k) => (b[k] += step));
  }
  const weights = b.slice(1).map((value, k) => value / spreads[k]);
  return [b[0] - weights.reduce((sum, weight, k) => sum + weight * means[k], 0), ...weights];
}

export function linear(weights: readonly number[], values: readonly number[]): number {
  return values.reduce((sum, value, k) => sum + value * weights[k + 1], weights[0]);
}

/** Scores by weights fitted without the tenth of the groups that contains the sample, on samples that `train` selects. */
export function crossValidated(samples: readonly Sample[], train: (sample: Sample) => boolean): number[] {
  const next = random(7);
  const fold = new Map<string, number>();
  for (const { group } of samples) if (!fold.has(group)) fold.set(group, Math.floor(next() * 10));
  const weights = Array.from({ length: 10 }, (_, k) =>
    fitLogistic(samples.filter((sample) => train(sample) && fold.get(sample.group) !== k)),
  );
  return samples.map(({ group, values }) => linear(weights[fold.get(group)!], values));
}

/** Solves a symmetric system by elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, k) => [...row, right[k]]);
  for (let k = 0; k < rows.length; k++) {
    const best = rows
      .slice(k)
      .reduce((at, row, i) => (Math.abs(row[k]) > Math.abs(rows[at][k]) ? i + k : at), k);
    [rows[k], rows[best]] = [rows[best], rows[k]];
    for (let i = 0; i < rows.length; i++) {
      if (i === k) continue;
      const factor = rows[i][k] / rows[k][k];
      for (let j = k; j <= rows.length; j++) rows[i][j] -= factor * rows[k][j];
    }
  }
  return rows.map((row, k) => row[rows.length] / row[k]);
}
