import { type Static, type TSchema, Type } from "typebox";
import { type HomologChoice, METHOD, PRIOR, type ScoringModel, SCORING_MODELS } from "../../motif/index.ts";
import { EXAMPLE_ID } from "../../platform/openapi-example.ts";
import { PROBLEM_SCHEMA } from "../../platform/error-responses.ts";
import { readJson } from "../../platform/body.ts";
import { nullable, oneOf, schema } from "../../platform/schema.ts";
import {
  CorpusFields,
  count,
  fraction,
  list,
  number,
  object,
  ProteinOfQuery,
  text,
} from "../prediction/prediction.ts";
import { Problem } from "../../problem.ts";
import { STATES, type State } from "../jobs/job.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import type { FileFormat } from "../table/table-formats.ts";
import { RESULT_FORMATS, SCAN_FORMATS } from "../results/file-formats.ts";
import { filterSchemas, orderSchema } from "../results/table-schemas.ts";

/** Patterns and motif classes per job, each: more than all classes together. */
const MAX_PATTERNS = 1000;

export const instant = (description: string) => text(description, { format: "date-time" });
export const uuid = (description: string) => text(description, { examples: [EXAMPLE_ID] });
export const uri = (description: string) => text(description, { format: "uri" });

/** Clients may send null for an absent field: see omitNulls. */
export const optional = <Value extends TSchema>(value: Value) =>
  Type.Optional(Type.Unsafe<Static<Value>>(nullable(value)));

const motifs = (item: string, description: string, maxItems = MAX_PATTERNS) =>
  optional(Type.Array(text(item), { description, maxItems }));

/** The knowledge that a request leaves out, and the prior. */
export const evidenceFields = {
  ignoreFeatures: optional(Type.Boolean({ description: "Whether imported features are no evidence." })),
  ignoreClassModels: optional(Type.Boolean({ description: "Whether class models are left out." })),
  // Without `default`: generators of clients would require the member.
  prior: optional(
    Type.Number({
      description: `Share of true motifs among the matches, for the probability alone; ${PRIOR} by default.`,
      exclusiveMinimum: 0,
      exclusiveMaximum: 1,
    }),
  ),
};

/** The motifs of a request, and the mode of counting homologs. @param most patterns, and motif classes */
export const motifFields = (most = MAX_PATTERNS) => ({
  patterns: motifs("An expression.", "Motifs as regular expressions over residues.", most),
  motifClasses: motifs("A name or alias.", "Motif classes, by name.", most),
  allMotifClasses: optional(
    Type.Boolean({
      description:
        "Scan: look for all motif classes, those of the imported table or else the built-in ones. Without motifClasses.",
    }),
  ),
  scoringModel: optional(
    oneOf<ScoringModel>(
      SCORING_MODELS,
      "continuous: every homolog counts by how far it keeps the match; discontinuous: all or nothing.",
      { default: SCORING_MODELS[0] },
    ),
  ),
  ...evidenceFields,
});

/** Organisms or proteins of a choice of homologs. */
const MAX_CHOSEN = 200;
const identity = (description: string) => Type.Number({ description, minimum: 0.25, maximum: 1 });

export const HomologChoiceSchema = Type.Object(
  {
    organisms: optional(
      Type.Array(text("Scientific name, NCBI's number or UniProt's mnemonic."), {
        description: "Only proteins of these organisms.",
        maxItems: MAX_CHOSEN,
      }),
    ),
    leaveOut: optional(
      Type.Array(text("An accession of the corpus in use."), {
        description: "Proteins that are no homologs.",
        maxItems: MAX_CHOSEN,
      }),
    ),
    minIdentity: optional(identity("Minimum identity to the query; by default 0.25.")),
    maxIdentity: optional(identity("Maximum identity; by default 1.")),
    maxHomologs: optional(
      Type.Integer({
        description: "Number of homologs, the best of each species first; by default 100.",
        minimum: 1,
        maximum: 100,
      }),
    ),
  },
  {
    $id: "HomologChoice",
    description:
      "Choice of the homologs. P values are exact for the default choice and approximate for others.",
    additionalProperties: false,
  },
);

