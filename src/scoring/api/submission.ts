import type { Static } from "typebox";
import {
  type AlignedText,
  type Corpus,
  decode,
  type HomologChoice,
  type PatternRequest,
  proteinsNamed,
  readAlignment,
  readHeader,
  readProteinText,
  readVariant,
  SCORING_MODELS,
  SequenceError,
  VariantError,
} from "../../motif/index.ts";
import { Problem, ProblemList } from "../../problem.ts";
import { readAlignmentText, withQueryFirst } from "../batch/alignment-text.ts";
import { choiceProblems } from "../corpus/choice-problems.ts";
import { EMPTY_PATTERN, type PatternInput, readPatterns } from "../corpus/patterns.ts";
import { type EvidenceChoice, type JobRequest, readEvidenceChoice } from "../jobs/job.ts";
import { MAX_ELEMENTS, type ReadingContext, requireLength } from "../jobs/job-request.ts";
import type { Submission } from "./json-schemas.ts";

export interface SubmissionContext extends ReadingContext {
  /** The corpus in use, in which accessions are looked up. */
  corpus: () => Corpus;
}

/**
 * A job as JSON: an accession is replaced by its sequence. It, or the header of a FASTA record, names the query by default.
 * @throws Problem with all problems by path: invalid_request, or invalid_pattern or unknown_motif_class if all agree
 */
export function readSubmission(body: Static<typeof Submission>, context: SubmissionContext): JobRequest {
  const problems = new ProblemList();
  const query = problems.collect(() => readQuery(body, context));
  const common = readCommon(body, context, problems);
  if (common.homologs && body.alignment !== undefined)
    problems.add(
      ["homologs"],
      "the homologs are the rows of the alignment. Remove rows from the alignment instead.",
    );
  if (body.alignmentQuery !== undefined && body.alignment === undefined)
    problems.add(["alignmentQuery"], "give the alignment, too.");
  problems.throwIfAny();
  const { name, sequence, alignment } = query!;
  const { homologs, model, evidence } = common;
  const patterns = [...common.expressions, ...common.classes];
  const identifier = body.identifier ?? name;
  const variant = requireVariant(body.variant, sequence);
  return { homologs, alignment, identifier, query: sequence, model, patterns, variant, ...evidence };
}

/** A variant of a protein; undefined without one. @throws Problem invalid_request that names the residue there */
function requireVariant(text: string | undefined, protein: string): string | undefined {
  try {
    return text === undefined ? undefined : readVariant(text, protein);
  } catch (error) {
    if (!(error instanceof VariantError)) throw error;
    throw invalid("variant", error.message);
  }
}

/** The job of `variantOf` with a variant. @throws Problem unknown_job, job_expired, invalid_request */
export function readVariantJob(
  { variantOf, variant, ...others }: Static<typeof Submission>,
  requireRequest: (id: string) => JobRequest,
): JobRequest {
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(other, "not with variantOf, whose job has all but the variant.");
  if (variant === undefined) throw invalid("variant", "give the variant, such as W23A.");
  const request = requireRequest(variantOf!);
  return { ...request, variant: requireVariant(variant, request.query) };
}

type CommonFields = Pick<
  Static<typeof Submission>,
  "patterns" | "motifClasses" | "allMotifClasses" | "scoringModel" | "homologs" | keyof EvidenceChoice
>;

/** All of a job but the protein. */
interface CommonRequest extends Pick<JobRequest, "homologs" | "model"> {
  evidence: EvidenceChoice;
  expressions: PatternRequest[];
  classes: PatternRequest[];
}

/** Reads the settings that all jobs of a batch share. Mistakes are added to `problems`. */
export function readCommon(
  { patterns = [], motifClasses = [], allMotifClasses = false, ...body }: CommonFields,
  { classes, corpus }: SubmissionContext,
  problems: ProblemList,
): CommonRequest {
  for (const [i, pattern] of patterns.entries())
    if (pattern.trim() === "") problems.add(["patterns", i], EMPTY_PATTERN, "invalid_pattern");
  if (allMotifClasses && motifClasses.length > 0)
    problems.add(["allMotifClasses"], "give either motifClasses or allMotifClasses.");
  const names = allMotifClasses ? classes.scanned.map(({ name }) => name) : motifClasses;
  const read = (input: Partial<PatternInput>): PatternRequest[] =>
    problems.collect(() =>
      readPatterns({ patterns: [], motifClasses: [], ...input }, classes, MAX_ELEMENTS),
    ) ?? [];
  return {
    homologs: readChoice(body.homologs, corpus, problems),
    model: body.scoringModel ?? SCORING_MODELS[0],
    evidence: readEvidenceChoice(body),
    expressions: read({ patterns }),
    classes: read({ motifClasses: names }),
  };
}

