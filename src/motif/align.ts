import { blosumKernel } from "./blosum-kernel.ts";
import { GAP, STANDARD } from "./alphabet.ts";
import type { Path } from "../kernel/path.ts";
import type { Row } from "./msa.ts";

/** An alignment of one homolog to the query. */
export interface PairwiseAlignment {
  row: Row;
  /** Score in half bits. */
  score: number;
  /** Identical fraction of the aligned pairs of standard residues, 0..1; 0 without such pairs. */
  identity: number;
  /** Fraction of the query's residues aligned to a residue, 0..1. */
  coverage: number;
}

/**
 * Global alignment of each subject with the query, end gaps free: Gotoh, J. Mol. Biol. 1982, 162:705, with
 * BLOSUM62, first gap residue 12, each further 1. Results in order of the subjects; ties as in `traceScalar`.
 */
export function align(query: Uint8Array, subjects: readonly Uint8Array[]): PairwiseAlignment[] {
  return summarize(query, subjects, blosumKernel().traces(query, subjects, false));
}

/** Best local alignment of each subject with the query: Smith & Waterman 1981. */
export function alignLocal(query: Uint8Array, subjects: readonly Uint8Array[]): PairwiseAlignment[] {
  return summarize(query, subjects, blosumKernel().traces(query, subjects, true));
}

function summarize(query: Uint8Array, subjects: readonly Uint8Array[], paths: Path[]): PairwiseAlignment[] {
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

/** Per residue of the query the place of its partner in the aligned sequence, from 0; -1 without one. */
export const partnersOf = ({ row }: PairwiseAlignment): Int32Array =>
  Int32Array.from(row.anchored, (residue, i) => (residue === GAP ? -1 : row.before[i]));
