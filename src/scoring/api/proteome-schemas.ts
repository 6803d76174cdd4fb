import { type Static, Type } from "typebox";
import { type ScoringModel, SCORING_MODELS } from "../../motif/index.ts";
import { nullable, oneOf, schema, textSchema } from "../../platform/schema.ts";
import {
  count,
  fraction,
  list,
  MatchSchema,
  number,
  object,
  ProteinSchema,
  text,
} from "../prediction/prediction.ts";
import { KEPT_BANDS, LABELS, MATCH_ORDERS, REGIONS } from "../table/proteome-matches.ts";
import { PROTEOME_FORMS, type ProteomeFormName } from "../table/proteome-forms.ts";
import { SEARCH_STATES, type SearchState } from "../proteome/searches.ts";
import { NotesSchema } from "../features/feature-schemas.ts";
import { CorpusSchema, instant, optional, PLACE_PARAMETERS, uri } from "./json-schemas.ts";
import { SCAN_MATCH } from "../table/scan.ts";

/** Matches on a page. */
export const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

export const ProteomeSchema = object(
  {
    corpus: text("Name of the corpus in use."),
    sequences: count("Its proteins."),
    families: count("Proteins whose family is stored: only these are searched."),
    bytes: count("Size of the stored families in bytes.", { format: "int64" }),
    organisms: list(
      object(
        {
          name: nullable(text("Scientific name.")),
          taxon: nullable(count("NCBI's number.")),
          proteins: count("Its proteins with a family."),
        },
        "An organism.",
      ),
      "Organisms with most such proteins, at most 200.",
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
  "What imported features say of the match; null if none are imported.",
);

const { q, label } = SCAN_MATCH;
const { atHomologs: _atHomologs, ...MATCH } = MatchSchema.properties;

const ProteomeMatchSchema = object(
  {
    rank: count("Place among all matches, from 1."),
    protein: ProteinSchema,
    before: text("Up to four residues before the match."),
    after: text("Up to four residues after it."),
    ...MATCH,
    q,
    label,
    disorder: fraction("Mean predicted disorder of the match."),
    notes: nullable(RowNotesSchema),
    isDisordered: Type.Boolean({ description: "Whether the mean disorder exceeds 0.5." }),
  },
  "A match with the numbers of a job that scores its protein, and its place among all matches.",
);

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
    corpus: object(
      { name: CorpusSchema.properties.name, hash: CorpusSchema.properties.hash },
      "The corpus that is searched.",
    ),
    expression: text("The regular expression."),
    motifClass: nullable(text("Name of the motif class by which it was requested.")),
    scoringModel: oneOf(SCORING_MODELS, "The scoring model."),
    organism: nullable(text("The organism as requested; null for all.")),
    organismName: nullable(text("Its scientific name, if known.")),
    searched: count("Proteins searched so far."),
    total: count("Proteins to search; 0 until the search runs."),
    missing: count("Selected proteins that have no family and are not searched."),
    matches: count("Matches found so far. Ranks and q-values change until the search has finished."),
    matching: count("Proteins with a match."),
    labels: choices("Number of all matches by label."),
    pValues: list(
      object(
        {
          p: fraction("Largest P value; the next entry has that below it."),
          matches: count("Number of matches."),
          expected: number("Number expected if all matches were random."),
        },
        "Matches with about the same P value.",
      ),
      "Number of all matches by overall P value, of those below 0.5.",
    ),
    facets: object(
      {
        label: choices("Labels."),
        species: choices("Species with most matches, at most 25."),
        region: choices("Disordered or ordered regions."),
        kept: choices("Per cent of the homologs that keep the match."),
      },
      "Choices of each filter, with the number of matches that pass the others.",
    ),
    passing: count("Matches that pass the filters."),
    results: list(ProteomeMatchSchema, "The requested page of them."),
    links: object(
      { self: uri("Address of the search."), matches: uri("Address of all matches, to download.") },
      "Addresses.",
    ),
  },
  "A search, and a page of its matches.",
  "ProteomeSearch",
);
export type ProteomeSearchObject = Static<typeof ProteomeSearchSchema>;

export const SearchId = textSchema(
  Type.Object({
    id: text("Identifier of the search, 64 hexadecimal digits.", { examples: ["0".repeat(64)] }),
  }),
);

const several = <Value extends string>(values: readonly Value[], description: string) =>
  Type.Optional(
    Type.Array(oneOf(values, "A choice."), {
      description: `${description}, separated by commas.`,
      examples: [[values[0]]],
    }),
  );

const FILTERS = {
  label: several(LABELS, "Only matches with these labels"),
  species: Type.Optional(
    Type.Array(text("A taxon, or the scientific name of an organism without one, without commas."), {
      description: "Only matches in these species, separated by commas.",
      examples: [["9606"]],
    }),
  ),
  region: several(REGIONS, "Only matches in these regions"),
  kept: several(KEPT_BANDS, "Only matches that these per cent of the homologs keep"),
  max_q: Type.Optional(fraction("Only matches with at most this q-value.")),
  ...PLACE_PARAMETERS,
};

export const PageParameters = textSchema(
  Type.Object({
    ...FILTERS,
    order: Type.Optional(
      oneOf(MATCH_ORDERS, "Order; - for descending. Matches without the value come last.", {
        default: MATCH_ORDERS[0],
      }),
    ),
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
  }),
);

export const DownloadParameters = textSchema(
  Type.Object({
    format: Type.Optional(
      oneOf<ProteomeFormName>(
        Object.keys(PROTEOME_FORMS) as ProteomeFormName[],
        Object.entries(PROTEOME_FORMS)
          .map(([name, { sentence }]) => `\`${name}\`: ${sentence}`)
          .join(" "),
        { default: "tsv" },
      ),
    ),
    ...FILTERS,
  }),
);
