import { BACKGROUND, STANDARD } from "./alphabet.ts";
import { positionBits } from "./information.ts";
import { MAX_CHANCE } from "./options.ts";
import { composition } from "./statistics.ts";

/** Frequencies of the twenty residues in a sequence; all 0 if it has none of them. */
export function residueFrequencies(residues: Uint8Array): Float64Array {
  return composition(residues, new Float64Array(STANDARD.length));
}

/**
 * Probability that a match's path occurs at a random position, for residues drawn half from the composition
 * of the sequence and half from the background. At most MAX_CHANCE.
 *
 * @param path admitted residues at each matched position, as masks.
 */
export function pathProbability(path: Int32Array, frequencies: Float64Array): number {
  let chance = 1;
  for (const mask of path) {
    if (positionBits(mask) === 0) continue;
    let admitted = 0;
    for (let code = 0; code < STANDARD.length; code++) {
      if ((mask >>> code) & 1) admitted += 0.5 * frequencies[code] + 0.5 * BACKGROUND[code];
    }
    chance *= Math.min(1, admitted);
  }
  return Math.min(MAX_CHANCE, chance);
}

/**
 * ln of observed over expected matches of the pattern in the query, with a pseudocount of 1. Low for a loose
 * pattern in a long protein, high for a rare or clustered one.
 *
 * @param positions possible start positions: the query's length, or 1 for an anchored pattern.
 */
export function abundance(matches: number, positions: number, chance: number): number {
  return Math.log((matches + 1) / (positions * chance + 1));
}
