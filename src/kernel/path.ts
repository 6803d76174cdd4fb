/** How one subject lies along the query: the outcome of a traceback, whoever computed it. */
export interface Path {
  score: number;
  /** Part of the query from its first to behind its last aligned residue; both 0 where nothing is aligned. */
  queryStart: number;
  queryEnd: number;
  /** The same of the subject. */
  subjectStart: number;
  subjectEnd: number;
  /** One per query residue: 1 where a residue of the subject is aligned to it. */
  paired: Uint8Array;
  /**
   * Query length + 1: residues of the subject before each column, those inserted or overhanging included. The
   * residue aligned to column p, where there is one, is `subject[before[p]]`. The last counts to behind the last
   * column; what overhangs beyond it is not counted.
   */
  before: Int32Array;
}

/**
 * Step bits of a cell: bits 0-1 whence its score H (DIAGONAL: both residues aligned; LEFT: gap in the query;
 * UP: gap in the subject; START: a local alignment begins behind it), bit 2 (GO_LEFT): a gap in the query
 * that leaves it to the right was already open, bit 3 (GO_UP): the same of a gap in the subject.
 */
export const DIAGONAL = 0;
export const LEFT = 1;
export const UP = 2;
export const START = 3;
export const EXTEND_LEFT = 4;
export const EXTEND_UP = 8;

/**
 * Walks back from the cell in which an alignment ends to its beginning.
 * `step(i, j)`: step bits of query residue i and subject residue j. `i`, `j`: the last cell, both from 0, or -1
 * where nothing is aligned.
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
  // Behind the end of the alignment the columns are gaps, with all its residues before them.
  before.fill(j + 1, i + 1);
  let first = i + 1;
  let last = -1;
  let firstSubject = j + 1;
  let lastSubject = -1;
  let state = DIAGONAL;
  while (i >= 0 && j >= 0) {
    if (state === DIAGONAL) {
      const whence = step(i, j) & 3;
      if (whence === START) break;
      if (whence !== DIAGONAL) {
        state = whence;
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
  // What is left of the query stands before the subject's first aligned residue.
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
