/** Additive logistic regression, areas under the curve and their bootstrap for the score benchmarks. */
import { fitLogistic, logit } from "../../src/motif/logistic.ts";
import { REFERENCE_PSEUDOCOUNT } from "../../src/motif/options.ts";
import { type Shape, splineBasis } from "../../src/motif/shape.ts";
import { random } from "../fixtures/random-protein.ts";

export interface Sample {
  /** Samples of one group stay together in the bootstrap. */
  group: string;
  isTrue: boolean;
  values: readonly number[];
  /** Random matches of the sample's pattern; the same object in all its samples. */
  reference: Reference;
}

/** Values of random matches, and how much each counts. */
export type Reference = readonly { values: readonly number[]; weight: number }[];

/** Knots of each shape, at quantiles of its values; more gain nothing on unseen families and classes. */
const KNOTS = [0.5];
/** Quantiles beyond which shapes are constant. */
const TAIL = 0.005;
/** Penalty of squared standardised coefficients, in samples. */
const RIDGE = 30;

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

/** Bases of splines over the samples' values, with standardised columns. */
export interface Design {
  splines: Omit<Shape, "coefficients">[];
  shares: readonly number[];
  means: number[];
  spreads: number[];
  /** Rows of standardised basis values, without the constants. */
  own: Float64Array[];
  /** The same minus shares of their means over the random matches of the sample's pattern, as far as those are not typical. */
  rows: Float64Array[];
  /** Shares of those means over the typical pattern. */
  typical: Float64Array;
}

/** @param shares share of the mean over random matches of the pattern that is subtracted, for each value. */
export function makeDesign(samples: readonly Sample[], shares: readonly number[]): Design {
  const width = samples[0].values.length;
  const splines = Array.from({ length: width }, (_, k) => {
    const sorted = samples.map(({ values }) => values[k]).toSorted((a, b) => a - b);
    const at = (level: number): number => sorted[Math.round(level * (sorted.length - 1))];
    return { low: at(TAIL), high: at(1 - TAIL), knots: [...new Set(KNOTS.map(at))] };
  });
  const raw = samples.map(({ values }) =>
    splines.flatMap((spline, k) => splineBasis(spline, values[k]).slice(1)),
  );
  const means = raw[0].map((_, k) => raw.reduce((sum, row) => sum + row[k], 0) / raw.length);
  const spreads = means.map((mean, k) =>
    Math.sqrt(raw.reduce((sum, row) => sum + (row[k] - mean) ** 2, 0) / raw.length),
  );
  const standardise = (row: readonly number[]): Float64Array =>
    Float64Array.from(row, (x, k) => (x - means[k]) / (spreads[k] || 1));
  const own = raw.map(standardise);
  const totals = new Map<Reference, Totals>();
  for (const { reference } of samples) {
    if (totals.has(reference)) continue;
    const sums = new Float64Array(means.length);
    for (const { values, weight } of reference) {
      const row = standardise(splines.flatMap((spline, k) => splineBasis(spline, values[k]).slice(1)));
      row.forEach((x, k) => (sums[k] += weight * x));
    }
    totals.set(reference, { sums, weight: reference.reduce((sum, { weight }) => sum + weight, 0) });
  }
  const columnShares = splines.flatMap(({ knots }, k) =>
    Array.from({ length: 2 + knots.length }, () => shares[k]),
  );
  const typical = typicalMeans(
    samples.filter(({ isTrue }) => !isTrue).map(({ reference }) => totals.get(reference)!),
  );
  const rows = own.map((row, i) => {
    const { sums, weight } = totals.get(samples[i].reference)!;
    return row.map(
      (x, k) => x - (columnShares[k] * (sums[k] - weight * typical[k])) / (weight + REFERENCE_PSEUDOCOUNT),
    );
  });
  return { splines, shares, means, spreads, own, rows, typical: typical.map((x, k) => x * columnShares[k]) };
}

/** Sums over the random matches of a pattern. */
interface Totals {
  sums: Float64Array;
  weight: number;
}

/** Means such that the deviations of the patterns from them are 0 on average. */
function typicalMeans(totals: readonly Totals[]): Float64Array {
  const part = totals.map(({ weight }) => 1 / (weight + REFERENCE_PSEUDOCOUNT));
  const weights = totals.reduce((sum, { weight }, i) => sum + weight * part[i], 0);
  return totals[0].sums.map(
    (_, k) => totals.reduce((sum, { sums }, i) => sum + sums[k] * part[i], 0) / weights,
  );
}

/**
 * Coefficients (the intercept first) that make the chosen rows likeliest, true and random ones each counting half;
 * by Newton's method with a ridge.
 */
export function fitRows(rows: readonly Float64Array[], isTrue: readonly boolean[]): Float64Array {
  const positives = isTrue.filter(Boolean).length / rows.length;
  const samples = rows.map((values, i) => ({
    values,
    isTrue: isTrue[i],
    weight: isTrue[i] ? 0.5 / positives : 0.5 / (1 - positives),
  }));
  return fitLogistic(samples, RIDGE);
}

/** Scores by coefficients fitted without the family and without the class (unless below 0) of each sample. */
export function crossValidated(
  { rows }: Design,
  samples: readonly Sample[],
  chooseFolds: readonly { family: number; motifClass: number }[],
  isTraining: (i: number) => boolean,
): number[] {
  const scores = rows.map(() => 0);
  for (const cell of Map.groupBy(
    rows.keys(),
    (i) => `${chooseFolds[i].family} ${chooseFolds[i].motifClass}`,
  ).values()) {
    const { family, motifClass } = chooseFolds[cell[0]];
    const training = [...rows.keys()].filter(
      (i) =>
        isTraining(i) &&
        chooseFolds[i].family !== family &&
        (motifClass < 0 || chooseFolds[i].motifClass !== motifClass),
    );
    const b = fitRows(
      training.map((i) => rows[i]),
      training.map((i) => samples[i].isTrue),
    );
    for (const i of cell) scores[i] = logit(b, rows[i]);
  }
  return scores;
}

/**
 * Shapes of the fitted terms, scaled so that the chosen samples have mean 0 in each term and z has deviation 1, and the sum of
 * the shares of the typical pattern's contributions.
 */
export function drawShapes(
  { splines, shares, means, spreads, own, rows, typical }: Design,
  b: Float64Array,
  random: readonly number[],
): { shapes: Shape[]; typical: number } {
  const z = random.map((i) => logit(b, rows[i]));
  const mean = z.reduce((a, x) => a + x, 0) / z.length;
  const deviation = Math.sqrt(z.reduce((sum, x) => sum + (x - mean) ** 2, 0) / z.length);
  let at = 0;
  let typicalSum = 0;
  const shapes = splines.map((spline, term) => {
    const columns = Array.from({ length: 2 + spline.knots.length }, () => at++);
    const coefficients = columns.map((k) => b[k + 1] / (spreads[k] || 1) / deviation);
    const share = (i: number): number =>
      columns.reduce((sum, k) => sum + (b[k + 1] * own[i][k]) / deviation, 0);
    const centre = random.reduce((sum, i) => sum + share(i), 0) / random.length;
    const constant = -columns.reduce((sum, k, j) => sum + coefficients[j] * means[k], 0) - centre;
    typicalSum += columns.reduce((sum, k) => sum + (b[k + 1] * typical[k]) / deviation, 0);
    typicalSum -= shares[term] * centre;
    return { ...spline, coefficients: [constant, ...coefficients] };
  });
  return { shapes, typical: typicalSum };
}
