/**
 * Residue codes. 0–19 are the standard amino acids in alphabetical order of their one-letter codes (IUPAC-
 * IUB 1983), 20–25 the remaining letters, 26 the gap. All fit in five bits, as the kernel's table look-up
 * requires.
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

/** Code of an ASCII letter of either case; 255 for any other byte. */
export function toCode(byte: number): number {
  return CODE_OF_BYTE[byte & 255];
}

/** Codes of a text. Characters other than ASCII letters become X, so that positions are kept. */
export function encode(letters: string): Uint8Array {
  const codes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) {
    const unit = letters.charCodeAt(i);
    const code = unit < 128 ? CODE_OF_BYTE[unit] : 255;
    codes[i] = code === 255 ? X : code;
  }
  return codes;
}

/** A shorter sequence of these letters may be a peptide. */
const MIN_NUCLEOTIDES = 30;
const NUCLEOTIDES = encode("ACGTUN");

/** True if a sequence has at least 30 residues, all of them letters of DNA or RNA. */
export function looksLikeNucleotides(residues: Uint8Array): boolean {
  return residues.length >= MIN_NUCLEOTIDES && residues.every((code) => NUCLEOTIDES.includes(code));
}

const BYTE_OF_CODE = new TextEncoder().encode(`${LETTERS}-`);
const DECODER = new TextDecoder();

/**
 * Letters of the codes, `-` for GAP. Decoded at once: a string built by concatenation takes thirty times the
 * memory.
 */
export function decode(codes: Uint8Array): string {
  return DECODER.decode(codes.map((code) => BYTE_OF_CODE[code]));
}

/**
 * Background frequencies by code: "Amino acid composition" of UniProtKB/Swiss-Prot (release statistics),
 * normalized to 1.
 */
export const BACKGROUND: Float64Array = (() => {
  const order = "ARNDCQEGHILKMFPSTWYV";
  const percent = [
    8.26, 5.53, 4.06, 5.46, 1.37, 3.93, 6.72, 7.08, 2.28, 5.93, 9.65, 5.82, 2.41, 3.86, 4.72, 6.6, 5.35, 1.1,
    2.92, 6.86,
  ];
  const sum = percent.reduce((a, b) => a + b, 0);
  return Float64Array.from(STANDARD, (letter) => percent[order.indexOf(letter)] / sum);
})();
