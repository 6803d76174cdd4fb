import { METHOD, SCORING_MODELS } from "../../motif/index.ts";
import { PREDICTION_CHOICES } from "../contract/prediction.ts";
import { STATES } from "../jobs/job.ts";
import { MAX_PATTERNS } from "./json-submission.ts";

/** The values of the JSON service as JSON Schema in the dialect of OpenAPI 3.0, where `nullable` stands for a union with null. */
export type Schema = Readonly<Record<string, unknown>>;

const text = (description: string, more: Schema = {}): Schema => ({ type: "string", description, ...more });
const number = (description: string, more: Schema = {}): Schema => ({ type: "number", description, ...more });
const count = (description: string): Schema => ({ type: "integer", minimum: 0, description });
const instant = (description: string): Schema => text(description, { format: "date-time" });
const part = (description: string): Schema => number(description, { minimum: 0, maximum: 1 });
const list = (items: Schema, description: string): Schema => ({ type: "array", items, description });
const nullable = (schema: Schema): Schema => ({ ...schema, nullable: true });

/** An object that has all these properties, perhaps those that are optional, and no others. */
const object = (
  properties: Record<string, Schema>,
  description: string,
  optional: Record<string, Schema> = {},
): Schema => ({
  type: "object",
  description,
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
  additionalProperties: false,
});

const warnings = (about: string): Schema => list(text("A sentence."), `What to keep in mind about ${about}.`);

export const PROBLEM: Schema = {
  type: "object",
  description: "Why not. Errors of fields stand under the field's name, as lists.",
  properties: {
    message: text("What is wrong, in one sentence."),
    detail: text("The same, where no field is named."),
    code: text("What is wrong, for programs."),
  },
  required: ["message", "code"],
  additionalProperties: true,
};

/** The refusal of an expression. */
export const PATTERN_PROBLEM: Schema = {
  ...PROBLEM,
  properties: {
    ...(PROBLEM.properties as object),
    position: { type: "integer", minimum: 1, description: "The character where it is wrong, from 1." },
  },
};

export const SUBMISSION: Schema = {
  type: "object",
  description: "A query and what to look for in it. Either querySequence or accession must be there.",
  properties: {
    identifier: text(
      "The client's own name for the query, which comes back with the result; else the accession.",
    ),
    querySequence: text("The protein: letters A to Z; white space is ignored.", {
      pattern: "^[A-Z \\t\\r\\n]*$",
    }),
    accession: text("A protein of the corpus in use, instead of a sequence."),
    scoringModel: text(
      "continuous: every homolog counts by how far it keeps the match; discontinuous: all or none.",
      { enum: [...SCORING_MODELS], default: SCORING_MODELS[0] },
    ),
    patterns: {
      ...list(text("An expression."), "Motifs as regular expressions over residues."),
      maxItems: MAX_PATTERNS,
    },
    motifClasses: { ...list(text("A name or alias."), "Motif classes, by name."), maxItems: MAX_PATTERNS },
  },
  additionalProperties: false,
};

export const JOB: Schema = object(
  {
    id: text("Names the job, here and in GetStatus and GetResult.", { format: "uuid" }),
    identifier: nullable(text("The client's own name for the query.")),
    state: text("What has become of it; docs/jobs.md has the states.", { enum: [...STATES] }),
    stage: nullable(
      text("What a running job is doing; null otherwise.", {
        enum: ["start", "homologs", "tree", "scores", null],
      }),
    ),
    fraction: nullable(part("Part of the stage that is done; null unless running.")),
    place: nullable(count("Place in the queue, 1 for the next; null unless queued.")),
    submitted: instant("When it was accepted."),
    started: nullable(instant("When a worker took it.")),
    ended: nullable(instant("When it ended.")),
    expires: nullable(instant("When it will be forgotten; null where that is not known.")),
    failure: nullable(text("Why there is no prediction, where there will be none.")),
    queryLength: nullable(count("Residues of the query.")),
    scoringModel: nullable(text("How homologs count.", { enum: [...SCORING_MODELS, null] })),
    patterns: list(
      object(
        {
          expression: text("The expression."),
          name: nullable(text("The motif class that it was asked for as.")),
        },
        "A motif.",
      ),
      "What is looked for.",
    ),
    links: object(
      {
        self: text("Address of this object.", { format: "uri" }),
        events: text("Address of its events.", { format: "uri" }),
        result: text("Address of the result.", { format: "uri" }),
      },
      "Where to go on.",
    ),
  },
  "A job.",
);

const HOMOLOG: Schema = object(
  {
    accession: text("Its identifier in the corpus."),
    description: text("Its description in the corpus."),
    organism: nullable(text("Organism or species code, where known.")),
    identity: part("Identical residues per aligned pair of residues."),
    coverage: part("Part of the query that is aligned to its residues."),
    bitScore: nullable(number("Score of the local alignment in bits.")),
    eValue: nullable(number("Hits with this score expected by chance.")),
    weight: part("Its weight by the tree: near-identical proteins share."),
  },
  "A protein of the corpus that is akin to the query and takes part in the scores.",
);

const AT_HOMOLOG: Schema = object(
  {
    homolog: count("Index into homologs, from 0."),
    state: text("What became of the match.", { enum: [...PREDICTION_CHOICES.HomologState] }),
    residues: text("Its residues at the match: - is a gap, lower case are insertions."),
    retention: nullable(part("How far it keeps the match.")),
  },
  "What became of a match in one homolog.",
);

