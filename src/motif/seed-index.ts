import type { WordTable } from "../kernel/words.ts";
import { BACKGROUND } from "./alphabet.ts";
import { BLOSUM62, STRIDE } from "./matrix.ts";

/**
 * Residues of a word. One word of five finds more relatives than two of four on a diagonal do, with a twentieth of the
 * chance hits (docs/search.md); six would find a little more still, but their table does not stay in the processor's cache.
 */
export const WORD_LENGTH = 5;

/**
 * Chance word hits per residue of the corpus that a sketch may cause. The threshold of the neighbourhood is the
 * lowest that keeps to it: short queries, which have few words, get wide neighbourhoods, long ones narrow ones.
 */
export const MAX_HITS_PER_RESIDUE = 0.007;
const MIN_THRESHOLD = 14;
const MAX_THRESHOLD = 24;
const CODES = 20;
const HIGHEST = 11;
const LOWEST = -4;

export interface SeedIndex {
  table: WordTable;
  /** Words score at least this against a word of the query. */
  threshold: number;
  /** Chance hits per residue of a corpus of average composition. */
  expectedHits: number;
}

/** The residues in order of their score against each residue, best first, and those scores. */
const RANKED_RESIDUES = Array.from({ length: CODES }, (_, a) => {
  const order = Array.from({ length: CODES }, (_, b) => b).sort(
    (b, c) => BLOSUM62[a * STRIDE + c] - BLOSUM62[a * STRIDE + b] || b - c,
  );
  return { codes: Uint8Array.from(order), scores: Int8Array.from(order, (b) => BLOSUM62[a * STRIDE + b]) };
});

/**
 * The words of five residues that score `threshold` or more (BLOSUM62) against a word of the query (Altschul et
 * al. 1990, the neighbourhood), and where. Words with a letter that is none of the twenty, such as a masked X, have none.
 */
export function indexSeeds(query: Uint8Array, hitsPerResidue: number = MAX_HITS_PER_RESIDUE): SeedIndex {
  const found = new WordList();
  const { threshold, expectedHits } = addWords(found, query, 0, hitsPerResidue);
  return { table: found.tabulate(), threshold, expectedHits };
}

/** Queries one behind the other, with the words of all of them, as `Kernel.scan` takes them. */
export interface JointSeedIndex {
  query: Uint8Array;
  owners: Uint16Array;
  table: WordTable;
}

/** Between joined queries: a code that scores far below zero against all. */
const BARRIER = 31;

/** The sketches of several queries as one: each has the words that it has alone. At most 65,536 queries. */
export function indexSeedsTogether(queries: readonly Uint8Array[]): JointSeedIndex {
  const length = queries.reduce((sum, one) => sum + one.length + 1, 0);
  const query = new Uint8Array(length).fill(BARRIER);
  const owners = new Uint16Array(length);
  const found = new WordList();
  let at = 0;
  for (const [number, one] of queries.entries()) {
    query.set(one, at);
    owners.fill(number, at, at + one.length + 1);
    addWords(found, one, at, MAX_HITS_PER_RESIDUE);
    at += one.length + 1;
  }
  return { query, owners, table: found.tabulate() };
}

/** Adds the neighbourhood of a query whose first residue has the place `start`. */
function addWords(
  found: WordList,
  query: Uint8Array,
  start: number,
  hitsPerResidue: number,
): Omit<SeedIndex, "table"> {
  const { threshold, expectedHits } = chooseThreshold(query, hitsPerResidue);
  const rest = new Int32Array(WORD_LENGTH + 1);
  for (let i = 0; i + WORD_LENGTH <= query.length; i++) {
    if (!isStandardWord(query, i)) continue;
    for (let k = WORD_LENGTH - 1; k >= 0; k--)
      rest[k] = rest[k + 1] + RANKED_RESIDUES[query[i + k]].scores[0];
    const go = (k: number, score: number, word: number): void => {
      const { codes, scores } = RANKED_RESIDUES[query[i + k]];
      for (let b = 0; b < CODES && score + scores[b] + rest[k + 1] >= threshold; b++) {
        if (k === WORD_LENGTH - 1) found.add(word * CODES + codes[b], start + i);
        else go(k + 1, score + scores[b], word * CODES + codes[b]);
      }
    };
    go(0, 0, 0);
  }
  return { threshold, expectedHits };
}

function isStandardWord(query: Uint8Array, at: number): boolean {
  for (let k = 0; k < WORD_LENGTH; k++) if (query[at + k] >= CODES) return false;
  return true;
}

const HIGHEST_BIT = 0x8000_0000;

/** Words, their places, and room to sort both: kept, since they are too large to be allocated for every query. */
let sortBuffers = Array.from({ length: 4 }, () => new Uint32Array(1 << 15));

/** Words (numbers of base 20) and the places they come from. One at a time is in use. */
class WordList {
  #length = 0;

