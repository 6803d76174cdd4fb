import { GAP } from "./alphabet.ts";

/**
 * A homolog in a query-anchored alignment: one column per residue of the query, insertions kept in
 * `residues`. L is the length of the query.
 */
export interface Row {
  /** Residue codes without gaps. */
  residues: Uint8Array;
  /** L codes: residue aligned to each residue of the query, or GAP. */
  anchored: Uint8Array;
  /**
   * L + 1 counts: `before[p]` residues of the homolog precede the column of query residue p, insertions
   * included; `before[L]` includes the last column. The residues in the columns [start, end) are
   * `residues.subarray(before[start], before[end - 1] + (anchored[end - 1] === GAP ? 0 : 1))`.
   */
  before: Int32Array;
}

/** Row from the gapped sequences (codes with GAP) of query and homolog. */
export function rowFromGapped(query: Uint8Array, homolog: Uint8Array): Row {
  const length = query.reduce((count, code) => count + (code === GAP ? 0 : 1), 0);
  const anchored = new Uint8Array(length);
  const before = new Int32Array(length + 1);
  const residues = homolog.filter((code) => code !== GAP);
  let column = 0;
  let passed = 0;
  for (let i = 0; i < query.length; i++) {
    if (query[i] !== GAP) {
      before[column] = passed;
      anchored[column++] = homolog[i];
    }
    if (homolog[i] !== GAP) passed++;
    if (query[i] !== GAP) before[length] = passed;
  }
  return { residues, anchored, before };
}
