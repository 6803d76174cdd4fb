import { blosumKernel } from "./blosum-kernel.ts";
import { maskLowComplexity } from "./complexity.ts";
import type { Corpus } from "./corpus.ts";
import { sketch } from "./sketch.ts";
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

/** Two words of a sketch count as one hit where they lie on one diagonal at most so far apart (BLAST's value). */
const WINDOW = 40;
/** An extension ends where it falls so far below its best: 7 bits, BLAST's value, in half bits of BLOSUM62. */
const DROP = 16;
/** Extensions that score so much let a sequence through to the Smith-Waterman. */
export const PASS_SCORE = 41;
/** An extension of so much leaves 8 bits behind as likely as not: such pairs begin with 16. */
const HIGH_SCORE = 200;
/** Sequences per report, so that the caller hears of progress some ten times a second. */
const SLICE = 8192;

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
  report(0);
  const masked = maskLowComplexity(query);
  const candidates = options.exhaustive
    ? Array.from({ length: corpus.sequenceCount }, (_, index) => ({ index, score: 0 }))
    : prefilter(masked, corpus, options, (fraction) => report(fraction * 0.6));
  const lengthOf = (index: number): number => corpus.offsets[index + 1] - corpus.offsets[index];
  const wanted = candidates
    .filter(({ index }) => lengthOf(index) >= options.minLength && lengthOf(index) <= options.maxLength)
    .sort((a, b) => lengthOf(a.index) - lengthOf(b.index) || a.index - b.index);

  const own = composition(masked);
  const hits: Hit[] = [];
  for (let from = 0; from < wanted.length; from += SLICE) {
    const slice = wanted.slice(from, from + SLICE);
    const subjects = slice.map(({ index }) => residuesOf(corpus, index));
    const scores = blosumKernel().scores(masked, subjects, (k) => slice[k].score >= HIGH_SCORE);
    for (let k = 0; k < scores.length; k++) {
      const rawScore = scores[k];
      const expected = (score: number): number =>
        eValue(score, query.length, subjects[k].length, corpus.residueCount);
      // The correction only ever lowers a score, so most need none.
      if (expected(rawScore) > options.maxEValue) continue;
      const score = rawScore * compositionScale(own, composition(subjects[k]));
      const chance = expected(score);
      if (chance > options.maxEValue) continue;
      hits.push({ index: slice[k].index, rawScore, bitScore: bitScore(score), eValue: chance });
    }
    report(0.6 + (0.4 * Math.min(from + SLICE, wanted.length)) / wanted.length);
  }
  const accessions = new Map(hits.map(({ index }) => [index, corpus.accession(index)]));
  const byAccession = (a: Hit, b: Hit): number => {
    const left = accessions.get(a.index)!;
    const right = accessions.get(b.index)!;
    return left < right ? -1 : left > right ? 1 : a.index - b.index;
  };
  hits.sort((a, b) => a.eValue - b.eValue || b.rawScore - a.rawScore || byAccession(a, b));
  report(1);
  return hits;
}

/** The residues of one sequence, where they lie. */
export function residuesOf(corpus: Corpus, index: number): Uint8Array {
  return corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]);
}

/** Sequences that share two words on a diagonal with the query and a good stretch through them. */
function prefilter(
  masked: Uint8Array,
  corpus: Corpus,
  { minLength, maxLength }: SearchOptions,
  report: (fraction: number) => void,
): { index: number; score: number }[] {
  const { words } = sketch(masked);
  const passed: { index: number; score: number }[] = [];
  if (words.words.length === 0) return passed;
  blosumKernel().scan(
    masked,
    words,
    { window: WINDOW, drop: DROP, minLength, maxLength },
    corpus.residues,
    corpus.offsets,
    0,
    corpus.sequenceCount,
    PASS_SCORE,
    (index, score) => passed.push({ index, score }),
    (next) => report(next / corpus.sequenceCount),
  );
  return passed;
}
