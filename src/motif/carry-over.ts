import type { Corpus } from "./corpus.ts";
import type { CorpusChange } from "./corpus-change.ts";
import { moveFamily } from "./family-record.ts";
import { KNOWN_E_VALUES, minSize, type SizeRange } from "./hit-range.ts";
import { findDecisiveHits, groupQueries } from "./homologs.ts";
import { DEFAULTS } from "./options.ts";
import { readResidues } from "./search.ts";

/** A family in stored form. */
export interface StoredFamily {
  /** Index of the protein in the corpus. */
  protein: number;
  record: Uint8Array;
  sizes: SizeRange;
}

/**
 * Finds the families of the former corpus that are unchanged in the new one. The homologs of a protein are determined by the
 * hits that pass the criteria, and by their order. So a family is the same if the corpus has a size
 * in which the search finds the same hits among the proteins of both, no added protein is such a hit in the new corpus,
 * and no removed protein was one in the former.
 * @param report called now and then
 */
export function* carryOver(
  families: readonly StoredFamily[],
  former: Corpus,
  corpus: Corpus,
  change: CorpusChange,
  report: () => void = () => {},
): Generator<StoredFamily> {
  const { residueCount } = corpus;
  const candidates = families.filter(
    ({ protein, sizes: [least, most] }) =>
      change.indexes[protein] >= 0 && least <= residueCount && residueCount <= most,
  );
  const lengths = candidates.map(({ protein }) => readResidues(former, protein).length);
  const { maxEValue } = DEFAULTS;
  const wider = { ...DEFAULTS, maxEValue: maxEValue * KNOWN_E_VALUES };
  for (const group of groupQueries(lengths)) {
    report();
    const members = group.map((k) => candidates[k]);
    const queries = members.map(({ protein }) => readResidues(former, protein));
    const added = findDecisiveHits(queries, corpus, wider, change.added);
    const removed = findDecisiveHits(queries, former, DEFAULTS, change.removed);
    for (const [
      k,
      {
        protein,
        record,
        sizes: [least, most],
      },
    ] of members.entries()) {
      if (removed[k].length > 0 || added[k].some(({ eValue }) => eValue <= maxEValue)) continue;
      yield {
        protein: change.indexes[protein],
        record: moveFamily(record, queries[k].length, (index) => change.indexes[index]),
        sizes: [Math.max(least, minSize(added[k], corpus, maxEValue)), most],
      };
    }
  }
}
