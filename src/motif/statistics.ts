import { BACKGROUND } from "./alphabet.ts";
import { BLOSUM62, STRIDE } from "./matrix.ts";

/**
 * How surprising a local alignment score is: the extreme value law of Karlin & Altschul (PNAS 1990, 87:2264) with
 * the parameters that NCBI measured for gapped alignments.
 */

/** Cost of the first and of each further residue of a gap: NCBI's "existence 11, extension 1". */
export const GAP_FIRST = 12;
export const GAP_NEXT = 1;

/**
 * Parameters of BLOSUM62 with these gap costs: Altschul, Bundschuh, Olsen & Hwa, Nucleic Acids Res. 2001,
 * 29:351, and the table of NCBI BLAST (lambda .267, K .041, H .14, alpha 1.9, beta -30).
 */
export const LAMBDA = 0.267;
export const K = 0.041;
const ALPHA = 1.9;
const BETA = -30;

/** The corpus as far as the chance of a hit depends on it. */
export interface SearchSpace {
  queryLength: number;
  residueCount: number;
  sequenceCount: number;
}

/**
 * Residues by which query and each sequence are taken as shorter, because an alignment that begins near an end
 * runs out of residues: the largest whole l with (alpha / lambda) ln(K (m - l) (n - N l)) + beta >= l
 * (Altschul & Gish, Methods Enzymol. 1996, 266:460; with beta: Altschul et al. 2001). 0 where the space is small.
 */
export function lengthAdjustment({ queryLength: m, residueCount: n, sequenceCount: N }: SearchSpace): number {
  const holds = (l: number): boolean => {
    const space = (m - l) * (n - N * l);
    return (
      m - l > 0 &&
      n - N * l > 0 &&
      // Beyond this the edge would take more than the space that is left: NCBI's bound.
      K * space > Math.max(m, n) &&
      (ALPHA / LAMBDA) * Math.log(K * space) + BETA >= l
    );
  };
  let low = 0;
  let high = Math.max(0, Math.floor(Math.min(m, n / Math.max(1, N))));
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Query length times corpus length, both without their edges: at least 1. */
export function effectiveSpace(space: SearchSpace): number {
  const l = lengthAdjustment(space);
  return Math.max(1, space.queryLength - l) * Math.max(1, space.residueCount - space.sequenceCount * l);
}

/** Raw score to bits. */
export function bitScore(rawScore: number): number {
  return (LAMBDA * rawScore - Math.log(K)) / Math.LN2;
}

/** Expected number of chance hits of this many bits or more in an effective search space. */
export function eValue(bits: number, effective: number): number {
  return effective * 2 ** -bits;
}

/** The least raw score with an E-value of at most `limit`: lower ones need not be looked at. */
export function leastScore(limit: number, effective: number): number {
  if (limit <= 0) return Infinity;
  return Math.max(1, Math.ceil((Math.log(effective / limit) + Math.log(K)) / LAMBDA - 1e-9));
}

/** Part of each of the twenty standard residues among those of a sequence; the background's where it has none. */
export function composition(residues: Uint8Array): Float64Array {
  const counts = new Float64Array(32);
  for (const code of residues) counts[code & 31]++;
  let sum = 0;
  for (let a = 0; a < 20; a++) sum += counts[a];
  return sum === 0 ? BACKGROUND.slice() : counts.subarray(0, 20).map((count) => count / sum);
}

const LOWEST = -4;
const HIGHEST = 11;

/**
 * Lambda of BLOSUM62 without gaps for two compositions: the positive root of the sum over residue pairs of
 * p(a) q(b) exp(lambda s(a, b)) = 1, by bisection. 0 where the expected score is not negative and none exists.
 */
export function ungappedLambda(p: Float64Array, q: Float64Array): number {
  const chance = new Float64Array(HIGHEST - LOWEST + 1);
  for (let a = 0; a < 20; a++) {
    if (p[a] === 0) continue;
    for (let b = 0; b < 20; b++) chance[BLOSUM62[a * STRIDE + b] - LOWEST] += p[a] * q[b];
  }
  const sum = (lambda: number): number => {
    const factor = Math.exp(lambda);
    let power = Math.exp(lambda * LOWEST);
    let total = 0;
    for (const part of chance) {
      total += part * power;
      power *= factor;
    }
    return total;
  };
  const mean = chance.reduce((total, part, i) => total + part * (i + LOWEST), 0);
  if (mean >= 0) return 0;
  let low = 1e-3;
  let high = 2;
  if (sum(high) < 1) return high;
  for (let i = 0; i < 30; i++) {
    const middle = (low + high) / 2;
    if (sum(middle) < 1) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const STANDARD_LAMBDA = ungappedLambda(BACKGROUND, BACKGROUND);

/** Corrections below this are cut: NCBI's lower bound. */
const LEAST_SCALE = 0.5;

/**
 * By how much a score is worth less because two sequences share an uneven composition, such as many prolines:
 * the ratio of their ungapped lambda to the background's, at most 1 (Schaffer et al., Nucleic Acids Res. 2001,
 * 29:2994, applied to the score instead of to the matrix).
 */
export function compositionScale(query: Float64Array, subject: Float64Array): number {
  const ratio = ungappedLambda(query, subject) / STANDARD_LAMBDA;
  return Math.min(1, Math.max(LEAST_SCALE, ratio));
}
