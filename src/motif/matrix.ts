import { LETTERS } from "./alphabet.ts";

/** Residue order of the published table. */
const ORDER = "ARNDCQEGHILKMFPSTWYVBZX";

/** BLOSUM62: Henikoff & Henikoff, PNAS 1992, 89:10915, in half bits, as distributed by NCBI. */
const TABLE = `
   4 -1 -2 -2  0 -1 -1  0 -2 -1 -1 -1 -1 -2 -1  1  0 -3 -2  0 -2 -1  0
  -1  5  0 -2 -3  1  0 -2  0 -3 -2  2 -1 -3 -2 -1 -1 -3 -2 -3 -1  0 -1
  -2  0  6  1 -3  0  0  0  1 -3 -3  0 -2 -3 -2  1  0 -4 -2 -3  3  0 -1
  -2 -2  1  6 -3  0  2 -1 -1 -3 -4 -1 -3 -3 -1  0 -1 -4 -3 -3  4  1 -1
   0 -3 -3 -3  9 -3 -4 -3 -3 -1 -1 -3 -1 -2 -3 -1 -1 -2 -2 -1 -3 -3 -2
  -1  1  0  0 -3  5  2 -2  0 -3 -2  1  0 -3 -1  0 -1 -2 -1 -2  0  3 -1
  -1  0  0  2 -4  2  5 -2  0 -3 -3  1 -2 -3 -1  0 -1 -3 -2 -2  1  4 -1
   0 -2  0 -1 -3 -2 -2  6 -2 -4 -4 -2 -3 -3 -2  0 -2 -2 -3 -3 -1 -2 -1
  -2  0  1 -1 -3  0  0 -2  8 -3 -3 -1 -2 -1 -2 -1 -2 -2  2 -3  0  0 -1
  -1 -3 -3 -3 -1 -3 -3 -4 -3  4  2 -3  1  0 -3 -2 -1 -3 -1  3 -3 -3 -1
  -1 -2 -3 -4 -1 -2 -3 -4 -3  2  4 -2  2  0 -3 -2 -1 -2 -1  1 -4 -3 -1
  -1  2  0 -1 -3  1  1 -2 -1 -3 -2  5 -1 -3 -1  0 -1 -3 -2 -2  0  1 -1
  -1 -1 -2 -3 -1  0 -2 -3 -2  1  2 -1  5  0 -2 -1 -1 -1 -1  1 -3 -1 -1
  -2 -3 -3 -3 -2 -3 -3 -3 -1  0  0 -3  0  6 -4 -2 -2  1  3 -1 -3 -3 -1
  -1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4  7 -1 -1 -4 -3 -2 -2 -1 -2
   1 -1  1  0 -1  0  0  0 -1 -2 -2  0 -1 -2 -1  4  1 -3 -2 -2  0  0  0
   0 -1  0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1  1  5 -2 -2  0 -1 -1  0
  -3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1  1 -4 -3 -2 11  2 -3 -4 -3 -2
  -2 -2 -2 -3 -2 -1 -2 -3  2 -1 -1 -2 -1  3 -3 -2 -2  2  7 -1 -3 -2 -1
   0 -3 -3 -3 -1 -2 -2 -3 -3  3  1 -2  1 -1 -2 -2  0 -3 -1  4 -3 -2 -1
  -2 -1  3  4 -3  0  1 -1  0 -3 -4  0 -3 -3 -2  0 -1 -4 -3 -3  4  1 -1
  -1  0  0  1 -3  3  4 -2  0 -3 -3  1 -1 -3 -1  0 -1 -3 -2 -2  1  4 -1
   0 -1 -1 -1 -2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -2  0  0 -2 -1 -1 -1 -1 -1`;

/** Row length of the padded square matrix: two 16-byte vectors. */
export const STRIDE = 32;

/**
 * BLOSUM62 as STRIDE × STRIDE signed bytes, `BLOSUM62[a * STRIDE + b]` for codes a and b. U is scored as C, O
 * as K, J as the lower of I and L; padding and gap as -4, the minimum.
 */
export const BLOSUM62: Int8Array = (() => {
  const rows = TABLE.trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const published = (a: string, b: string): number => rows[ORDER.indexOf(a)][ORDER.indexOf(b)];
  const substitutes = (letter: string): string[] =>
    letter === "U" ? ["C"] : letter === "O" ? ["K"] : letter === "J" ? ["I", "L"] : [letter];
  const square = new Int8Array(STRIDE * STRIDE).fill(-4);
  for (let a = 0; a < LETTERS.length; a++) {
    for (let b = 0; b < LETTERS.length; b++) {
      const scores = substitutes(LETTERS[a]).flatMap((p) =>
        substitutes(LETTERS[b]).map((q) => published(p, q)),
      );
      square[a * STRIDE + b] = Math.min(...scores);
    }
  }
  return square;
})();

/** BLOSUM62 of two codes, in half bits. */
export function blosum62(a: number, b: number): number {
  return BLOSUM62[a * STRIDE + b];
}