export const Submission = schema(
  Type.Object(
    {
      identifier: optional(
        text(
          "The client's name for the query, returned with the result. Default: the accession, or that of the FASTA header.",
        ),
      ),
      querySequence: optional(
        text(
          "The protein in one-letter codes of either case, also as one FASTA record or as in GenBank and UniProt, with white space and numbers that count residues. Texts that are no protein are rejected.",
        ),
      ),
      accession: optional(
        text(
          "A protein of the corpus in use, instead of a sequence: its accession, entry name or gene. A gene of several species selects the most studied species; `TP53 mouse` selects mouse.",
        ),
      ),
      ...motifFields(),
      alignment: optional(
        text(
          "Your own alignment, instead of a search for homologs: aligned FASTA, A3M, Clustal or Stockholm, up to 1,000 rows and 1,000,000 letters and gaps.",
        ),
      ),
      alignmentQuery: optional(
        text("Identifier of the row of the alignment that is the query. Default: the first row."),
      ),
      homologs: optional(HomologChoiceSchema),
      variant: optional(
        text(
          "Substitutions in the query, such as `W23A`, `p.Trp23Ala` or `F19A+W23A`, scored with the homologs of the unchanged one.",
        ),
      ),
      variantOf: optional(uuid("A job to repeat with the variant alone.")),
    },
    {
      $id: "Submission",
      description:
        "A query and the motifs to look for. Give one of querySequence, accession, alignment and variantOf.",
      additionalProperties: false,
      examples: [
        {
          identifier: "E7",
          querySequence:
            "MHGDTPTLHEYMLDLQPETTDLYCYEQLNDSSEEEDEIDGPAGQAEPDRAHYNIVTFCCKCDSTLRLCVQSTHVDIRTLEDLLMGTLGIVCPICSQKP",
          patterns: ["L.C.E"],
          motifClasses: ["LIG_PCNA_PIPBox_1"],
        },
      ],
    },
  ),
);

/** Removes the fields of a body that are null, before it is validated. */
function omitNulls(body: unknown, { properties = {} }: { properties?: object }): void {
  const fields = body as Record<string, unknown> | null;
  for (const name of Object.keys(properties)) if (fields?.[name] === null) delete fields[name];
}

/**
 * A JSON body, which must say that it is JSON, without fields that are null.
 * @throws Problem unsupported_media_type, too_large, timeout, malformed
 */
export async function readBody(request: Request, shape: TSchema): Promise<unknown> {
  if ((request.headers.get("content-encoding") ?? "identity").trim().toLowerCase() !== "identity")
    throw new Problem("unsupported_media_type", "Content-Encoding: send the body uncompressed.");
  const body = await readJson(request, { types: ["application/json"] });
  omitNulls(body, shape as { properties?: object });
  return body;
}

export const JobSchema = object(
  {
    id: text("Identifies the job, also in GetStatus and GetResult.", { format: "uuid" }),
    identifier: nullable(text("The client's name for the query.")),
    state: oneOf<State>(STATES, "State of the job."),
    stage: nullable(
      oneOf(
        ["start", "homologs", "tree", "scores"],
        "Current stage of the computation; null unless running.",
      ),
    ),
    fraction: nullable(fraction("Completed fraction of the stage; null unless running.")),
    place: nullable(count("Place in the queue, 1 for the next; null unless queued.")),
    submitted: instant("Time when the job was accepted."),
    started: nullable(instant("Time when a worker started it; null before.")),
    ended: nullable(instant("When it ended.")),
    expires: nullable(
      instant("Time when the result will be removed; null until the job ends, or if jobs are kept forever."),
    ),
    failure: nullable(text("The reason why there is no prediction.")),
    queryLength: nullable(count("Residues of the query.")),
    protein: ProteinOfQuery,
    scoringModel: nullable(oneOf(SCORING_MODELS, "The scoring model: how homologs count.")),
    patterns: list(
      object(
        {
          expression: text("The expression."),
          name: nullable(text("Name of the motif class by which it was requested.")),
        },
        "A motif.",
      ),
      "The requested motifs.",
    ),
    homologs: nullable(Type.Unsafe<HomologChoice>(HomologChoiceSchema), {
      description: "The choice of homologs; null for the default one.",
    }),
    variant: nullable(text("Substitutions in the query, by position.")),
    hasOwnAlignment: Type.Boolean({
      description: "Whether the homologs are rows of the client's alignment.",
    }),
    mayChange: Type.Boolean({
      description: "Whether the caller may cancel the job and change its structure model.",
    }),
    links: object(
      {
        self: uri("Address of the job."),
        events: uri("Address of the events."),
        result: uri("Address of the result."),
        scan: uri("Address of the matches in the order of a scan."),
      },
      "Addresses.",
    ),
  },
  "A job. The values of the request are null once it has expired.",
  "Job",
);
export type JobObject = Static<typeof JobSchema>;

