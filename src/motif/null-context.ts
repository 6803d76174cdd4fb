import { type Calibration, tailBeyond, type PValue } from "./null-distribution.ts";
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
 * @param own the corpus's null, where it has one; without, the built-in one serves.
 */
export function pValueInContext(
  model: ScoringModel,
  homologs: number,
  disorder: number,
  persistence: number,
  own: Calibration | null = null,
): PValue | null {
  if (homologs < MIN_HOMOLOGS) return null;
  const bin = binOf(homologs, disorder);
  const row = (own?.rows ?? NULL_QUANTILES)[model][bin];
  return tailBeyond(row.persistence, persistence);
}

/** Row of the null for a match: depth by disorder, shallow and ordered first. */
export function binOf(homologs: number, disorder: number): number {
  const depth = NULL_DEPTHS.findLastIndex((from) => homologs >= from);
  const state = NULL_DISORDER.findLastIndex((from) => disorder >= from) + 1;
  return depth * (NULL_DISORDER.length + 1) + state;
}

/** Bins of the null. */
export const NULL_BINS = NULL_DEPTHS.length * (NULL_DISORDER.length + 1);

/** What a reader of P values is told about a null of the corpus's own. */
export function describeCalibration({ proteins, matches }: Calibration): string {
  return `P values rest on the null of Swiss-Prot, moved as ${matches} random matches in ${proteins} proteins of this corpus tell.`;
}
