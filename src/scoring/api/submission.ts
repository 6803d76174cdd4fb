import type { Static } from "typebox";
import {
  type AlignedText,
  type Corpus,
  decode,
  didYouMean,
  type HomologChoice,
  parsePattern,
  PatternError,
  proteinsNamed,
  readAlignment,
  readHeader,
  readProteinText,
  SCORING_MODELS,
  SequenceError,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { readAlignmentText, withQueryFirst } from "../batch/alignment-text.ts";
import { choiceProblems } from "../corpus/choice-problems.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import type { JobSubmission } from "../jobs/handlers.ts";
import type { Submission } from "./json-schemas.ts";

export interface SubmissionContext {
  /** The corpus in use, in which accessions are looked up. */
  corpus: () => Corpus;
  classes: MotifClasses;
  /** Residues that a query may have. */
  maxQueryLength: number;
}

/**
 * A submission in the terms of the service: an accession is replaced by its sequence. It, or the header of a FASTA record, names the query by default.
 * @throws Problem with all errors by field: invalid_request, or invalid_pattern or unknown_motif_class if all agree
 */
export function readSubmission(body: Static<typeof Submission>, context: SubmissionContext): JobSubmission {
  const errors = new FieldErrors();
  const { name, sequence: querySequence, alignment } = readQuery(body, context, errors);
  const common = readCommon(body, context, errors);
  if (common.homologs && body.alignment !== undefined)
    errors.add("homologs", "the homologs are the rows of the alignment. Remove others from it.");
  if (body.alignmentQuery !== undefined && body.alignment === undefined)
    errors.add("alignmentQuery", "give the alignment, too.");
  errors.check();
  return { ...common, alignment, identifier: body.identifier ?? name, querySequence };
}

type CommonFields = Pick<
  Static<typeof Submission>,
  "patterns" | "motifClasses" | "allMotifClasses" | "scoringModel" | "homologs"
>;

/** What the jobs of a batch have in common: all of a submission but the protein. Mistakes are added to `errors`. */
export function readCommon(
  { patterns = [], motifClasses = [], allMotifClasses = false, ...body }: CommonFields,
  { classes, corpus }: SubmissionContext,
  errors: FieldErrors,
): Pick<JobSubmission, "homologs" | "scoringModel" | "regularExpression" | "elmIdentifierName"> {
  checkPatterns(patterns, errors);
  checkClasses(motifClasses, classes, errors);
  if (allMotifClasses && motifClasses.length > 0)
    errors.add("allMotifClasses", "give either motifClasses or allMotifClasses.");
  return {
    homologs: readChoice(body.homologs, corpus, errors),
    scoringModel: body.scoringModel ?? SCORING_MODELS[0],
    regularExpression: patterns,
    elmIdentifierName: allMotifClasses ? classes.scanned.map(({ name }) => name) : motifClasses,
  };
}

/** One protein of a batch, or why it cannot be scored. */
export function readProtein(
  protein: Pick<Static<typeof Submission>, "querySequence" | "accession">,
  context: SubmissionContext,
): { name: string; sequence: string; failure: string | null } {
  const errors = new FieldErrors();
  const { name, sequence } = readQuery(protein, context, errors);
  return { name, sequence, failure: errors.first };
}

/** Nodes of all patterns of a job together, with their repeats expanded: five of the largest. ELM's 349 classes have 4,067. */
const MAX_NODES = 50_000;
/** Errors of one field, so that thousands of wrong patterns delay no other request. */
const MAX_ERRORS = 20;

function checkPatterns(patterns: readonly string[], errors: FieldErrors): void {
  let nodes = 0;
  for (const [i, pattern] of patterns.entries()) {
    const found = parsed(pattern);
    if ("text" in found)
      errors.add("patterns", `pattern ${i + 1}, ${found.text}${didYouMean(pattern)}`, "invalid_pattern");
    else nodes += found.nodes;
    if (nodes > MAX_NODES)
      errors.add(
        "patterns",
        `the first ${i + 1} patterns are too large together: with their repeats expanded they may have ${MAX_NODES} elements. Submit several jobs.`,
      );
    if (nodes > MAX_NODES || errors.count("patterns") >= MAX_ERRORS) return;
  }
}

function checkClasses(names: readonly string[], classes: MotifClasses, errors: FieldErrors): void {
  for (const [i, name] of names.entries()) {
    try {
      classes.find(name);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      errors.add("motifClasses", `motif class ${i + 1}: ${error.message}`, error.code);
      if (errors.count("motifClasses") >= MAX_ERRORS) return;
    }
  }
}

interface PatternFault {
  text: string;
  position: number;
}

/** What is wrong with an expression, and the character (from 1) where it is wrong; null for a valid one. */
export function patternProblem(expression: string): PatternFault | null {
  const found = parsed(expression);
  return "text" in found ? found : null;
}

function parsed(expression: string): PatternFault | { nodes: number } {
  if (expression.trim() === "") return { text: "it is empty; omit it to search for none.", position: 1 };
  try {
    return { nodes: parsePattern(expression, "soap").automaton.program.size };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const position = error.position + 1;
    return { text: `character ${position}: ${error.message}`, position };
  }
}

/** The choice of homologs without members that choose nothing; undefined for an empty one. */
function readChoice(
  given: Static<typeof Submission>["homologs"],
  corpus: () => Corpus,
  errors: FieldErrors,
): HomologChoice | undefined {
  const members = Object.entries(given ?? {}).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  );
  if (members.length === 0) return undefined;
  const choice: HomologChoice = Object.fromEntries(members);
  for (const { field, text } of choiceProblems(choice, corpus)) errors.add("homologs", `${field}: ${text}`);
  return choice;
}

