/** Scalar versions of the kernels: reference of the SIMD versions. */
import { DIAGONAL, EXTEND_LEFT, EXTEND_UP, LEFT, START, UP, traceback, type Path } from "./path.ts";

/** Scores and gap costs: a gap of n residues costs gapFirst + (n - 1) gapNext. */
export interface Scoring {
  /** 32 x 32 scores, `matrix[a * 32 + b]`. */
  matrix: Int8Array;
  gapFirst: number;
  gapNext: number;
}

/** Below every possible score, with room to subtract gap costs. */
export const NEGATIVE_INFINITY = -(2 ** 30);

/** Cell of the matrix: query residue `row`, subject residue `column`, 0-based. */
export interface Cell {
  score: number;
  row: number;
  column: number;
}

/**
 * Optimal alignment with traceback. Local (ties: first end by subject, then query residue), or global with
 * free end gaps (ties: end nearest to both ends, then at the query's end). Ties inside: diagonal, gap in the
 * query, gap in the subject; opening before extending.
 *
 * Memory: one byte per cell; long.ts needs less.
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
 * Computes the next column of H and E in place, and its steps from `steps[at]` on.
 *
 * @param diagonal H above and left of the first cell
 * @param f F entering the first cell from above
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
    const extendedLeft = (left - gapNext) | 0;
    const extendedUp = (f - gapNext) | 0;
    if (extendedLeft > opened) bits |= EXTEND_LEFT;
    if (extendedUp > opened) bits |= EXTEND_UP;
    e[i] = Math.max(extendedLeft, opened) | 0;
    f = Math.max(extendedUp, opened) | 0;
    steps[at + i] = bits;
  }
}

/**
 * Last cell of an alignment with free end gaps: the best of the last row and column; ties by distance to the
 * corner, then the last row. Row -1 if all scores are below zero.
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
