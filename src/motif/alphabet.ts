/**
 * Residues as small integers. Codes 0–19 are the twenty standard amino acids in alphabetical order of their
 * one-letter codes (IUPAC-IUB 1983); 20–25 the remaining letters, so that every sequence of A–Z keeps its
 * letters; 26 is the gap of an alignment. All fit in five bits, which the kernel's table look-up relies on.
 */
export const STANDARD = "ACDEFGHIKLMNPQRSTVWY";
export const LETTERS = `${STANDARD}BJOUXZ`;
export const GAP = 26;
export const X = LETTERS.indexOf("X");

const CODE_OF_BYTE = new Uint8Array(256).fill(255);
for (let code = 0; code < LETTERS.length; code++) {
  CODE_OF_BYTE[LETTERS.charCodeAt(code)] = code;
  CODE_OF_BYTE[LETTERS.toLowerCase().charCodeAt(code)] = code;
}

/** The code of one byte of text: 0–25 for a letter in either case, 255 for anything else. */
export function codeOfByte(byte: number): number {
  return CODE_OF_BYTE[byte & 255];
}

/** A sequence of letters as codes. Characters that are no ASCII letters become X, so positions never move. */
export function encode(letters: string): Uint8Array {
  const codes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) {
    const unit = letters.charCodeAt(i);
    const code = unit < 128 ? CODE_OF_BYTE[unit] : 255;
    codes[i] = code === 255 ? X : code;
  }
  return codes;
}

/** Shorter sequences may be peptides of these letters alone. */
const MIN_NUCLEOTIDES = 30;
const NUCLEOTIDES = encode("ACGTUN");

/** Whether a sequence is one of DNA or RNA, by its letters. Thirty residues of a protein are never of these six alone. */
export function looksLikeNucleotides(residues: Uint8Array): boolean {
  return residues.length >= MIN_NUCLEOTIDES && residues.every((code) => NUCLEOTIDES.includes(code));
}

const BYTE_OF_CODE = new TextEncoder().encode(`${LETTERS}-`);
const DECODER = new TextDecoder();

/**
 * Codes as letters; GAP prints as `-`. Made in one piece: a text put together letter by letter is kept as a tree
 * of its letters, at thirty times the memory.
 */
export function decode(codes: Uint8Array): string {
  return DECODER.decode(codes.map((code) => BYTE_OF_CODE[code]));
}

/**
 * Background frequencies of the twenty standard amino acids in UniProtKB/Swiss-Prot (release statistics,
 * "Amino acid composition"), normalised to 1. Indexed by code.
 */
export const BACKGROUND: Float64Array = (() => {
  const percent: Record<string, number> = {
    A: 8.26,
    R: 5.53,
    N: 4.06,
    D: 5.46,
    C: 1.37,
    Q: 3.93,
    E: 6.72,
    G: 7.08,
    H: 2.28,
    I: 5.93,
    L: 9.65,
    K: 5.82,
    M: 2.41,
    F: 3.86,
    P: 4.72,
    S: 6.6,
    T: 5.35,
    W: 1.1,
    Y: 2.92,
    V: 6.86,
  };
  const sum = Object.values(percent).reduce((a, b) => a + b, 0);
  return Float64Array.from(STANDARD, (letter) => percent[letter] / sum);
})();
