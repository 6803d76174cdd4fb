import type { Words } from "../kernel/kernel.ts";
import { BACKGROUND } from "./alphabet.ts";
import { BLOSUM62, STRIDE } from "./matrix.ts";

/** Residues of a word. Four give a table that stays in the processor's cache and few enough chance hits. */
export const WORD = 4;

/**
 * Chance word hits per residue of the corpus that a sketch may cause. The threshold of the neighbourhood is the
 * lowest that keeps to it: short queries, which have few words, get wide neighbourhoods, long ones narrow ones.
 */
export const HITS_PER_RESIDUE = 0.15;
const LEAST_THRESHOLD = 10;
const GREATEST_THRESHOLD = 20;
const CODES = 20;
const HIGHEST = 11;
const LOWEST = -4;

export interface Sketch {
  words: Words;
  /** Words score at least this against a word of the query. */
  threshold: number;
  /** Chance hits per residue of a corpus of average composition. */
  expectedHits: number;
}

/** The residues in order of their score against each residue, best first, and those scores. */
const BEST_FIRST = Array.from({ length: CODES }, (_, a) => {
  const order = Array.from({ length: CODES }, (_, b) => b).sort(
    (b, c) => BLOSUM62[a * STRIDE + c] - BLOSUM62[a * STRIDE + b] || b - c,
  );
  return { codes: Uint8Array.from(order), scores: Int8Array.from(order, (b) => BLOSUM62[a * STRIDE + b]) };
});

/**
 * The words of four residues that score `threshold` or more (BLOSUM62) against a word of the query (Altschul et
 * al. 1990, the neighbourhood), and where. Words with a letter that is none of the twenty, such as a masked X, have none.
 */
export function sketch(query: Uint8Array, hitsPerResidue: number = HITS_PER_RESIDUE): Sketch {
  const { threshold, expectedHits } = chooseThreshold(query, hitsPerResidue);
  const found: number[] = [];
  const places: number[] = [];
  for (let i = 0; i + WORD <= query.length; i++) {
    if (!standard(query, i)) continue;
    const rest = new Int32Array(WORD + 1);
    for (let k = WORD - 1; k >= 0; k--) rest[k] = rest[k + 1] + BEST_FIRST[query[i + k]].scores[0];
    const go = (k: number, score: number, word: number): void => {
      if (k === WORD) {
        found.push(word);
        places.push(i);
        return;
      }
      const { codes, scores } = BEST_FIRST[query[i + k]];
      for (let b = 0; b < CODES && score + scores[b] + rest[k + 1] >= threshold; b++) {
        go(k + 1, score + scores[b], word * CODES + codes[b]);
      }
    };
    go(0, 0, 0);
  }
  return { words: tabulate(found, places), threshold, expectedHits };
}

function standard(query: Uint8Array, at: number): boolean {
  for (let k = 0; k < WORD; k++) if (query[at + k] >= CODES) return false;
  return true;
}

const HIGHEST_BIT = 0x8000_0000;

/** Words (numbers of base 20) and the places they come from, in the form that the scan reads. */
function tabulate(found: number[], places: number[]): Words {
  const counts = new Int32Array(CODES ** WORD);
  for (const word of found) counts[word]++;
  const bits = new Uint32Array(1 << 15);
  const heads = new Uint32Array(CODES ** WORD);
  const positions: number[] = [];
  for (const [k, word] of found.entries()) {
    if (counts[word] === 1) heads[word] = places[k] | HIGHEST_BIT;
    if (counts[word] <= 1) continue;
    heads[word] = positions.length;
    // Room for all; the places follow in their order below.
    for (let i = 0; i < counts[word]; i++) positions.push(-1);
    counts[word] = -counts[word];
  }
  for (const [k, word] of found.entries()) {
    const last = word % CODES;
    const three = Math.floor(word / CODES);
    const second = Math.floor(three / CODES);
    bits[(Math.floor(second / CODES) << 10) | ((second % CODES) << 5) | (three % CODES)] |= 1 << last;
    if (counts[word] >= 0) continue;
    const left = -counts[word]++;
    let at = heads[word];
    while (positions[at] >= 0) at++;
    positions[at] = left === 1 ? places[k] + HIGHEST_BIT : places[k];
  }
  return { bits, heads, positions: Uint32Array.from(positions) };
}

/** The lowest threshold that keeps the expected hits within HITS_PER_RESIDUE, from the distribution of word scores. */
function chooseThreshold(
  query: Uint8Array,
  hitsPerResidue: number,
): { threshold: number; expectedHits: number } {
  const span = (HIGHEST - LOWEST) * WORD + 1;
  // Chance of every score of a random residue against each residue.
  const single = Array.from({ length: CODES }, (_, a) => {
    const chance = new Float64Array(HIGHEST - LOWEST + 1);
    for (let b = 0; b < CODES; b++) chance[BLOSUM62[a * STRIDE + b] - LOWEST] += BACKGROUND[b];
    return chance;
  });
  const total = new Float64Array(span);
  for (let i = 0; i + WORD <= query.length; i++) {
    if (!standard(query, i)) continue;
    let chance: Float64Array = single[query[i]];
    for (let k = 1; k < WORD; k++) chance = convolve(chance, single[query[i + k]]);
    for (let s = 0; s < span; s++) total[s] += chance[s];
  }
  let expectedHits = 0;
  for (let threshold = HIGHEST * WORD; threshold >= LEAST_THRESHOLD; threshold--) {
    const more = expectedHits + total[threshold - LOWEST * WORD];
    if (more > hitsPerResidue && threshold < GREATEST_THRESHOLD) {
      return { threshold: threshold + 1, expectedHits };
    }
    expectedHits = more;
  }
  return { threshold: LEAST_THRESHOLD, expectedHits };
}

function convolve(a: Float64Array, b: Float64Array): Float64Array {
  const out = new Float64Array(a.length + b.length - 1);
  for (let i = 0; i < a.length; i++) {
    if (a[i] === 0) continue;
    for (let j = 0; j < b.length; j++) out[i + j] += a[i] * b[j];
  }
  return out;
}
