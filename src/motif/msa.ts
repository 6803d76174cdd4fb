import { GAP } from "./alphabet.ts";

/**
 * One homolog in a query-anchored alignment: columns are the query's residues, insertions of the homolog are
 * kept in its own residues. L is the length of the query.
 */
export interface Row {
  /** The homolog's residues as codes, without gaps. */
  residues: Uint8Array;
  /** L codes: the residue aligned to each residue of the query, or GAP. */
  anchored: Uint8Array;
  /**
   * L + 1 counts: `before[p]` residues of the homolog stand before the column of query residue p, insertions
   * included; `before[L]` up to and including the last column. The homolog's residues in the columns [st, en)
   * are therefore `residues.subarray(before[st], before[en - 1] + (anchored[en - 1] === GAP ? 0 : 1))`.
   */
  before: Int32Array;
}

/** A row from two gapped sequences of one alignment (codes with GAP), the query's and the homolog's. */
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
