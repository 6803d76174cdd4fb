/** Patterns of codes: `CO{7}` is CO and a number of at least seven digits. */
export interface CodePattern {
  before: string;
  digits: number;
  after: string;
}

const FORM = /^([\x21-\x7e]*?)\{(\d{1,2})\}([\x21-\x7e]*)$/;

/** Most digits and characters: what a Code 128 barcode on a label has room for. */
const MAX_DIGITS = 12;
const MAX_LENGTH = 40;

/** A pattern without numbers, of types whose records get no codes. */
export const NO_CODES = "none";

/** The parts of a pattern; undefined for a text that is none. */
export function parseCodePattern(text: string): CodePattern | undefined {
  const [, before, number, after] = FORM.exec(text) ?? [];
  const digits = Number(number);
  const isCode = digits >= 1 && digits <= MAX_DIGITS && !/[{}]/.test(before + after);
  return isCode && before.length + digits + after.length <= MAX_LENGTH
    ? { before, digits, after }
    : undefined;
}
