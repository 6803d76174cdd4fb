/**
 * ConScorePrediction, declared once: the schema and the printed elements follow from here. Everything is an
 * element, for many toolkits hide attributes; no element is named after a keyword of the languages that make
 * classes of them (`match`, `end`, `class`, `default`) or a method of their objects (`hash`, `method`).
 *
 * The values are described by structure alone, so that the contract needs nothing from the library that makes them.
 */

export interface Homolog {
  accession: string;
  description: string;
  organism: string | null;
  identity: number;
  coverage: number;
  bitScore: number | null;
  eValue: number | null;
  weight: number;
}

export interface HomologAtMatch {
  homolog: number;
  state: "conserved" | "shifted" | "substituted" | "gap" | "missing";
  residues: string;
  retention: number | null;
}

export interface MatchScore {
  start: number;
  end: number;
  text: string;
  verdict: "conserved" | "weakly conserved" | "not conserved" | "insufficient data";
  score: number | null;
  expected: number | null;
  z: number | null;
  pValue: number | null;
  pValueIs: "estimate" | "at most" | "at least" | null;
  homologs: number;
  effectiveHomologs: number;
  localIdentity: number | null;
  informationContent: number;
  conservation: (number | null)[];
  atHomologs: HomologAtMatch[];
  /** Not part of the schema, as is the alignment: JSON has both. */
  contributions?: Record<
    | "offset"
    | "retention"
    | "slowness"
    | "divergence"
    | "disorder"
    | "chain"
    | "burial"
    | "charge"
    | "hydroxyls"
    | "terminality"
    | "abundance",
    number
  >;
  warnings: string[];
}

export interface PatternScores {
  expression: string;
  name: string | null;
  explanation: string;
  informationContent: number;
  matches: MatchScore[];
  warnings: string[];
}

export interface Prediction {
  method: string;
  model: "continuous" | "discontinuous";
  queryLength: number;
  corpus: { name: string; hash: string; sequences: number; residues: number } | null;
  homologs: Homolog[];
  patterns: PatternScores[];
  alignment?: {
    query: string;
    rows: string[];
    conservation: (number | null)[];
    disorder: number[];
  };
  tree: string;
  warnings: string[];
}

/** A finished job's answer: the client's name of the query, and the prediction. */
export interface PredictionReport {
  identifier: string;
  prediction: Prediction;
}

/** Simple types: those of XML Schema, and our own with their choices. */
export const PREDICTION_CHOICES = {
  AppliedScoringModel: ["continuous", "discontinuous"],
  Verdict: ["conserved", "weakly conserved", "not conserved", "insufficient data"],
  HomologState: ["conserved", "shifted", "substituted", "gap", "missing"],
  PValueKind: ["estimate", "at most", "at least"],
} as const;

export type SimpleName = "string" | "int" | "long" | "double" | keyof typeof PREDICTION_CHOICES;

/** One child element of a complex type whose values are `Source`. */
export interface Part<Source> {
  readonly name: string;
  readonly type: SimpleName | ComplexType<never>;
  readonly occurs: "once" | "optional" | "any number";
  readonly meaning: string;
  /** The element's contents: none, one or many, as `occurs` says. */
  readonly read: (source: Source, report: PredictionReport) => readonly unknown[];
}

export interface ComplexType<Source> {
  readonly name: string;
  readonly meaning: string;
  readonly parts: readonly Part<Source>[];
}

type Scalar = string | number;

const once = <S>(name: string, type: SimpleName, meaning: string, read: (source: S) => Scalar): Part<S> => ({
  name,
  type,
  occurs: "once",
  meaning,
  read: (source) => [read(source)],
});

const optional = <S>(
  name: string,
  type: SimpleName,
  meaning: string,
  read: (source: S) => Scalar | null,
): Part<S> => ({
  name,
  type,
  occurs: "optional",
  meaning,
  read: (source) => {
    const value = read(source);
    return value === null ? [] : [value];
  },
});

const many = <S, Item>(
  name: string,
  type: ComplexType<Item> | "string",
  meaning: string,
  read: (source: S, report: PredictionReport) => readonly Item[],
): Part<S> => ({ name, type: type as Part<S>["type"], occurs: "any number", meaning, read });

const warnings = <S extends { warnings: string[] }>(about: string): Part<S> =>
  many("warning", "string", `What to keep in mind about ${about}.`, (source) => source.warnings);

