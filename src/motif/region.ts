import { STANDARD } from "./alphabet.ts";
import type { Match } from "./automaton-matches.ts";
import type { AlignedHomolog } from "./divergence.ts";
import {
  BURIAL_MAX_OFFSET,
  BURIAL_WINDOW,
  DISORDER_FLANK,
  FAMILY_DISORDER_FLANK,
  REGION_FLANK,
  TERMINUS_DECAY,
} from "./options.ts";

/** Values by residue code, given in the order of STANDARD; 0 for other letters. */
const scale = (values: ArrayLike<number>): Float64Array => {
  const padded = new Float64Array(32);
  padded.set(values);
  return padded;
};

/** TOP-IDP, from -0.884 (W, order) to 0.987 (P, disorder): Campen et al., Protein Pept. Lett. 2008, 15:956. */
const TOP_IDP = scale([
  0.06, 0.02, 0.192, 0.736, -0.697, 0.166, 0.303, -0.486, 0.586, -0.326, -0.397, 0.007, 0.987, 0.318, 0.18,
  0.341, 0.059, -0.121, -0.884, -0.51,
]);
/** Hydropathy: Kyte & Doolittle, J. Mol. Biol. 1982, 157:105. */
const HYDROPATHY = scale([
  1.8, 2.5, -3.5, -3.5, 2.8, -0.4, -3.2, 4.5, -3.9, 3.8, 1.9, -3.5, -1.6, -3.5, -4.5, -0.8, -0.7, 4.2, -0.9,
  -1.3,
]);
const CHARGE = scale(
  Array.from(STANDARD, (letter) => ("KR".includes(letter) ? 1 : "DE".includes(letter) ? -1 : 0)),
);
const SER_THR = scale(Array.from(STANDARD, (letter) => ("ST".includes(letter) ? 1 : 0)));

/** TOP-IDP of a residue; 0, the middle, for non-standard letters. */
export function disorderOf(residue: number): number {
  return TOP_IDP[residue];
}

/**
 * Mean TOP-IDP over the DISORDER_FLANK residues on each side of a match, without the match, whose residues
 * the pattern selects. 0 if there are none.
 */
export function disorderAround(query: Uint8Array, { start, end }: Match): number {
  let sum = 0;
  let count = 0;
  const add = (from: number, to: number): void => {
    for (let i = Math.max(0, from); i < Math.min(query.length, to); i++) {
      if (query[i] >= STANDARD.length) continue;
      sum += TOP_IDP[query[i]];
      count++;
    }
  };
  add(start - DISORDER_FLANK, start);
  add(end, end + DISORDER_FLANK);
  return count > 0 ? sum / count : 0;
}

/**
 * Proximity of a match to an end of the query, 1 at the end and falling by e every TERMINUS_DECAY residues:
 * chain ends are disordered and accessible.
 */
export function terminusProximity(queryLength: number, { start, end }: Match): number {
  return Math.exp(-Math.min(start, queryLength - end) / TERMINUS_DECAY);
}

/** Mean of `value` over `flank` positions on each side of a match; 0 if there are none. */
function flankMean(
  length: number,
  { start, end }: Match,
  flank: number,
  value: (p: number) => number,
): number {
  let sum = 0;
  let count = 0;
  for (let p = Math.max(0, start - flank); p < Math.min(length, end + flank); p++) {
    if (p >= start && p < end) continue;
    sum += value(p);
    count++;
  }
  return count > 0 ? sum / count : 0;
}

/**
 * Weighted mean TOP-IDP of the homologs over FAMILY_DISORDER_FLANK columns on each side of a match; of the
 * query where no homolog has a residue.
 */
export function familyDisorder(query: Uint8Array, homologs: readonly AlignedHomolog[], match: Match): number {
  return flankMean(query.length, match, FAMILY_DISORDER_FLANK, (p) => {
    let sum = 0;
    let weights = 0;
    for (const { row, weight } of homologs) {
      const residue = row.anchored[p];
      if (residue >= STANDARD.length) continue;
      sum += weight * disorderOf(residue);
      weights += weight;
    }
    return weights > 0 ? sum / weights : disorderOf(query[p]);
  });
}

/** Mean TOP-IDP of the whole chain; 0 for an empty one. */
export function chainDisorder(query: Uint8Array): number {
  let sum = 0;
  for (const residue of query) sum += disorderOf(residue);
  return query.length > 0 ? sum / query.length : 0;
}

/**
 * Maximum mean hydropathy of the windows of BURIAL_WINDOW residues centred within BURIAL_MAX_OFFSET of a
 * match's middle: membrane segments and domain cores cannot be bound. 0 for an empty chain.
 */
export function burial(query: Uint8Array, { start, end }: Match): number {
  const middle = (start + end) >> 1;
  const half = BURIAL_WINDOW >> 1;
  let max = -Infinity;
  for (
    let centre = Math.max(0, middle - BURIAL_MAX_OFFSET);
    centre <= Math.min(query.length - 1, middle + BURIAL_MAX_OFFSET);
    centre++
  ) {
    const from = Math.max(0, centre - half);
    const to = Math.min(query.length, centre + half + 1);
    let sum = 0;
    for (let p = from; p < to; p++) sum += HYDROPATHY[query[p]];
    max = Math.max(max, sum / (to - from));
  }
  return max === -Infinity ? 0 : max;
}

/** Net charge per residue over REGION_FLANK residues on each side of a match, -1..1. */
export function regionCharge(query: Uint8Array, match: Match): number {
  return flankMean(query.length, match, REGION_FLANK, (p) => CHARGE[query[p]]);
}

/**
 * Fraction of serine and threonine, targets of kinases, over REGION_FLANK residues on each side of a match,
 * 0..1.
 */
export function serThrFraction(query: Uint8Array, match: Match): number {
  return flankMean(query.length, match, REGION_FLANK, (p) => SER_THR[query[p]]);
}
