/**
 * Alignments of eight subjects in 16-bit lanes (Gotoh, J. Mol. Biol. 1982, 162:705) with step bits, four per
 * cell and lane: bits 0-1 the source of H (0 diagonal, 1 gap in the query, 2 gap in the subject, 3 start of
 * the local alignment), bit 2: the gap in the query is extended, bit 3: the gap in the subject is extended.
 * Ties: diagonal, gap in the query, gap in the subject; opening before extending.
 */
import { columnProfile } from "./profile";

/** Below every possible score, with room to subtract gap costs. */
const NEVER: i16 = -30000;

/**
 * As `score`, and `steps`: 4 bytes per cell, column by column, low half-bytes lanes 0-3, high lanes 4-7.
 * `local` 1: `best` gets score, row + 1 and column + 1 of the best cell, three times eight i16 (first by
 * columns, then rows). `local` 0: free end gaps; `lastRow` gets eight i16 per column, `lastColumns` for every
 * lane queryLength i16: H of the column `lengths[lane] - 1` (i32).
 */
export function trace16(
  query: usize,
  queryLength: i32,
  subjects: usize,
  stride: i32,
  matrix: usize,
  profile: usize,
  state: usize,
  best: usize,
  gapFirst: i32,
  gapNext: i32,
  local: i32,
  steps: usize,
  lastRow: usize,
  lastColumns: usize,
  lengths: usize,
): void {
  const zero = i16x8.splat(0);
  const one = i16x8.splat(1);
  const three = i16x8.splat(3);
  const four = i16x8.splat(4);
  const eight = i16x8.splat(8);
  const never = i16x8.splat(NEVER);
  const first = i16x8.splat(<i16>gapFirst);
  const next = i16x8.splat(<i16>gapNext);
  const floor = local ? zero : i16x8.splat(-32768);
  const stateEnd = state + ((<usize>queryLength) << 5);
  for (let at = state; at < stateEnd; at += 32) {
    v128.store(at, zero);
    v128.store(at, never, 16);
  }
  let top = zero;
  let topRow = zero;
  let topColumn = zero;
  let step = steps;

  for (let j = 0; j < stride; j++) {
    if ((j & 3) == 0) columnProfile<i16>(subjects + j, stride, matrix, profile);
    const scoresOfColumn = profile + ((<usize>(j & 3)) << 4);
    const column = i16x8.splat(<i16>(j + 1));
    let row = zero;
    let diagonal = zero;
    let f = never;
    let h = zero;
    let residue = query;
    for (let at = state; at < stateEnd; at += 32) {
      const left = v128.load(at);
      const e = v128.load(at, 16);
      const matched = i16x8.add_sat_s(
        diagonal,
        v128.load(scoresOfColumn + ((<usize>load<u8>(residue++)) << 6)),
      );
      const gapped = i16x8.max_s(e, f);
      h = i16x8.max_s(i16x8.max_s(matched, gapped), floor);
      // 0 where matched, else 1 where e, else 2 where f, else 3. Comparisons give -1 for true.
      const notE = v128.not(i16x8.eq(h, e));
      const notF = v128.not(i16x8.eq(h, f));
      const gap = i16x8.sub(i16x8.sub(one, notE), v128.and(notE, notF));
      let bits = v128.andnot(gap, i16x8.eq(h, matched));
      // A local alignment starts after a cell of score 0.
      bits = v128.or(bits, v128.and(i16x8.eq(h, floor), three));
      const opened = i16x8.sub_sat_s(h, first);
      const longerE = i16x8.sub_sat_s(e, next);
      const longerF = i16x8.sub_sat_s(f, next);
      bits = v128.or(bits, v128.and(i16x8.gt_s(longerE, opened), four));
      bits = v128.or(bits, v128.and(i16x8.gt_s(longerF, opened), eight));
      v128.store(at, h);
      v128.store(at, i16x8.max_s(longerE, opened), 16);
      f = i16x8.max_s(longerF, opened);
      diagonal = left;
      const bytes = i64x2.extract_lane(i8x16.narrow_i16x8_u(bits, bits), 0);
      store<u32>(step, <u32>(bytes | (bytes >> 28)));
      step += 4;
      if (local) {
        row = i16x8.add(row, one);
        const better = i16x8.gt_s(h, top);
        top = i16x8.max_s(top, h);
        topRow = v128.bitselect(row, topRow, better);
        topColumn = v128.bitselect(column, topColumn, better);
      }
    }
    if (!local) {
      v128.store(lastRow + ((<usize>j) << 4), h);
      for (let lane = 0; lane < 8; lane++) {
        if (load<i32>(lengths + ((<usize>lane) << 2)) != j + 1) continue;
        let to = lastColumns + <usize>(lane * queryLength * 2);
        for (let at = state; at < stateEnd; at += 32) {
          store<i16>(to, load<i16>(at + ((<usize>lane) << 1)));
          to += 2;
        }
      }
    }
  }
  v128.store(best, top);
  v128.store(best, topRow, 16);
  v128.store(best, topColumn, 32);
}
