import type { Static } from "typebox";
import {
  type Corpus,
  decode,
  didYouMean,
  parsePattern,
  PatternError,
  SCORING_MODELS,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { describeCharacter } from "../contract/characters.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import type { JobSubmission } from "./handlers.ts";
import type { Submission } from "./json-schemas.ts";

interface SubmissionContext {
  /** The corpus in use, in which accessions are looked up. */
  corpus: () => Corpus;
  classes: MotifClasses;
  /** Residues that a query may have. */
  maxQueryLength: number;
}

/**
 * A submission in the terms of the service: an accession is replaced by its sequence, and names the query by default.
 * @throws Problem with all errors by field: invalid_request, or invalid_pattern or unknown_motif_class if all agree
 */
export function readSubmission(body: Static<typeof Submission>, context: SubmissionContext): JobSubmission {
  const errors = new FieldErrors();
  const { accession, patterns = [], motifClasses = [], allMotifClasses = false } = body;
  const querySequence = readQuery(body, context, errors);
  for (const [i, pattern] of patterns.entries()) {
    const problem = patternProblem(pattern);
    if (problem)
      errors.add("patterns", `pattern ${i + 1}, ${problem.text}${didYouMean(pattern)}`, "invalid_pattern");
  }
  for (const [i, name] of motifClasses.entries()) {
    try {
      context.classes.find(name);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      errors.add("motifClasses", `motif class ${i + 1}: ${error.message}`, error.code);
    }
  }
  if (allMotifClasses && motifClasses.length > 0)
    errors.add("allMotifClasses", "give either motifClasses or allMotifClasses.");
  errors.check();
  return {
    identifier: body.identifier ?? accession ?? "",
    querySequence,
    scoringModel: body.scoringModel ?? SCORING_MODELS[0],
    regularExpression: patterns,
    elmIdentifierName: allMotifClasses ? context.classes.scanned.map(({ name }) => name) : motifClasses,
  };
}

/** What is wrong with an expression, and the character (from 1) where it is wrong; null for a valid one. */
export function patternProblem(expression: string): { text: string; position: number } | null {
  if (expression.trim() === "") return { text: "it is empty; omit it to search for none.", position: 1 };
  try {
    parsePattern(expression, "soap");
    return null;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const position = error.position + 1;
    return { text: `character ${position}: ${error.message}`, position };
  }
}

function readQuery(
  { querySequence, accession }: Static<typeof Submission>,
  { corpus, maxQueryLength }: SubmissionContext,
  errors: FieldErrors,
): string {
  if ((querySequence === undefined) === (accession === undefined)) {
    errors.add("querySequence", "give exactly one of querySequence and accession.");
    return "";
  }
  const field = accession === undefined ? "querySequence" : "accession";
  const sequence = querySequence ?? proteinOf(corpus(), accession!);
  if (sequence === null) {
    errors.add(field, "the corpus in use has no protein with this accession.");
    return "";
  }
  const problem = sequenceProblem(sequence, maxQueryLength);
  if (problem) errors.add(field, problem);
  return sequence;
}

function proteinOf(corpus: Corpus, accession: string): string | null {
  const index = corpus.findAccession(accession);
  if (index < 0) return null;
  return decode(corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]));
}

function sequenceProblem(sequence: string, maxLength: number): string | null {
  const at = sequence.search(/[^A-Z \t\r\n]/);
  if (at >= 0) {
    return `character ${at + 1} is ${describeCharacter(sequence.slice(at))}; allowed are the letters A to Z and white space (space, tab, CR, LF).`;
  }
  const length = sequence.replace(/[ \t\r\n]+/g, "").length;
  if (length <= maxLength) return null;
  return `${length} residues; at most ${maxLength} are scored.`;
}

/** Collects the errors of all fields, so that a client gets them at once. */
export class FieldErrors {
  readonly #fields: Record<string, string[]> = {};
  readonly #problems: Problem[] = [];

  add(field: string, text: string, code: Problem["code"] = "invalid_request"): void {
    (this.#fields[field] ??= []).push(text);
    this.#problems.push(new Problem(code, `${field}: ${text}`));
  }

  /** @param more further members of the body. @throws Problem if there was an error */
  check(more: Record<string, unknown> = {}): void {
    const [first] = this.#problems;
    if (!first) return;
    const agree = this.#problems.every(({ code }) => code === first.code);
    const code = agree ? first.code : "invalid_request";
    throw new Problem(code, first.message, { fields: this.#fields, more });
  }
}
