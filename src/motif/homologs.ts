import { align, alignLocal, type PairwiseAlignment } from "./align.ts";
import { adjustedScorer } from "./composition-adjustment.ts";
import type { Corpus } from "./corpus.ts";
import { eligibility } from "./homolog-choice.ts";
import type { Row } from "./msa.ts";
import type { Options } from "./options.ts";
import { readQuery, SequenceError } from "./query.ts";
import {
  type Hit,
  type Range,
  sortHits,
  readResidues,
  search,
  type SearchOptions,
  searchRanges,
  claimRanges,
} from "./search.ts";

export interface FoundHomolog {
  /** Index into the corpus. */
  index: number;
  /** Smith-Waterman score in half bits. */
  rawScore: number;
  /** Score of the local alignment in bits, with the matrix adjusted to both compositions. */
  bitScore: number;
  /** E-value of that score; hits are selected by the E-value of the search. */
  eValue: number;
  /** Identical fraction of the aligned pairs of standard residues, 0..1. */
  identity: number;
  /** Fraction of the query's residues aligned to a residue, 0..1. */
  coverage: number;
  /** The homolog aligned to the query. */
  row: Row;
}

export type HomologOptions = Pick<
  Options,
  | "maxEValue"
  | "minCoverage"
  | "minIdentity"
  | "maxIdentity"
  | "maxLengthRatio"
  | "maxHomologs"
  | "organisms"
  | "leaveOut"
  | "exhaustive"
>;

/** Fraction of the progress given to the search. */
const SEARCH_FRACTION = 0.8;
/** Hits aligned at a time: full batches of the kernel without many wasted alignments at the limit. */
const BATCH = 32;

/**
 * Homologs of a query (residue codes) in a corpus: hits with at most `maxEValue` and `maxLengthRatio`, and at
 * least `minCoverage` and `minIdentity` in both the local and the global alignment, at most
 * `maxIdentity` in the global one, and of the chosen organisms; the best `maxHomologs` of them, the best hit of
 * each species first. Ordered by the search's E-value, score, accession.
 *
 * A sequence equal to the query is no homolog, but represents its species. `hitsFound`: the result of
 * `findHits`, in any order.
 */
export function findHomologs(
  query: Uint8Array,
  corpus: Corpus,
  options: HomologOptions,
  report: (fraction: number) => void = () => {},
  hitsFound?: Hit[],
): FoundHomolog[] {
  const isEligible = eligibility(corpus, options);
  const all = hitsFound ? sortHits(hitsFound, corpus) : findOwnHits(query, corpus, options, report);
  const hits = all.filter(({ index }) => isEligible(index));
  const represented = new Set<number>();
  const others: Hit[] = [];
  for (const hit of hits) {
    if (!equalResidues(query, readResidues(corpus, hit.index))) others.push(hit);
    else if (corpus.species(hit.index) >= 0) represented.add(corpus.species(hit.index));
  }

  const found: FoundHomolog[] = [];
  const adjusted = adjustedScorer(query, corpus.residueCount);
  /**
   * Aligns hits in order up to the limit and keeps those that pass; returns those deferred because their
   * species is represented.
   */
  const selectHits = (candidates: Hit[], oncePerSpecies: boolean): Hit[] => {
    const deferred: Hit[] = [];
    let at = 0;
    while (at < candidates.length && found.length < options.maxHomologs) {
      const batch: Hit[] = [];
      for (; at < candidates.length && batch.length < BATCH; at++) {
        const species = corpus.species(candidates[at].index);
        if (oncePerSpecies && represented.has(species)) deferred.push(candidates[at]);
        else batch.push(candidates[at]);
      }
      for (const [k, aligned] of alignHits(query, corpus, batch, options).entries()) {
        if (aligned === null) continue;
        const hit = batch[k];
        const species = corpus.species(hit.index);
        if (oncePerSpecies && represented.has(species)) deferred.push(hit);
        else if (found.length < options.maxHomologs) {
          if (species >= 0) represented.add(species);
          const { identity, coverage, row } = aligned.global;
          const { bitScore, eValue } = adjusted(readResidues(corpus, hit.index), aligned.local);
          found.push({ index: hit.index, rawScore: hit.rawScore, bitScore, eValue, identity, coverage, row });
        }
      }
      const done = Math.max(found.length / options.maxHomologs, at / candidates.length);
      report(SEARCH_FRACTION + (1 - SEARCH_FRACTION) * Math.min(1, done) * 0.99);
    }
    return deferred;
  };
  selectHits(selectHits(others, true), false);
  const rank = new Map(hits.map((hit, k) => [hit.index, k]));
  found.sort((a, b) => rank.get(a.index)! - rank.get(b.index)!);
  report(1);
  return found;
}

/** Hits of one query in the whole corpus, for `findHomologs`. */
export function findOwnHits(
  query: Uint8Array,
  corpus: Corpus,
  options: HomologOptions,
  report: (fraction: number) => void = () => {},
): Hit[] {
  return search(query, corpus, searchOptions(query, options), (fraction) =>
    report(fraction * SEARCH_FRACTION),
  );
}

/** Hits that are no homologs, by the reason. */
export interface ExcludedHits {
  /** Longer than `maxLengthRatio` allows. */
  long: readonly Hit[];
  /** Number of hits of a suitable length that miss the coverage or the identity. */
  dissimilar: number;
}

