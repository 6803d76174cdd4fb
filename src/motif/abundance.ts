import { BACKGROUND, STANDARD } from "./alphabet.ts";
import { positionBits } from "./information.ts";
import { MAX_CHANCE } from "./options.ts";

/** Composition of a sequence: the part of each of the twenty residues among them; all 0 where it has none. */
export function residueFrequencies(residues: Uint8Array): Float64Array {
  const shares = new Float64Array(STANDARD.length);
  let count = 0;
  for (const residue of residues) {
    if (residue >= STANDARD.length) continue;
    shares[residue]++;
    count++;
  }
  return count > 0 ? shares.map((n) => n / count) : shares;
}

/**
 * Probability that a random place shows a match's path: every position admits a residue of its set, drawn half from the
 * sequence's own composition, half from the background's. At most MAX_CHANCE.
 *
 * @param path the residues admitted at each matched position, as masks.
 */
export function pathProbability(path: Int32Array, shares: Float64Array): number {
  let chance = 1;
  for (const mask of path) {
    if (positionBits(mask) === 0) continue;
    let admitted = 0;
    for (let code = 0; code < STANDARD.length; code++) {
      if ((mask >>> code) & 1) admitted += 0.5 * shares[code] + 0.5 * BACKGROUND[code];
    }
    chance *= Math.min(1, admitted);
  }
  return Math.min(MAX_CHANCE, chance);
}

/**
 * ln of the pattern's matches in the query against those that chance alone would give, one added to both. Low where a
 * long protein holds a loose pattern by chance, high where matches are rare or heaped beyond chance.
 *
 * @param places where a match could begin: the query's length, or 1 for a pattern bound to an end.
 */
export function abundance(matches: number, places: number, chance: number): number {
  return Math.log((matches + 1) / (places * chance + 1));
}
