import type { NullModel, Statistic } from "./null-model.ts";
import { verdictLevel } from "./match-order.ts";
import { NULL_MODELS } from "./null-models.ts";
import {
  CONSERVED_P,
  KEPT_FRACTION,
  LIKELIHOOD_RATIO_RANGE,
  LOG_LIKELIHOOD_RATIO,
  PRIOR,
  WEAKLY_CONSERVED_P,
} from "./options.ts";
import type { ConservationLevel, MatchScore, PValueKind, RandomMatches, ScoringModel } from "./prediction.ts";

/** What a motif cannot choose: homologs of the protein, its mean predicted order (0..1), and the pattern's anchors. */
export interface Surroundings {
  homologs: number;
  chainOrder: number;
  anchors: { start: boolean; end: boolean };
}

/** What limits the conservation of a match: the homologs there, and what their divergence leaves to expect. */
export interface Divergence {
  homologs: number;
  /** Mean local identity and expected CS, 0..1. */
  localIdentity: number;
  expected: number;
  /** Positions that are not wildcards. */
  positions: number;
  anchors: { start: boolean; end: boolean };
}

/** Level of each quantile. */
export const LEVELS = [
  0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.998,
];

/** Level from which on the null distribution is exponential. */
const TAIL_FROM = LEVELS.indexOf(0.99);

/** Smallest P value that null.bench.ts could check. */
export const MIN_P = 0.00001;

export interface PValue {
  p: number;
  /** Beyond the ends of the null distribution the P value is a bound: at most MIN_P or at least 0.99. */
  is: PValueKind;
}

/** Numbers beyond these count like them: the ends of the data. */
const MAX_HOMOLOGS = 100;
const ORDER_RANGE = [0.45, 0.95];
const IDENTITY_RANGE = [0.1, 0.9];
const EXPECTATION_RANGE = [0.005, 0.95];
const MAX_POSITIONS = 8;

const limited = (value: number, [low, high]: readonly number[]): number =>
  Math.min(high, Math.max(low, value));

/** The variables of location and scale of z: depth, order of the chain, anchors. */
export function zFeatures({ homologs, chainOrder, anchors }: Surroundings): number[] {
  const depth = Math.log1p(Math.min(homologs, MAX_HOMOLOGS));
  const order = (limited(chainOrder, ORDER_RANGE) - 0.75) / 0.1;
  return [
    1,
    depth,
    depth * depth,
    homologs === 0 ? 1 : 0,
    order,
    order * order,
    Math.max(0, order - 1),
    anchors.start ? 1 : 0,
    anchors.end ? 1 : 0,
  ];
}

/** The variables of location and scale of the conservation: depth and divergence at the match, positions, anchors. */
export function conservationFeatures(divergence: Divergence): number[] {
  const { anchors } = divergence;
  const depth = Math.log1p(Math.min(divergence.homologs, MAX_HOMOLOGS));
  const identity = (limited(divergence.localIdentity, IDENTITY_RANGE) - 0.4) / 0.2;
  const expected = Math.log(limited(divergence.expected, EXPECTATION_RANGE));
  const positions = Math.min(divergence.positions, MAX_POSITIONS);
  return [
    1,
    depth,
    depth * depth,
    anchors.start ? 1 : 0,
    anchors.end ? 1 : 0,
    identity,
    identity * identity,
    positions,
    Math.max(0, positions - 3),
    expected,
    expected * expected,
  ];
}

/** A number of a match relative to random matches in proteins like its own. */
export function standardise(
  { location, logScale }: Pick<NullModel, "location" | "logScale">,
  value: number,
  features: readonly number[],
): number {
  return (value - weightedSum(location, features)) / Math.exp(weightedSum(logScale, features));
}

export const weightedSum = (weights: readonly number[], features: readonly number[]): number =>
  weights.reduce((sum, weight, i) => sum + weight * features[i], 0);

/**
 * Fraction of random matches with these features whose number is as high or higher. P of the conservation judges that term
 * alone, so that no match is called conserved for its location.
 *
 * @param features by `zFeatures` or `conservationFeatures`.
 */
export function computePValue(
  name: Statistic,
  value: number,
  model: ScoringModel,
  features: readonly number[],
): PValue {
  const nullModel = NULL_MODELS[model][name];
  return tailProbability(nullModel.quantiles, standardise(nullModel, value, features));
}

/** Distribution of the z of random matches in proteins with as many homologs and as much order: those that the overall P counts. */
export function randomMatches(model: ScoringModel, surroundings: Surroundings): RandomMatches {
  const { location, logScale, quantiles } = NULL_MODELS[model].z;
  const features = zFeatures(surroundings);
  const [middle, scale] = [weightedSum(location, features), Math.exp(weightedSum(logScale, features))];
  return {
    shares: LEVELS.map((_, i) => probabilityAbove(i)),
    z: quantiles.map((quantile) => Math.round((middle + scale * quantile) * 1e4) / 1e4),
  };
}

/** Fraction of a null distribution at or above a value, log-linear between two quantiles and beyond the last. */
function tailProbability(quantiles: readonly number[], value: number): PValue {
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
 * Probability that a match is a true motif, 0..1 (Bayes): the prior odds times the likelihood ratio of z among true motifs and
 * random matches of their classes, a logistic regression on held-out families and classes (docs/quality.md).
 *
 * @param prior share of true motifs among the matches of a class, 0..1.
 */
export function computeProbability(z: number, prior = PRIOR): number {
  const [low, high] = LIKELIHOOD_RATIO_RANGE;
  const x = Math.min(high, Math.max(low, z));
  const [constant, linear, square] = LOG_LIKELIHOOD_RATIO;
  const odds = (prior / (1 - prior)) * Math.exp(constant + linear * x + square * x * x);
  return odds / (1 + odds);
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
  return (["likely functional", "possible", "no evidence"] as const)[verdictLevel(p)];
}
