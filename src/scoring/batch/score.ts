import {
  type Corpus,
  DEFAULTS,
  type Knowledge,
  type Options,
  type PatternRequest,
  predictFromAlignment,
  type Prediction,
  type ScoringModel,
  SequenceError,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { type PatternInput, readPatterns } from "../corpus/patterns.ts";
import { choiceProblems } from "../corpus/choice-problems.ts";
import type { EvidenceChoice } from "../jobs/job.ts";
import type { ProteinObject } from "../prediction/prediction.ts";
import type { Corpora, CorpusInfo } from "../corpus/corpus.ts";
import type { MatchNotes } from "../features/annotation.ts";
import type { Provenance } from "../table/provenance.ts";
import { runProvenance } from "../prediction/provenance.ts";
import { identify } from "../corpus/find-proteins.ts";
import { readAlignmentText } from "./alignment-text.ts";
import { type ReadingContext, requireLength } from "../jobs/job-request.ts";
import type { NamedQuestion } from "./questions.ts";
import { scoreParallel } from "./score-parallel.ts";

export interface Scored {
  accession: string;
  description: string;
  /** The query, if the corpus has it. */
  protein: ProteinObject | null;
  /** Without method, model and corpus, which are those of the prediction. */
  provenance?: Provenance | undefined;
  prediction: Prediction;
  /** Features at each match; absent if no features are imported. */
  notes?: readonly MatchNotes[];
}

export interface BatchOptions {
  scoringModel: ScoringModel;
  options?: Partial<Options>;
  /** Evidence that is left out; the questions do not have it. */
  evidence?: EvidenceChoice;
  /** Threads; 1 by default. */
  workers?: number;
  /** Number of initial questions whose results exist already. */
  skip?: number;
  /** By default the corpus in use. */
  corpus?: CorpusInfo | null;
  report?: (done: number, total: number, stage: string, fraction: number) => void;
}

/** Scores questions in order on threads, with the numbers that jobs would have. @throws Problem bad_corpus */
export async function* scoreQuestions(
  questions: readonly NamedQuestion[],
  { scoringModel, options, evidence, workers = 1, skip = 0, report, ...of }: BatchOptions,
  corpora: Corpora,
): AsyncGenerator<Scored> {
  const info = of.corpus ?? corpora.active();
  let corpus: Corpus | undefined;
  const opened = (): Corpus => (corpus ??= corpora.open(info));
  const [problem] = choiceProblems(options ?? {}, opened);
  if (problem) throw problem;
  let done = skip;
  const at = Date.now();
  const predictions = scoreParallel(questions.slice(skip), {
    model: scoringModel,
    corpusPath: info?.path ?? null,
    workers,
    options,
    report: (stage, fraction) => report?.(done, questions.length, stage, fraction),
  });
  for await (const prediction of predictions) {
    const question = questions[done++];
    const { name, description, sequence } = question;
    const protein = identify(opened, { identifier: name, query: sequence });
    const provenance = runProvenance({ at, options, evidence, questions: [question] });
    yield { accession: name, description, protein, provenance, prediction };
  }
}

/** Patterns to score on an alignment from the user instead of a search for homologs. */
export interface AlignmentRequest extends PatternInput {
  /** Text of the alignment as aligned FASTA, A3M, Clustal or Stockholm. */
  alignment: string | Uint8Array;
  /** Identifier of the row that is the query; by default the first. */
  query?: string | undefined;
  scoringModel: ScoringModel;
  options?: Partial<Options>;
  /** Evidence that is left out. */
  evidence?: EvidenceChoice;
  /** Reads the knowledge beside the query's sequence. */
  knowledge?: (query: {
    identifier: string;
    query: string;
    patterns: PatternRequest[];
  }) => Knowledge | undefined;
}

/** @throws Problem invalid_request naming line, or row and character; invalid_pattern, unknown_motif_class */
export function scoreAlignment(
  { alignment, query, scoringModel, options, evidence, knowledge, ...input }: AlignmentRequest,
  { classes, maxQueryLength }: ReadingContext,
): Scored {
  const patterns = readPatterns(input, classes);
  const rows = readAlignmentText(alignment, query);
  const [{ name, description = "", letters }] = rows;
  const residues = letters.replace(/[^A-Za-z]/g, "").toUpperCase();
  requireLength(residues.length, maxQueryLength, [name]);
  try {
    const known = knowledge?.({ identifier: name, query: residues, patterns });
    const request = { rows, patterns, model: scoringModel, knowledge: known };
    const questions = [{ name, description, sequence: residues, patterns, knowledge: known }];
    return {
      accession: name,
      description,
      protein: null,
      provenance: runProvenance({ at: Date.now(), options, evidence, questions, alignment: rows }),
      prediction: predictFromAlignment(request, { ...DEFAULTS, ...options }),
    };
  } catch (cause) {
    if (!(cause instanceof SequenceError)) throw cause;
    throw new Problem("invalid_request", cause.message, { cause });
  }
}