const QUERY: ComplexType<PredictionReport> = {
  name: "QueryProtein",
  meaning: "The protein that was asked about.",
  parts: [
    once("identifier", "string", "The client's own name for it, as given to RunJob.", (r) => r.identifier),
    once("sequenceLength", "int", "Number of residues.", (r) => r.prediction.queryLength),
  ],
};

const CORPUS: ComplexType<NonNullable<Prediction["corpus"]>> = {
  name: "ProteinCorpus",
  meaning: "The collection of proteins in which homologs were looked for.",
  parts: [
    once("corpusName", "string", "Its name at this installation.", (c) => c.name),
    once("contentHash", "string", "Hash of its content: equal hashes mean equal collections.", (c) => c.hash),
    once("sequenceCount", "int", "Number of sequences.", (c) => c.sequences),
    once("residueCount", "long", "Number of residues in all.", (c) => c.residues),
  ],
};

interface NumberedHomolog extends Homolog {
  number: number;
}

const HOMOLOG: ComplexType<NumberedHomolog> = {
  name: "Homolog",
  meaning: "A protein of the corpus that is akin to the query and takes part in the scores.",
  parts: [
    once("homologNumber", "int", "Counted from 1, best first; matches refer to it.", (h) => h.number),
    once("accession", "string", "Its identifier in the corpus.", (h) => h.accession),
    once("description", "string", "Its description in the corpus.", (h) => h.description),
    optional("organism", "string", "Organism or species code, where known.", (h) => h.organism),
    once("identity", "double", "Identical residues per aligned pair of residues, 0 to 1.", (h) => h.identity),
    once(
      "coverage",
      "double",
      "Part of the query that is aligned to its residues, 0 to 1.",
      (h) => h.coverage,
    ),
    optional("bitScore", "double", "Score of the local alignment in bits.", (h) => h.bitScore),
    optional("expectValue", "double", "Hits with this score expected by chance.", (h) => h.eValue),
    once("treeWeight", "double", "Its weight by the tree: near-identical proteins share.", (h) => h.weight),
  ],
};

interface MatchPosition {
  number: number;
  residue: string;
  conservation: number | null;
}

const POSITION: ComplexType<MatchPosition> = {
  name: "MatchPosition",
  meaning: "One residue of a match.",
  parts: [
    once("residueNumber", "int", "Position in the query, counted from 1.", (p) => p.number),
    once("residue", "string", "Its one-letter code.", (p) => p.residue),
    optional(
      "conservation",
      "double",
      "Weighted part of the homologs that keep it, 0 to 1; absent at wildcards and without homologs.",
      (p) => p.conservation,
    ),
  ],
};

interface NamedHomologAtMatch extends HomologAtMatch {
  accession: string;
}

const HOMOLOG_AT_MATCH: ComplexType<NamedHomologAtMatch> = {
  name: "HomologAtMatch",
  meaning: "What became of a match in one homolog.",
  parts: [
    once("homologNumber", "int", "The homolog's number in this prediction.", (h) => h.homolog + 1),
    once("accession", "string", "The homolog's identifier.", (h) => h.accession),
    once(
      "state",
      "HomologState",
      "conserved: the motif is kept in its place; shifted: kept nearby; substituted: residues that the motif forbids; gap: most of it is deleted; missing: too much of it lies beyond the ends of the homolog's alignment.",
      (h) => h.state,
    ),
    once(
      "alignedResidues",
      "string",
      "Its residues at the match: - is a gap, lower case are insertions.",
      (h) => h.residues,
    ),
    optional("retention", "double", "How far it keeps the match, 0 to 1.", (h) => h.retention),
  ],
};

