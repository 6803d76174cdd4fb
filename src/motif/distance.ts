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
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = i + 1; j < size; j++) {
      matrix[i * size + j] = matrix[j * size + i] = rowDistance(rows[i], rows[j]);
    }
  }
  return matrix;
}

function rowDistance(a: Uint8Array, b: Uint8Array): number {
  let shared = 0;
  let same = 0;
  for (let column = 0; column < a.length; column++) {
    const residue = a[column];
    if (residue >= RESIDUES || b[column] >= RESIDUES) continue;
    shared++;
    if (residue === b[column]) same++;
  }
  return kimuraDistance(shared < MIN_SHARED_COLUMNS ? UNKNOWN_DISSIMILARITY : 1 - same / shared);
}
