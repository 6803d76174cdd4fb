/** As score8, with eight subjects in 16-bit lanes: score s is stored as s - 32768; 32767 means saturated. */
import { columnProfile16 } from "./profile";

export function score16(
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
  const zero = i16x8.splat(-32768);
  const first = i16x8.splat(<i16>gapFirst);
  const next = i16x8.splat(<i16>gapNext);
  const stateEnd = state + ((<usize>queryLength) << 5);
  for (let at = state; at < stateEnd; at += 16) v128.store(at, zero);
  let top = zero;

  for (let j = 0; j < stride; j += 4) {
    columnProfile16(subjects + j, stride, matrix, profile);
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

      let h = i16x8.add_sat_s(d0, v128.load(scores));
      h = i16x8.max_s(i16x8.max_s(h, e), f0);
      top = i16x8.max_s(top, h);
      let opened = i16x8.sub_sat_s(h, first);
      e = i16x8.max_s(i16x8.sub_sat_s(e, next), opened);
      f0 = i16x8.max_s(i16x8.sub_sat_s(f0, next), opened);
      d0 = left;

      let g = i16x8.add_sat_s(d1, v128.load(scores, 16));
      g = i16x8.max_s(i16x8.max_s(g, e), f1);
      top = i16x8.max_s(top, g);
      opened = i16x8.sub_sat_s(g, first);
      e = i16x8.max_s(i16x8.sub_sat_s(e, next), opened);
      f1 = i16x8.max_s(i16x8.sub_sat_s(f1, next), opened);
      d1 = h;

      h = i16x8.add_sat_s(d2, v128.load(scores, 32));
      h = i16x8.max_s(i16x8.max_s(h, e), f2);
      top = i16x8.max_s(top, h);
      opened = i16x8.sub_sat_s(h, first);
      e = i16x8.max_s(i16x8.sub_sat_s(e, next), opened);
      f2 = i16x8.max_s(i16x8.sub_sat_s(f2, next), opened);
      d2 = g;

      g = i16x8.add_sat_s(d3, v128.load(scores, 48));
      g = i16x8.max_s(i16x8.max_s(g, e), f3);
      top = i16x8.max_s(top, g);
      opened = i16x8.sub_sat_s(g, first);
      e = i16x8.max_s(i16x8.sub_sat_s(e, next), opened);
      f3 = i16x8.max_s(i16x8.sub_sat_s(f3, next), opened);
      d3 = h;

      v128.store(at, g);
      v128.store(at, e, 16);
    }
  }
  v128.store(best, top);
}
