/** Sorted keys of a corpus by which proteins are found; empty in a corpus of version 1, except for accessions. */
export interface NameIndex {
  accessions: SortedKeys;
  entryNames: SortedKeys;
  genes: SortedKeys;
  words: SortedKeys;
  /** Words of each species, such as ` mus musculus 10090 mouse `. */
  speciesWords: () => readonly string[];
}

/** Keys in ascending order, and the proteins of the keys from one place to another. */
export interface SortedKeys {
  count: number;
  key: (place: number) => string;
  proteins: (from: number, to: number) => Uint32Array;
}

/** Place of the first key that is not below a word. */
export function firstNotBelow(count: number, key: (place: number) => string, word: string): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (key(middle) < word) low = middle + 1;
    else high = middle;
  }
  return low;
}
