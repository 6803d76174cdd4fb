import { NULL_DEPTHS, NULL_ORDER, NULL_QUANTILES } from "./null-quantiles.ts";
import { CONSERVED_P, KEPT_FRACTION, LIKELY_P, POSSIBLE_P, WEAKLY_CONSERVED_P } from "./options.ts";
import type { NullRow } from "./null-row.ts";
import type { ConservationLevel, MatchScore, PValueKind, RandomMatches, ScoringModel } from "./prediction.ts";

/** The numbers of a match that have P values. */
export interface Statistics {
  /** The term of that name; null with fewer than MIN_HOMOLOGS. */
  conservation: number | null;
  /** The sum of all contributions. */
  z: number;
}

/** Null distribution from random matches in one corpus. */
export interface Calibration {
  /** Seed of the random draws. */
  seed: number;
  /** Proteins with matches, and proteins examined. */
  proteins: number;
  examined: number;
  matches: number;
  /** Rows by depth, then by order. */
  rows: Record<ScoringModel, readonly NullRow[]>;
}

/** Level of each quantile. */
export const LEVELS = [0.5, 0.6, 0.7, 0.78, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995];

/** Level from which on the null distribution is exponential: as many random matches as expected reach 0.001 and 0.0002. */
const TAIL_FROM = LEVELS.indexOf(0.975);

/** Smallest P value that null.bench.ts could check. */
export const MIN_P = 0.0001;

export interface PValue {
  p: number;
  /** Beyond the ends of the null distribution the P value is a bound: at most MIN_P or at least 0.5. */
  is: PValueKind;
}

/** Properties by which matches are comparable: homologs at the match, and mean predicted order around it. */
export interface MatchContext {
  homologs: number;
  order: number;
}

/**
 * Fraction of random matches with similar depth and order whose statistic is as high or higher. P of the
 * conservation ignores the context, so that no match is called conserved for its location.
 *
 * @param calibration null distribution of the corpus; by default that of Swiss-Prot.
 */
export function computePValue(
  name: keyof Statistics,
  value: number,
  model: ScoringModel,
  { homologs, order }: MatchContext,
  calibration: Calibration | null = null,
): PValue | null {
  const quantiles = nullRow(model, { homologs, order }, calibration)[name];
  return quantiles && tailProbability(quantiles, value);
}

const nullRow = (
  model: ScoringModel,
  { homologs, order }: MatchContext,
  calibration: Calibration | null,
): NullRow => (calibration?.rows[model] ?? NULL_QUANTILES[model])[findBin(homologs, order)];

/** Distribution of the z of random matches with similar depth and order: those that the overall P value counts. */
export function randomMatches(
  model: ScoringModel,
  context: MatchContext,
  calibration: Calibration | null = null,
): RandomMatches {
  return {
    shares: LEVELS.map((_, i) => probabilityAbove(i)),
    z: [...nullRow(model, context, calibration).z],
  };
}

/** Index of a row: by depth, then order, ascending. */
export function findBin(homologs: number, order: number): number {
  const depth = NULL_DEPTHS.findLastIndex((from) => homologs >= from);
  const state = NULL_ORDER.findLastIndex((from) => order >= from) + 1;
  return depth * (NULL_ORDER.length + 1) + state;
}

export const NULL_BINS = NULL_DEPTHS.length * (NULL_ORDER.length + 1);

/** Warning that accompanies P values from a calibration. */
export function describeCalibration({ proteins, matches }: Calibration): string {
  return `P values are calibrated on ${matches} random matches in ${proteins} proteins of this corpus.`;
}

/** Fraction of a null distribution at or above a value, log-linear between two quantiles and beyond the last. */
export function tailProbability(quantiles: readonly number[], value: number): PValue {
  if (value < quantiles[0]) return { p: probabilityAbove(0), is: "at least" };
  const low = quantiles.findLastIndex((quantile) => value >= quantile);
  const isBeyond = low === LEVELS.length - 1;
  const [from, to] = isBeyond ? [TAIL_FROM, low] : [low, low + 1];
  const part = (value - quantiles[from]) / (quantiles[to] - quantiles[from]);
  const p = Math.exp((1 - part) * Math.log(probabilityAbove(from)) + part * Math.log(probabilityAbove(to)));
  return p < MIN_P ? { p: MIN_P, is: "at most" } : { p, is: "estimate" };
}

/** 1 − level, rounded so that 1 − 0.995 is 0.005. */
function probabilityAbove(level: number): number {
  return Math.round((1 - LEVELS[level]) * 1e6) / 1e6;
}

/**
 * Conservation in words.
 *
 * @param kept fraction of the homologs at the match that keep it, in place or nearby.
 */
export function judgeConservation(pValue: PValue | null, kept: number): ConservationLevel {
  if (pValue === null) return "insufficient data";
  if (pValue.p <= CONSERVED_P) return "conserved";
  if (pValue.p <= WEAKLY_CONSERVED_P) return "weakly conserved";
  return kept >= KEPT_FRACTION ? "conserved like its surroundings" : "not conserved";
}

/** All evidence in words. */
export function judgeOverall({ p }: PValue): NonNullable<MatchScore["overallVerdict"]> {
  if (p <= LIKELY_P) return "likely functional";
  return p <= POSSIBLE_P ? "possible" : "no evidence";
}
