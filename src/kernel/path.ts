/** Traceback of one subject against the query. */
export interface Path {
  score: number;
  /** Aligned part of the query, [start, end); both 0 if nothing is aligned. */
  queryStart: number;
  queryEnd: number;
  /** Aligned part of the subject. */
  subjectStart: number;
  subjectEnd: number;
  /** 1 for each query residue with an aligned subject residue. */
  paired: Uint8Array;
  /**
   * Query length + 1: subject residues before each column, insertions and overhangs included. The residue
   * aligned to column p is `subject[before[p]]`. The last entry excludes the overhang after the last column.
   */
  before: Int32Array;
}

/**
 * Step bits of a cell: bits 0-1 the source of H (DIAGONAL, LEFT: gap in the query, UP: gap in the subject,
 * START of a local alignment), EXTEND_LEFT and EXTEND_UP: the gap leaving this cell was already open.
 */
export const DIAGONAL = 0;
export const LEFT = 1;
export const UP = 2;
export const START = 3;
export const EXTEND_LEFT = 4;
export const EXTEND_UP = 8;

/**
 * Traces an alignment back from its last cell (i, j), both 0-based, or -1 if nothing is aligned.
 *
 * @param step step bits of query residue i and subject residue j
 */
export function traceback(
  queryLength: number,
  score: number,
  i: number,
  j: number,
  step: (i: number, j: number) => number,
): Path {
  const paired = new Uint8Array(queryLength);
  const before = new Int32Array(queryLength + 1);
  // Columns after the alignment are gaps, with all its residues before them.
  before.fill(j + 1, i + 1);
  let first = i + 1;
  let last = -1;
  let firstSubject = j + 1;
  let lastSubject = -1;
  let state = DIAGONAL;
  while (i >= 0 && j >= 0) {
    if (state === DIAGONAL) {
      const source = step(i, j) & 3;
      if (source === START) break;
      if (source !== DIAGONAL) {
        state = source;
        continue;
      }
      paired[i] = 1;
      before[i] = j;
      first = i;
      firstSubject = j;
      if (last < 0) {
        last = i;
        lastSubject = j;
      }
      i--;
      j--;
    } else if (state === LEFT) {
      j--;
      if (j < 0 || (step(i, j) & EXTEND_LEFT) === 0) state = DIAGONAL;
    } else {
      before[i] = j + 1;
      i--;
      if (i < 0 || (step(i, j) & EXTEND_UP) === 0) state = DIAGONAL;
    }
  }
  // Columns before the alignment.
  before.fill(j + 1, 0, i + 1);
  if (last < 0) return { score, queryStart: 0, queryEnd: 0, subjectStart: 0, subjectEnd: 0, paired, before };
  return {
    score,
    queryStart: first,
    queryEnd: last + 1,
    subjectStart: firstSubject,
    subjectEnd: lastSubject + 1,
    paired,
    before,
  };
}
