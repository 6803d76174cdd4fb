/**
 * One pair of any length: Gotoh (J. Mol. Biol. 1982, 162:705) in 32 bits, four rows at a time on an
 * antidiagonal: lane k is at column t - k.
 */

/** Below every possible score, with room to subtract gap costs. */
const NEVER: i32 = -(1 << 30);
/** Residues of a profile. */
const RESIDUES: i32 = 20;
/** Padding on both sides of the scores of a row. */
const PAD: usize = 32;

/** Scores of four residues of the query against every column, in antidiagonal order: four bytes a step. */
function slant(
  query: usize,
  subject: usize,
  columns: i32,
  matrix: usize,
  scores: usize,
  slanted: usize,
): void {
  const stride = ((<usize>columns) & ~15) + 16 + 2 * PAD;
  const sixteen = i8x16.splat(16);
  for (let k: usize = 0; k < 4; k++) {
    const row = matrix + ((<usize>load<u8>(query + k)) << 5);
    const low = v128.load(row);
    const high = v128.load(row, 16);
    const to = scores + k * stride + PAD;
    for (let j = 0; j < columns + 16; j += 16) {
      const codes = v128.load(subject + <usize>j);
      // swizzle gives zero for an index of 16 or more, so one of the two halves applies.
      const found = v128.or(i8x16.swizzle(low, codes), i8x16.swizzle(high, i8x16.sub(codes, sixteen)));
      v128.store(to + <usize>j, found);
    }
  }
  const first = scores + PAD;
  for (let t = 0; t < columns + 3; t += 16) {
    const at = first + <usize>t;
    const a = v128.load(at);
    const b = v128.load(at + stride - 1);
    const c = v128.load(at + 2 * stride - 2);
    const d = v128.load(at + 3 * stride - 3);
    const lowAB = v128.shuffle<u8>(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const lowCD = v128.shuffle<u8>(c, d, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const highAB = v128.shuffle<u8>(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    const highCD = v128.shuffle<u8>(c, d, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    const to = slanted + ((<usize>t) << 2);
    v128.store(to, v128.shuffle<u16>(lowAB, lowCD, 0, 8, 1, 9, 2, 10, 3, 11));
    v128.store(to, v128.shuffle<u16>(lowAB, lowCD, 4, 12, 5, 13, 6, 14, 7, 15), 16);
    v128.store(to, v128.shuffle<u16>(highAB, highCD, 0, 8, 1, 9, 2, 10, 3, 11), 32);
    v128.store(to, v128.shuffle<u16>(highAB, highCD, 4, 12, 5, 13, 6, 14, 7, 15), 48);
  }
}

/** Stores H and E of one lane at the row `lane`. */
function keep(at: usize, markRows: i32, lane: i32, h: v128, e: v128): void {
  const eAt = at + ((<usize>markRows) << 2);
  if (lane == 0) {
    v128.store32_lane(at, h, 0);
    v128.store32_lane(eAt, e, 0);
  } else if (lane == 1) {
    v128.store32_lane(at, h, 1, 4);
    v128.store32_lane(eAt, e, 1, 4);
  } else if (lane == 2) {
    v128.store32_lane(at, h, 2, 8);
    v128.store32_lane(eAt, e, 2, 8);
  } else {
    v128.store32_lane(at, h, 3, 12);
    v128.store32_lane(eAt, e, 3, 12);
  }
}

/**
 * Computes `rows` (a multiple of 4) rows from `query` on. `aboveH`, `aboveF`: H of the row above and F
 * entering, i32 per column, room for 8 more; replaced by those below the last row. `marks`: for every
 * checkpoint (each `interval` columns, and `columns`) H of the column before it, then E entering it: 2 x
 * `markRows` i32. `best`: score, row and column (i32) of the best cell above zero, first by columns, then
 * rows. `subject` needs 32 bytes of padding after it, `scores` 4 x (columns + 96) bytes, `slanted` 4 x
 * (columns + 32).
 */
export function band32(
  query: usize,
  rows: i32,
  subject: usize,
  columns: i32,
  matrix: usize,
  scores: usize,
  slanted: usize,
  aboveH: usize,
  aboveF: usize,
  marks: usize,
  markRows: i32,
  interval: i32,
  best: usize,
  gapFirst: i32,
  gapNext: i32,
  local: i32,
): void {
  const zero = i32x4.splat(0);
  const never = i32x4.splat(NEVER);
  const first = i32x4.splat(gapFirst);
  const next = i32x4.splat(gapNext);
  const floor = local ? zero : never;
  const one = i32x4.splat(1);
  for (let k = 0; k < 8; k++) {
    store<i32>(aboveH + ((<usize>(columns + k)) << 2), 0);
    store<i32>(aboveF + ((<usize>(columns + k)) << 2), NEVER);
  }
  let bestScore = 0;
  let bestRow = -1;
  let bestColumn = -1;
  for (let row = 0; row < rows; row += 4) {
    slant(query + <usize>row, subject, columns, matrix, scores, slanted);
    let h = zero;
    let e = never;
    let f = never;
    let diagonal = zero;
    let top = zero;
    let topColumn = zero;
    let column = i32x4(0, -1, -2, -3);
    const end = columns + 3;
    let mark = interval < columns ? interval - 1 : end;
    let markAt = marks + ((<usize>row) << 2);
    const lastAt = markAt + <usize>((columns - 1) / interval) * ((<usize>markRows) << 3);
    // Mask of the lanes that have started: lane k starts at step k.
    let begun = i32x4(-1, 0, 0, 0);
    for (let t = 0; t < end; t++) {
      const at = (<usize>t) << 2;
      const above = v128.load32_lane(aboveH + at, v128.shuffle<i32>(h, h, 0, 0, 1, 2), 0);
      f = v128.load32_lane(aboveF + at, v128.shuffle<i32>(f, f, 0, 0, 1, 2), 0);
      const score = i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(v128.load32_zero(slanted + at)));
      h = i32x4.max_s(i32x4.max_s(i32x4.add(diagonal, score), floor), i32x4.max_s(e, f));
      diagonal = above;
      const opened = i32x4.sub(h, first);
      e = i32x4.max_s(i32x4.sub(e, next), opened);
      f = i32x4.max_s(i32x4.sub(f, next), opened);
      if (t < 3) {
        h = v128.and(h, begun);
        e = v128.bitselect(e, never, begun);
        begun = v128.or(begun, v128.shuffle<i32>(begun, begun, 0, 0, 1, 2));
      } else {
        v128.store32_lane(aboveH + at - 12, h, 3);
        v128.store32_lane(aboveF + at - 12, f, 3);
      }
      if (local) {
        topColumn = v128.bitselect(column, topColumn, i32x4.gt_s(h, top));
        top = i32x4.max_s(top, h);
        column = i32x4.add(column, one);
      }
      if (t >= mark) {
        keep(markAt, markRows, t - mark, h, e);
        if (t == mark + 3) {
          mark += interval;
          markAt += (<usize>markRows) << 3;
          // The last checkpoint is after the last column.
          if (mark >= columns - 1) mark = end;
        }
      }
      if (t >= columns - 1) keep(lastAt, markRows, t - columns + 1, h, e);
    }
    if (!local) continue;
    v128.store(best, top);
    v128.store(best, topColumn, 16);
    for (let k = 0; k < 4; k++) {
      const value = load<i32>(best + ((<usize>k) << 2));
      const where = load<i32>(best + ((<usize>k) << 2), 16);
      if (value > bestScore || (value == bestScore && value > 0 && where < bestColumn)) {
        bestScore = value;
        bestRow = row + k;
        bestColumn = where;
      }
    }
  }
  store<i32>(best, bestScore);
  store<i32>(best, bestRow, 4);
  store<i32>(best, bestColumn, 8);
}

/**
 * Scores of the columns of one profile against those of another within a band: for every residue that the column of
 * the first has, its frequency times the residue's score against the column of the second, added in order of residues.
 *
 * `frequencies`: RESIDUES f64 per row. `residueScores`: for each residue a row of f64, `stride` bytes apart. `low`,
 * `high`: i32 per row, its first and last column. Writes the scores (f64) of all rows, one after another, to `scores`.
 * `terms`: 16 * RESIDUES bytes. 56 bytes after the rows and the scores must be accessible.
 */
export function scoreBand(
  rows: i32,
  frequencies: usize,
  residueScores: usize,
  stride: usize,
  low: usize,
  high: usize,
  terms: usize,
  scores: usize,
): void {
  for (let i = 0; i < rows; i++) {
    const from = <usize>load<i32>(low + ((<usize>i) << 2));
    const to = <usize>load<i32>(high + ((<usize>i) << 2));
    // Frequency and row of scores of each residue of the column.
    let end = terms;
    let row = residueScores + (from << 3);
    for (let r = 0; r < RESIDUES; r++) {
      const frequency = load<f64>(frequencies);
      frequencies += 8;
      if (frequency != 0) {
        store<f64>(end, frequency);
        store<u32>(end, <u32>row, 8);
        end += 16;
      }
      row += stride;
    }
    const length = (to + 1 - from) << 3;
    for (let at: usize = 0; at < length; at += 64) {
      let a = f64x2.splat(0);
      let b = a;
      let c = a;
      let d = a;
      for (let term = terms; term < end; term += 16) {
        const frequency = v128.load64_splat(term);
        const column = <usize>load<u32>(term, 8) + at;
        a = f64x2.add(a, f64x2.mul(frequency, v128.load(column)));
        b = f64x2.add(b, f64x2.mul(frequency, v128.load(column, 16)));
        c = f64x2.add(c, f64x2.mul(frequency, v128.load(column, 32)));
        d = f64x2.add(d, f64x2.mul(frequency, v128.load(column, 48)));
      }
      // Values written beyond the end of a row are replaced by the next row.
      v128.store(scores + at, a);
      v128.store(scores + at, b, 16);
      v128.store(scores + at, c, 32);
      v128.store(scores + at, d, 48);
    }
    scores += length;
  }
}
