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

/** Work space of `tabulate`, all zero between its calls: too large to be allocated for every query. */
const COUNTS = new Int32Array(CODES ** WORD);

/** Words (numbers of base 20) and the places they come from, in the form that the scan reads. */
function tabulate(found: number[], places: number[]): Words {
  for (const word of found) COUNTS[word]++;
  const words: number[] = [];
  const heads: number[] = [];
  const positions: number[] = [];
  /** Of words with several places: where in `positions` the next one goes. */
  const next = new Map<number, number>();
  // Counted loops: an iterator would make an array per word, and there are tens of thousands.
  for (let k = 0; k < found.length; k++) {
    const word = found[k];
    const at = next.get(word);
    if (at !== undefined) {
      positions[at] = --COUNTS[word] === 0 ? places[k] + HIGHEST_BIT : places[k];
      next.set(word, at + 1);
      continue;
    }
    words.push(word);
    if (--COUNTS[word] === 0) {
      heads.push(places[k] + HIGHEST_BIT);
      continue;
    }
    heads.push(positions.length);
    next.set(word, positions.length + 1);
    positions.push(places[k]);
    for (let i = COUNTS[word]; i > 0; i--) positions.push(0);
  }
  return {
    words: Uint32Array.from(words),
    heads: Uint32Array.from(heads),
    positions: Uint32Array.from(positions),
  };
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
  const pairs: Float64Array[] = [];
  const pair = (a: number, b: number): Float64Array =>
    (pairs[a * CODES + b] ??= convolve(single[a], single[b]));
  const total = new Float64Array(span);
  for (let i = 0; i + WORD <= query.length; i++) {
    if (!standard(query, i)) continue;
    // Convolved in the pair, then with the pair that follows: pairs are kept, since there are only 400.
    const first = pair(query[i], query[i + 1]);
    const second = pair(query[i + 2], query[i + 3]);
    for (let s = 0; s < first.length; s++) {
      for (let t = 0; t < second.length; t++) total[s + t] += first[s] * second[t];
    }
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
