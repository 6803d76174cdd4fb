import { BACKGROUND } from "./alphabet.ts";
import { BLOSUM62, STRIDE } from "./matrix.ts";

/** Cost of the first and each further residue of a gap: NCBI's "existence 11, extension 1". */
export const GAP_FIRST = 12;
export const GAP_NEXT = 1;

/**
 * Gumbel parameters of BLOSUM62 with these gap costs (Altschul, Bundschuh, Olsen & Hwa, Nucleic Acids Res.
 * 2001, 29:351), and those of the finite-size correction (Park, Sheetlin, Ma, Madden & Spouge, BMC Res. Notes
 * 2012, 5:286): A is the mean length of an alignment per half bit, ALPHA its variance, SIGMA the covariance
 * of both lengths. Values as in NCBI BLAST.
 */
const LAMBDA = 0.267;
export const K = 0.041;
const A = 1.9;
const ALPHA = 42.6028;
const SIGMA = 43.6362;
/** Ungapped parameters, which define the lengths at low scores. */
const UNGAPPED_A = 0.7916;
const UNGAPPED_ALPHA = 4.96466;
const LENGTH_AT_0 = 2 * GAP_FIRST * (UNGAPPED_A - A);
const VARIANCE_AT_0 = 2 * GAP_FIRST * (UNGAPPED_ALPHA - ALPHA);
const COVARIANCE_AT_0 = 2 * GAP_FIRST * (UNGAPPED_ALPHA - SIGMA);

/** Converts a raw score to bits. */
export function bitScore(rawScore: number): number {
  return (LAMBDA * rawScore - Math.log(K)) / Math.LN2;
}

/**
 * Expected number of chance alignments with this raw score (half bits) or better in a corpus of
 * `residueCount` residues (Karlin & Altschul, PNAS 1990, 87:2264), with the finite-size correction of Park et
 * al. 2012, scaled from the subject's length to the corpus. Infinity if either sequence is empty.
 */
export function eValue(
  rawScore: number,
  queryLength: number,
  subjectLength: number,
  residueCount: number,
): number {
  if (queryLength === 0 || subjectLength === 0) return Infinity;
  const variance = Math.max((2 * ALPHA) / LAMBDA, ALPHA * rawScore + VARIANCE_AT_0);
  const deviation = Math.sqrt(variance);
  const expectedLength = A * rawScore + LENGTH_AT_0;
  const remaining = (length: number): { chance: number; mean: number } => {
    const z = (length - expectedLength) / deviation;
    const chance = normal(z);
    // Mean remaining length, at least 0 despite rounding.
    const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
    return { chance, mean: Math.max(0, deviation * (z * chance + density)) };
  };
  const query = remaining(queryLength);
  const subject = remaining(subjectLength);
  const covariance = Math.max((2 * SIGMA) / LAMBDA, SIGMA * rawScore + COVARIANCE_AT_0);
  const area = query.mean * subject.mean + covariance * query.chance * subject.chance;
  return area * K * Math.exp(-LAMBDA * rawScore) * (residueCount / subjectLength);
}

/** Standard normal distribution function, with relative precision in the lower tail. */
export function normal(z: number): number {
  if (z > 0) return 1 - normal(-z);
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  const x = -z;
  if (x < 2.5) {
    // Series (Abramowitz & Stegun 26.2.11); all terms are positive.
    let term = x;
    let sum = x;
    for (let n = 1; term > 1e-17 * sum; n++) {
      term *= (x * x) / (2 * n + 1);
      sum += term;
    }
    return 0.5 - density * sum;
  }
  // Continued fraction of the tail (26.2.14).
  let fraction = x;
  for (let n = 60; n > 0; n--) fraction = x + n / fraction;
  return density / fraction;
}

/** Frequencies of the standard residues in a sequence; `fallback` if it has none. */
export function composition(residues: Uint8Array, fallback: Float64Array = BACKGROUND): Float64Array {
  const counts = new Float64Array(32);
  for (let i = 0; i < residues.length; i++) counts[residues[i] & 31]++;
  let sum = 0;
  for (let a = 0; a < 20; a++) sum += counts[a];
  return sum === 0 ? fallback.slice() : counts.subarray(0, 20).map((count) => count / sum);
}

const LOWEST = -4;
const HIGHEST = 11;

/**
 * Ungapped lambda of BLOSUM62 for two compositions: the positive root of the sum over residue pairs of p(a)
 * q(b) exp(lambda s(a, b)) = 1, by bisection. 0 if the expected score is not negative.
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

/** Lower limit of the correction, as in NCBI BLAST. */
const MIN_SCALE = 0.5;

/**
 * Factor by which a score is reduced for a shared compositional bias: the ratio of the ungapped lambda to the
 * background's, at most 1 (Schaffer et al., Nucleic Acids Res. 2001, 29:2994, applied to the score instead of
 * the matrix).
 */
export function compositionScale(query: Float64Array, subject: Float64Array): number {
  const ratio = ungappedLambda(query, subject) / STANDARD_LAMBDA;
  return Math.min(1, Math.max(MIN_SCALE, ratio));
}
