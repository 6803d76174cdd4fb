/**
 * The kernels in plain TypeScript: what the SIMD ones are held equal to, and what takes over where a pair is too
 * long or scores too high for 16 bits.
 */
import { DIAGONAL, EXTEND_LEFT, EXTEND_UP, LEFT, START, UP, traceback, type Path } from "./path.ts";

/** Costs in the units of the matrix: a gap of n residues costs first + (n - 1) next. */
export interface Scoring {
  /** 32 x 32 scores, `matrix[a * 32 + b]`. */
  matrix: Int8Array;
  gapFirst: number;
  gapNext: number;
}

/** Below every score that can occur; room to subtract gap costs from. */
export const NEGATIVE_INFINITY = -(2 ** 30);

/** A cell of the recurrence: query residue `row`, subject residue `column`, from 0. */
export interface Cell {
  score: number;
  row: number;
  column: number;
}

/**
 * An optimal alignment of two sequences with its path. Local: the best-scoring stretch (ties: the end that comes
 * first in order of subject, then query residues). Otherwise from end to end, gaps at either end of either
 * sequence free (ties: the end nearest to both ends, then the one at the query's end). Ties inside:
 * diagonal before gap in the query before gap in the subject; opening a gap before going on with one.
 *
 * Time: cells; memory: one byte per cell. long.ts finds the same where that is too much.
 */
export function traceScalar(query: Uint8Array, subject: Uint8Array, scoring: Scoring, local: boolean): Path {
  const rows = query.length;
  const columns = subject.length;
  const h = new Int32Array(rows);
  const e = new Int32Array(rows).fill(NEGATIVE_INFINITY);
  const steps = new Uint8Array(rows * columns);
  const lastRow = new Int32Array(columns);
  let end: Cell = { score: 0, row: -1, column: -1 };
  for (let j = 0; j < columns; j++) {
    stepColumn(query, subject[j], scoring, local, h, e, 0, NEGATIVE_INFINITY, steps, j * rows);
    lastRow[j] = h[rows - 1];
    if (!local) continue;
    for (let i = 0; i < rows; i++) if (h[i] > end.score) end = { score: h[i], row: i, column: j };
  }
  if (!local && rows > 0) {
    end = bestEnd(
      rows,
      columns,
      (j) => lastRow[j],
      (i) => h[i],
    );
  }
  return traceback(rows, end.score, end.row, end.column, (i, j) => steps[j * rows + i]);
}

/**
 * The next column of H and E, in place, and the steps by which its cells are reached, from `steps[at]` on.
 * `diagonal`: H of the cell above and left of the first one; `f`: what enters that one from above.
 */
export function stepColumn(
  query: Uint8Array,
  residue: number,
  { matrix, gapFirst, gapNext }: Scoring,
  local: boolean,
  h: Int32Array,
  e: Int32Array,
  diagonal: number,
  f: number,
  steps: Uint8Array,
  at: number,
): void {
  const row = residue & 31;
  for (let i = 0; i < query.length; i++) {
    const matched = (diagonal + matrix[((query[i] & 31) << 5) + row]) | 0;
    const left = e[i];
    let cell = Math.max(matched, left, f) | 0;
    let bits = cell === matched ? DIAGONAL : cell === left ? LEFT : UP;
    if (local && cell <= 0) {
      cell = 0;
      bits = START;
    }
    diagonal = h[i];
    h[i] = cell;
    const opened = (cell - gapFirst) | 0;
    const longerLeft = (left - gapNext) | 0;
    const longerUp = (f - gapNext) | 0;
    if (longerLeft > opened) bits |= EXTEND_LEFT;
    if (longerUp > opened) bits |= EXTEND_UP;
    e[i] = Math.max(longerLeft, opened) | 0;
    f = Math.max(longerUp, opened) | 0;
    steps[at + i] = bits;
  }
}

/**
 * Where an alignment with free ends ends: the best cell of the last row or the last column; ties go to the one
 * nearest to the corner, then to the last row. All below zero: nothing is aligned (score 0, row -1).
 */
export function bestEnd(
  rows: number,
  columns: number,
  lastRow: (column: number) => number,
  lastColumn: (row: number) => number,
): Cell {
  let score = 0;
  let row = -1;
  let column = -1;
  let overhang = 0;
  for (let j = columns - 1; j >= 0; j--) {
    const value = lastRow(j);
    if (value > score) {
      score = value;
      row = rows - 1;
      column = j;
      overhang = columns - 1 - j;
    }
  }
  for (let i = rows - 2; i >= 0; i--) {
    const value = lastColumn(i);
    if (value > score || (value === score && row >= 0 && rows - 1 - i < overhang)) {
      score = value;
      row = i;
      column = columns - 1;
      overhang = rows - 1 - i;
    }
  }
  return { score, row, column };
}
