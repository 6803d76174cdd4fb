export type ScoringModel = "continuous" | "discontinuous";
export const SCORING_MODELS: readonly ScoringModel[] = ["continuous", "discontinuous"];

/** State of a match in one homolog. */
export type HomologState = "conserved" | "shifted" | "substituted" | "gap" | "missing";

export type Verdict = "conserved" | "weakly conserved" | "not conserved" | "insufficient data";

export interface Homolog {
  accession: string;
  description: string;
  /** Organism or species code, if the header gives one. */
  organism: string | null;
  /** Identical fraction of the aligned pairs of residues, 0..1. */
  identity: number;
  /** Fraction of the query's residues aligned to a residue, 0..1. */
  coverage: number;
  /** Smith-Waterman score in bits; null for an alignment from the user, like the E-value. */
  bitScore: number | null;
  /** Expected number of chance hits in the corpus with this score or better. */
  eValue: number | null;
  /** Tree weight; near-identical sequences share theirs. */
  weight: number;
}

export interface HomologAtMatch {
  /** Index into `Prediction.homologs`. */
  homolog: number;
  state: HomologState;
  /** Residues aligned to the match, `-` for a gap, insertions in lower case. */
  residues: string;
  /** Retention r_i, 0..1; null where the state is missing. */
  retention: number | null;
}

export interface MatchScore {
  /** First and last residue, counted from 1. */
  start: number;
  end: number;
  /** The matched residues. */
  text: string;
  verdict: Verdict;
  /** Conservation score CS, 0..1; null if data are insufficient, like the next four. */
  score: number | null;
  /** CS expected from the local divergence, 0..1. */
  expected: number | null;
  /** Evidence for the match, in standard deviations from the mean of random matches. */
  z: number | null;
  /** Fraction of comparable random matches that are conserved as well or better, 0.005..0.5. */
  pValue: number | null;
  /** Whether the P value is an estimate, or a bound beyond the ends of the null distribution. */
  pValueIs: "estimate" | "at most" | "at least" | null;
  /** Homologs that reach this match, and their effective number (Kish). */
  homologs: number;
  effectiveHomologs: number;
  /** Mean local identity, 0..1; null without homologs. */
  localIdentity: number | null;
  /** Information content of the matched path, in bits. */
  informationContent: number;
  /**
   * Per position the weighted fraction of homologs that keep it, 0..1; null at wildcards and without
   * homologs.
   */
  conservation: (number | null)[];
  atHomologs: HomologAtMatch[];
  /** The terms of z; absent if data are insufficient. */
  contributions?: Contributions;
  warnings: string[];
}

/** Contribution of each term; the sum, including `offset`, is z. */
export interface Contributions {
  offset: number;
  /** Retention beyond expectation, in standard deviations on a signed logarithmic scale. */
  retention: number;
  /** Log-likelihood ratio of slow to ordinary loss along the tree, on the same scale. */
  lossRate: number;
  /** ln of local over overall divergence: motifs lie in fast-evolving regions. */
  divergence: number;
  /** Disorder of the homologs around the match. */
  disorder: number;
  /** Disorder of the whole chain; counts against the match. */
  chain: number;
  /** Hydrophobic segment near the match, as in a membrane or core; counts against it. */
  burial: number;
  /** Net charge of the region; counts against it. */
  charge: number;
  /** Serine and threonine of the region. */
  serThrFraction: number;
  /** Proximity to an end of the chain. */
  terminusProximity: number;
  /** ln of observed over expected matches in the query. */
  abundance: number;
}

/** Alignment behind the scores; its columns are the query's residues. */
export interface FamilyAlignment {
  /** The query's residues. */
  query: string;
  /** Per homolog in A3M: `-` for a gap, insertions in lower case. */
  rows: string[];
  /** Per residue the weighted fraction of homologs with the same one, 0..1; null if none reaches it. */
  conservation: (number | null)[];
  /** Per residue the mean TOP-IDP around it, -0.88 (order) to 0.99 (disorder). */
  disorder: number[];
}

export interface PatternScores {
  expression: string;
  /** Name of the motif class, if requested by name. */
  name: string | null;
  /** The pattern in words. */
  explanation: string;
  /** Minimum information content over the pattern's paths, in bits. */
  informationContent: number;
  /** In order of start; empty if nothing matched. */
  matches: MatchScore[];
  warnings: string[];
}

export interface Prediction {
  /** Version of the method: equal versions give equal numbers. */
  method: string;
  model: ScoringModel;
  queryLength: number;
  /** Source of the homologs; null for an alignment from the user. */
  corpus: { name: string; hash: string; sequences: number; residues: number } | null;
  /** Best first. */
  homologs: Homolog[];
  patterns: PatternScores[];
  alignment: FamilyAlignment;
  /** Newick, the query named `query`; empty without homologs. */
  tree: string;
  warnings: string[];
}
