import { toCode, encode, GAP, LETTERS } from "./alphabet.ts";
import { type Row, rowFromGapped } from "./msa.ts";

/** Invalid sequence or alignment; `position` is the 0-based index in the row as given. */
export class SequenceError extends Error {
  readonly position: number;
  /** Row of an alignment, 0-based; 0 for a plain query. */
  readonly row: number;

  constructor(row: number, position: number, text: string) {
    super(text);
    this.name = "SequenceError";
    this.row = row;
    this.position = position;
  }
}

/** A row of an alignment: letters, and `-` or `.` for gaps. */
export interface AlignedText {
  name: string;
  description?: string;
  letters: string;
}

/**
 * Parses a query; letters of either case, white space ignored.
 * @throws SequenceError for other characters
 */
export function readQuery(text: string): Uint8Array {
  const letters = text.replaceAll(/[ \t\r\n]/g, "");
  if (/^[A-Za-z]*$/.test(letters)) return encode(letters);
  const position = text.search(/[^A-Za-z \t\r\n]/);
  throw new SequenceError(
    0,
    position,
    `Character ${position + 1} of the sequence is not a letter. Only A–Z and white space are allowed.`,
  );
}

/**
 * Parses an alignment into the query, its first row without gaps, and the other rows anchored to it.
 * @throws SequenceError for invalid characters, rows of different lengths, and no rows
 */
export function readAlignment(texts: readonly AlignedText[]): { query: Uint8Array; rows: Row[] } {
  if (texts.length === 0)
    throw new SequenceError(0, 0, "The alignment has no rows. The first row must be the query.");
  const gapped = texts.map(({ letters }, row) => readGapped(letters, row));
  const [first, ...others] = gapped;
  const mismatch = gapped.findIndex((codes) => codes.length !== first.length);
  if (mismatch > 0) {
    throw new SequenceError(
      mismatch,
      Math.min(gapped[mismatch].length, first.length),
      `Row ${mismatch + 1} of the alignment has ${gapped[mismatch].length} columns, the first has ${first.length}. All rows must have the same length.`,
    );
  }
  return {
    query: first.filter((code) => code !== GAP),
    rows: others.map((codes) => rowFromGapped(first, codes)),
  };
}

function readGapped(text: string, row: number): Uint8Array {
  const codes = new Uint8Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (" \t\r\n".includes(character)) continue;
    const unit = text.charCodeAt(i);
    const code = character === "-" || character === "." ? GAP : unit < 128 ? toCode(unit) : 255;
    if (code !== GAP && code >= LETTERS.length) {
      throw new SequenceError(
        row,
        i,
        `Character ${i + 1} of row ${row + 1} of the alignment is neither a letter nor a gap (- or .).`,
      );
    }
    codes[length++] = code;
  }
  return codes.slice(0, length);
}
