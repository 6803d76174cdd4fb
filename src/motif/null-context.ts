import { tailBeyond, type PValue } from "./null-distribution.ts";
import { NULL_DEPTHS, NULL_DISORDER, NULL_QUANTILES } from "./null-quantiles.ts";
import { MIN_HOMOLOGS } from "./options.ts";
import type { ScoringModel } from "./prediction.ts";

/**
 * P value of `labd-2`: the part of random matches with as many homologs and as disordered surroundings that are kept as well
 * or better. It rests on the part of z that tells of conservation alone: a match is not called conserved for where
 * it lies. Null below MIN_HOMOLOGS.
 *
 * @param disorder mean TOP-IDP around the match.
 * @param persistence see `Evidence`.
 */
export function pValueInContext(
  model: ScoringModel,
  homologs: number,
  disorder: number,
  persistence: number,
): PValue | null {
  if (homologs < MIN_HOMOLOGS) return null;
  return tailBeyond(NULL_QUANTILES[model][binOf(homologs, disorder)].persistence, persistence);
}

/** Row of the null for a match: depth by disorder, shallow and ordered first. */
export function binOf(homologs: number, disorder: number): number {
  const depth = NULL_DEPTHS.findLastIndex((from) => homologs >= from);
  const state = NULL_DISORDER.findLastIndex((from) => disorder >= from) + 1;
  return depth * (NULL_DISORDER.length + 1) + state;
}
