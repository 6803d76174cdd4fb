import { blosumKernel } from "./blosum-kernel.ts";
import { GAP, STANDARD } from "./alphabet.ts";
import type { Path } from "../kernel/path.ts";
import type { Row } from "./msa.ts";

/** An alignment of one homolog to the query. */
export interface PairwiseAlignment {
  row: Row;
  /** Score in half bits. */
  score: number;
  /** Identical pairs per aligned pair of standard residues, 0..1; 0 where there is none. */
  identity: number;
  /** Part of the query's residues that have a residue aligned to them, 0..1. */
  coverage: number;
}

/**
 * Each subject aligned to the query from end to end with free ends (rule 2 of the method): Gotoh, J. Mol. Biol. 1982,
 * 162:705, BLOSUM62, first gap residue 12, each further 1. Residue codes in, in the same order out. Ties are
 * broken as `tracePlain` says, so that the same sequences always give the same rows.
 */
export function align(query: Uint8Array, subjects: readonly Uint8Array[]): PairwiseAlignment[] {
  return measured(query, subjects, blosumKernel().traces(query, subjects, false));
}

/** The best-scoring local alignment (Smith & Waterman 1981) of each subject, in the same form. */
export function alignLocal(query: Uint8Array, subjects: readonly Uint8Array[]): PairwiseAlignment[] {
  return measured(query, subjects, blosumKernel().traces(query, subjects, true));
}

function measured(query: Uint8Array, subjects: readonly Uint8Array[], paths: Path[]): PairwiseAlignment[] {
  return paths.map((path, k) => {
    const anchored = new Uint8Array(query.length).fill(GAP);
    let pairs = 0;
    let standard = 0;
    let identical = 0;
    for (let i = 0; i < query.length; i++) {
      if (path.paired[i] === 0) continue;
      const residue = subjects[k][path.before[i]];
      anchored[i] = residue;
      pairs++;
      if (residue >= STANDARD.length || query[i] >= STANDARD.length) continue;
      standard++;
      if (residue === query[i]) identical++;
    }
    return {
      row: { residues: subjects[k].slice(), anchored, before: path.before },
      score: path.score,
      identity: standard === 0 ? 0 : identical / standard,
      coverage: query.length === 0 ? 0 : pairs / query.length,
    };
  });
}
