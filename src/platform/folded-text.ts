/** Case-folded text: NFKC, then lower case. SQLite's lower() handles ASCII only. */
export function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** Letters that have no accent in Unicode, but that people type without one. */
const PLAIN: Readonly<Record<string, string>> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ı: "i" };

/** Folded text without accents: `gunther` for `Günther`. */
export function unaccent(text: string): string {
  const folded = fold(text);
  // eslint-disable-next-line no-control-regex
  if (/^[\0-\x7f]*$/.test(folded)) return folded;
  const bare = folded.normalize("NFD").replace(/[\u0300-\u036f]/g, "");
  return bare.replace(/[ßæœøłđı]/g, (letter) => PLAIN[letter]).normalize("NFC");
}

/**
 * True if one word of the text is the given word with at most one letter added, left out or replaced, or two
 * neighbours exchanged. Both without accents.
 */
export function hasSimilarWord(text: string, word: string): boolean {
  const letters = Array.from(word);
  for (const [found] of text.matchAll(/[\p{L}\p{N}]+/gu))
    if (Math.abs(found.length - word.length) <= 2 && isSimilar(Array.from(found), letters)) return true;
  return false;
}

function isSimilar(a: readonly string[], b: readonly string[]): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let from = 0;
  while (from < a.length && a[from] === b[from]) from++;
  const same = (i: number, j: number): boolean => {
    while (i < a.length && a[i] === b[j]) [i, j] = [i + 1, j + 1];
    return i === a.length && j === b.length;
  };
  if (a.length > b.length) return same(from + 1, from);
  if (a.length < b.length) return same(from, from + 1);
  const isSwapped = from + 1 < a.length && a[from] === b[from + 1] && a[from + 1] === b[from];
  return from === a.length || same(from + 1, from + 1) || (isSwapped && same(from + 2, from + 2));
}

/** Parts of which each text with a word similar to the given word contains one; the word has five letters or more. */
export function similarParts(word: string): string[] {
  const letters = Array.from(word);
  const half = Math.floor(letters.length / 2);
  const replace = (from: number, to: number, ...by: string[]): string =>
    letters.toSpliced(from, to - from, ...by).join("");
  const swap = (at: number): string => replace(at, at + 2, letters[at + 1], letters[at]);
  if (letters.length > 5)
    return [letters.slice(0, half).join(""), letters.slice(half).join(""), swap(half - 1)];
  const middle = Array.from("abcdefghijklmnopqrstuvwxyz0123456789", (letter) => replace(2, 3, letter));
  return [
    letters.slice(0, 3).join(""),
    letters.slice(2).join(""),
    replace(2, 3),
    swap(1),
    swap(2),
    ...middle,
  ];
}
