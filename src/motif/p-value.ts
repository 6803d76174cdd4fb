import { NULL_DEPTHS, NULL_DISORDER, NULL_QUANTILES } from "./null-quantiles.ts";
import { CONSERVED_P, MIN_HOMOLOGS, WEAKLY_CONSERVED_P } from "./options.ts";
import type { ScoringModel, Verdict } from "./prediction.ts";

/** One row of an empirical null distribution. */
export interface NullRow {
  /** Number of random matches behind the row. */
  matches: number;
  /** Quantiles of the persistence at LEVELS. */
  persistence: readonly number[];
}

/** Null distribution from random matches in one corpus. */
export interface Calibration {
  /** Seed of the random draws. */
  seed: number;
  /** Proteins with enough homologs, and proteins examined. */
  proteins: number;
  examined: number;
  matches: number;
  /** Rows by depth, then by disorder. */
  rows: Record<ScoringModel, readonly NullRow[]>;
}

/** Level of each quantile. */
export const LEVELS = [0.5, 0.6, 0.7, 0.78, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995];

export interface PValue {
  p: number;
  /** Beyond the ends of the null distribution the P value is a bound: at most 0.005 or at least 0.5. */
  is: "estimate" | "at most" | "at least";
}

/**
 * Fraction of random matches with similar depth and disorder that are conserved as well or better. Based on
 * persistence only, so that no match is called conserved for its location. Null below MIN_HOMOLOGS.
 *
 * @param disorder mean TOP-IDP around the match.
 * @param calibration null distribution of the corpus; by default that of Swiss-Prot.
 */
export function pValueOf(
  model: ScoringModel,
  { homologs, disorder, persistence }: { homologs: number; disorder: number; persistence: number | null },
  calibration: Calibration | null = null,
): PValue | null {
  if (homologs < MIN_HOMOLOGS || persistence === null) return null;
  const bin = binOf(homologs, disorder);
  const quantiles = calibration?.rows[model][bin].persistence ?? NULL_QUANTILES[model][bin];
  return tailProbability(quantiles, persistence);
}

/** Index of a row: by depth, then disorder, ascending. */
export function binOf(homologs: number, disorder: number): number {
  const depth = NULL_DEPTHS.findLastIndex((from) => homologs >= from);
  const state = NULL_DISORDER.findLastIndex((from) => disorder >= from) + 1;
  return depth * (NULL_DISORDER.length + 1) + state;
}

export const NULL_BINS = NULL_DEPTHS.length * (NULL_DISORDER.length + 1);

/** Warning that accompanies P values from a calibration. */
export function describeCalibration({ proteins, matches }: Calibration): string {
  return `P values are calibrated on ${matches} random matches in ${proteins} proteins of this corpus.`;
}

/** Fraction of a null distribution at or above a value, log-linear between two quantiles. */
export function tailProbability(quantiles: readonly number[], value: number): PValue {
  const last = LEVELS.length - 1;
  if (value < quantiles[0]) return { p: 1 - LEVELS[0], is: "at least" };
  if (value >= quantiles[last])
    return { p: probabilityAbove(last), is: value === quantiles[last] ? "estimate" : "at most" };
  const i = quantiles.findLastIndex((quantile) => value >= quantile);
  const part = (value - quantiles[i]) / (quantiles[i + 1] - quantiles[i]);
  return {
    p: Math.exp((1 - part) * Math.log(probabilityAbove(i)) + part * Math.log(probabilityAbove(i + 1))),
    is: "estimate",
  };
}

/** 1 − level, rounded so that 1 − 0.995 is 0.005. */
function probabilityAbove(level: number): number {
  return Math.round((1 - LEVELS[level]) * 1e6) / 1e6;
}

/** Verdict of a P value. */
export function verdictOf(pValue: PValue | null): Verdict {
  if (pValue === null) return "insufficient data";
  if (pValue.p <= CONSERVED_P) return "conserved";
  return pValue.p <= WEAKLY_CONSERVED_P ? "weakly conserved" : "not conserved";
}