const MATCH: ComplexType<MatchScore> = {
  name: "MotifMatch",
  meaning: "A stretch of the query that a pattern fits, and how well its homologs keep it.",
  parts: [
    once("firstResidue", "int", "Position of the first residue, counted from 1.", (m) => m.start),
    once("lastResidue", "int", "Position of the last residue, counted from 1.", (m) => m.end),
    once("matchedText", "string", "The residues.", (m) => m.text),
    once("verdict", "Verdict", "What the score says in words.", (m) => m.verdict),
    optional(
      "conservationScore",
      "double",
      "Weighted mean of the retentions, 0 to 1; absent where data are insufficient, as are the next four.",
      (m) => m.score,
    ),
    optional(
      "expectedScore",
      "double",
      "What the score would be if the match changed as fast as its surroundings, 0 to 1.",
      (m) => m.expected,
    ),
    optional(
      "zScore",
      "double",
      "How much speaks for the match, in standard deviations: conservation beyond expectation, by labd-2 with its surroundings.",
      (m) => m.z,
    ),
    optional(
      "pValue",
      "double",
      "Part of comparable random matches that are conserved as well or better, 0 to 1.",
      (m) => m.pValue,
    ),
    optional(
      "pValueKind",
      "PValueKind",
      "Whether pValue is an estimate, or a bound beyond the ends of what was simulated.",
      (m) => m.pValueIs,
    ),
    once("homologCount", "int", "Homologs that count at this match.", (m) => m.homologs),
    once(
      "effectiveHomologs",
      "double",
      "Independent homologs that they are worth.",
      (m) => m.effectiveHomologs,
    ),
    optional("localIdentity", "double", "Mean identity around the match, 0 to 1.", (m) => m.localIdentity),
    once(
      "informationContent",
      "double",
      "Information of the path that matched, in bits.",
      (m) => m.informationContent,
    ),
    many("position", POSITION, "Its residues, one by one.", (m) =>
      m.conservation.map((conservation, i) => ({
        number: m.start + i,
        residue: m.text[i] ?? "",
        conservation,
      })),
    ),
    many("homologAtMatch", HOMOLOG_AT_MATCH, "The homologs, one by one.", (m, { prediction }) =>
      m.atHomologs.map((at) => ({ ...at, accession: prediction.homologs[at.homolog]?.accession ?? "" })),
    ),
    warnings("the match"),
  ],
};

const PATTERN: ComplexType<PatternScores> = {
  name: "PatternResult",
  meaning: "One pattern that was asked for; listed also where it matches nowhere.",
  parts: [
    once("expression", "string", "The regular expression.", (p) => p.expression),
    optional("elmIdentifierName", "string", "The name that it was asked for by.", (p) => p.name),
    once("explanation", "string", "The pattern in words.", (p) => p.explanation),
    once(
      "informationContent",
      "double",
      "Least information over its paths, in bits.",
      (p) => p.informationContent,
    ),
    once("matchCount", "int", "Number of matches.", (p) => p.matches.length),
    many("motifMatch", MATCH, "The matches in the order of the query.", (p) => p.matches),
    warnings("the pattern"),
  ],
};

/** The content of the element ConScorePrediction. */
export const CON_SCORE_PREDICTION: ComplexType<PredictionReport> = {
  name: "ConScorePrediction",
  meaning: "The conservation of every match of every pattern that was asked for.",
  parts: [
    once("methodVersion", "string", "Equal versions give equal numbers.", (r) => r.prediction.method),
    once("scoringModel", "AppliedScoringModel", "How homologs counted.", (r) => r.prediction.model),
    { ...many("query", QUERY, QUERY.meaning, (r: PredictionReport) => [r]), occurs: "once" },
    {
      ...many(
        "corpus",
        CORPUS,
        `${CORPUS.meaning} Absent where the user brought the alignment.`,
        (r: PredictionReport) => (r.prediction.corpus ? [r.prediction.corpus] : []),
      ),
      occurs: "optional",
    },
    many("homolog", HOMOLOG, "The homologs, best first.", (r) =>
      r.prediction.homologs.map((homolog, i) => ({ ...homolog, number: i + 1 })),
    ),
    many("pattern", PATTERN, "The patterns in the order of the request.", (r) => r.prediction.patterns),
    optional("newickTree", "string", "Tree of the query and its homologs in Newick's notation.", (r) =>
      r.prediction.tree === "" ? null : r.prediction.tree,
    ),
    many("warning", "string", "What to keep in mind about the whole.", (r) => r.prediction.warnings),
  ],
};

/** Every complex type below a type, once each, inner ones first. */
export function complexTypes(type: ComplexType<never> = CON_SCORE_PREDICTION): ComplexType<never>[] {
  const inner = type.parts.flatMap((part) =>
    typeof part.type === "string" ? [] : [...complexTypes(part.type), part.type],
  );
  return [...new Set(inner)];
}
