import { type Corpus, decode, parsePattern, PatternError, SCORING_MODELS } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { describeCharacter } from "../contract/characters.ts";
import type { Submission } from "./handlers.ts";
import { FieldErrors } from "./json-body.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";

/** What the fields of a submission may be; the OpenAPI document says the same. */
export const MAX_PATTERNS = 5;
const SUBMISSION_FIELDS = [
  "identifier",
  "querySequence",
  "accession",
  "scoringModel",
  "patterns",
  "motifClasses",
] as const;

export interface SubmissionContext {
  /** The corpus in use, in which accessions are looked up. */
  corpus: () => Corpus;
  classes: MotifClasses;
  /** Residues that a query may have. */
  maxQueryLength: number;
}

/**
 * A submission as JSON, in the terms of the service: the query is given as `querySequence`, or as `accession` of a
 * protein of the corpus in use, which then also names it.
 * @throws Problem with all errors by field: invalid_request, or invalid_pattern or unknown_motif_class where nothing else is wrong
 */
export function readSubmission(body: Record<string, unknown>, context: SubmissionContext): Submission {
  const errors = new FieldErrors();
  errors.refuseOthers(body, SUBMISSION_FIELDS);
  const accession = readText(body, "accession", errors);
  const identifier = readText(body, "identifier", errors) ?? accession ?? "";
  const querySequence = readQuery(body, accession, context, errors);
  const scoringModel = readText(body, "scoringModel", errors) ?? SCORING_MODELS[0];
  const model = SCORING_MODELS.find((name) => name === scoringModel);
  if (!model) errors.add("scoringModel", `expected ${SCORING_MODELS.join(" or ")}.`);
  const patterns = readTexts(body, "patterns", errors);
  for (const [i, pattern] of patterns.entries()) {
    const problem = problemOf(pattern);
    if (problem) errors.add("patterns", `pattern ${i + 1}, ${problem.text}`, "invalid_pattern");
  }
  const names = readTexts(body, "motifClasses", errors);
  for (const [i, name] of names.entries()) {
    try {
      context.classes.find(name);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      errors.add("motifClasses", `motif class ${i + 1}: ${error.message}`, error.code);
    }
  }
  errors.check();
  return {
    identifier,
    querySequence,
    scoringModel: model!,
    regularExpression: patterns,
    elmIdentifierName: names,
  };
}

/** What is wrong with an expression: in words, and the character (from 1) where it is; null where nothing is. */
export function problemOf(expression: string): { text: string; position: number } | null {
  if (expression.trim() === "") return { text: "it is empty; leave it out to mean none.", position: 1 };
  try {
    parsePattern(expression, "soap");
    return null;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const position = error.position + 1;
    return { text: `character ${position}: ${error.message}`, position };
  }
}

/** What is wrong with a sequence, or null. */
function sequenceProblem(sequence: string, maxLength: number): string | null {
  const at = sequence.search(/[^A-Z \t\r\n]/);
  if (at >= 0) {
    return `character ${at + 1} is ${describeCharacter(sequence.slice(at))}; allowed are the letters A to Z and white space (space, tab, CR, LF).`;
  }
  const length = sequence.replace(/[ \t\r\n]+/g, "").length;
  if (length <= maxLength) return null;
  return `${length} residues; at most ${maxLength} are scored.`;
}

function readQuery(
  body: Record<string, unknown>,
  accession: string | null,
  { corpus, maxQueryLength }: SubmissionContext,
  errors: FieldErrors,
): string {
  const given = [body.querySequence, body.accession].filter((value) => value !== undefined && value !== null);
  if (given.length !== 1) {
    errors.add("querySequence", "expected either querySequence or accession, one of the two.");
    return "";
  }
  let field = "querySequence";
  let sequence = readText(body, field, errors) ?? "";
  if (accession !== null) {
    field = "accession";
    const proteins = corpus();
    const index = proteins.findAccession(accession);
    if (index < 0) {
      errors.add(field, "the corpus in use has no protein of this accession.");
      return "";
    }
    sequence = decode(proteins.residues.subarray(proteins.offsets[index], proteins.offsets[index + 1]));
  }
  const problem = sequenceProblem(sequence, maxQueryLength);
  if (problem) errors.add(field, problem);
  return sequence;
}

/** A text; null where the field is not there. */
export function readText(body: Record<string, unknown>, field: string, errors: FieldErrors): string | null {
  const value = body[field];
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  errors.add(field, "expected a text.");
  return null;
}

function readTexts(body: Record<string, unknown>, field: string, errors: FieldErrors): string[] {
  const value = body[field];
  if (value === undefined || value === null) return [];
  const isList = Array.isArray(value) && value.every((item): item is string => typeof item === "string");
  if (isList && value.length <= MAX_PATTERNS) return value;
  errors.add(field, `expected a list of at most ${MAX_PATTERNS} texts.`);
  return [];
}
