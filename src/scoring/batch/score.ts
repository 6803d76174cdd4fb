import {
  decode,
  DEFAULTS,
  FastaError,
  type Options,
  predict,
  type Prediction,
  readFasta,
  type ScoringModel,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { type Corpora, NO_CORPUS } from "../corpus/corpus.ts";
import { readPatterns } from "../api/handlers.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import { type Question, scoreParallel } from "./score-parallel.ts";

/** Queries and patterns that are scored at once, without a job. */
export interface ScoreRequest {
  /** FASTA: every record is a query. */
  fasta: string | Uint8Array;
  regularExpression: readonly string[];
  elmIdentifierName: readonly string[];
  scoringModel: ScoringModel;
  /** What differs from the defaults of the method. */
  options?: Partial<Options>;
}

export interface Scored {
  accession: string;
  description: string;
  prediction: Prediction;
}

/**
 * Scores one query after the other against the corpus in use, on this thread, by the same code as a job.
 * Numbers are those that a job would give.
 * @throws Problem invalid_request for FASTA without meaning, invalid_pattern, unknown_motif_class, bad_corpus
 */
export function* scoreSequences(
  { fasta, regularExpression, elmIdentifierName, scoringModel, options }: ScoreRequest,
  { corpora, classes, maxQueryLength }: { corpora: Corpora; classes: MotifClasses; maxQueryLength: number },
): Generator<Scored> {
  const patterns = readPatterns(regularExpression, elmIdentifierName, classes);
  const queries = readQueries(fasta, maxQueryLength);
  const hasCorpus = corpora.active() !== null;
  const corpus = corpora.openActive();
  for (const { accession, description, residues } of queries) {
    const request = { query: decode(residues), patterns, model: scoringModel };
    const prediction = predict(request, corpus, { ...DEFAULTS, ...options });
    if (!hasCorpus) prediction.warnings.unshift(NO_CORPUS);
    yield { accession, description, prediction };
  }
}

/** A query with its patterns, checked, and what it is called. */
export interface NamedQuestion extends Question {
  name: string;
  description: string;
}

/**
 * What the records of FASTA ask for some patterns.
 * @throws Problem invalid_request for FASTA without meaning, invalid_pattern, unknown_motif_class
 */
export function readSequences(
  { fasta, regularExpression, elmIdentifierName }: Omit<ScoreRequest, "scoringModel" | "options">,
  { classes, maxQueryLength }: { classes: MotifClasses; maxQueryLength: number },
): NamedQuestion[] {
  const patterns = readPatterns(regularExpression, elmIdentifierName, classes);
  return readQueries(fasta, maxQueryLength).map(({ accession, description, residues }) => ({
    name: accession,
    description,
    sequence: decode(residues),
    patterns,
  }));
}

/** How questions are answered. */
export interface Answering {
  scoringModel: ScoringModel;
  /** What differs from the defaults of the method. */
  options?: Partial<Options>;
  /** Threads that score; one by default. */
  workers?: number;
  /** Questions at the beginning whose results are there already. */
  skip?: number;
  /** `done` of `total` questions are answered, and one that is not is at this stage. */
  report?: (done: number, total: number, stage: string, fraction: number) => void;
}

/**
 * Answers questions on threads of their own, in their order, with the numbers that jobs would give.
 * @throws Problem bad_corpus
 */
export async function* scoreQuestions(
  questions: readonly NamedQuestion[],
  { scoringModel, options, workers = 1, skip = 0, report }: Answering,
  corpora: Corpora,
): AsyncGenerator<Scored> {
  let done = skip;
  const predictions = scoreParallel(questions.slice(skip), {
    model: scoringModel,
    corpusPath: corpora.active()?.path ?? null,
    workers,
    options,
    report: (stage, fraction) => report?.(done, questions.length, stage, fraction),
  });
  for await (const prediction of predictions) {
    const { name, description } = questions[done++];
    yield { accession: name, description, prediction };
  }
}

/** The records of a FASTA text, each short enough. @throws Problem invalid_request */
function readQueries(fasta: string | Uint8Array, maxQueryLength: number): ReturnType<typeof readFasta> {
  let queries: ReturnType<typeof readFasta>;
  try {
    queries = readFasta(fasta);
  } catch (error) {
    if (error instanceof FastaError)
      throw new Problem("invalid_request", `${error.message}.`, { cause: error });
    throw error;
  }
  if (queries.length === 0) throw new Problem("invalid_request", "There is no sequence. Expected FASTA.");
  const long = queries.find(({ residues }) => residues.length > maxQueryLength);
  if (long) {
    throw new Problem(
      "invalid_request",
      `${long.accession}: ${long.residues.length} residues; at most ${maxQueryLength} are scored.`,
    );
  }
  return queries;
}