const CONTRIBUTIONS: Schema = object(
  {
    offset: number("The same for all matches."),
    retention: number("The match is kept in the homologs, beyond what its surroundings let expect."),
    lossRate: number("It was lost slowly along the tree."),
    divergence: number("Its surroundings change fast."),
    disorder: number("Its homologs are disordered beside it."),
    chain: number("The whole chain is ordered, so that what is not stands out."),
    burial: number("No hydrophobic segment is about it, as of a membrane or a core."),
    charge: number("Its region is acidic rather than basic."),
    serThrFraction: number("Its region has serine and threonine."),
    terminusProximity: number("An end of the chain is near."),
    abundance: number("There are more matches than chance makes."),
  },
  "What each kind of evidence adds to z, which is their sum; absent where data are insufficient.",
);

const MATCH: Schema = object(
  {
    start: count("Position of the first residue, from 1."),
    end: count("Position of the last residue, from 1."),
    text: text("The residues."),
    verdict: text("What the score says in words.", { enum: [...PREDICTION_CHOICES.Verdict] }),
    score: nullable(
      part("Weighted mean of the retentions; null where data are insufficient, as are the next four."),
    ),
    expected: nullable(part("What the score would be if the match changed as fast as its surroundings.")),
    z: nullable(
      number(
        "How much speaks for the match, in standard deviations: conservation beyond expectation, by labd-2 with its surroundings.",
      ),
    ),
    pValue: nullable(part("Part of comparable random matches that are conserved as well or better.")),
    pValueIs: nullable(
      text("Whether pValue is an estimate, or a bound beyond the ends of what was simulated.", {
        enum: [...PREDICTION_CHOICES.PValueKind, null],
      }),
    ),
    homologs: count("Homologs that count at this match."),
    effectiveHomologs: number("Independent homologs that they are worth."),
    localIdentity: nullable(part("Mean identity around the match.")),
    informationContent: number("Information of the path that matched, in bits."),
    conservation: list(
      nullable(
        part("Weighted part of the homologs that keep the residue; null at wildcards and without homologs."),
      ),
      "Per residue of the match.",
    ),
    atHomologs: list(AT_HOMOLOG, "The homologs, one by one."),
    warnings: warnings("the match"),
  },
  "A stretch of the query that a pattern fits, and how well its homologs keep it.",
  { contributions: CONTRIBUTIONS },
);

const PATTERN: Schema = object(
  {
    expression: text("The regular expression."),
    name: nullable(text("The name that it was asked for by.")),
    explanation: text("The pattern in words."),
    informationContent: number("Least information over its paths, in bits."),
    matches: list(MATCH, "In the order of the query."),
    warnings: warnings("the pattern"),
  },
  "One pattern that was asked for; listed also where it matches nowhere.",
);

const CORPUS_OF_RESULT: Schema = object(
  {
    name: text("Its name at this installation."),
    hash: text("SHA-256 of its content: equal hashes mean equal collections."),
    sequences: count("Number of sequences."),
    residues: count("Number of residues in all."),
  },
  "The collection of proteins in which homologs were looked for.",
);

export const RESULT: Schema = object(
  {
    identifier: text("The client's own name for the query."),
    method: text(`Version of the method: equal versions give equal numbers. Now ${METHOD}.`),
    model: text("How homologs counted.", { enum: [...SCORING_MODELS] }),
    queryLength: count("Residues of the query."),
    corpus: nullable(CORPUS_OF_RESULT),
    homologs: list(HOMOLOG, "Best first."),
    patterns: list(PATTERN, "In the order of the request: expressions, then motif classes."),
    tree: text("The query, named `query`, and its homologs in Newick's notation; empty without homologs."),
    warnings: warnings("the whole"),
  },
  "The conservation of every match of every pattern that was asked for.",
  {
    alignment: object(
      {
        query: text("The residues of the query."),
        rows: list(
          text("A character per residue of the query, - for none, insertions in lower case (A3M)."),
          "Per homolog; gaps at both ends are where it does not reach.",
        ),
        conservation: list(
          nullable(part("Of the homologs that reach it, the part by weight that has the same residue.")),
          "Per residue of the query, in hundredths; null where no homolog reaches.",
        ),
        disorder: list(
          number("Mean TOP-IDP of the surroundings, from order (-0.88) to disorder (0.99)."),
          "Per residue of the query, in hundredths.",
        ),
      },
      "The alignment that the scores were read from; absent in results of before it was kept.",
    ),
  },
);

export const CORPUS: Schema = object(
  {
    ...(CORPUS_OF_RESULT.properties as Record<string, Schema>),
    bytes: count("Size of its file."),
    added: instant("When it was added."),
    method: text("Version of the method that jobs are scored by."),
  },
  "The collection of proteins in which homologs are looked for now.",
);

export const MOTIF_CLASSES: Schema = object(
  {
    total: count("Number of classes that are listed."),
    results: list(
      object(
        {
          name: text("Name, for motifClasses of a submission."),
          aliases: list(text("A name."), "Other names that mean the same."),
          expression: text("The regular expression."),
          explanation: text("The expression in words."),
          informationContent: number("Least information over its paths, in bits."),
          description: text("What it binds or does."),
          citation: text("Where it was published."),
        },
        "A named motif.",
      ),
      "In the order of the table.",
    ),
  },
  "Motif classes.",
);

export const PATTERN_REQUEST: Schema = {
  type: "object",
  description: "An expression to check.",
  properties: { pattern: text("The expression.") },
  required: ["pattern"],
  additionalProperties: false,
};

export const PATTERN_REPORT: Schema = object(
  {
    expression: text("The expression as it was sent."),
    explanation: text("What it means, in words."),
    informationContent: number("Least information over its paths, in bits."),
  },
  "What an expression means.",
);