/** The name and the letters of the query; empty where there is an error. */
function readQuery(
  { querySequence, accession, alignment, alignmentQuery }: Static<typeof Submission>,
  { corpus, maxQueryLength }: SubmissionContext,
  errors: FieldErrors,
): Query {
  const fail = (field: string, text: string): Query => {
    errors.add(field, text);
    return { name: "", sequence: "" };
  };
  const given = Object.entries({ querySequence, accession, alignment }).filter(
    ([, text]) => text !== undefined,
  );
  if (given.length !== 1)
    return fail("querySequence", "give exactly one of querySequence, accession and alignment.");
  const [[field]] = given;
  const query =
    alignment !== undefined
      ? readRows(alignment, alignmentQuery)
      : accession === undefined
        ? readRecord(querySequence!)
        : proteinOf(corpus(), accession);
  if ("problem" in query) return fail(query.field ?? field, query.problem);
  const { length } = query.sequence;
  if (length <= maxQueryLength) return query;
  return fail(field, `${length} residues; at most ${maxQueryLength} are scored.`);
}

interface Query {
  name: string;
  sequence: string;
  alignment?: AlignedText[] | undefined;
}

interface QueryProblem {
  problem: string;
  /** Where it is, if not in the field of the query. */
  field?: string | undefined;
}

/** Rows of an alignment, and letters of all rows together, gaps included: requests are kept with their jobs. */
const MAX_ROWS = 1000;
const MAX_ALIGNED = 1_000_000;

const GAPPED = /^[A-Za-z.-]*$/;

function readRows(text: string, query: string | undefined): Query | QueryProblem {
  try {
    const rows = readAlignmentText(text);
    const letters = rows.reduce((sum, row) => sum + row.letters.length, 0);
    if (rows.length > MAX_ROWS)
      return { problem: `${rows.length} rows; at most ${MAX_ROWS} are read. Remove the least related.` };
    if (letters > MAX_ALIGNED)
      return { problem: `${letters} letters and gaps; at most ${MAX_ALIGNED} are read. Remove rows.` };
    const alignment = query === undefined ? rows : withQueryFirst(rows, query);
    const [{ name, letters: first }] = alignment;
    const isPlain = rows.every((row) => row.letters.length === first.length && GAPPED.test(row.letters));
    // Says what is wrong; otherwise it is left to the worker.
    if (!isPlain) readAlignment(alignment);
    const sequence = first.replaceAll(/[^A-Za-z]/g, "").toUpperCase();
    if (sequence === "") return { problem: `the query, ${name}, has no residues.` };
    return { name, sequence, alignment };
  } catch (error) {
    if (!(error instanceof Problem) && !(error instanceof SequenceError)) throw error;
    const [field] = Object.keys((error instanceof Problem && error.fields) || {});
    return { problem: error.message, field };
  }
}

function proteinOf(corpus: Corpus, accession: string): Query | QueryProblem {
  const [index] = proteinsNamed(corpus, accession);
  if (index === undefined)
    return { problem: "the corpus in use has no protein with this accession, entry name or gene." };
  const residues = corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]);
  return { name: accession, sequence: decode(residues) };
}

/** A sequence, or one FASTA record. */
function readRecord(text: string): Query | QueryProblem {
  const header = /^\s*>(.*)/.exec(text);
  const records = text.match(/^[ \t]*>/gm)?.length ?? 0;
  if (header && records > 1) return { problem: `${records} FASTA records; start one job for each.` };
  const start = header?.[0].length ?? 0;
  const { sequence, fault } = readProteinText(text.slice(start));
  if (fault) return { problem: `character ${start + fault.position + 1}: ${fault.reason}` };
  return { name: header ? readHeader(header[1]).accession : "", sequence };
}

/** Collects the errors of all fields, so that a client gets them at once. */
export class FieldErrors {
  readonly #fields: Record<string, string[]> = {};
  readonly #problems: Problem[] = [];

  add(field: string, text: string, code: Problem["code"] = "invalid_request"): void {
    (this.#fields[field] ??= []).push(text);
    this.#problems.push(new Problem(code, `${field}: ${text}`));
  }

  /** The first error with its field; null if there is none. */
  get first(): string | null {
    return this.#problems[0]?.message ?? null;
  }

  /** Number of errors of a field. */
  count(field: string): number {
    return this.#fields[field]?.length ?? 0;
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
