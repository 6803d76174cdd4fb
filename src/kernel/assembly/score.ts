/**
 * Smith-Waterman scores of sixteen subjects in 8-bit lanes, or of eight in 16-bit lanes (Rognes, BMC Bioinformatics
 * 2011, 12:221). Score s is stored as s - 128, or s - 32768, so that saturation is the floor at zero. A lane at the
 * highest value (score 255, or 65535) may have overflowed.
 */
import { columnProfile } from "./profile";

/**
 * `query`: u8 codes. `subjects`: a row of `stride` codes for each lane, a multiple of 4, padded with a code of
 * negative score. `state`: 32 bytes per query residue. `best`: the signed lanes.
 */
function scoreLanes<Lane>(
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
  const zero = v128.splat<Lane>(<Lane>(sizeof<Lane>() == 1 ? -128 : -32768));
  const first = v128.splat<Lane>(<Lane>gapFirst);
  const next = v128.splat<Lane>(<Lane>gapNext);
  const stateEnd = state + ((<usize>queryLength) << 5);
  for (let at = state; at < stateEnd; at += 16) v128.store(at, zero);
  let top = zero;

  for (let j = 0; j < stride; j += 4) {
    columnProfile<Lane>(subjects + j, stride, matrix, profile);
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

      let h = v128.add_sat<Lane>(d0, v128.load(scores));
      h = v128.max<Lane>(v128.max<Lane>(h, e), f0);
      top = v128.max<Lane>(top, h);
      let opened = v128.sub_sat<Lane>(h, first);
      e = v128.max<Lane>(v128.sub_sat<Lane>(e, next), opened);
      f0 = v128.max<Lane>(v128.sub_sat<Lane>(f0, next), opened);
      d0 = left;

      let g = v128.add_sat<Lane>(d1, v128.load(scores, 16));
      g = v128.max<Lane>(v128.max<Lane>(g, e), f1);
      top = v128.max<Lane>(top, g);
      opened = v128.sub_sat<Lane>(g, first);
      e = v128.max<Lane>(v128.sub_sat<Lane>(e, next), opened);
      f1 = v128.max<Lane>(v128.sub_sat<Lane>(f1, next), opened);
      d1 = h;

      h = v128.add_sat<Lane>(d2, v128.load(scores, 32));
      h = v128.max<Lane>(v128.max<Lane>(h, e), f2);
      top = v128.max<Lane>(top, h);
      opened = v128.sub_sat<Lane>(h, first);
      e = v128.max<Lane>(v128.sub_sat<Lane>(e, next), opened);
      f2 = v128.max<Lane>(v128.sub_sat<Lane>(f2, next), opened);
      d2 = g;

      g = v128.add_sat<Lane>(d3, v128.load(scores, 48));
      g = v128.max<Lane>(v128.max<Lane>(g, e), f3);
      top = v128.max<Lane>(top, g);
      opened = v128.sub_sat<Lane>(g, first);
      e = v128.max<Lane>(v128.sub_sat<Lane>(e, next), opened);
      f3 = v128.max<Lane>(v128.sub_sat<Lane>(f3, next), opened);
      d3 = h;

      v128.store(at, g);
      v128.store(at, e, 16);
    }
  }
  v128.store(best, top);
}

/** @param bytes width of a lane: 1 or 2 */
export function score(
  bytes: i32,
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
  if (bytes == 1)
    scoreLanes<i8>(query, queryLength, subjects, stride, matrix, profile, state, best, gapFirst, gapNext);
  else scoreLanes<i16>(query, queryLength, subjects, stride, matrix, profile, state, best, gapFirst, gapNext);
}
