import type { AlignedText, HomologChoice, ScoringModel } from "../../motif/index.ts";
import { type Path, Problem, ProblemList } from "../../problem.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import { type PatternInput, readPatterns } from "../corpus/patterns.ts";
import type { JobRequest } from "./job.ts";

/** A job to run, as a client gives it. */
export interface JobSubmission extends PatternInput {
  identifier: string;
  /** Letters A–Z and white space. */
  sequence: string;
  scoringModel: ScoringModel;
  /** Absent for the choice of the method. */
  homologs?: HomologChoice | undefined;
  /** The query and its homologs, aligned by the client. */
  alignment?: readonly AlignedText[] | undefined;
}

/** The context of validation. */
export interface ReadingContext {
  classes: MotifClasses;
  /** Residues that a query may have. */
  maxQueryLength: number;
}

/** Nodes of all patterns of a job together, with their repeats expanded: five of the largest. ELM's 349 classes have 4,067. */
export const MAX_ELEMENTS = 50_000;

/** Validates a job. @throws Problem invalid_request, invalid_pattern, unknown_motif_class, with all problems by path */
export function readJobRequest(submission: JobSubmission, context: ReadingContext): JobRequest {
  const { identifier, sequence, scoringModel: model, homologs, alignment } = submission;
  const problems = new ProblemList();
  const query = sequence.replace(/[ \t\r\n]+/g, "");
  problems.collect(() => requireLength(query.length, context.maxQueryLength, ["sequence"]));
  const patterns = problems.collect(() => readPatterns(submission, context.classes, MAX_ELEMENTS)) ?? [];
  problems.throwIfAny();
  return { identifier, query, model, patterns, homologs, alignment };
}

/** @throws Problem invalid_request for a query that is too long */
export function requireLength(length: number, maximum: number, path: Path): void {
  if (length <= maximum) return;
  throw new Problem("invalid_request", `${length} residues; at most ${maximum} are scored.`, { path });
}
