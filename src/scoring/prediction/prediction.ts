import { type Static, type TSchema, Type } from "typebox";
import { nullable, oneOf } from "../../platform/schema.ts";
import type { MatchHistory, MatchScore, Prediction, Relation } from "../../motif/index.ts";
import type { Provenance } from "../table/provenance.ts";

/**
 * A prediction as JSON schema. The elements of ConScorePrediction (con-score-prediction.ts) are made from its fields; the
 * TypeScript type is that of the library.
 */

/** Enumerations by the names of their XML types; `Verdict` is the earlier name of the levels of conservation. */
export const PREDICTION_CHOICES = {
  AppliedScoringModel: ["continuous", "discontinuous"],
  OverallVerdict: ["likely functional", "possible", "no evidence", "known instance"],
  ScoreVerdict: ["likely functional", "possible", "no evidence", "not scored"],
  Verdict: [
    "conserved",
    "weakly conserved",
    "conserved like its surroundings",
    "not conserved",
    "insufficient data",
  ],
  HomologState: ["conserved", "shifted", "substituted", "gap", "missing"],
  PValueKind: ["estimate", "at most", "at least"],
} as const;

export type ChoiceName = keyof typeof PREDICTION_CHOICES;

export const text = (description: string, more: object = {}) => Type.String({ description, ...more });
export const number = (description: string) => Type.Number({ description });
export const fraction = (description: string) => Type.Number({ description, minimum: 0, maximum: 1 });
export const count = (description: string, more: object = {}) =>
  Type.Integer({ description, minimum: 0, ...more });
export const list = <Item extends TSchema>(item: Item, description: string) =>
  Type.Array(item, { description });
/** An object without other properties. */
export const object = <Properties extends Record<string, TSchema>>(
  properties: Properties,
  description: string,
  $id?: string,
) => Type.Object(properties, { ...($id ? { $id } : {}), description, additionalProperties: false });
const optional = (properties: Record<string, TSchema>): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]));
export const choice = <Name extends ChoiceName>(name: Name, description: string) =>
  oneOf<(typeof PREDICTION_CHOICES)[Name][number]>(PREDICTION_CHOICES[name], description);
export const caveats = (what: string): string => `Caveats about ${what}.`;

export const CorpusFields = {
  name: text("Name of the corpus on this server."),
  hash: text("SHA-256 of the content: equal hashes mean equal corpora."),
  sequences: count("Number of sequences."),
  residues: count("Total number of residues.", { format: "int64" }),
};
export const CorpusSchema = object(
  CorpusFields,
  "The collection of proteins that was searched for homologs.",
  "SearchedCorpus",
);

export const ProteinSchema = object(
  {
    accession: text("Identifier in the corpus."),
    entryName: nullable(text("UniProt's name of the entry, such as P53_HUMAN.")),
    name: text("Name of the protein; may be empty."),
    gene: nullable(text("Gene symbol.")),
    organism: nullable(text("Scientific name of the organism.")),
    taxon: nullable(count("NCBI's number of the organism.")),
    length: count("Number of residues."),
  },
  "A protein of a corpus, as its FASTA header describes it. Fields that the header lacks are null.",
  "Protein",
);

export type ProteinObject = Static<typeof ProteinSchema>;

export const ProteinOfQuery = nullable(ProteinSchema, {
  $id: "ProteinOfQuery",
  description:
    "The query, if the corpus in use has a protein with this name (accession, entry name or gene) and sequence.",
});

const unknownObject = (description: string) => Type.Object({}, { description, additionalProperties: true });

export const ProvenanceSchema = Type.Unsafe<Provenance>(
  object(
    {
      labd: text("Version of labd."),
      date: text("Day of the scoring."),
      ...optional({
        method: text("Method."),
        model: text("Scoring model."),
        corpus: text("Corpus."),
        corpus_sha256: text("Its hash."),
        corpus_proteins: count("Its proteins."),
        alignment_sha256: text("Hash of the user's alignment."),
        variant: text("Substitutions."),
        options: unknownObject("Options."),
        features_sha256: text("Hash of features."),
        class_models: unknownObject("Hashes of class models."),
        ignored: list(text("Evidence."), "Ignored evidence."),
        organism: text("Organism."),
        filters: unknownObject("Filters of the rows."),
        order: text("Order of the rows."),
        patterns: list(unknownObject("A pattern."), "Patterns."),
        queries_count: count("Number of queries."),
        queries_sha256: text("Their hash."),
        queries: list(unknownObject("A query."), "Queries."),
      }),
    },
    "With what it was scored, but for members of the object itself.",
    "Provenance",
  ),
);

export const HomologSchema = object(
  {
    accession: text("Identifier in the corpus."),
    description: text("Description in the corpus."),
    organism: nullable(text("Organism or species code, if known.")),
    gene: Type.Optional(nullable(text("Gene symbol, if known."))),
    identity: fraction("Identical residues per aligned pair of residues, 0 to 1."),
    coverage: fraction("Fraction of the query that is aligned to its residues, 0 to 1."),
    bitScore: nullable(number("Bit score of the local alignment.")),
    eValue: nullable(number("E-value: number of hits with this score expected by chance.")),
    weight: fraction("Weight from the tree; nearly identical proteins share a weight."),
    relation: Type.Optional(
      nullable(
        oneOf<Relation>(["ortholog", "paralog"], "Relation to the query; null if the species is unknown."),
      ),
    ),
  },
  "A homologous protein of the corpus that contributes to the scores.",
);

