/** What a scoring job answers: plain data that crosses from worker to main thread and is printed as XML, JSON, TSV. */

export type ScoringModel = "continuous" | "discontinuous";
export const SCORING_MODELS: readonly ScoringModel[] = ["continuous", "discontinuous"];

/** What became of a match in one homolog: see `conserve.ts`. */
export type HomologState = "conserved" | "shifted" | "substituted" | "gap" | "missing";

/** What the score says in words. */
export type Verdict = "conserved" | "weakly conserved" | "not conserved" | "insufficient data";

export interface Homolog {
  accession: string;
  description: string;
  /** Organism or species code where the header gives one. */
  organism: string | null;
  /** Identical residues per aligned pair of residues, 0..1. */
  identity: number;
  /** Part of the query's residues that are aligned to a residue, 0..1. */
  coverage: number;
  /** Smith-Waterman score in bits; null where the user brought the alignment, as is the next. */
  bitScore: number | null;
  /** Expected number of hits with this score or better in the corpus by chance. */
  eValue: number | null;
  /** Weight by the tree: its share of the branches, so that near-identical sequences share theirs. */
  weight: number;
}

export interface HomologAtMatch {
  /** Index into `Prediction.homologs`. */
  homolog: number;
  state: HomologState;
  /** Residues aligned to the match, one character per matched position, `-` for a gap, insertions in lower case. */
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
  /** Conservation score CS, 0..1; null where data are insufficient, as are the next four. */
  score: number | null;
  /** CS expected from the divergence of the surroundings, 0..1. */
  expected: number | null;
  /**
   * How much speaks for the match, in standard deviations: by labd-1 the distance of CS from its expectation, by labd-2
   * that and its surroundings against the mean of random matches.
   */
  z: number | null;
  /** Part of comparable random matches that are conserved as well or better, from the empirical null, 0.005..0.5. */
  pValue: number | null;
  /** Beyond the ends of the empirical null the P value is a bound: it is then the null's last value. */
  pValueIs: "estimate" | "at most" | "at least" | null;
  /** Homologs that count at this match, and how many independent ones they are worth (Kish). */
  homologs: number;
  effectiveHomologs: number;
  /** Mean identity of the surroundings, 0..1; null without homologs. */
  localIdentity: number | null;
  /** Information content of the matched path, in bits. */
  informationContent: number;
  /** Per matched position: weighted part of the homologs that keep it, 0..1; null at wildcards and without homologs. */
  conservation: (number | null)[];
  atHomologs: HomologAtMatch[];
  /** What z is made of; absent where data are insufficient, and by labd-1. */
  contributions?: Contributions;
  warnings: string[];
}

/** What each kind of evidence adds to z by labd-2; with `offset` they sum to it. */
export interface Contributions {
  offset: number;
  /** Retention in the homologs beyond expectation. */
  retention: number;
  /** How slowly the match was lost along the tree. */
  slowness: number;
  /** How fast the surroundings change. */
  divergence: number;
  /** How disordered the homologs are beside the match. */
  disorder: number;
  /** How disordered the whole chain is: less than nothing where it is much. */
  chain: number;
  /** How hydrophobic a segment there is about the match, as in a membrane or a core: likewise. */
  burial: number;
  /** Net charge of the region: likewise. */
  charge: number;
  /** Serine and threonine of the region. */
  hydroxyls: number;
  /** How near an end of the chain is. */
  terminality: number;
  /** How many matches there are against chance. */
  abundance: number;
}

/** The alignment that the scores were read from. Its columns are the query's residues. */
export interface FamilyAlignment {
  /** The query's residues. */
  query: string;
  /**
   * Per homolog, in the notation A3M: a character per residue of the query, `-` for none, insertions in lower case. Gaps before
   * the first and behind the last residue are where the homolog does not reach.
   */
  rows: string[];
  /** Per residue, of the homologs that reach it the part by weight that has the same, 0..1; null where none does. In hundredths. */
  conservation: (number | null)[];
  /** Per residue the mean TOP-IDP of its surroundings, from -0.88 (order) to 0.99 (disorder). In hundredths. */
  disorder: number[];
}

export interface PatternScores {
  expression: string;
  /** Name of the motif class, where the pattern was asked for by name. */
  name: string | null;
  /** The pattern in words. */
  explanation: string;
  /** Information content of the pattern (least over its paths), in bits. */
  informationContent: number;
  /** In order of start, then end. Empty where nothing matched: the pattern is still listed. */
  matches: MatchScore[];
  warnings: string[];
}

export interface Prediction {
  /** Version of the method: equal versions give equal numbers. */
  method: string;
  model: ScoringModel;
  queryLength: number;
  /** Where the homologs come from; null where the user brought the alignment. */
  corpus: { name: string; hash: string; sequences: number; residues: number } | null;
  /** Best first. */
  homologs: Homolog[];
  patterns: PatternScores[];
  /** Absent in predictions of before it was kept. */
  alignment?: FamilyAlignment;
  /** Newick, the query named `query`; empty without homologs. */
  tree: string;
  warnings: string[];
}
