import { STANDARD } from "./alphabet.ts";
import type { Match } from "./automaton-matches.ts";
import { disorderOf } from "./disorder.ts";
import type { AlignedHomolog } from "./divergence.ts";
import { BURIAL_MAX_OFFSET, BURIAL_WINDOW, FAMILY_DISORDER_FLANK, REGION_FLANK } from "./options.ts";

/** Hydropathy: Kyte & Doolittle, J. Mol. Biol. 1982, 157:105. */
const HYDROPATHY: Readonly<Record<string, number>> = {
  A: 1.8,
  R: -4.5,
  N: -3.5,
  D: -3.5,
  C: 2.5,
  Q: -3.5,
  E: -3.5,
  G: -0.4,
  H: -3.2,
  I: 4.5,
  L: 3.8,
  K: -3.9,
  M: 1.9,
  F: 2.8,
  P: -1.6,
  S: -0.8,
  T: -0.7,
  W: -0.9,
  Y: -1.3,
  V: 4.2,
};
/** Per code what a residue is on a scale; letters beyond the twenty are 0. */
const scale = (of: (letter: string) => number): Float64Array => {
  const values = new Float64Array(32);
  for (let code = 0; code < STANDARD.length; code++) values[code] = of(STANDARD[code]);
  return values;
};
const HYDROPATHIES = scale((letter) => HYDROPATHY[letter]);
const CHARGES = scale((letter) => ("KR".includes(letter) ? 1 : "DE".includes(letter) ? -1 : 0));
const SER_THR = scale((letter) => ("ST".includes(letter) ? 1 : 0));

/** Mean of `value` over the `flank` places on each side of a match, without the match; 0 where there are none. */
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
 * Mean TOP-IDP of what the homologs have in the FAMILY_DISORDER_FLANK columns on each side of a match, by weight: what
 * stays disordered while the residues change. The query's own residue counts where no homolog has one.
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
 * The greatest mean hydropathy of the windows of BURIAL_WINDOW residues that are centred within BURIAL_REACH of a match's
 * middle: what lies in a membrane or in the core of a domain cannot be bound. 0 for an empty chain.
 */
export function burial(query: Uint8Array, { start, end }: Match): number {
  const middle = (start + end) >> 1;
  const half = BURIAL_WINDOW >> 1;
  let most = -Infinity;
  for (
    let centre = Math.max(0, middle - BURIAL_MAX_OFFSET);
    centre <= Math.min(query.length - 1, middle + BURIAL_MAX_OFFSET);
    centre++
  ) {
    const from = Math.max(0, centre - half);
    const to = Math.min(query.length, centre + half + 1);
    let sum = 0;
    for (let p = from; p < to; p++) sum += HYDROPATHIES[query[p]];
    most = Math.max(most, sum / (to - from));
  }
  return most === -Infinity ? 0 : most;
}

/** Net charge per residue of the REGION_FLANK residues on each side of a match, -1..1. */
export function regionCharge(query: Uint8Array, match: Match): number {
  return flankMean(query.length, match, REGION_FLANK, (p) => CHARGES[query[p]]);
}

/** Part of serine and threonine, which kinases switch, in the REGION_FLANK residues on each side of a match, 0..1. */
export function serThrFraction(query: Uint8Array, match: Match): number {
  return flankMean(query.length, match, REGION_FLANK, (p) => SER_THR[query[p]]);
}
