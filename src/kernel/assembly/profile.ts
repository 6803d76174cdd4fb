/**
 * Scores of every residue code against four columns of subjects, computed once per block of columns. 64 bytes
 * per code, sixteen per column. A code has five bits, so two 16-byte look-ups cover a row of the matrix (32
 * bytes).
 */

/** Codes in sequences; 26 is the gap. */
const CODES: usize = 26;

/** Residues of all lanes at one column, in bytes: `at` in the first row, rows `stride` bytes apart. */
function gather<Lane>(at: usize, stride: i32): v128 {
  let v = i8x16.splat(0);
  v = v128.load8_lane(at, v, 0);
  v = v128.load8_lane((at += stride), v, 1);
  v = v128.load8_lane((at += stride), v, 2);
  v = v128.load8_lane((at += stride), v, 3);
  v = v128.load8_lane((at += stride), v, 4);
  v = v128.load8_lane((at += stride), v, 5);
  v = v128.load8_lane((at += stride), v, 6);
  v = v128.load8_lane((at += stride), v, 7);
  if (sizeof<Lane>() == 1) {
    v = v128.load8_lane((at += stride), v, 8);
    v = v128.load8_lane((at += stride), v, 9);
    v = v128.load8_lane((at += stride), v, 10);
    v = v128.load8_lane((at += stride), v, 11);
    v = v128.load8_lane((at += stride), v, 12);
    v = v128.load8_lane((at += stride), v, 13);
    v = v128.load8_lane((at += stride), v, 14);
    v = v128.load8_lane((at += stride), v, 15);
  }
  return v;
}

/** swizzle gives zero for an index of 16 or more, so one of the two halves applies. */
function lookUp(row: usize, codes: v128, codesLess16: v128): v128 {
  return v128.or(i8x16.swizzle(v128.load(row), codes), i8x16.swizzle(v128.load(row, 16), codesLess16));
}

/** The scores of 8-bit or 16-bit lanes. */
export function columnProfile<Lane>(subjects: usize, stride: i32, matrix: usize, profile: usize): void {
  const sixteen = i8x16.splat(16);
  for (let column: usize = 0; column < 4; column++) {
    const codes = gather<Lane>(subjects + column, stride);
    const rest = i8x16.sub(codes, sixteen);
    let to = profile + (column << 4);
    let row = matrix;
    for (let code: usize = 0; code < CODES; code++) {
      const scores = lookUp(row, codes, rest);
      v128.store(to, sizeof<Lane>() == 1 ? scores : i16x8.extend_low_i8x16_s(scores));
      to += 64;
      row += 32;
    }
  }
}
