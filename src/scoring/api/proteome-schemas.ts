import { type Static, Type } from "typebox";
import { type ScoringModel, SCORING_MODELS } from "../../motif/index.ts";
import { EXAMPLE_ID } from "../../platform/openapi-example.ts";
import { nullable, oneOf, schema } from "../../platform/schema.ts";
import {
  count,
  fraction,
  list,
  MatchSchema,
  number,
  object,
  type ProteinObject,
  ProteinSchema,
  ProvenanceSchema,
  text,
} from "../prediction/prediction.ts";
import { type MatchRow } from "../table/match-row.ts";
import { listFormerNames } from "../table/filters.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import { PROTEOME_FORMATS } from "../results/file-formats.ts";
import { SEARCH_STATES, type SearchState } from "../proteome/searches.ts";
import { NotesSchema } from "../features/feature-schemas.ts";
import { CorpusSchema, evidenceFields, formatSchema, instant, optional, uri } from "./json-schemas.ts";
import { filterSchemas, matchProperties, orderSchema } from "../results/table-schemas.ts";

/** Matches on a page. */
export const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

export const ProteomeSchema = object(
  {
    corpus: text("Name of the corpus in use."),
    sequences: count("Its proteins."),
    families: count("Proteins whose family is stored: only these are searched."),
    bytes: count("Size of the stored families in bytes.", { format: "int64" }),
    building: nullable(
      object(
        {
          done: count("Families computed so far."),
          missing: count("Families that were missing at its start."),
          secondsLeft: nullable(count("Expected time until its end.")),
        },
        "The build in progress.",
      ),
    ),
    organisms: list(
      object(
        {
          name: nullable(text("Scientific name.")),
          taxon: nullable(count("NCBI's number.")),
          proteins: count("Proteins of the organism with a family."),
        },
        "An organism.",
      ),
      "The organisms with the most families, at most 200.",
    ),
  },
  "The part of the corpus in use that can be searched.",
);

export type ProteomeObject = Static<typeof ProteomeSchema>;

export const ProteomeSearchRequest = schema(
  Type.Object(
    {
      pattern: optional(text("A regular expression over residues.")),
      motifClass: optional(text("A motif class, by name or alias, instead of a pattern.")),
      organism: optional(
        text("Only proteins of this organism: NCBI's taxon, scientific name, or UniProt's mnemonic.", {
          minLength: 1,
          maxLength: 200,
        }),
      ),
      scoringModel: optional(
        oneOf<ScoringModel>(SCORING_MODELS, "As in a job.", { default: SCORING_MODELS[0] }),
      ),
      ...evidenceFields,
    },
    {
      $id: "ProteomeSearchRequest",
      description: "A motif to look for in all proteins. Give either pattern or motifClass.",
      additionalProperties: false,
      examples: [{ pattern: "F...W..[LIV]", organism: "9606" }],
    },
  ),
);

const { instances, domains, phosphosite } = NotesSchema.properties;
const RowNotesSchema = object(
  { instances, domains, phosphosite },
  "Imported features at the match; null if none are imported.",
);

const { proteome: PROTEOME_TABLE } = MATCH_TABLES;
const {
  atHomologs: _atHomologs,
  orthologs: _orthologs,
  paralogs: _paralogs,
  history: _history,
  ...MATCH
} = MatchSchema.properties;

const ProteomeMatchSchema = object(
  {
    protein: ProteinSchema,
    before: text("Up to four residues before the match."),
    after: text("Up to four residues after the match."),
    ...MATCH,
    ...matchProperties(PROTEOME_TABLE),
    notes: nullable(RowNotesSchema),
  },
  "A match with the numbers of a job that scores its protein, and its place among all matches.",
);

/** A match of a page, with its flanks. */
type ProteomeMatchObject = MatchRow & { protein: ProteinObject; rank: number; before: string; after: string };

const choices = (description: string) =>
  list(
    object(
      {
        value: text("Value for the parameter."),
        name: text("Value for people."),
        count: count("Number of matches."),
      },
      "A choice.",
      "MatchCount",
    ),
    description,
  );

export const ProteomeSearchSchema = object(
  {
    id: text("Identifies the search."),
    state: oneOf<SearchState>(SEARCH_STATES, "State of the search."),
    place: nullable(count("Place in the queue, 1 for the next; null unless queued.")),
    mayChange: Type.Boolean({ description: "Whether the caller may cancel the search." }),
    submitted: instant("Time when the search was accepted."),
    failure: nullable(text("The reason why there is no result.")),
    provenance: ProvenanceSchema,
    corpus: object(
      { name: CorpusSchema.properties.name, hash: CorpusSchema.properties.hash },
      "The corpus that is searched.",
    ),
    expression: text("The regular expression."),
    motifClass: nullable(text("Name of the motif class by which it was requested.")),
    scoringModel: oneOf(SCORING_MODELS, "The scoring model."),
    organism: nullable(text("The organism as requested; null for all.")),
    organismName: nullable(text("Scientific name, if known.")),
    searched: count("Proteins searched so far."),
    total: count("Proteins to search; 0 until the search runs."),
    missing: count("Selected proteins that have no family and are not searched."),
    matches: count("Matches found so far. Ranks and q-values change until the search has finished."),
    matching: count("Proteins with a match."),
    labels: choices("Number of all matches by verdict."),
    pValues: list(
      object(
        {
          p: fraction("Largest P value; the next entry has that below it."),
          matches: count("Number of matches."),
          expected: number("Number expected if all matches were random."),
        },
        "Matches with about the same P value.",
      ),
      "Number of matches with an overall P value below 0.5, by P value.",
    ),
    facets: object(
      Object.fromEntries(
        PROTEOME_TABLE.filters.flatMap((filter) =>
          filter.kind === "choice"
            ? [filter.name, ...listFormerNames(filter)].map((name) => [name, choices(`${filter.title}.`)])
            : [],
        ),
      ),
      "Choices of each filter, with the number of matches that pass the others.",
    ),
    passing: count("Matches that pass the filters."),
    results: list(Type.Unsafe<ProteomeMatchObject>(ProteomeMatchSchema), "The requested page of matches."),
    links: object(
      { self: uri("Address of the search."), matches: uri("Address of all matches, to download.") },
      "Addresses.",
    ),
  },
  "A search, and a page of its matches.",
  "ProteomeSearch",
);
export type ProteomeSearchObject = Static<typeof ProteomeSearchSchema>;

export const SearchId = Type.Object({
  id: text("Identifier of the search.", { examples: [EXAMPLE_ID] }),
});

export const PageParameters = Type.Object({
  ...filterSchemas(PROTEOME_TABLE),
  order: orderSchema(PROTEOME_TABLE),
  protein: Type.Optional(text("Only matches in this protein: its accession.")),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: "Matches to skip in this order." }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description: "Most matches in the response.",
    }),
  ),
});

export const DownloadParameters = Type.Object({
  format: formatSchema(PROTEOME_FORMATS, { default: "tsv" }),
  ...filterSchemas(PROTEOME_TABLE),
  order: orderSchema(PROTEOME_TABLE),
});
