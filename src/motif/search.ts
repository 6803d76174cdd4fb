import { blosumKernel } from "./blosum-kernel.ts";
import { maskLowComplexity } from "./complexity.ts";
import type { Corpus } from "./corpus.ts";
import { indexSeeds } from "./seed-index.ts";
import { bitScore, composition, compositionScale, eValue } from "./statistics.ts";

export interface Hit {
  /** Index into the corpus. */
  index: number;
  /** Smith-Waterman score in half bits. */
  rawScore: number;
  bitScore: number;
  /** Expected number of chance hits in the corpus with this score or better. */
  eValue: number;
}

export interface SearchOptions {
  maxEValue: number;
  /** Align every sequence; exact but slow. */
  exhaustive: boolean;
  /** Range of sequence lengths searched; E-values refer to the whole corpus. */
  minLength: number;
  maxLength: number;
}

export const SCAN_LIMITS = {
  /** 5 bits, in half bits. A higher X-drop finds hardly any more sequences. */
  xDrop: 10,
  minSeedScore: 27,
  /** Minimum for a Smith-Waterman alignment. */
  minExtensionScore: 47,
};
/** Extensions with this score often need more than 8 bits: such pairs start with 16. */
const HIGH_SCORE = 200;
/** Sequences per progress report, for some ten reports a second. */
const PROGRESS_SLICE = 8192;

/** One of the queries of a pass over the corpus. */
export interface SearchRequest {
  /** Residue codes. */
  query: Uint8Array;
  options: SearchOptions;
}

/** Sequences [first, end). */
export type Range = readonly [first: number, end: number];

/** Sequences claimed by a thread at a time; small, so that all threads finish together. */
const CHUNK_SEQUENCES = 8192;

/**
 * Ranges of a corpus claimed by this thread; `counter` (zero at first) is shared by all threads, which
 * together get every sequence once.
 */
export function* claimRanges(corpus: Corpus, counter: Int32Array): Generator<Range> {
  for (;;) {
    const first = Atomics.add(counter, 0, 1) * CHUNK_SEQUENCES;
    if (first >= corpus.sequenceCount) return;
    yield [first, Math.min(first + CHUNK_SEQUENCES, corpus.sequenceCount)];
  }
}

/** Hits of a query (residue codes) in a corpus, in order of E-value, score, accession. */
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
 * Hits of several queries in ranges of a corpus, unordered. The prefilter reads the residues once for all
 * queries.
 */
export function searchRanges(
  requests: readonly SearchRequest[],
  corpus: Corpus,
  ranges: Iterable<Range>,
  report: (fraction: number) => void = () => {},
): Hit[][] {
  report(0);
  const masked = requests.map(({ query }) => maskLowComplexity(query));
  const candidates = requests.map((): Candidate[] => []);
  const slices = sliceRanges(ranges, (sequences) =>
    report((sequences / corpus.sequenceCount) * SCAN_FRACTION),
  );
  const exhaustive = requests.some(({ options }) => options.exhaustive);
  if (exhaustive) {
    for (const [first, end] of slices) {
      for (let index = first; index < end; index++)
        for (const list of candidates) list.push({ index, score: 0 });
    }
  } else prefilter(masked, requests, corpus, slices, candidates);
  const hits = requests.map((request, k) => {
    const score = (fraction: number): void =>
      report(SCAN_FRACTION + ((1 - SCAN_FRACTION) * (k + fraction)) / requests.length);
    return scoreCandidates(request, masked[k], corpus, candidates[k], score);
  });
  report(1);
  return hits;
}

/** Fraction of the progress given to the prefilter. */
const SCAN_FRACTION = 0.6;

interface Candidate {
  index: number;
  /** Score of the prefilter's best extension. */
  score: number;
}

function* sliceRanges(ranges: Iterable<Range>, report: (sequences: number) => void): Generator<Range> {
  let sequences = 0;
  for (const part of ranges) {
    for (let first = part[0]; first < part[1]; first += PROGRESS_SLICE) {
      const end = Math.min(first + PROGRESS_SLICE, part[1]);
      yield [first, end];
      report((sequences += end - first));
    }
  }
}

/** Aligns the candidates and returns the hits. */
function scoreCandidates(
  { query, options }: SearchRequest,
  masked: Uint8Array,
  corpus: Corpus,
  candidates: Candidate[],
  report: (fraction: number) => void,
): Hit[] {
  const subjectLength = (index: number): number => corpus.offsets[index + 1] - corpus.offsets[index];
  const eligible = candidates
    .filter(
      ({ index }) => subjectLength(index) >= options.minLength && subjectLength(index) <= options.maxLength,
    )
    .sort((a, b) => subjectLength(a.index) - subjectLength(b.index) || a.index - b.index);
  const queryComposition = composition(masked);
  const hits: Hit[] = [];
  for (let from = 0; from < eligible.length; from += PROGRESS_SLICE) {
    const slice = eligible.slice(from, from + PROGRESS_SLICE);
    const subjects = slice.map(({ index }) => readResidues(corpus, index));
    const scores = blosumKernel().scores(masked, subjects, (k) => slice[k].score >= HIGH_SCORE);
    for (let k = 0; k < scores.length; k++) {
      const rawScore = scores[k];
      const expected = (score: number): number =>
        eValue(score, query.length, subjects[k].length, corpus.residueCount);
      // The correction only lowers scores, so most candidates need none.
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

/** Sorts hits in place by E-value, score, accession. */
export function sortHits(hits: Hit[], corpus: Corpus): Hit[] {
  const accessions = new Map(hits.map(({ index }) => [index, corpus.accession(index)]));
  const byAccession = (a: Hit, b: Hit): number => {
    const left = accessions.get(a.index)!;
    const right = accessions.get(b.index)!;
    return left < right ? -1 : left > right ? 1 : a.index - b.index;
  };
  return hits.sort((a, b) => a.eValue - b.eValue || b.rawScore - a.rawScore || byAccession(a, b));
}

/** Residues of a sequence, not copied. */
export function readResidues(corpus: Corpus, index: number): Uint8Array {
  return corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]);
}

/** Adds the sequences with a high-scoring seed extension to each query's candidates. */
function prefilter(
  masked: readonly Uint8Array[],
  requests: readonly SearchRequest[],
  corpus: Corpus,
  ranges: Iterable<Range>,
  candidates: Candidate[][],
): void {
  const queries = indexSeeds(masked);
  if (queries.table.words.length === 0) return;
  // Bounds of all queries; each candidate is checked against its own query's later.
  const minLength = Math.min(...requests.map(({ options }) => options.minLength));
  const maxLength = Math.max(...requests.map(({ options }) => options.maxLength));
  blosumKernel().scan(queries, { ...SCAN_LIMITS, minLength, maxLength }, corpus, ranges, (index, score, k) =>
    candidates[k].push({ index, score }),
  );
}
