import { BACKGROUND, STANDARD } from "./alphabet.ts";
import { positionBits } from "./information.ts";
import { MAX_CHANCE } from "./options.ts";
import { composition } from "./statistics.ts";

/** Standard deviations below the mean at which a Poisson variable is certain to be larger. */
const TAIL_LIMIT = 10;

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
 * ln(1 − ln P), where P is the probability of as many matches of the pattern in the query, or more, by chance (Poisson): 0 if
 * they are certain, higher for a rare or clustered pattern.
 *
 * @param matches at least 1.
 * @param positions possible start positions: the query's length, or 1 for an anchored pattern.
 */
export function abundance(matches: number, positions: number, chance: number): number {
  return Math.log1p(Math.max(0, -logPoissonTail(matches, positions * chance)));
}

/** ln of the probability that a Poisson variable is `count` or more. */
function logPoissonTail(count: number, mean: number): number {
  if (count + TAIL_LIMIT * Math.sqrt(mean) < mean) return 0;
  let first = -mean;
  for (let k = 1; k <= count; k++) first += Math.log(mean / k);
  let sum = 1;
  let term = 1;
  for (let k = count + 1; k < mean || term > sum * Number.EPSILON; k++) {
    term *= mean / k;
    sum += term;
  }
  return first + Math.log(sum);
}
