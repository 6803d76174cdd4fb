import { type Static, Type } from "typebox";
import { SCORING_MODELS } from "../../motif/index.ts";
import { nullable, oneOf } from "../../platform/schema.ts";
import { TASK_STATES } from "../../tasks/task.ts";
import { MAX_ITEMS } from "../batch/batches.ts";
import { STATES } from "../jobs/job.ts";
import { count, fraction, list, object, ProvenanceSchema, text } from "../prediction/prediction.ts";
import { filterSchemas } from "../results/table-schemas.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import { TABLE_FORMATS } from "../table/table-formats.ts";
import { formatSchema, HomologChoiceSchema, instant, motifFields, optional, uri } from "./json-schemas.ts";

/** Patterns, and motif classes, of a batch. */
const MAX_MOTIFS = 10_000;

export const BatchSubmission = Type.Object(
  {
    proteins: optional(
      Type.Array(
        object(
          {
            identifier: optional(text("The client's name for the protein.")),
            querySequence: optional(text("The protein in one-letter codes, as in a job.")),
            accession: optional(text("Accession, entry name or gene of a protein of the corpus in use.")),
            line: optional(
              Type.Integer({ description: "Line of the protein in the client's list.", minimum: 1 }),
            ),
          },
          "A protein: one of querySequence and accession.",
        ),
        {
          description:
            "Proteins that are scored for all motifs. One that cannot be scored is a failed job; the others are scored.",
          maxItems: MAX_ITEMS,
        },
      ),
    ),
    table: optional(
      text(
        "Instead of proteins, a table as `labd score --batch` reads it: tab-separated query (accession, entry name, gene or sequence) and pattern (expression or motif class); with patterns or motifClasses, a list with one query on each line.",
      ),
    ),
    skipInvalid: optional(
      Type.Boolean({ description: "Score the valid lines of the table, and list the others as warnings." }),
    ),
    ...motifFields(MAX_MOTIFS),
    homologs: optional(HomologChoiceSchema),
  },
  {
    $id: "ScoringBatchSubmission",
    description: "Proteins and the motifs to look for. Give one of proteins and table.",
    additionalProperties: false,
    examples: [
      {
        proteins: [
          { identifier: "E7", querySequence: "MHGDTPTLHEYMLDLQPETTDLYCYEQLNDSSEEEDEIDGPAGQAEPDRAHYN" },
        ],
        patterns: ["L.C.E"],
      },
    ],
  },
);

export const BatchSchema = object(
  {
    id: text("Identifies the batch."),
    title: text("Number of proteins and motifs."),
    state: oneOf(TASK_STATES, "State of the batch."),
    created: instant("Time when the batch was accepted."),
    ended: nullable(instant("When the last job of the batch ended.")),
    message: text("The current activity, or the outcome."),
    fraction: fraction("Fraction of the jobs that have ended."),
    jobs: object(
      {
        total: count("All jobs."),
        waiting: count("Not submitted yet."),
        queued: count("In the queue."),
        running: count("Running."),
        finished: count("With a result."),
        failed: count("Jobs without a result: failed, cancelled or expired."),
      },
      "Number of jobs by state.",
    ),
    scoringModel: oneOf(SCORING_MODELS, "The scoring model."),
    groups: list(
      list(
        object(
          {
            expression: text("The expression."),
            name: nullable(text("Name of the motif class by which it was requested.")),
          },
          "A motif.",
        ),
        "Motifs of one job.",
      ),
      "Motifs by group: each job has the motifs of one group.",
    ),
    provenance: ProvenanceSchema,
    warnings: list(text("A sentence."), "Remarks on the input, such as lines that were skipped."),
    mayChange: Type.Boolean({ description: "Whether the caller may cancel the batch." }),
    links: object(
      {
        self: uri("Address of the batch."),
        items: uri("Address of the jobs of the batch."),
        events: uri("Address of the events of the batch."),
      },
      "Addresses.",
    ),
  },
  "The batch.",
  "ScoringBatch",
);
export type BatchObject = Static<typeof BatchSchema>;

export const MAX_LISTED_ITEMS = 1000;
export const ItemQuery = Type.Object({
  offset: Type.Optional(Type.Integer({ minimum: 0, description: "Position of the first job, from 0." })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LISTED_ITEMS,
      description: `Jobs to list: by default and at most ${MAX_LISTED_ITEMS}.`,
    }),
  ),
});
/** The downloaded part of a batch, and its format. */
export const MatchesQuery = Type.Object({
  format: formatSchema(TABLE_FORMATS, { default: "tsv" }),
  rows: Type.Optional(
    oneOf(
      ["all", "best"],
      "`all`: the matches of all results. `best`: the best match of each motif in each protein, and proteins that were not scored.",
      { default: "all" },
    ),
  ),
  ...filterSchemas(MATCH_TABLES.batch),
});

export const ItemsSchema = object(
  {
    total: count("All jobs of the batch."),
    items: list(
      object(
        {
          position: count("Position in the batch, from 0."),
          name: text("The protein."),
          line: nullable(count("Line of the protein in a list.")),
          group: count("Index of the motif group, from 0."),
          job: nullable(text("Identifier of the job; null before it is submitted, and if it cannot be.")),
          state: oneOf(["waiting", ...STATES], "State of the job; waiting before it is submitted."),
          failure: nullable(text("The reason why there is no result.")),
        },
        "A job.",
      ),
      "In their order.",
    ),
  },
  "Jobs of a batch.",
  "ScoringBatchItems",
);
