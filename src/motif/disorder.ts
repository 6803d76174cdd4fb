import { STANDARD } from "./alphabet.ts";
import type { Match } from "./automaton-matches.ts";
import { DISORDER_FLANK, TERMINUS_DECAY } from "./options.ts";

/**
 * How much each residue promotes disorder: the TOP-IDP scale of Campen et al., Protein Pept. Lett. 2008, 15:956, from
 * -0.884 (W, order) to 0.987 (P, disorder).
 */
const TOP_IDP: Readonly<Record<string, number>> = {
  W: -0.884,
  F: -0.697,
  Y: -0.51,
  I: -0.486,
  M: -0.397,
  L: -0.326,
  V: -0.121,
  N: 0.007,
  C: 0.02,
  T: 0.059,
  A: 0.06,
  G: 0.166,
  R: 0.18,
  D: 0.192,
  H: 0.303,
  Q: 0.318,
  S: 0.341,
  K: 0.586,
  E: 0.736,
  P: 0.987,
};
const SCALE = Float64Array.from(STANDARD, (letter) => TOP_IDP[letter]);

/** TOP-IDP of a residue; 0, the middle, for letters beyond the twenty. */
export function disorderOf(residue: number): number {
  return residue < STANDARD.length ? SCALE[residue] : 0;
}

/**
 * Mean of the scale over the DISORDER_FLANK residues on each side of a match, without the match itself, for its residues
 * are the pattern's choice. 0, the middle between order and disorder, where there are none.
 */
export function disorderAround(query: Uint8Array, { start, end }: Match): number {
  let sum = 0;
  let count = 0;
  const add = (from: number, to: number): void => {
    for (let i = Math.max(0, from); i < Math.min(query.length, to); i++) {
      if (query[i] >= STANDARD.length) continue;
      sum += SCALE[query[i]];
      count++;
    }
  };
  add(start - DISORDER_FLANK, start);
  add(end, end + DISORDER_FLANK);
  return count > 0 ? sum / count : 0;
}

/**
 * How near a match lies to an end of the query, 1 at the end and falling by e every TERMINUS residues: chain ends are frayed
 * and reached from outside, whatever they are made of.
 */
export function terminusProximity(queryLength: number, { start, end }: Match): number {
  return Math.exp(-Math.min(start, queryLength - end) / TERMINUS_DECAY);
}
