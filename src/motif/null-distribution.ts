import { MIN_HOMOLOGS } from "./options.ts";
import type { ScoringModel } from "./prediction.ts";

/** One row of an empirical null. */
export interface NullRow {
  /** Random matches on which it rests. */
  matches: number;
  /** Quantiles of the persistence at the levels of null-distribution.ts. */
  persistence: readonly number[];
}

/** An empirical null of labd-2 made from random matches in one corpus. */
export interface Calibration {
  /** Decides which proteins and matches are drawn. */
  seed: number;
  /** Proteins with enough homologs in which matches were drawn, of so many that were looked at. */
  proteins: number;
  looked: number;
  matches: number;
  /** Rows by depth, within it by disorder. */
  rows: Record<ScoringModel, readonly NullRow[]>;
}

/** Part of random matches below each of the quantiles of a null. */
export const LEVELS = [0.5, 0.6, 0.7, 0.78, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995];

/**
 * Quantiles of z of `labd-1` among random matches, by model and by number of homologs at the match; `matches` tells on
 * how many each row rests. Random matches are matches of published motif classes in Swiss-Prot proteins (release of January
 * 2014) where no instance of the class is known. They stand in for a law: z has heavy tails, a third of random matches
 * exceed 1.645, because homologs are no independent trials.
 */
const NULL: Record<ScoringModel, { from: number; matches: number; z: number[] }[]> = {
  discontinuous: [
    { from: 3, matches: 2958, z: [0.17, 0.62, 1.21, 1.79, 2.0, 3.39, 4.63, 6.42, 9.23, 12.32] },
    { from: 6, matches: 4293, z: [0.35, 1.11, 2.05, 2.95, 3.19, 5.13, 6.99, 9.38, 13.09, 17.5] },
    { from: 16, matches: 4705, z: [0.83, 1.88, 3.22, 4.71, 5.19, 8.54, 11.81, 16.1, 21.07, 27.67] },
  ],
  continuous: [
    { from: 3, matches: 2958, z: [0.45, 0.87, 1.4, 1.99, 2.14, 3.46, 4.69, 6.21, 8.69, 11.62] },
    { from: 6, matches: 4293, z: [0.9, 1.59, 2.37, 3.18, 3.44, 5.17, 6.99, 9.24, 12.96, 18.3] },
    { from: 16, matches: 4705, z: [1.83, 2.91, 4.2, 5.69, 6.12, 9.3, 12.11, 15.87, 21.35, 27.69] },
  ],
};

export interface PValue {
  p: number;
  /** Beyond the ends of the null the value is a bound: at most 0.005, or at least 0.5. */
  is: "estimate" | "at most" | "at least";
}

/**
 * Part of random matches with this number of homologs that reach z or more; between two quantiles ln p is taken as linear
 * in z. Null below MIN_HOMOLOGS, where there is no null. The last row serves all greater numbers of homologs.
 */
export function pValueOf(model: ScoringModel, homologs: number, z: number): PValue | null {
  if (homologs < MIN_HOMOLOGS) return null;
  return tailBeyond(NULL[model].findLast(({ from }) => homologs >= from)!.z, z);
}

/** Part of a null at or above z, by its quantiles at LEVELS. */
export function tailBeyond(row: readonly number[], z: number): PValue {
  const last = LEVELS.length - 1;
  if (z < row[0]) return { p: 1 - LEVELS[0], is: "at least" };
  if (z >= row[last]) return { p: tail(last), is: z === row[last] ? "estimate" : "at most" };
  const i = row.findLastIndex((quantile) => z >= quantile);
  const part = (z - row[i]) / (row[i + 1] - row[i]);
  return { p: Math.exp((1 - part) * Math.log(tail(i)) + part * Math.log(tail(i + 1))), is: "estimate" };
}

/** The part above a level, rounded so that 1 − 0.995 reads 0.005. */
function tail(level: number): number {
  return Math.round((1 - LEVELS[level]) * 1e6) / 1e6;
}
