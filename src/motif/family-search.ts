import { decode } from "./alphabet.ts";
import type { Corpus } from "./corpus.ts";
import { buildFamily, type Family, measureHomolog, passesThresholds } from "./divergence.ts";
import { KNOWN_E_VALUES, type SizeRange, sizeRange } from "./hit-range.ts";
import { findHits, findHomologs } from "./homologs.ts";
import { DEFAULTS } from "./options.ts";
import { alignProgressively } from "./progressive.ts";
import { type Hit, readResidues, sortHits } from "./search.ts";

/** The family of a protein of a corpus. */
export interface FoundFamily {
  family: Family;
  /** The homologs' indexes in the corpus. */
  indexes: number[];
  /** Sizes of corpora with identical hits in which the family stays unchanged. */
  sizes: SizeRange;
}

const { maxEValue } = DEFAULTS;

/**
 * Families of proteins, as `predict` finds them with default options; one pass over the corpus searches all.
 * @param report called now and then
 */
export function* findFamilies(
  corpus: Corpus,
  proteins: readonly number[],
  report: () => void = () => {},
): Generator<FoundFamily> {
  const queries = proteins.map((index) => readResidues(corpus, index));
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const texts = queries.map((query) => decode(query));
  const options = { ...DEFAULTS, maxEValue: maxEValue * KNOWN_E_VALUES };
  const found = findHits(texts, corpus, options, counter, report);
  for (const [k, query] of queries.entries()) {
    const all = sortHits(found[k], corpus);
    const hits = all.filter(({ eValue }) => eValue <= maxEValue);
    yield { ...alignFamily(query, corpus, hits, report), sizes: sizeRange(all, corpus, maxEValue) };
  }
}

function alignFamily(
  query: Uint8Array,
  corpus: Corpus,
  hits: Hit[],
  report: () => void,
): Omit<FoundFamily, "sizes"> {
  const found = findHomologs(query, corpus, DEFAULTS, report, hits);
  const rows = alignProgressively(
    query,
    found.map(({ row }) => row),
  );
  const homologs = rows
    .map((row, i) => ({ index: found[i].index, homolog: measureHomolog(query, row) }))
    .filter(({ homolog }) => passesThresholds(homolog, DEFAULTS));
  const family = buildFamily(
    query,
    homologs.map(({ homolog }) => homolog),
  );
  return { family, indexes: homologs.map(({ index }) => index) };
}
