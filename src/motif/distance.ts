import { STANDARD } from "./alphabet.ts";
import { MIN_KIMURA_ARGUMENT, MIN_SHARED_COLUMNS, UNKNOWN_DISSIMILARITY } from "./options.ts";

const RESIDUES = STANDARD.length;

/**
 * Kimura's estimate of accepted substitutions per site from the part p of differing residues, 0..1:
 * d = −ln(1 − p − 0.2 p²) (Kimura, The Neutral Theory of Molecular Evolution, 1983, p. 75), cut at about 3.0.
 */
export function kimuraDistance(dissimilarity: number): number {
  const argument = 1 - dissimilarity - 0.2 * dissimilarity * dissimilarity;
  return Math.max(0, -Math.log(Math.max(argument, MIN_KIMURA_ARGUMENT)));
}

/**
 * Distances of aligned rows of equal length (codes; the query first), as a square matrix row by row, in
 * substitutions per site. Only columns in which both rows have a standard residue count; with fewer than
 * MIN_SHARED_COLUMNS of them the rows are taken as almost unrelated.
 */
export function distances(rows: readonly Uint8Array[]): Float64Array {
  const size = rows.length;
  const marked = rows.map((row) => row.map((code) => (code < RESIDUES ? code : NON_RESIDUE)));
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = i + 1; j < size; j++) {
      matrix[i * size + j] = matrix[j * size + i] = rowDistance(marked[i], marked[j]);
    }
  }
  return matrix;
}

/** Stands for all that is no standard residue: one bit that no residue has, so that columns are counted without branches. */
const NON_RESIDUE = 32;

function rowDistance(a: Uint8Array, b: Uint8Array): number {
  let apart = 0;
  let unlike = 0;
  for (let column = 0; column < a.length; column++) {
    const differing = a[column] ^ b[column];
    const either = (a[column] | b[column]) >>> 5;
    apart += either;
    // 1 where the codes differ; the sign bit of −x is set for every x above 0.
    unlike += either | (-differing >>> 31);
  }
  const shared = a.length - apart;
  const same = a.length - unlike;
  return kimuraDistance(shared < MIN_SHARED_COLUMNS ? UNKNOWN_DISSIMILARITY : 1 - same / shared);
}
