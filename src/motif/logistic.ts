/** One sample of a logistic regression. */
export interface LogisticSample {
  values: Float64Array;
  isTrue: boolean;
  weight: number;
  /** Known part of the logit. */
  offset?: number;
}

const ROUNDS = 12;

/**
 * Coefficients (the intercept first) that make the samples likeliest, by Newton's method with a ridge: the penalty of squared
 * coefficients except the intercept.
 */
export function fitLogistic(samples: readonly LogisticSample[], ridge: number): Float64Array {
  const width = samples[0].values.length + 1;
  const b = new Float64Array(width);
  for (let round = 0; round < ROUNDS; round++) {
    const gradient = b.map((value, k) => (k === 0 ? 0 : -ridge * value));
    const hessian = Array.from(b, (_, k) => new Float64Array(width).with(k, k === 0 ? 1e-9 : ridge));
    for (const { values, isTrue, weight, offset = 0 } of samples) {
      const p = 1 / (1 + Math.exp(-(offset + logit(b, values))));
      const residual = weight * ((isTrue ? 1 : 0) - p);
      const curvature = weight * p * (1 - p);
      for (let k = 0; k < width; k++) {
        const x = k === 0 ? 1 : values[k - 1];
        gradient[k] += residual * x;
        const line = hessian[k];
        line[0] += curvature * x;
        for (let l = 1; l <= k; l++) line[l] += curvature * x * values[l - 1];
      }
    }
    for (let k = 0; k < width; k++) for (let l = k + 1; l < width; l++) hessian[k][l] = hessian[l][k];
    solve(hessian, gradient).forEach((step, k) => (b[k] += step));
  }
  return b;
}

export function logit(b: Float64Array, values: Float64Array): number {
  let sum = b[0];
  for (let k = 0; k < values.length; k++) sum += b[k + 1] * values[k];
  return sum;
}

/** Solves a symmetric system by elimination with pivots. */
export function solve(matrix: readonly Float64Array[], right: Float64Array): number[] {
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
