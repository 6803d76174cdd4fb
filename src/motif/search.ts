import { blosumKernel } from "./blosum-kernel.ts";
import { maskLowComplexity } from "./complexity.ts";
import type { Corpus } from "./corpus.ts";
import { indexSeedsTogether } from "./seed-index.ts";
import { bitScore, composition, compositionScale, eValue } from "./statistics.ts";

export interface Hit {
  /** Index into the corpus. */
  index: number;
  /** Smith-Waterman score in half bits. */
  rawScore: number;
  bitScore: number;
  /** Expected number of chance hits in the corpus that are as good. */
  eValue: number;
}

export interface SearchOptions {
  maxEValue: number;
  /** Compare with every sequence: exact, and slow. */
  exhaustive: boolean;
  /** Only sequences of so many residues are looked at; E-values are those of the whole corpus all the same. */
  minLength: number;
  maxLength: number;
}

/** An extension ends where it falls so far below its best: 5 bits, in half bits of BLOSUM62. More lets hardly any more through. */
const X_DROP = 10;
/** Words with their surroundings score so much before they are extended. */
const MIN_SEED_SCORE = 27;
/** Extensions that score so much let a sequence through to the Smith-Waterman. */
export const MIN_EXTENSION_SCORE = 47;
/** An extension of so much leaves 8 bits behind as likely as not: such pairs begin with 16. */
const HIGH_SCORE = 200;
/** Sequences per report, so that the caller hears of progress some ten times a second. */
const PROGRESS_SLICE = 8192;

/** One of several queries that share a pass over the corpus. */
export interface SearchRequest {
  /** Residue codes. */
  query: Uint8Array;
  options: SearchOptions;
}

/** Sequences from the first up to the end (exclusive). */
export type Range = readonly [first: number, end: number];

/** Sequences in one of the parts that threads take: many parts each, so that they end together. */
const CHUNK_SEQUENCES = 8192;

/**
 * The parts of a corpus that fall to this one of the threads that share `counter` (zero at first): each takes the next
 * part when it has done one. Together they get every sequence once.
 */
export function* claimRanges(corpus: Corpus, counter: Int32Array): Generator<Range> {
  for (;;) {
    const first = Atomics.add(counter, 0, 1) * CHUNK_SEQUENCES;
    if (first >= corpus.sequenceCount) return;
    yield [first, Math.min(first + CHUNK_SEQUENCES, corpus.sequenceCount)];
  }
}

/**
 * Hits of a query (residue codes) in a corpus, in order of E-value, score, accession. `report` hears the fraction
 * done, 0..1. Deterministic. Empty where query or corpus are.
 */
export function search(
  query: Uint8Array,
  corpus: Corpus,
  options: SearchOptions,
  report: (fraction: number) => void = () => {},
): Hit[] {
  const [hits] = searchRanges([{ query, options }], corpus, [[0, corpus.sequenceCount]], report);
  return sortHits(hits, corpus);
}

/**
 * Hits of several queries in parts of a corpus, in no particular order: those of all parts, put together by `inOrder`,
 * are what `search` finds. The prefilter reads the residues once for all queries.
 */
export function searchRanges(
  requests: readonly SearchRequest[],
  corpus: Corpus,
  parts: Iterable<Range>,
  report: (fraction: number) => void = () => {},
): Hit[][] {
  report(0);
  const masked = requests.map(({ query }) => maskLowComplexity(query));
  const candidates = requests.map((): Candidate[] => []);
  const ranges = sliceRanges(parts, (sequences) =>
    report((sequences / corpus.sequenceCount) * SCAN_FRACTION),
  );
  const exhaustive = requests.some(({ options }) => options.exhaustive);
  if (exhaustive) {
    for (const [first, end] of ranges) {
      for (let index = first; index < end; index++)
        for (const queryComposition of candidates) queryComposition.push({ index, score: 0 });
    }
  } else prefilter(masked, requests, corpus, ranges, candidates);
  const hits = requests.map((request, k) => {
    const score = (fraction: number): void =>
      report(SCAN_FRACTION + ((1 - SCAN_FRACTION) * (k + fraction)) / requests.length);
    return scoreCandidates(request, masked[k], corpus, candidates[k], score);
  });
  report(1);
  return hits;
}

