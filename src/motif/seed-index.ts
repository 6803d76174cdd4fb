import type { ScanQueries, WordTable } from "../kernel/words.ts";
import { BACKGROUND } from "./alphabet.ts";
import { BLOSUM62, STRIDE } from "./matrix.ts";

/**
 * Residues per word. One word of five is as sensitive as two of four on a diagonal with a twentieth of the
 * chance hits (docs/adr/0012-seed-the-search-with-one-word.md); the table of six exceeds the processor's cache.
 */
export const WORD_LENGTH = 5;

/**
 * Maximum expected chance hits per residue of the corpus. It sets the threshold of the neighbourhood: wide
 * for short queries, which have few words, narrow for long ones.
 */
export const MAX_HITS_PER_RESIDUE = 0.007;
const MIN_THRESHOLD = 14;
const MAX_THRESHOLD = 24;
const CODES = 20;
const HIGHEST = 11;
const LOWEST = -4;

/** Residues by descending score against each residue, and these scores. */
const RANKED_RESIDUES = Array.from({ length: CODES }, (_, a) => {
  const order = Array.from({ length: CODES }, (_, b) => b).sort(
    (b, c) => BLOSUM62[a * STRIDE + c] - BLOSUM62[a * STRIDE + b] || b - c,
  );
  return { codes: Uint8Array.from(order), scores: Int8Array.from(order, (b) => BLOSUM62[a * STRIDE + b]) };
});

/** Separator of concatenated queries: scores far below zero against all codes. */
const BARRIER = 31;

/** Queries with the words that each has alone. At most 65,536 queries. */
export function indexSeeds(queries: readonly Uint8Array[]): ScanQueries {
  const length = queries.reduce((sum, one) => sum + one.length + 1, 0);
  const query = new Uint8Array(length).fill(BARRIER);
  const owners = new Uint16Array(length);
  const found = new WordList();
  let at = 0;
  for (const [number, one] of queries.entries()) {
    query.set(one, at);
    owners.fill(number, at, at + one.length + 1);
    addWords(found, one, at);
    at += one.length + 1;
  }
  return { query, owners, table: found.tabulate() };
}

/**
 * Adds the neighbourhood (Altschul et al. 1990) of a query that starts at position `start`: the words that score the
 * threshold or more (BLOSUM62) against a word of the query. Words with a non-standard letter, such as a masked X,
 * have none.
 */
function addWords(found: WordList, query: Uint8Array, start: number): void {
  const { threshold } = chooseThreshold(query);
  const maxRest = new Int32Array(WORD_LENGTH + 1);
  for (let i = 0; i + WORD_LENGTH <= query.length; i++) {
    if (!isStandardWord(query, i)) continue;
    for (let k = WORD_LENGTH - 1; k >= 0; k--)
      maxRest[k] = maxRest[k + 1] + RANKED_RESIDUES[query[i + k]].scores[0];
    const extend = (k: number, score: number, word: number): void => {
      const { codes, scores } = RANKED_RESIDUES[query[i + k]];
      for (let b = 0; b < CODES && score + scores[b] + maxRest[k + 1] >= threshold; b++) {
        if (k === WORD_LENGTH - 1) found.add(word * CODES + codes[b], start + i);
        else extend(k + 1, score + scores[b], word * CODES + codes[b]);
      }
    };
    extend(0, 0, 0);
  }
}

function isStandardWord(query: Uint8Array, at: number): boolean {
  for (let k = 0; k < WORD_LENGTH; k++) if (query[at + k] >= CODES) return false;
  return true;
}

const HIGHEST_BIT = 0x8000_0000;

/** Words, their positions, and buffers to sort both; reused between queries. */
let sortBuffers = Array.from({ length: 4 }, () => new Uint32Array(1 << 15));

/** Words (base-20 numbers) and their positions. Only one list is in use at a time. */
class WordList {
  #length = 0;

  add(word: number, position: number): void {
    if (this.#length === sortBuffers[0].length) sortBuffers = sortBuffers.map(doubled);
    sortBuffers[0][this.#length] = word;
    sortBuffers[1][this.#length++] = position;
  }

  /** Table for the scan: words ascend, and so do the positions of each. */
  tabulate(): WordTable {
    const length = this.#length;
    const [found, positions, otherFound, otherPositions] = sortBuffers;
    // Words have 22 bits: a stable radix sort with two digits of 11 bits.
    sortByDigit([found, positions], length, 0, [otherFound, otherPositions]);
    sortByDigit([otherFound, otherPositions], length, DIGIT_BITS, [found, positions]);
    let distinct = 0;
    let single = 0;
    for (let k = 0, end = 0; k < length; k = end, distinct++) {
      while (end < length && found[end] === found[k]) end++;
      if (end === k + 1) single++;
    }
    const words = new Uint32Array(distinct);
    const heads = new Uint32Array(distinct);
    const listed = new Uint32Array(length - single);
    let count = 0;
    for (let k = 0, end = 0, row = 0; k < length; k = end, row++) {
      while (end < length && found[end] === found[k]) end++;
      words[row] = found[k];
      heads[row] = end === k + 1 ? positions[k] + HIGHEST_BIT : count;
      if (end === k + 1) continue;
      for (let i = k; i < end; i++) listed[count++] = positions[i];
      listed[count - 1] += HIGHEST_BIT;
    }
    return { words, heads, positions: listed };
  }
}

const DIGIT_BITS = 11;

type WordsAndPositions = readonly [words: Uint32Array, positions: Uint32Array];

/** Stable counting sort of words and positions by one digit of the words. */
function sortByDigit(
  [words, positions]: WordsAndPositions,
  length: number,
  shift: number,
  [sortedWords, sortedPositions]: WordsAndPositions,
): void {
  const mask = (1 << DIGIT_BITS) - 1;
  const next = new Uint32Array(mask + 2);
  for (let k = 0; k < length; k++) next[((words[k] >>> shift) & mask) + 1]++;
  for (let digit = 0; digit <= mask; digit++) next[digit + 1] += next[digit];
  for (let k = 0; k < length; k++) {
    const to = next[(words[k] >>> shift) & mask]++;
    sortedWords[to] = words[k];
    sortedPositions[to] = positions[k];
  }
}

function doubled(list: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(list.length * 2);
  larger.set(list);
  return larger;
}

/**
 * Minimum score of a neighbourhood word, the lowest with at most MAX_HITS_PER_RESIDUE chance hits per residue of a
 * corpus of average composition. Computed from the distribution of word scores.
 */
export function chooseThreshold(query: Uint8Array): { threshold: number; expectedHits: number } {
  const span = (HIGHEST - LOWEST) * WORD_LENGTH + 1;
  // Distribution of the score of a random residue against each residue.
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
    // Two pairs, convolved with each other and with the last residue; the 400 pairs are cached.
    convolve(pair(query[i], query[i + 1]), pair(query[i + 2], query[i + 3]), four);
    const last = single[query[i + 4]];
    addConvolved(four, last, total);
  }
  let expectedHits = 0;
  for (let threshold = HIGHEST * WORD_LENGTH; threshold >= MIN_THRESHOLD; threshold--) {
    const more = expectedHits + total[threshold - LOWEST * WORD_LENGTH];
    if (more > MAX_HITS_PER_RESIDUE && threshold < MAX_THRESHOLD) {
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
  addConvolved(a, b, out);
  return out;
}

function addConvolved(a: Float64Array, b: Float64Array, out: Float64Array): void {
  for (let i = 0; i < a.length; i++) {
    if (a[i] === 0) continue;
    for (let j = 0; j < b.length; j++) out[i + j] += a[i] * b[j];
  }
}
