/**
 * Motif library: conservation of short linear motifs in protein sequences (docs/method.md). Pure: no I/O, no
 * clock, no randomness.
 */

/** Pipeline from a query and a corpus, or an alignment, to scored matches. */
export { predict, predictFromAlignment } from "./predict.ts";
export type { PatternRequest, ProgressCallback, Stage } from "./predict.ts";

/** Models of motif classes, learned from known instances. */
export { classMatchesIn, type ClassMatch, listColumns } from "./class-examples.ts";
export { type ClassExample, joinFamilies, learnClass, MIN_INSTANCES } from "./class-learning.ts";
export { type ClassModel, describeClassModel } from "./class-model.ts";
export { shuffled } from "./random.ts";

/** Knowledge beside the sequences that counts as evidence. */
export { factsMatter } from "./knowledge.ts";
export { markedResidue } from "./marked-residue.ts";
export type {
  ClassFacts,
  Compartment,
  KnownFeatures,
  KnownSpan,
  Knowledge,
  PhosphoResidue,
} from "./knowledge.ts";

/** Homolog search of several queries by several threads; `predict` continues with the hits. */
export { findHits, groupQueries } from "./homologs.ts";
export type { Hit } from "./search.ts";

export { SCORING_MODELS } from "./prediction.ts";
export type {
  AppliedClassModel,
  ConservationLevel,
  Contributions,
  FamilyAlignment,
  Homolog,
  HomologAtMatch,
  HomologState,
  KeptIn,
  MatchHistory,
  MatchScore,
  PatternScores,
  Prediction,
  PValueKind,
  RandomMatches,
  Relation,
  ScoringModel,
  Verdict,
} from "./prediction.ts";

/** Matches of many patterns in one order, with q-values. */
export { compareZ } from "./match-order.ts";
export { rankMatches, rankRows } from "./ranking.ts";
export type { RankedMatch } from "./ranking.ts";

/** The choice of homologs. */
export { organismTest, unknownOrganisms } from "./homolog-choice.ts";
export { KNOWN_SPECIES, speciesRank } from "./species.ts";
export type { HomologChoice } from "./homolog-choice.ts";

/** Method version and options. */
export { DEFAULTS, DISORDER_THRESHOLD, FAMILY_METHOD, METHOD, PRIOR, SHIFT } from "./options.ts";
export type { Options } from "./options.ts";

/** Patterns: parse, suggest, explain, minimum information in bits, matches in a sequence. */
export { parsePattern } from "./pattern.ts";
export type { Dialect, Pattern } from "./pattern.ts";
export { didYouMean, suggestPatterns } from "./pattern-suggestion.ts";
export { explain, listPositions } from "./explain.ts";
export { minBits } from "./information.ts";
export { findMatches, lookaroundTable } from "./automaton-matches.ts";
export type { Match } from "./automaton-matches.ts";

/** Letters to residue codes and back. */
export { predictDisorder } from "./disorder/disorder.ts";
export { decode, encode, GAP, looksLikeNucleotides } from "./alphabet.ts";
export { alignLocal, partnersOf } from "./align.ts";
export { eValue } from "./statistics.ts";

/** Trees: distances of aligned rows, neighbour joining, Newick. */
export { distances } from "./distance.ts";
export { neighbourJoining, newick, newickName } from "./tree.ts";
export type { Tree } from "./tree.ts";

/** Protein collections: FASTA in, an immutable block of bytes out. */
export { CorpusBuilder, packCorpus } from "./corpus-builder.ts";
export type { PackedCorpus } from "./corpus-builder.ts";
export { CORPUS_VERSION } from "./corpus-format.ts";
export { CorpusHasher, openCorpus } from "./corpus.ts";
export type { Corpus } from "./corpus.ts";
export { firstNotBelow } from "./name-index.ts";
export { identifyProtein, proteinsNamed } from "./name-lookup.ts";
export type { IdentifiedProtein } from "./name-lookup.ts";
export { searchNames } from "./name-search.ts";
export type { FoundProtein } from "./name-search.ts";
export { FastaReader, readFasta } from "./fasta.ts";
export type { FastaEntry } from "./fasta.ts";
export { readHeader } from "./header.ts";
export type { ProteinIdentity } from "./header.ts";

/** Sequences as people paste them. */
export { findPlace, readProteinText } from "./protein-text.ts";
export type { ProteinText } from "./protein-text.ts";

/** Variants of a protein. */
export { listVariants, readVariant, revertVariant, VariantError } from "./variant.ts";

/** Proteomes: families of proteins once, as records, then any pattern without a search. */
export { familyRecords, scoreRecord } from "./proteome.ts";
export { carryOver } from "./carry-over.ts";
export type { StoredFamily } from "./carry-over.ts";
export { compareCorpora, residuesIn } from "./corpus-change.ts";
export type { CorpusChange } from "./corpus-change.ts";
export type { SizeRange } from "./hit-range.ts";
export type { ProteomeMatch } from "./proteome.ts";

/** Errors of invalid input. */
export { PatternError } from "./pattern-tree.ts";
export { readAlignment, SequenceError } from "./query.ts";
export type { AlignedText } from "./query.ts";
export { CorpusError } from "./corpus-format.ts";
export { FastaError } from "./fasta.ts";
