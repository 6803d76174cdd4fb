import { decode } from "./alphabet.ts";
import type { Corpus } from "./corpus.ts";
import { buildFamily, type Family, measureHomolog, passesThresholds } from "./divergence.ts";
import { findHits, findHomologs } from "./homologs.ts";
import { DEFAULTS } from "./options.ts";
import { alignProgressively } from "./progressive.ts";
import { residuesOf } from "./search.ts";

/** The family of a protein of a corpus, and the homologs' indexes in it. */
export interface FoundFamily {
  family: Family;
  indexes: number[];
}

/** Families of proteins, as `predict` finds them with default options; one pass over the corpus searches all. */
export function* findFamilies(corpus: Corpus, proteins: readonly number[]): Generator<FoundFamily> {
  const queries = proteins.map((index) => residuesOf(corpus, index));
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const texts = queries.map((query) => decode(query));
  const hits = findHits(texts, corpus, DEFAULTS, counter);
  for (const [k, query] of queries.entries()) {
    const found = findHomologs(query, corpus, DEFAULTS, () => {}, hits[k]);
    const rows = alignProgressively(
      query,
      found.map(({ row }) => row),
    );
    const homologs = rows
      .map((row, i) => ({ index: found[i].index, homolog: measureHomolog(query, row) }))
      .filter(({ homolog }) => passesThresholds(homolog, DEFAULTS));
    yield {
      family: buildFamily(
        query,
        homologs.map(({ homolog }) => homolog),
      ),
      indexes: homologs.map(({ index }) => index),
    };
  }
}
