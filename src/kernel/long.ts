/**
 * Alignment of pairs whose steps do not fit into memory or whose scores do not fit into 16 bits: a band of
 * rows at a time, keeping only the edges of square tiles; the traceback recomputes the tiles on the path.
 * Memory: 16 bytes per TILE cells.
 */
import { bestEnd, type Cell, NEGATIVE_INFINITY, type Scoring, stepColumn } from "./scalar.ts";
import { type Path, START, traceback } from "./path.ts";

/** Rows and columns of a tile; a multiple of four. */
export const TILE = 512;

/** State entering a row from above, per column: H and F. */
export interface Edge {
  h: Int32Array;
  f: Int32Array;
}

export interface Band {
  /** Per checkpoint: H of the previous column, then E entering the column, in all rows. */
  checkpoints: Int32Array;
  /** Best cell above zero of a local alignment, first by columns, then rows; row -1 without one. */
  best: Cell;
}

/**
 * Computes the rows of a band and replaces `above` by the state below it. Checkpoints are every TILE columns
 * and after the last.
 */
export type ComputeBand = (rows: Uint8Array, subject: Uint8Array, above: Edge, local: boolean) => Band;

export const checkpointCount = (columns: number): number => Math.ceil(columns / TILE);

/** Scalar version of band32 for rows from `from` on; the earlier rows are in `band`. */
export function bandScalar(
  rows: Uint8Array,
  subject: Uint8Array,
  { h, f }: Edge,
  local: boolean,
  { matrix, gapFirst, gapNext }: Scoring,
  from = 0,
  band: Band = emptyBand(rows.length, subject.length),
): Band {
  const floor = local ? 0 : NEGATIVE_INFINITY;
  const { checkpoints, best } = band;
  for (let i = from; i < rows.length; i++) {
    const scores = (rows[i] & 31) << 5;
    let diagonal = 0;
    let e = NEGATIVE_INFINITY;
    for (let j = 0; j < subject.length; j++) {
      const matched = (diagonal + matrix[scores + (subject[j] & 31)]) | 0;
      const cell = Math.max(Math.max(matched, e) | 0, Math.max(f[j], floor) | 0) | 0;
      diagonal = h[j];
      h[j] = cell;
      const opened = (cell - gapFirst) | 0;
      e = Math.max((e - gapNext) | 0, opened) | 0;
      f[j] = Math.max((f[j] - gapNext) | 0, opened) | 0;
      if (local && (cell > best.score || (cell === best.score && best.row >= 0 && j < best.column))) {
        best.score = cell;
        best.row = i;
        best.column = j;
      }
      if ((j + 1) % TILE === 0 || j + 1 === subject.length) {
        const at = Math.floor(j / TILE) * 2 * rows.length + i;
        checkpoints[at] = cell;
        checkpoints[at + rows.length] = e;
      }
    }
  }
  return band;
}

export function emptyBand(rows: number, columns: number): Band {
  return {
    checkpoints: new Int32Array(checkpointCount(columns) * 2 * rows),
    best: { score: 0, row: -1, column: -1 },
  };
}

const makeTopEdge = (columns: number): Edge => ({
  h: new Int32Array(columns),
  f: new Int32Array(columns).fill(NEGATIVE_INFINITY),
});

/** Best local score of two sequences. */
export function scoreLong(query: Uint8Array, subject: Uint8Array, bands: ComputeBand): number {
  const above = makeTopEdge(subject.length);
  let best = 0;
  for (let from = 0; from < query.length; from += TILE) {
    best = Math.max(best, bands(query.subarray(from, from + TILE), subject, above, true).best.score);
  }
  return best;
}

/** Returns the same result as `traceScalar`. */
export function traceLong(
  query: Uint8Array,
  subject: Uint8Array,
  scoring: Scoring,
  local: boolean,
  bands: ComputeBand,
): Path {
  const rows = query.length;
  const columns = subject.length;
  const above = makeTopEdge(columns);
  const edges: Edge[] = [];
  const bandCheckpoints: Int32Array[] = [];
  let end: Cell = { score: 0, row: -1, column: -1 };
  for (let from = 0; from < rows; from += TILE) {
    edges.push({ h: above.h.slice(), f: above.f.slice() });
    const { checkpoints, best } = bands(query.subarray(from, from + TILE), subject, above, local);
    bandCheckpoints.push(checkpoints);
    if (best.score > end.score || (best.score === end.score && best.column < end.column)) {
      end = { ...best, row: from + best.row };
    }
  }
  const bandHeight = (band: number): number => Math.min(TILE, rows - band * TILE);
  if (!local) {
    const last = (checkpointCount(columns) - 1) * 2;
    end = bestEnd(
      rows,
      columns,
      (j) => above.h[j],
      (i) => {
        const band = Math.floor(i / TILE);
        return bandCheckpoints[band][last * bandHeight(band) + i - band * TILE];
      },
    );
  }
  if (end.row < 0) return traceback(rows, 0, -1, -1, () => START);

  const steps = new Uint8Array(TILE * TILE);
  const h = new Int32Array(TILE);
  const e = new Int32Array(TILE);
  let [cachedBand, cachedTile] = [-1, -1];
  const step = (i: number, j: number): number => {
    const band = Math.floor(i / TILE);
    const tile = Math.floor(j / TILE);
    const firstRow = band * TILE;
    const firstColumn = tile * TILE;
    if (band !== cachedBand || tile !== cachedTile) {
      [cachedBand, cachedTile] = [band, tile];
      const height = bandHeight(band);
      if (tile === 0) {
        h.fill(0);
        e.fill(NEGATIVE_INFINITY);
      } else {
        const at = (tile - 1) * 2 * height;
        h.set(bandCheckpoints[band].subarray(at, at + height));
        e.set(bandCheckpoints[band].subarray(at + height, at + 2 * height));
      }
      // The path only goes up and left: rows below and columns to the right are not needed.
      const tileRows = query.subarray(firstRow, i + 1);
      for (let column = firstColumn; column <= j; column++) {
        const diagonal = column === 0 ? 0 : edges[band].h[column - 1];
        const to = (column - firstColumn) * TILE;
        stepColumn(
          tileRows,
          subject[column],
          scoring,
          local,
          h,
          e,
          diagonal,
          edges[band].f[column],
          steps,
          to,
        );
      }
    }
    return steps[(j - firstColumn) * TILE + i - firstRow];
  };
  return traceback(rows, end.score, end.row, end.column, step);
}
