/**
 * The motif library: protein sequences in, conservation of short linear motifs out. Pure: no I/O, no clock, no
 * randomness; equal arguments give equal results. `docs/algorithm.md` has the method.
 */

/** The pipeline: from a query and a corpus, or from an alignment of the user's, to scored matches. */
export { predict, predictFromAlignment } from "./predict.ts";
export type { PatternRequest, ProgressCallback, Stage } from "./predict.ts";

/** The search alone, of several queries at once and by several threads; `predict` goes on from there. */
export { findHits, groupQueries } from "./homologs.ts";
export type { Hit } from "./search.ts";

/** What comes out, and the two ways in which substitutions may count. */
export { SCORING_MODELS } from "./prediction.ts";
export type {
  Contributions,
  FamilyAlignment,
  Homolog,
  HomologAtMatch,
  HomologState,
  MatchScore,
  PatternScores,
  Prediction,
  ScoringModel,
  Verdict,
} from "./prediction.ts";

/** The method's versions, the one used unless another is asked for, and what a caller may vary. */
export { DEFAULTS, METHOD } from "./options.ts";
export type { Options } from "./options.ts";

/** A pattern alone: read and checked, put into words, its least information in bits, its matches in a sequence. */
export { parsePattern } from "./pattern.ts";
export type { Dialect, Pattern } from "./pattern.ts";
export { explain } from "./explain.ts";
export { minBits } from "./information.ts";
export { findMatches, lookaroundTable } from "./automaton-matches.ts";
export type { Match } from "./automaton-matches.ts";

/** Letters to codes and back; everything within the library works on codes. */
export { decode, encode, looksLikeNucleotides } from "./alphabet.ts";

/** A tree alone: distances of aligned rows, neighbour joining, Newick. */
export { distances } from "./distance.ts";
export { neighbourJoining, newick } from "./tree.ts";
export type { Tree } from "./tree.ts";

/** Protein collections: FASTA in, an immutable block of bytes out, opened where it lies. */
export { CorpusBuilder, openCorpus, packCorpus } from "./corpus.ts";
export type { Corpus, PackedCorpus } from "./corpus.ts";
export { FastaReader, readFasta, readHeader } from "./fasta.ts";
export type { FastaEntry } from "./fasta.ts";

/** An empirical null of a corpus's own: random matches in drawn proteins, and what they make; `Corpus.calibration` takes it. */
export { calibrationOf, drawMatches, drawnProteins, ENOUGH_DRAWS, MIN_DRAWS } from "./calibration.ts";
export type { Draw } from "./calibration.ts";
export { NULL_BINS } from "./p-value.ts";
export type { Calibration } from "./p-value.ts";

/** What is thrown at input without meaning; each text says what is wrong and what is allowed. */
export { PatternError } from "./pattern-tree.ts";
export { SequenceError } from "./query.ts";
export type { AlignedText } from "./query.ts";
export { CorpusError } from "./corpus.ts";
export { FastaError } from "./fasta.ts";
