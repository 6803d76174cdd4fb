import type { Match } from "./automaton-matches.ts";
import { type Conservation, conservationOf } from "./conserve.ts";
import type { Family } from "./divergence.ts";
import { contributionsOf, evidenceOf } from "./evidence.ts";
import { pValueInContext } from "./null-context.ts";
import type { Row } from "./msa.ts";
import { type Calibration, type PValue, pValueOf } from "./null-distribution.ts";
import { type Method, MIN_HOMOLOGS } from "./options.ts";
import type { Contributions } from "./prediction.ts";
import { alignProgressively } from "./progressive.ts";
import type { Motif } from "./retention.ts";

export interface Judgement {
  numbers: Conservation;
  /** Null where data are insufficient: too few homologs, or no position that tells residues apart. */
  pValue: PValue | null;
  /** What z is made of, by `labd-2`. */
  contributions?: Contributions;
}

/**
 * The rows on which a version of the method judges, from those of homologs that are aligned to the query one by one: these
 * themselves by labd-1, by labd-2 all aligned together.
 */
export function rowsBy(method: Method, query: Uint8Array, rows: readonly Row[]): readonly Row[] {
  return method === "labd-1" ? rows : alignProgressively(query, rows);
}

/**
 * One match by one version of the method.
 *
 * @param path the residues admitted at each matched position, as masks.
 * @param matches of the pattern in the query.
 * @param own the corpus's null for labd-2, where it has one.
 */
export function judge(
  method: Method,
  motif: Motif,
  family: Family,
  match: Match,
  path: Int32Array,
  matches: number,
  own: Calibration | null = null,
): Judgement {
  const isEnough = ({ homologs, z }: Conservation): boolean => homologs >= MIN_HOMOLOGS && z !== null;
  if (method === "labd-1") {
    const numbers = conservationOf(motif, family, match, path);
    const pValue = isEnough(numbers) ? pValueOf(motif.model, numbers.homologs, numbers.z!) : null;
    return { numbers, pValue };
  }
  const numbers = evidenceOf(motif, family, match, path, matches);
  const pValue = isEnough(numbers)
    ? pValueInContext(motif.model, numbers.homologs, numbers.disorder, numbers.persistence!, own)
    : null;
  return {
    numbers,
    pValue,
    ...(pValue && numbers.terms ? { contributions: contributionsOf(numbers.terms) } : {}),
  };
}
