import { align, alignLocal, type PairwiseAlignment } from "./align.ts";
import { adjustedScorer } from "./composition-adjustment.ts";
import type { Corpus } from "./corpus.ts";
import type { Row } from "./msa.ts";
import type { Options } from "./options.ts";
import { readQuery, SequenceError } from "./query.ts";
import {
  type Hit,
  sortHits,
  residuesOf,
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
  /** Of the local alignment, by scores adjusted to the two compositions; so is the next. */
  bitScore: number;
  /** Expected number of chance hits in the corpus that are as good. What decided about the hit is the search's own. */
  eValue: number;
  /** Identical pairs per aligned pair of standard residues, 0..1. */
  identity: number;
  /** Part of the query's residues that have one aligned to them, 0..1. */
  coverage: number;
  /** The homolog aligned to the query. */
  row: Row;
}

export type HomologOptions = Pick<
  Options,
  "maxEValue" | "minCoverage" | "minIdentity" | "maxLengthRatio" | "maxHomologs" | "exhaustive"
>;

/** Part of the work that is the search; the rest is alignment. Only the progress depends on it. */
const SEARCH_FRACTION = 0.8;
/** Hits aligned at a time: full batches of the kernel, and little in vain where the limit is reached. */
const BATCH = 32;

/**
 * The homologs of a query (residue codes) in a corpus, by rules 1 and 2 of the method: hits with at most
 * `maxEValue`, at most `maxLengthRatio` times as long as the query, with `minCoverage` and `minIdentity` both in
 * the local alignment and in the alignment from end to end; of these the best `maxHomologs`, where the best hit of
 * every species comes before second ones. Answered in order of the search's E-value, score, accession.
 *
 * A sequence equal to the whole query is no homolog: it shows no residue kept through any change. Its species counts
 * as represented. `report` hears the fraction done, 0..1. Empty where query or corpus are.
 * `hitsFound`: the hits, in any order, where `findHits` has found them already.
 */
export function findHomologs(
  query: Uint8Array,
  corpus: Corpus,
  options: HomologOptions,
  report: (fraction: number) => void = () => {},
  hitsFound?: Hit[],
): FoundHomolog[] {
  const hits = hitsFound
    ? sortHits(hitsFound, corpus)
    : search(query, corpus, searchOptions(query, options), (fraction) => report(fraction * SEARCH_FRACTION));
  const represented = new Set<number>();
  const others: Hit[] = [];
  for (const hit of hits) {
    if (!equal(query, residuesOf(corpus, hit.index))) others.push(hit);
    else if (corpus.species(hit.index) >= 0) represented.add(corpus.species(hit.index));
  }

  const found: FoundHomolog[] = [];
  const adjusted = adjustedScorer(query, corpus.residueCount);
  /** Aligns hits in order until the limit is reached, and takes those that hold; returns those left for later. */
  const take = (candidates: Hit[], oncePerSpecies: boolean): Hit[] => {
    const later: Hit[] = [];
    let at = 0;
    while (at < candidates.length && found.length < options.maxHomologs) {
      const batch: Hit[] = [];
      for (; at < candidates.length && batch.length < BATCH; at++) {
        const species = corpus.species(candidates[at].index);
        if (oncePerSpecies && represented.has(species)) later.push(candidates[at]);
        else batch.push(candidates[at]);
      }
      for (const [k, aligned] of alignHits(query, corpus, batch, options).entries()) {
        if (aligned === null) continue;
        const hit = batch[k];
        const species = corpus.species(hit.index);
        if (oncePerSpecies && represented.has(species)) later.push(hit);
        else if (found.length < options.maxHomologs) {
          if (species >= 0) represented.add(species);
          const { identity, coverage, row } = aligned.whole;
          const { bitScore, eValue } = adjusted(residuesOf(corpus, hit.index), aligned.local);
          found.push({ index: hit.index, rawScore: hit.rawScore, bitScore, eValue, identity, coverage, row });
        }
      }
      const done = Math.max(found.length / options.maxHomologs, at / candidates.length);
      report(SEARCH_FRACTION + (1 - SEARCH_FRACTION) * Math.min(1, done) * 0.99);
    }
    return later;
  };
  take(take(others, true), false);
  const rank = new Map(hits.map((hit, k) => [hit.index, k]));
  found.sort((a, b) => rank.get(a.index)! - rank.get(b.index)!);
  report(1);
  return found;
}

function searchOptions(query: Uint8Array, options: HomologOptions): SearchOptions {
  return {
    maxEValue: options.maxEValue,
    exhaustive: options.exhaustive,
    // A shorter one cannot cover enough of the query.
    minLength: Math.ceil(options.minCoverage * query.length),
    maxLength: Math.floor(options.maxLengthRatio * query.length),
  };
}

/**
 * The hits of several queries (letters) in those parts of a corpus that fall to this one of the threads that share
 * `counter`, a zero in shared memory: all their answers together are what `predict` takes as hits, whatever the number
 * of threads. One that cannot be read has no hits here; `predict` says what is wrong with it. `report` hears the part of
 * this thread's work that is done, on the scale of `findHomologs`.
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

/** Queries, and their residues, that share a pass over the corpus: more save little, and the first answer waits. */
const MAX_GROUP_QUERIES = 16;
const MAX_GROUP_RESIDUES = 16_384;
/**
 * Queries whose lengths are compared to form groups. Homologs have bounds of length that follow the query's, and a
 * pass reads what any query of its group admits: groups of nearly equal length read least.
 */
const SORT_WINDOW = 64;

/** Which queries, of these lengths, are best given to `findHits` together: each number from 0 in one of the groups. */
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

/** A hit's two alignments. */
interface HitAlignments {
  local: PairwiseAlignment;
  whole: PairwiseAlignment;
}

/** For each hit its alignments, or null where one of them falls short of coverage or identity. */
function alignHits(
  query: Uint8Array,
  corpus: Corpus,
  hits: Hit[],
  { minCoverage, minIdentity }: HomologOptions,
): (HitAlignments | null)[] {
  const holds = ({ coverage, identity }: PairwiseAlignment): boolean =>
    coverage >= minCoverage && identity >= minIdentity;
  const subjects = hits.map(({ index }) => residuesOf(corpus, index));
  const locally = alignLocal(query, subjects);
  const kept = hits.flatMap((_, k) => (holds(locally[k]) ? [k] : []));
  const aligned = align(
    query,
    kept.map((k) => subjects[k]),
  );
  const out: (HitAlignments | null)[] = hits.map(() => null);
  for (const [i, k] of kept.entries()) {
    if (holds(aligned[i])) out[k] = { local: locally[k], whole: aligned[i] };
  }
  return out;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((code, i) => code === b[i]);
}
