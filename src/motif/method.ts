import type { Match } from "./automaton-matches.ts";
import { type Conservation, conservationOf } from "./conserve.ts";
import type { Family } from "./divergence.ts";
import { contributionsOf, evidenceOf } from "./evidence.ts";
import { pValueInContext } from "./null-context.ts";
import { type PValue, pValueOf } from "./null-distribution.ts";
import { type Method, MIN_HOMOLOGS } from "./options.ts";
import type { Contributions } from "./prediction.ts";
import type { Motif } from "./retention.ts";

export interface Judgement {
  numbers: Conservation;
  /** Null where data are insufficient: too few homologs, or no position that tells residues apart. */
  pValue: PValue | null;
  /** What z is made of, by `labd-2`. */
  contributions?: Contributions;
}

/**
 * One match by one version of the method.
 *
 * @param path the residues admitted at each matched position, as masks.
 * @param matches of the pattern in the query.
 */
export function judge(
  method: Method,
  motif: Motif,
  family: Family,
  match: Match,
  path: Int32Array,
  matches: number,
): Judgement {
  const isEnough = ({ homologs, z }: Conservation): boolean => homologs >= MIN_HOMOLOGS && z !== null;
  if (method === "labd-1") {
    const numbers = conservationOf(motif, family, match, path);
    const pValue = isEnough(numbers) ? pValueOf(motif.model, numbers.homologs, numbers.z!) : null;
    return { numbers, pValue };
  }
  const numbers = evidenceOf(motif, family, match, path, matches);
  const pValue = isEnough(numbers)
    ? pValueInContext(motif.model, numbers.homologs, numbers.disorder, numbers.persistence!)
    : null;
  return {
    numbers,
    pValue,
    ...(pValue && numbers.terms ? { contributions: contributionsOf(numbers.terms) } : {}),
  };
}
