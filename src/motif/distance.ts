import { STANDARD } from "./alphabet.ts";
import { MIN_KIMURA_ARGUMENT, MIN_SHARED_COLUMNS, UNKNOWN_DISSIMILARITY } from "./options.ts";

const RESIDUES = STANDARD.length;

/**
 * Kimura's estimate of substitutions per site from the fraction p of differing residues: d = −ln(1 − p − 0.2
 * p²) (The Neutral Theory of Molecular Evolution, 1983, p. 75), at most about 3.0.
 */
export function kimuraDistance(dissimilarity: number): number {
  const argument = 1 - dissimilarity - 0.2 * dissimilarity * dissimilarity;
  return Math.max(0, -Math.log(Math.max(argument, MIN_KIMURA_ARGUMENT)));
}

/**
 * Distance matrix of aligned rows (codes; equal length), in substitutions per site. Only columns in which
 * both rows have a standard residue count; with fewer than MIN_SHARED_COLUMNS the rows are taken as almost
 * unrelated.
 */
export function distances(rows: readonly Uint8Array[]): Float64Array {
  const size = rows.length;
  const masked = rows.map((row) => row.map((code) => (code < RESIDUES ? code : NON_RESIDUE)));
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = i + 1; j < size; j++) {
      matrix[i * size + j] = matrix[j * size + i] = rowDistance(masked[i], masked[j]);
    }
  }
  return matrix;
}

/**
 * Replaces everything but standard residues: a bit that no residue has, so that columns are counted without
 * branches.
 */
const NON_RESIDUE = 32;

function rowDistance(a: Uint8Array, b: Uint8Array): number {
  let unshared = 0;
  let notIdentical = 0;
  for (let column = 0; column < a.length; column++) {
    const differing = a[column] ^ b[column];
    const eitherGapped = (a[column] | b[column]) >>> 5;
    unshared += eitherGapped;
    // 1 where the codes differ; the sign bit of −x is set for every x above 0.
    notIdentical += eitherGapped | (-differing >>> 31);
  }
  const shared = a.length - unshared;
  const same = a.length - notIdentical;
  return kimuraDistance(shared < MIN_SHARED_COLUMNS ? UNKNOWN_DISSIMILARITY : 1 - same / shared);
}
