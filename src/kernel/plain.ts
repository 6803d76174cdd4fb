/**
 * The kernels in plain TypeScript: what the SIMD ones are held equal to, and what takes over where a pair is too
 * long or scores too high for 16 bits.
 */
import { DIAGONAL, GO_LEFT, GO_UP, LEFT, START, UP, walk, type Path } from "./path.ts";

/** Costs in the units of the matrix: a gap of n residues costs first + (n - 1) next. */
export interface Scoring {
  /** 32 x 32 scores, `matrix[a * 32 + b]`. */
  matrix: Int8Array;
  gapFirst: number;
  gapNext: number;
}

/** Below every score that can occur; room to subtract gap costs from. */
const NEVER = -(2 ** 30);
/** Cells whose steps are held at once; above it the rest is computed a second time instead of being stored. */
const MAX_HELD_CELLS = 16_000_000;

/** Best local score of two sequences (Smith & Waterman 1981 with affine gaps after Gotoh 1982); 0 if none is positive. */
export function scorePlain(query: Uint8Array, subject: Uint8Array, scoring: Scoring): number {
  const { matrix, gapFirst, gapNext } = scoring;
  const h = new Int32Array(query.length);
  const e = new Int32Array(query.length);
  let best = 0;
  for (let j = 0; j < subject.length; j++) {
    const row = subject[j] & 31;
    let diagonal = 0;
    let f = 0;
    for (let i = 0; i < query.length; i++) {
      const score = (diagonal + matrix[((query[i] & 31) << 5) + row]) | 0;
      const cell = Math.max(score, e[i], f, 0) | 0;
      diagonal = h[i];
      h[i] = cell;
      best = Math.max(best, cell) | 0;
      const opened = (cell - gapFirst) | 0;
      e[i] = Math.max(e[i] - gapNext, opened) | 0;
      f = Math.max(f - gapNext, opened) | 0;
    }
  }
  return best;
}

/**
 * An optimal alignment of two sequences with its path. Local: the best-scoring stretch (ties: the end that comes
 * first in order of subject, then query residues). Otherwise from end to end, gaps at either end of either
 * sequence free (ties: the end nearest to both ends, then the one at the query's end). Ties inside:
 * diagonal before gap in the query before gap in the subject; opening a gap before going on with one.
 *
 * Time: cells; memory: one byte per cell up to MAX_HELD_CELLS; beyond that columns are set down at intervals and
 * the steps between are computed again from them, which doubles the time and changes nothing else.
 */
export function tracePlain(query: Uint8Array, subject: Uint8Array, scoring: Scoring, local: boolean): Path {
  const rows = query.length;
  const columns = subject.length;
  const nothing = (): Path => walk(rows, 0, -1, -1, () => START);
  if (rows === 0 || columns === 0) return nothing();
  const { matrix, gapFirst, gapNext } = scoring;
  const interval = rows * columns <= MAX_HELD_CELLS ? columns : Math.max(1, Math.ceil(Math.sqrt(columns)));
  const h = new Int32Array(rows);
  const e = new Int32Array(rows).fill(NEVER);
  const steps = new Uint8Array(rows * Math.min(interval, columns));
  const kept: { h: Int32Array; e: Int32Array }[] = [];
  const lastRow = new Int32Array(columns);
  let best = 0;
  let bestRow = -1;
  let bestColumn = -1;

  const column = (j: number, at: number, upTo: number): void => {
    const residue = subject[j] & 31;
    let diagonal = 0;
    let f = NEVER;
    for (let i = 0; i < upTo; i++) {
      const matched = (diagonal + matrix[((query[i] & 31) << 5) + residue]) | 0;
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
      if (longerLeft > opened) bits |= GO_LEFT;
      if (longerUp > opened) bits |= GO_UP;
      e[i] = Math.max(longerLeft, opened) | 0;
      f = Math.max(longerUp, opened) | 0;
      steps[at + i] = bits;
    }
  };

  for (let j = 0; j < columns; j++) {
    if (interval < columns) {
      if (j % interval === 0) kept.push({ h: h.slice(), e: e.slice() });
      scoreColumn(query, subject[j], scoring, local, h, e);
    } else column(j, j * rows, rows);
    lastRow[j] = h[rows - 1];
    if (!local) continue;
    for (let i = 0; i < rows; i++) {
      if (h[i] > best) {
        best = h[i];
        bestRow = i;
        bestColumn = j;
      }
    }
  }
  if (!local) {
    ({
      score: best,
      row: bestRow,
      column: bestColumn,
    } = bestEnd(
      rows,
      columns,
      (j) => lastRow[j],
      (i) => h[i],
    ));
  }
  if (bestRow < 0) return nothing();

  let held = interval < columns ? -1 : 0;
  const step = (i: number, j: number): number => {
    const block = Math.floor(j / interval);
    if (block !== held) {
      h.set(kept[block].h);
      e.set(kept[block].e);
      // A path only goes up and to the left: neither rows below nor columns behind are needed any more.
      for (let c = block * interval; c <= j; c++) column(c, (c % interval) * rows, i + 1);
      held = block;
    }
    return steps[(j % interval) * rows + i];
  };
  return walk(rows, best, bestRow, bestColumn, step);
}

/** The next column of H and E without steps; the same numbers as with them, in a third of the time. */
function scoreColumn(
  query: Uint8Array,
  residue: number,
  { matrix, gapFirst, gapNext }: Scoring,
  local: boolean,
  h: Int32Array,
  e: Int32Array,
): void {
  const row = residue & 31;
  const floor = local ? 0 : NEVER;
  let diagonal = 0;
  let f = NEVER;
  for (let i = 0; i < query.length; i++) {
    const left = e[i];
    const matched = (diagonal + matrix[((query[i] & 31) << 5) + row]) | 0;
    const cell = Math.max(Math.max(matched, left) | 0, Math.max(f, floor) | 0) | 0;
    diagonal = h[i];
    h[i] = cell;
    const opened = (cell - gapFirst) | 0;
    e[i] = Math.max((left - gapNext) | 0, opened) | 0;
    f = Math.max((f - gapNext) | 0, opened) | 0;
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
): { score: number; row: number; column: number } {
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