/** Part of the work that is the prefilter's. Only the progress depends on it. */
const SCAN_FRACTION = 0.6;

interface Candidate {
  index: number;
  /** Of the prefilter's best extension. */
  score: number;
}

function* sliceRanges(parts: Iterable<Range>, report: (sequences: number) => void): Generator<Range> {
  let sequences = 0;
  for (const part of parts) {
    for (let first = part[0]; first < part[1]; first += PROGRESS_SLICE) {
      const end = Math.min(first + PROGRESS_SLICE, part[1]);
      yield [first, end];
      report((sequences += end - first));
    }
  }
}

/** Those of the candidates that are hits. */
function scoreCandidates(
  { query, options }: SearchRequest,
  masked: Uint8Array,
  corpus: Corpus,
  candidates: Candidate[],
  report: (fraction: number) => void,
): Hit[] {
  const lengthOf = (index: number): number => corpus.offsets[index + 1] - corpus.offsets[index];
  const eligible = candidates
    .filter(({ index }) => lengthOf(index) >= options.minLength && lengthOf(index) <= options.maxLength)
    .sort((a, b) => lengthOf(a.index) - lengthOf(b.index) || a.index - b.index);
  const queryComposition = composition(masked);
  const hits: Hit[] = [];
  for (let from = 0; from < eligible.length; from += PROGRESS_SLICE) {
    const slice = eligible.slice(from, from + PROGRESS_SLICE);
    const subjects = slice.map(({ index }) => residuesOf(corpus, index));
    const scores = blosumKernel().scores(masked, subjects, (k) => slice[k].score >= HIGH_SCORE);
    for (let k = 0; k < scores.length; k++) {
      const rawScore = scores[k];
      const expected = (score: number): number =>
        eValue(score, query.length, subjects[k].length, corpus.residueCount);
      // The correction only ever lowers a score, so most need none.
      if (expected(rawScore) > options.maxEValue) continue;
      const score = rawScore * compositionScale(queryComposition, composition(subjects[k]));
      const chance = expected(score);
      if (chance > options.maxEValue) continue;
      hits.push({ index: slice[k].index, rawScore, bitScore: bitScore(score), eValue: chance });
    }
    report(Math.min(from + PROGRESS_SLICE, eligible.length) / eligible.length);
  }
  return hits;
}

/** Hits in order of E-value, score, accession: sorted in place, and answered. */
export function sortHits(hits: Hit[], corpus: Corpus): Hit[] {
  const accessions = new Map(hits.map(({ index }) => [index, corpus.accession(index)]));
  const byAccession = (a: Hit, b: Hit): number => {
    const left = accessions.get(a.index)!;
    const right = accessions.get(b.index)!;
    return left < right ? -1 : left > right ? 1 : a.index - b.index;
  };
  return hits.sort((a, b) => a.eValue - b.eValue || b.rawScore - a.rawScore || byAccession(a, b));
}

/** The residues of one sequence, where they lie. */
export function residuesOf(corpus: Corpus, index: number): Uint8Array {
  return corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]);
}

/** Adds the sequences that share a word with a query, and a good stretch through it, to its candidates. */
function prefilter(
  masked: readonly Uint8Array[],
  requests: readonly SearchRequest[],
  corpus: Corpus,
  ranges: Iterable<Range>,
  candidates: Candidate[][],
): void {
  const { query, owners, table } = indexSeedsTogether(masked);
  if (table.words.length === 0) return;
  // The bounds of all together: those of each are looked at again before sequences are compared.
  const minLength = Math.min(...requests.map(({ options }) => options.minLength));
  const maxLength = Math.max(...requests.map(({ options }) => options.maxLength));
  blosumKernel().scan(
    query,
    table,
    { xDrop: X_DROP, minSeedScore: MIN_SEED_SCORE, minLength, maxLength },
    corpus.residues,
    corpus.offsets,
    ranges,
    MIN_EXTENSION_SCORE,
    (index, score, k) => candidates[k].push({ index, score }),
    () => {},
    owners,
  );
}