export const HomologAtMatchSchema = object(
  {
    homolog: count("Index in homologs, from 0."),
    state: choice(
      "HomologState",
      "conserved: the motif is kept in place; shifted: kept nearby; substituted: residues that the motif forbids; gap: mostly deleted; missing: largely beyond the ends of the homolog's alignment.",
    ),
    residues: text("Residues of the homolog at the match: - is a gap, insertions are lower case."),
    retention: nullable(fraction("Degree to which the homolog keeps the match, 0 to 1.")),
  },
  "A match in one homolog.",
);

export const ContributionsSchema = object(
  {
    conservation: number(
      "Retention in the homologs beyond expectation, and a low rate of loss along the tree.",
    ),
    order: number("Predicted disorder of the match."),
    chainOrder: number("Predicted order of the whole chain."),
    burial: number("Absence of a hydrophobic segment."),
    terminusProximity: number("Proximity to an end of the chain."),
    abundance: number("Number of matches, compared with chance."),
    pattern: Type.Optional(number("Random matches of the pattern, compared with other patterns.")),
    domain: Type.Optional(number("Position in a known domain.")),
    topology: Type.Optional(
      number("Signal or transit peptide, membrane, or another side than that of the partner."),
    ),
    compartment: Type.Optional(number("Compartment of the protein, if it excludes the class's.")),
    phosphosite: Type.Optional(number("A known phosphosite where the class needs one.")),
    classModel: Type.Optional(number("Similarity to known instances.")),
  } satisfies Record<keyof NonNullable<MatchScore["contributions"]>, TSchema>,
  "What each kind of evidence adds to z, compared with random matches. Missing without a score.",
  "Contributions",
);

const KeptInSchema = object(
  {
    homologs: count("Those that reach the match."),
    kept: count("Those that keep it in place."),
    nearby: count("Those that have it only nearby."),
    score: nullable(fraction("Conservation score over these alone.")),
  },
  "A match in the orthologs, or in the paralogs.",
  "KeptIn",
);

const HistorySchema = object(
  {
    ancestor: oneOf<MatchHistory["ancestor"]>(
      ["had it", "lacked it", "undecided"],
      "Whether the common ancestor had the match; undecided: both need as many changes.",
    ),
    changes: list(
      object(
        {
          kind: oneOf<"gained" | "lost">(["gained", "lost"], "The change."),
          homologs: list(count("Index in homologs."), "The homologs that show it."),
          query: Type.Boolean({ description: "Whether the query shows it, too." }),
        },
        "A change.",
      ),
      "The fewest changes along the tree, rooted at its midpoint.",
    ),
  },
  "Where a match appeared and was lost.",
  "MatchHistory",
);

const RandomMatchesSchema = object(
  {
    shares: list(fraction("A share."), "Shares of the random matches, descending."),
    z: list(number("A z."), "The z that each share of the random matches reaches."),
  },
  "Distribution of z of the random matches with which the matches are compared. Missing if none could be scored.",
  "RandomMatches",
);

export const MatchSchema = object(
  {
    start: count("Position of the first residue, from 1."),
    end: count("Position of the last residue, from 1."),
    text: text("The matched residues."),
    verdict: oneOf<MatchScore["verdict"]>(
      [...PREDICTION_CHOICES.OverallVerdict, "not scored"] as never,
      "All evidence in words; known instance where an imported instance of the motif is at the match.",
    ),
    overallVerdict: nullable(
      oneOf<NonNullable<MatchScore["overallVerdict"]>>(
        PREDICTION_CHOICES.OverallVerdict as never,
        "The verdict: all evidence in words, or known instance. Missing if the match could not be scored, like its P value.",
      ),
    ),
    scoreVerdict: Type.Optional(
      choice("ScoreVerdict", "The verdict by all evidence, if the verdict is known instance."),
    ),
    z: nullable(
      number(
        "All evidence for the match in standard deviations: conservation beyond expectation, and the context. Missing if the match could not be scored.",
      ),
    ),
    overallPValue: nullable(
      fraction(
        "Fraction of random matches in proteins with as many homologs and as much order whose z is as high or higher, 0 to 1.",
      ),
    ),
    overallPValueIs: nullable(
      choice(
        "PValueKind",
        "Whether overallPValue is an estimate or a bound at the end of the simulated range.",
      ),
    ),
    probability: Type.Optional(
      nullable(
        fraction(
          "Probability of a true motif, 0 to 1, by z and a prior, 0.005 by default. Missing if the match could not be scored, and in results of earlier versions.",
        ),
      ),
    ),
    conservationLevel: choice(
      "Verdict",
      "Conservation alone in words; conserved like its surroundings: kept, but not better than the flanking residues explain.",
    ),
    score: nullable(
      fraction(
        "Weighted mean of the retentions, 0 to 1. Missing if the data are insufficient, like its expectation and its P value.",
      ),
    ),
    expected: nullable(
      fraction("The expected score if the match changed as fast as the flanking residues, 0 to 1."),
    ),
    pValue: nullable(
      fraction("Fraction of comparable random matches that are conserved as well or better, 0 to 1."),
    ),
    pValueIs: nullable(
      choice("PValueKind", "Whether pValue is an estimate or a bound at the end of the simulated range."),
    ),
    homologs: count("Number of homologs that count at this match."),
    effectiveHomologs: number("Equivalent number of independent homologs."),
    kept: count("Number of the homologs at this match that keep the motif in place."),
    nearby: count(
      "Number of the homologs at this match that have the motif only nearby, within ten residues; kept does not count them.",
    ),
    localIdentity: nullable(fraction("Mean identity around the match, 0 to 1.")),
    informationContent: number("Information content of the matched path, in bits."),
    conservation: list(
      nullable(
        fraction(
          "Weighted fraction of the homologs that keep the residue; null at wildcards and without homologs.",
        ),
      ),
      "Values per residue of the match.",
    ),
    atHomologs: list(HomologAtMatchSchema, "The match in each homolog."),
    orthologs: Type.Optional(KeptInSchema),
    paralogs: Type.Optional(KeptInSchema),
    history: Type.Optional(HistorySchema),
    contributions: Type.Optional(ContributionsSchema),
    warnings: list(Type.String(), caveats("the match")),
  },
  "A part of the query that a pattern matches, and how well its homologs keep it.",
);

