import {
  didYouMean,
  parsePattern,
  type Pattern,
  PatternError,
  type PatternRequest,
} from "../../motif/index.ts";
import { type Path, Problem, ProblemList } from "../../problem.ts";
import type { MotifClasses } from "./motif-classes.ts";

/** Expressions and names of motif classes to look for, as the caller gives them. */
export interface PatternInput {
  patterns: readonly string[];
  motifClasses: readonly string[];
  /** Patterns that were read before, instead of both. */
  recorded?: PatternRequest[] | undefined;
}

/** Errors of one list, so that thousands of wrong patterns delay no other request. */
const MAX_ERRORS = 20;

/**
 * Expressions, then motif classes, as patterns; empty ones mean none. Checked on submission, so that an invalid pattern is an
 * error of the request instead of a job that fails later.
 * @param maxElements of all expressions together, with their repeats expanded
 * @throws Problem invalid_pattern, unknown_motif_class, invalid_request, with the index of each invalid one
 */
export function readPatterns(
  { patterns, motifClasses, recorded }: PatternInput,
  classes: MotifClasses,
  maxElements = Number.POSITIVE_INFINITY,
): PatternRequest[] {
  if (recorded) return recorded;
  const problems = new ProblemList();
  const requests: (PatternRequest | null)[] = [];
  let elements = 0;
  for (const [i, expression] of patterns.entries()) {
    if (expression.trim() === "") continue;
    elements += problems.collect(() => parse(expression, ["patterns", i]))?.automaton.program.size ?? 0;
    if (elements > maxElements)
      problems.add(
        ["patterns"],
        `the first ${i + 1} patterns are too large together: with their repeats expanded they may have ${maxElements} elements. Submit several jobs.`,
      );
    if (elements > maxElements || problems.count("patterns") >= MAX_ERRORS) break;
    requests.push(toRequest(expression));
  }
  for (const [i, name] of motifClasses.entries()) {
    if (name !== "")
      requests.push(problems.collect(() => readMotifClass(name, classes, ["motifClasses", i])));
    if (problems.count("motifClasses") >= MAX_ERRORS) break;
  }
  problems.throwIfAny();
  return requests.filter((request) => request !== null);
}

/** @throws Problem invalid_pattern with the path and the character */
export function readExpression(expression: string, path: Path): PatternRequest {
  if (expression.trim() === "") throw new Problem("invalid_pattern", EMPTY_PATTERN, { path });
  parse(expression, path);
  return toRequest(expression);
}

export const EMPTY_PATTERN = "the pattern is empty; leave it out.";

const toRequest = (expression: string): PatternRequest => ({ expression, name: null, dialect: "plain" });

function parse(expression: string, path: Path): Pattern {
  try {
    return parsePattern(expression);
  } catch (cause) {
    if (!(cause instanceof PatternError)) throw cause;
    const reason = cause.message + didYouMean(expression);
    throw new Problem("invalid_pattern", reason, { path, character: cause.position + 1, cause });
  }
}

/** @throws Problem unknown_motif_class with the path, and near names */
export function readMotifClass(name: string, classes: MotifClasses, path: Path): PatternRequest {
  try {
    const { expression, dialect } = classes.find(name);
    return { expression, name, dialect };
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    throw new Problem(cause.code, cause.message, { path, cause });
  }
}