  add(word: number, place: number): void {
    if (this.#length === sortBuffers[0].length) sortBuffers = sortBuffers.map(doubled);
    sortBuffers[0][this.#length] = word;
    sortBuffers[1][this.#length++] = place;
  }

  /** In the form that the scan reads. Words ascend, and so do the places of each where they were added so. */
  tabulate(): WordTable {
    const length = this.#length;
    const [found, places, otherFound, otherPlaces] = sortBuffers;
    // Words have 22 bits: two passes of a sort by 11 each, which leaves equal words in the order they came in.
    sortByDigit([found, places], length, 0, [otherFound, otherPlaces]);
    sortByDigit([otherFound, otherPlaces], length, DIGIT_BITS, [found, places]);
    let distinct = 0;
    let single = 0;
    for (let k = 0, end = 0; k < length; k = end, distinct++) {
      while (end < length && found[end] === found[k]) end++;
      if (end === k + 1) single++;
    }
    const words = new Uint32Array(distinct);
    const heads = new Uint32Array(distinct);
    const positions = new Uint32Array(length - single);
    let listed = 0;
    for (let k = 0, end = 0, row = 0; k < length; k = end, row++) {
      while (end < length && found[end] === found[k]) end++;
      words[row] = found[k];
      heads[row] = end === k + 1 ? places[k] + HIGHEST_BIT : listed;
      if (end === k + 1) continue;
      for (let i = k; i < end; i++) positions[listed++] = places[i];
      positions[listed - 1] += HIGHEST_BIT;
    }
    return { words, heads, positions };
  }
}

const DIGIT_BITS = 11;

type WordsAndPlaces = readonly [words: Uint32Array, places: Uint32Array];

/** Stable counting sort of words and their places by one digit of the words. */
function sortByDigit(
  [words, places]: WordsAndPlaces,
  length: number,
  shift: number,
  [sortedWords, sortedPlaces]: WordsAndPlaces,
): void {
  const mask = (1 << DIGIT_BITS) - 1;
  const next = new Uint32Array(mask + 2);
  for (let k = 0; k < length; k++) next[((words[k] >>> shift) & mask) + 1]++;
  for (let digit = 0; digit <= mask; digit++) next[digit + 1] += next[digit];
  for (let k = 0; k < length; k++) {
    const to = next[(words[k] >>> shift) & mask]++;
    sortedWords[to] = words[k];
    sortedPlaces[to] = places[k];
  }
}

function doubled(list: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(list.length * 2);
  larger.set(list);
  return larger;
}

/** The lowest threshold that keeps the expected hits within HITS_PER_RESIDUE, from the distribution of word scores. */
function chooseThreshold(
  query: Uint8Array,
  hitsPerResidue: number,
): { threshold: number; expectedHits: number } {
  const span = (HIGHEST - LOWEST) * WORD_LENGTH + 1;
  // Chance of every score of a random residue against each residue.
  const single = Array.from({ length: CODES }, (_, a) => {
    const chance = new Float64Array(HIGHEST - LOWEST + 1);
    for (let b = 0; b < CODES; b++) chance[BLOSUM62[a * STRIDE + b] - LOWEST] += BACKGROUND[b];
    return chance;
  });
  const pairs: Float64Array[] = [];
  const pair = (a: number, b: number): Float64Array =>
    (pairs[a * CODES + b] ??= convolve(single[a], single[b]));
  const total = new Float64Array(span);
  const four = new Float64Array((HIGHEST - LOWEST) * 4 + 1);
  for (let i = 0; i + WORD_LENGTH <= query.length; i++) {
    if (!isStandardWord(query, i)) continue;
    // Two pairs, convolved with each other and with the last residue: pairs are kept, since there are only 400.
    convolve(pair(query[i], query[i + 1]), pair(query[i + 2], query[i + 3]), four);
    const last = single[query[i + 4]];
    for (let s = 0; s < four.length; s++) {
      for (let t = 0; t < last.length; t++) total[s + t] += four[s] * last[t];
    }
  }
  let expectedHits = 0;
  for (let threshold = HIGHEST * WORD_LENGTH; threshold >= MIN_THRESHOLD; threshold--) {
    const more = expectedHits + total[threshold - LOWEST * WORD_LENGTH];
    if (more > hitsPerResidue && threshold < MAX_THRESHOLD) {
      return { threshold: threshold + 1, expectedHits };
    }
    expectedHits = more;
  }
  return { threshold: MIN_THRESHOLD, expectedHits };
}

function convolve(
  a: Float64Array,
  b: Float64Array,
  out = new Float64Array(a.length + b.length - 1),
): Float64Array {
  out.fill(0);
  for (let i = 0; i < a.length; i++) {
    if (a[i] === 0) continue;
    for (let j = 0; j < b.length; j++) out[i + j] += a[i] * b[j];
  }
  return out;
}
