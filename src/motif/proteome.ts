import { findMatches, lookaroundTable } from "./automaton-matches.ts";
import type { StoredFamily } from "./carry-over.ts";
import type { Corpus } from "./corpus.ts";
import { average } from "./disorder/disorder.ts";
import { decodeFamily, encodeFamily } from "./family-record.ts";
import { findFamilies } from "./family-search.ts";
import type { KnownFeatures } from "./knowledge.ts";
import { DEFAULTS, PRIOR } from "./options.ts";
import type { Pattern } from "./pattern.ts";
import { rounded, scorePattern, type ScoringContext } from "./pattern-scores.ts";
import type { MatchScore } from "./prediction.ts";
import { readResidues } from "./search.ts";

/** A match in a protein of a corpus, with the numbers of `predict`. */
export interface ProteomeMatch extends Omit<MatchScore, "atHomologs" | "orthologs" | "paralogs" | "history"> {
  /** Index of the protein in the corpus. */
  protein: number;
  /** Mean predicted disorder of the match, 0..1. */
  disorder: number;
}

/**
 * Families of proteins as records, from which `scoreRecord` scores any pattern.
 * @param report called now and then
 */
export function* familyRecords(
  corpus: Corpus,
  proteins: readonly number[],
  report?: () => void,
): Generator<StoredFamily> {
  let at = 0;
  for (const { family, indexes, sizes } of findFamilies(corpus, proteins, report))
    yield { protein: proteins[at++], record: encodeFamily(family, indexes), sizes };
}

interface Motif extends Pick<ScoringContext, "model" | "facts" | "classModel"> {
  pattern: Pattern;
  /** Share of true motifs among the matches; undefined for the default. */
  prior?: number | undefined;
  /** Finds known features of a protein with matches. */
  featuresOf?: ((protein: number) => KnownFeatures | undefined) | undefined;
}

/** Matches of a pattern in a protein; the record is read only if there is one. */
export function scoreRecord(
  record: Uint8Array,
  protein: number,
  corpus: Corpus,
  { pattern, prior = PRIOR, featuresOf, ...motif }: Motif,
): ProteomeMatch[] {
  const query = readResidues(corpus, protein);
  const lookarounds = lookaroundTable(pattern.automaton, query);
  if (findMatches(pattern.automaton, query, lookarounds).length === 0) return [];
  const { family } = decodeFamily(record, query, (index) => readResidues(corpus, index));
  const context = { ...motif, family, options: { ...DEFAULTS, prior }, features: featuresOf?.(protein) };
  const { disorder } = family.prediction;
  return scorePattern(pattern, null, context, () => {}).matches.map((match) => {
    const { atHomologs: _atHomologs, ...numbers } = match;
    return Object.assign(
      { protein, disorder: rounded(average(disorder, match.start - 1, match.end)) },
      numbers,
    );
  });
}
