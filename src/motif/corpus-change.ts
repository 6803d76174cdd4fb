import type { Corpus } from "./corpus.ts";
import type { Range } from "./search.ts";

/** The difference between two corpora, such as two releases of a database. */
export interface CorpusChange {
  /** Index in the new corpus of each protein of the former one, -1 without one; in shared memory. */
  indexes: Int32Array;
  /** Ranges of the new corpus, and of the former one, that the other lacks. */
  added: Range[];
  removed: Range[];
}

/**
 * Finds the proteins that are in both: of the same accession, species and residues. An accession that several proteins of
 * a corpus have identifies none of them.
 */
export function compareCorpora(former: Corpus, corpus: Corpus): CorpusChange {
  const indexes = new Int32Array(new SharedArrayBuffer(4 * former.sequenceCount)).fill(-1);
  const isKept = new Uint8Array(corpus.sequenceCount);
  const [olds, news] = [uniqueAccessions(former), uniqueAccessions(corpus)];
  let [before, after] = [olds.next(), news.next()];
  while (!before.done && !after.done) {
    const [old, added] = [before.value, after.value];
    if (old.accession === added.accession && isSame(former, old.index, corpus, added.index)) {
      indexes[old.index] = added.index;
      isKept[added.index] = 1;
    }
    if (old.accession <= added.accession) before = olds.next();
    if (added.accession <= old.accession) after = news.next();
  }
  return {
    indexes,
    added: rangesWhere(corpus.sequenceCount, (index) => isKept[index] === 0),
    removed: rangesWhere(former.sequenceCount, (index) => indexes[index] < 0),
  };
}

/** Indexes in ascending order. */
function* uniqueAccessions(corpus: Corpus): Generator<{ accession: string; index: number }> {
  const { count, key, proteins } = corpus.names.accessions;
  for (let place = 0; place < count;) {
    const accession = key(place);
    const first = place;
    while (++place < count && key(place) === accession);
    if (place === first + 1) yield { accession, index: proteins(first, place)[0] };
  }
}

function isSame(former: Corpus, old: number, corpus: Corpus, index: number): boolean {
  const [from, to] = [former.offsets[old], former.offsets[old + 1]];
  const [start, end] = [corpus.offsets[index], corpus.offsets[index + 1]];
  return (
    to - from === end - start &&
    former.speciesKey(old) === corpus.speciesKey(index) &&
    Buffer.compare(former.residues.subarray(from, to), corpus.residues.subarray(start, end)) === 0
  );
}

function rangesWhere(count: number, isIn: (index: number) => boolean): Range[] {
  const ranges: Range[] = [];
  for (let index = 0; index < count; index++) {
    if (!isIn(index)) continue;
    const first = index;
    while (index < count && isIn(index)) index++;
    ranges.push([first, index]);
  }
  return ranges;
}

/** Residues of all proteins in ranges. */
export const residuesIn = (corpus: Corpus, ranges: readonly Range[]): number =>
  ranges.reduce((sum, [first, end]) => sum + corpus.offsets[end] - corpus.offsets[first], 0);