export const CorpusSchema = object(
  {
    ...CorpusFields,
    bytes: count("Size of the file in bytes."),
    added: instant("Time of the upload."),
    method: text(`Version of the method that scores jobs, now ${METHOD}.`),
  },
  "The corpus in use.",
  "CorpusInUse",
);

export const ScoringCountsSchema = object(
  {
    proteins: count("Proteins of the corpus in use."),
    motifClasses: count("Motif classes."),
    results: count("Jobs, batches and proteome searches of the caller, counted up to 1,000."),
  },
  "Numbers beside the pages of the scoring service.",
  "ScoringCounts",
);

/** An expression with its meaning. */
export const MEANING = {
  expression: text("The regular expression."),
  explanation: text("The expression in words."),
  informationContent: number("Lowest information content of the paths through the pattern, in bits."),
};

export const PatternRequest = schema(
  Type.Object(
    { pattern: text("The expression.") },
    {
      description: "An expression to check.",
      additionalProperties: false,
      examples: [{ pattern: "[ST]P..[KR]" }],
    },
  ),
);

const SUGGESTIONS = list(
  text("A valid expression."),
  "Expressions that the caller may have meant: `P..P` for `PxxP`, `P-x(2)-P` or `PXXP`; usually empty for a valid expression.",
);

export const PatternSchema = object(
  { ...MEANING, suggestions: SUGGESTIONS },
  "The meaning of an expression.",
);

export const PatternProblemSchema = Type.Object(
  {
    ...PROBLEM_SCHEMA.properties,
    position: Type.Optional(
      Type.Integer({ minimum: 1, description: "Position of the invalid character, from 1." }),
    ),
    suggestions: Type.Optional(SUGGESTIONS),
  },
  { $id: "PatternProblem", description: "An invalid expression.", additionalProperties: true },
);

export const CorpusHash = Type.Object({
  id: text("SHA-256 of the corpus, 64 hexadecimal digits.", { examples: ["0".repeat(64)] }),
});

/** A format as a parameter; the first is the default, unless Accept chooses. */
export const formatSchema = <Name extends string>(
  formats: Readonly<Record<Name, FileFormat>>,
  more: object = {},
) =>
  Type.Optional(
    oneOf<Name>(
      Object.keys(formats) as Name[],
      Object.entries<FileFormat>(formats)
        .map(([name, { sentence }]) => `\`${name}\`: ${sentence}`)
        .join(" "),
      more,
    ),
  );

export const ResultParameters = Type.Object({
  format: formatSchema(RESULT_FORMATS),
  match: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: "For JSON and alignments: only this match, from 1 over all patterns.",
    }),
  ),
  // Without examples, since filters are only for tables, and JSON is the default.
  ...filterSchemas(MATCH_TABLES.result, false),
  order: orderSchema(MATCH_TABLES.result),
});

export const ComparisonParameters = Type.Object({
  a: uuid("Identifier of the first job."),
  b: uuid("Identifier of the second job."),
});

const SCAN_PARAMETERS = {
  format: formatSchema(SCAN_FORMATS, { default: "json" }),
  ...filterSchemas(MATCH_TABLES.scan),
  order: orderSchema(MATCH_TABLES.scan),
};

export const ScanParameters = Type.Object(SCAN_PARAMETERS);

/** Jobs of a joint scan. */
const MAX_JOINT = 50;

export const JointScanParameters = Type.Object({
  jobs: Type.Array(text("Identifier of a job."), {
    description: "Finished jobs, separated by commas.",
    minItems: 1,
    maxItems: MAX_JOINT,
    examples: [[EXAMPLE_ID]],
  }),
  ...SCAN_PARAMETERS,
});