/**
 * Finds the hits that are not among the homologs (indexes into the corpus). `hits` are those of the search
 * for homologs, which skips proteins of unsuitable length; the long ones are searched here, with the prefilter.
 */
export function findLeftOut(
  query: Uint8Array,
  corpus: Corpus,
  options: HomologOptions,
  { hits, homologs }: { hits: readonly Hit[]; homologs: readonly number[] },
): ExcludedHits {
  const admitted = new Set(homologs);
  const dissimilar = hits.filter(
    ({ index }) => !admitted.has(index) && !equalResidues(query, readResidues(corpus, index)),
  );
  const { maxEValue, maxLength } = searchOptions(query, options);
  const longer = { maxEValue, exhaustive: false, minLength: maxLength + 1, maxLength: Infinity };
  return { long: search(query, corpus, longer), dissimilar: dissimilar.length };
}

function searchOptions(query: Uint8Array, options: HomologOptions): SearchOptions {
  return {
    maxEValue: options.maxEValue,
    exhaustive: options.exhaustive,
    // Shorter sequences cannot reach the coverage.
    minLength: Math.ceil(options.minCoverage * query.length),
    maxLength: Math.floor(options.maxLengthRatio * query.length),
  };
}

/**
 * Hits of several queries (letters) in the ranges of a corpus that this thread claims; the hits of all
 * threads that share `counter` (zero at first, in shared memory) are what `predict` takes. Invalid queries
 * have no hits; `predict` reports them.
 */
export function findHits(
  queries: readonly string[],
  corpus: Corpus,
  options: HomologOptions,
  counter: Int32Array,
  report: (fraction: number) => void = () => {},
): Hit[][] {
  const requests = queries.map((text) => {
    const query = readQueryOrEmpty(text);
    return { query, options: searchOptions(query, options) };
  });
  return searchRanges(requests, corpus, claimRanges(corpus, counter), (fraction) =>
    report(fraction * SEARCH_FRACTION),
  );
}

/**
 * Hits of queries (residue codes) in ranges of a corpus that can change their homologs: those that pass the criteria.
 * So does a copy of the query, which represents its species.
 */
export function findDecisiveHits(
  queries: readonly Uint8Array[],
  corpus: Corpus,
  options: HomologOptions,
  ranges: readonly Range[],
): Hit[][] {
  const requests = queries.map((query) => ({ query, options: searchOptions(query, options) }));
  return searchRanges(requests, corpus, ranges).map((hits, k) => {
    const aligned = alignHits(queries[k], corpus, hits, options);
    return hits.filter((_, i) => aligned[i] !== null);
  });
}

/** Limits of a group: larger groups save little and delay the first result. */
const MAX_GROUP_QUERIES = 16;
const MAX_GROUP_RESIDUES = 16_384;
/** Queries sorted by length at a time: a pass reads the lengths that any query of the group admits. */
const SORT_WINDOW = 64;

/** Groups queries of these lengths for `findHits`; each group lists indexes. */
export function groupQueries(lengths: readonly number[]): number[][] {
  const groups: number[][] = [];
  for (let from = 0; from < lengths.length; from += SORT_WINDOW) {
    const numbers = Array.from({ length: Math.min(SORT_WINDOW, lengths.length - from) }, (_, i) => from + i);
    numbers.sort((a, b) => lengths[a] - lengths[b] || a - b);
    let members: number[] = [];
    let residues = 0;
    for (const k of numbers) {
      if (
        members.length === 0 ||
        members.length === MAX_GROUP_QUERIES ||
        residues + lengths[k] > MAX_GROUP_RESIDUES
      ) {
        groups.push((members = []));
        residues = 0;
      }
      members.push(k);
      residues += lengths[k];
    }
  }
  return groups;
}

function readQueryOrEmpty(text: string): Uint8Array {
  try {
    return readQuery(text);
  } catch (error) {
    if (error instanceof SequenceError) return new Uint8Array(0);
    throw error;
  }
}

/** The local and the global alignment of a hit. */
interface HitAlignments {
  local: PairwiseAlignment;
  global: PairwiseAlignment;
}

/** Alignments of each hit; null if one lacks coverage or identity. */
function alignHits(
  query: Uint8Array,
  corpus: Corpus,
  hits: Hit[],
  { minCoverage, minIdentity, maxIdentity }: HomologOptions,
): (HitAlignments | null)[] {
  const passes = ({ coverage, identity }: PairwiseAlignment): boolean =>
    coverage >= minCoverage && identity >= minIdentity;
  const subjects = hits.map(({ index }) => readResidues(corpus, index));
  const localAlignments = alignLocal(query, subjects);
  const passing = hits.flatMap((_, k) => (passes(localAlignments[k]) ? [k] : []));
  const aligned = align(
    query,
    passing.map((k) => subjects[k]),
  );
  const out: (HitAlignments | null)[] = hits.map(() => null);
  for (const [i, k] of passing.entries()) {
    if (passes(aligned[i]) && aligned[i].identity <= maxIdentity)
      out[k] = { local: localAlignments[k], global: aligned[i] };
  }
  return out;
}

/** True if two sequences of residue codes are equal. */
export function equalResidues(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((code, i) => code === b[i]);
}
