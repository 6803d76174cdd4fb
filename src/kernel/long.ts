/**
 * Pairs whose steps do not fit into memory, or whose scores do not fit into 16 bits: the recurrence is gone through once, a
 * band of rows at a time, and only the edges of square tiles are kept; the steps are computed again for those tiles
 * alone through which the path goes. Time: all cells once; memory: 16 bytes per TILE cells.
 */
import { bestEnd, type Cell, NEGATIVE_INFINITY, type Scoring, stepColumn } from "./scalar.ts";
import { type Path, START, traceback } from "./path.ts";

/** Rows and columns of a tile; a multiple of four. */
export const TILE = 512;

/** What enters a row from above, one per column: H of the row above, and F. */
export interface Edge {
  h: Int32Array;
  f: Int32Array;
}

/** What is kept of a band of rows. */
export interface Band {
  /** For each checkpoint H of the column before it in all rows, then E that enters it. */
  checkpoints: Int32Array;
  /** The best cell above zero, first by columns, then rows; row -1 where there is none. Of local alignments only. */
  best: Cell;
}

/**
 * Computes the rows of a band. `above` is what enters it, and is replaced by what leaves it. Checkpoints are every TILE
 * columns, and behind the last column.
 */
export type ComputeBand = (rows: Uint8Array, subject: Uint8Array, above: Edge, local: boolean) => Band;

export const checkpointCount = (columns: number): number => Math.ceil(columns / TILE);

/**
 * Goes through rows `from` on of a band in plain TypeScript: the twin of band32, and its hand for rows that are no
 * multiple of four. The band's earlier rows are in `band` already.
 */
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

const topOf = (columns: number): Edge => ({
  h: new Int32Array(columns),
  f: new Int32Array(columns).fill(NEGATIVE_INFINITY),
});

/** Best local score of two sequences. */
export function scoreLong(query: Uint8Array, subject: Uint8Array, bands: ComputeBand): number {
  const above = topOf(subject.length);
  let best = 0;
  for (let from = 0; from < query.length; from += TILE) {
    best = Math.max(best, bands(query.subarray(from, from + TILE), subject, above, true).best.score);
  }
  return best;
}

/** The path that `tracePlain` finds, ties and all. */
export function traceLong(
  query: Uint8Array,
  subject: Uint8Array,
  scoring: Scoring,
  local: boolean,
  bands: ComputeBand,
): Path {
  const rows = query.length;
  const columns = subject.length;
  const above = topOf(columns);
  /** What enters the bands, and what is kept of them. */
  const edges: Edge[] = [];
  const kept: Int32Array[] = [];
  let end: Cell = { score: 0, row: -1, column: -1 };
  for (let from = 0; from < rows; from += TILE) {
    edges.push({ h: above.h.slice(), f: above.f.slice() });
    const { checkpoints, best } = bands(query.subarray(from, from + TILE), subject, above, local);
    kept.push(checkpoints);
    if (best.score > end.score || (best.score === end.score && best.column < end.column)) {
      end = { ...best, row: from + best.row };
    }
  }
  const heightOf = (band: number): number => Math.min(TILE, rows - band * TILE);
  if (!local) {
    const last = (checkpointCount(columns) - 1) * 2;
    end = bestEnd(
      rows,
      columns,
      (j) => above.h[j],
      (i) => {
        const band = Math.floor(i / TILE);
        return kept[band][last * heightOf(band) + i - band * TILE];
      },
    );
  }
  if (end.row < 0) return traceback(rows, 0, -1, -1, () => START);

  const steps = new Uint8Array(TILE * TILE);
  const h = new Int32Array(TILE);
  const e = new Int32Array(TILE);
  let [heldBand, heldTile] = [-1, -1];
  const step = (i: number, j: number): number => {
    const band = Math.floor(i / TILE);
    const tile = Math.floor(j / TILE);
    const firstRow = band * TILE;
    const firstColumn = tile * TILE;
    if (band !== heldBand || tile !== heldTile) {
      [heldBand, heldTile] = [band, tile];
      const height = heightOf(band);
      if (tile === 0) {
        h.fill(0);
        e.fill(NEGATIVE_INFINITY);
      } else {
        const at = (tile - 1) * 2 * height;
        h.set(kept[band].subarray(at, at + height));
        e.set(kept[band].subarray(at + height, at + 2 * height));
      }
      // A path only goes up and to the left: neither rows below nor columns behind are needed any more.
      const own = query.subarray(firstRow, i + 1);
      for (let column = firstColumn; column <= j; column++) {
        const diagonal = column === 0 ? 0 : edges[band].h[column - 1];
        const to = (column - firstColumn) * TILE;
        stepColumn(own, subject[column], scoring, local, h, e, diagonal, edges[band].f[column], steps, to);
      }
    }
    return steps[(j - firstColumn) * TILE + i - firstRow];
  };
  return traceback(rows, end.score, end.row, end.column, step);
}