/** One protein of a batch, or why it cannot be scored. */
export function readProtein(
  protein: Pick<Static<typeof Submission>, "querySequence" | "accession">,
  context: SubmissionContext,
): { name: string; sequence: string; failure: string | null } {
  try {
    return { ...readQuery(protein, context), failure: null };
  } catch (error) {
    if (!(error instanceof Problem) || !error.path) throw error;
    return { name: "", sequence: "", failure: error.message };
  }
}

/** The choice of homologs without members that choose nothing; undefined for an empty one. */
function readChoice(
  given: Static<typeof Submission>["homologs"],
  corpus: () => Corpus,
  problems: ProblemList,
): HomologChoice | undefined {
  const members = Object.entries(given ?? {}).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  );
  if (members.length === 0) return undefined;
  const choice: HomologChoice = Object.fromEntries(members);
  for (const problem of choiceProblems(choice, corpus)) problems.add(problem.path!, problem.reason);
  return choice;
}

interface Query {
  name: string;
  sequence: string;
  alignment?: AlignedText[] | undefined;
}

const invalid = (field: string, reason: string, character?: number): Problem =>
  new Problem("invalid_request", reason, { path: [field], character });

/** The name and the letters of the query. @throws Problem invalid_request with the field */
function readQuery(
  { querySequence, accession, alignment, alignmentQuery }: Static<typeof Submission>,
  { corpus, maxQueryLength }: SubmissionContext,
): Query {
  const given = Object.entries({ querySequence, accession, alignment }).filter(
    ([, text]) => text !== undefined,
  );
  if (given.length !== 1)
    throw invalid("querySequence", "give exactly one of querySequence, accession and alignment.");
  const query =
    alignment !== undefined
      ? readRows(alignment, alignmentQuery)
      : accession === undefined
        ? readRecord(querySequence!)
        : findProtein(corpus(), accession);
  requireLength(query.sequence.length, maxQueryLength, [given[0][0]]);
  return query;
}

/** Rows of an alignment, and letters of all rows together, gaps included: requests are kept with their jobs. */
const MAX_ROWS = 1000;
const MAX_ALIGNED = 1_000_000;

const GAPPED_SEQUENCE = /^[A-Za-z.-]*$/;

function readRows(text: string, query: string | undefined): Query {
  try {
    const rows = readAlignmentText(text);
    const letters = rows.reduce((sum, row) => sum + row.letters.length, 0);
    if (rows.length > MAX_ROWS)
      throw invalid(
        "alignment",
        `${rows.length} rows; at most ${MAX_ROWS} are read. Remove the least related.`,
      );
    if (letters > MAX_ALIGNED)
      throw invalid(
        "alignment",
        `${letters} letters and gaps; at most ${MAX_ALIGNED} are read. Remove rows.`,
      );
    const alignment = query === undefined ? rows : withQueryFirst(rows, query);
    const [{ name, letters: first }] = alignment;
    const isPlain = rows.every(
      (row) => row.letters.length === first.length && GAPPED_SEQUENCE.test(row.letters),
    );
    // Reports an error early; otherwise the worker checks it.
    if (!isPlain) readAlignment(alignment);
    const sequence = first.replaceAll(/[^A-Za-z]/g, "").toUpperCase();
    if (sequence === "") throw invalid("alignment", `the query, ${name}, has no residues.`);
    return { name, sequence, alignment };
  } catch (error) {
    const isPlaced = error instanceof Problem && error.path;
    if (isPlaced || !(error instanceof Problem || error instanceof SequenceError)) throw error;
    throw invalid("alignment", error.message);
  }
}

function findProtein(corpus: Corpus, accession: string): Query {
  const [index] = proteinsNamed(corpus, accession);
  if (index === undefined)
    throw invalid("accession", "the corpus in use has no protein with this accession, entry name or gene.");
  const residues = corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]);
  return { name: accession, sequence: decode(residues) };
}

/** A sequence, or one FASTA record. */
function readRecord(text: string): Query {
  const header = /^\s*>(.*)/.exec(text);
  const records = text.match(/^[ \t]*>/gm)?.length ?? 0;
  if (header && records > 1)
    throw invalid("querySequence", `${records} FASTA records; start one job for each.`);
  const start = header?.[0].length ?? 0;
  const { sequence, fault } = readProteinText(text.slice(start));
  if (fault) throw invalid("querySequence", fault.reason, start + fault.position + 1);
  return { name: header ? readHeader(header[1]).accession : "", sequence };
}