export const ModelGainSchema = object(
  {
    without: fraction("AUC of z without the model."),
    with: fraction("AUC with it."),
    low: number("Lower end of the 95 % interval of the gain."),
    high: number("Upper end."),
  },
  "Gain of a class model on protein families that were held out.",
  "ModelGain",
);

export const AppliedClassModelSchema = object(
  {
    hash: text("Identifies the model."),
    instances: count("Instances from which it was learned."),
    gain: ModelGainSchema,
  },
  "The model of the motif class; missing without one.",
  "AppliedClassModel",
);

export const PatternSchema = object(
  {
    expression: text("The regular expression."),
    name: nullable(text("Name of the motif class by which it was requested.")),
    explanation: text("The pattern in words."),
    informationContent: number("Lowest information content of the paths through the pattern, in bits."),
    matches: list(MatchSchema, "Residues in the order of the query."),
    classModel: Type.Optional(AppliedClassModelSchema),
    randomMatches: Type.Optional(RandomMatchesSchema),
    warnings: list(Type.String(), caveats("the pattern")),
  },
  "A requested pattern, also if it has no match.",
);

const AlignmentSchema = object(
  {
    query: text("The residues of the query."),
    rows: list(
      text("One character per residue of the query, - for a gap; insertions in lower case (A3M)."),
      "One row per homolog; gaps at both ends are beyond its alignment.",
    ),
    conservation: list(
      nullable(
        fraction(
          "Weighted fraction of the homologs with the residue of the query, among homologs that reach it.",
        ),
      ),
      "Values per residue of the query, in hundredths; null where no homolog is aligned.",
    ),
    disorder: list(
      fraction("Predicted disorder, 0 to 1; regions above 0.5 are disordered."),
      "Values per residue of the query, in hundredths.",
    ),
    order: list(
      fraction("Predicted confidence of AlphaFold (pLDDT), 0 to 1; 0.7 and more is folded."),
      "Values per residue of the query, in hundredths.",
    ),
  },
  "The alignment from which the scores were computed.",
);

/** A result as JSON: the prediction, and the client's name of the query. */
export const ResultSchema = object(
  {
    identifier: text("The client's name for the query."),
    protein: ProteinOfQuery,
    provenance: Type.Optional(ProvenanceSchema),
    method: text("Version of the method: equal versions give equal numbers."),
    model: choice("AppliedScoringModel", "The scoring model: how homologs counted."),
    queryLength: count("Residues of the query."),
    corpus: nullable(CorpusSchema),
    homologs: list(HomologSchema, "Best first."),
    patterns: list(PatternSchema, "Patterns in the order of the request: expressions, then motif classes."),
    alignment: AlignmentSchema,
    tree: text("The query, named `query`, and its homologs in Newick notation; empty without homologs."),
    prior: Type.Optional(fraction("Prior of the probabilities; missing for the default, 0.005.")),
    warnings: list(Type.String(), caveats("the prediction")),
  },
  "The conservation of every match of every requested pattern.",
);

/** The names of a query: the client's, and those of the protein, if the corpus has it; and with what it was scored. */
export interface NamedQuery {
  identifier: string;
  protein: ProteinObject | null;
  /** Without method, model and corpus, which are those of the prediction. */
  provenance?: Provenance;
}

/** A finished job's prediction, and the names of the query; SOAP has only the client's. */
export interface PredictionReport {
  identifier: string;
  protein?: ProteinObject | null;
  provenance?: Provenance | undefined;
  prediction: Prediction;
}
