/**
 * Smith-Waterman scores of sixteen subjects in 8-bit lanes (Rognes, BMC Bioinformatics 2011, 12:221). Score s
 * is stored as s - 128, so that saturation is the floor at zero. A lane at 127 (score 255) may have
 * overflowed.
 */
import { columnProfile8 } from "./profile";

/**
 * `query`: u8 codes. `subjects`: sixteen rows of `stride` codes, a multiple of 4, padded with a code of
 * negative score. `state`: 32 bytes per query residue. `best`: 16 signed lanes.
 */
export function score8(
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
): void {
  const zero = i8x16.splat(-128);
  const first = i8x16.splat(<i8>gapFirst);
  const next = i8x16.splat(<i8>gapNext);
  const stateEnd = state + ((<usize>queryLength) << 5);
  for (let at = state; at < stateEnd; at += 16) v128.store(at, zero);
  let top = zero;

  for (let j = 0; j < stride; j += 4) {
    columnProfile8(subjects + j, stride, matrix, profile);
    // d: H above and left; f: gap in the subject, per column.
    let d0 = zero;
    let d1 = zero;
    let d2 = zero;
    let d3 = zero;
    let f0 = zero;
    let f1 = zero;
    let f2 = zero;
    let f3 = zero;
    let residue = query;
    for (let at = state; at < stateEnd; at += 32) {
      const scores = profile + ((<usize>load<u8>(residue++)) << 6);
      const left = v128.load(at);
      let e = v128.load(at, 16);

      let h = i8x16.add_sat_s(d0, v128.load(scores));
      h = i8x16.max_s(i8x16.max_s(h, e), f0);
      top = i8x16.max_s(top, h);
      let opened = i8x16.sub_sat_s(h, first);
      e = i8x16.max_s(i8x16.sub_sat_s(e, next), opened);
      f0 = i8x16.max_s(i8x16.sub_sat_s(f0, next), opened);
      d0 = left;

      let g = i8x16.add_sat_s(d1, v128.load(scores, 16));
      g = i8x16.max_s(i8x16.max_s(g, e), f1);
      top = i8x16.max_s(top, g);
      opened = i8x16.sub_sat_s(g, first);
      e = i8x16.max_s(i8x16.sub_sat_s(e, next), opened);
      f1 = i8x16.max_s(i8x16.sub_sat_s(f1, next), opened);
      d1 = h;

      h = i8x16.add_sat_s(d2, v128.load(scores, 32));
      h = i8x16.max_s(i8x16.max_s(h, e), f2);
      top = i8x16.max_s(top, h);
      opened = i8x16.sub_sat_s(h, first);
      e = i8x16.max_s(i8x16.sub_sat_s(e, next), opened);
      f2 = i8x16.max_s(i8x16.sub_sat_s(f2, next), opened);
      d2 = g;

      g = i8x16.add_sat_s(d3, v128.load(scores, 48));
      g = i8x16.max_s(i8x16.max_s(g, e), f3);
      top = i8x16.max_s(top, g);
      opened = i8x16.sub_sat_s(g, first);
      e = i8x16.max_s(i8x16.sub_sat_s(e, next), opened);
      f3 = i8x16.max_s(i8x16.sub_sat_s(f3, next), opened);
      d3 = h;

      v128.store(at, g);
      v128.store(at, e, 16);
    }
  }
  v128.store(best, top);
}
