export type ScoringModel = "continuous" | "discontinuous";
export const SCORING_MODELS: readonly ScoringModel[] = ["continuous", "discontinuous"];

/** State of a match in one homolog. */
export type HomologState = "conserved" | "shifted" | "substituted" | "gap" | "missing";

/** Conservation alone in words; "like its surroundings" means kept, but not more than they explain. */
export type ConservationLevel =
  | "conserved"
  | "weakly conserved"
  | "conserved like its surroundings"
  | "not conserved"
  | "insufficient data";

/** All evidence in words. */
export type Verdict = "likely functional" | "possible" | "no evidence" | "not scored";

export type PValueKind = "estimate" | "at most" | "at least";

export interface Homolog {
  accession: string;
  description: string;
  /** Organism or species code, if the header gives one. */
  organism: string | null;
  /** Symbol of the gene, if the header gives one; absent in predictions by earlier versions. */
  gene?: string | null;
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
  /** Relation to the query; null if the species is unknown, absent in results of earlier versions. */
  relation?: Relation | null;
}

/** Whether the genes of a homolog and the query diverged when species did, or when a gene was duplicated. */
export type Relation = "ortholog" | "paralog";

/** A match in the orthologs or the paralogs that reach it. */
export interface KeptIn {
  homologs: number;
  /** Those that keep it in place, or only nearby. */
  kept: number;
  nearby: number;
  /** Conservation score over these alone, 0..1; null without any. */
  score: number | null;
}

/** Where a match appeared and was lost along the tree, with the fewest changes. */
export interface MatchHistory {
  /** Whether the common ancestor had it; `undecided` if both need as many changes. */
  ancestor: "had it" | "lacked it" | "undecided";
  changes: {
    kind: "gained" | "lost";
    /** The homologs that show the change: indexes into `Prediction.homologs`. */
    homologs: number[];
    /** True if the query is one of those that gained it. */
    query: boolean;
  }[];
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

/** A distribution of z: each share of the random matches reaches at least the z at the same index. Shares descend. */
export interface RandomMatches {
  shares: number[];
  z: number[];
}

export interface MatchScore {
  /** First and last residue, counted from 1. */
  start: number;
  end: number;
  /** The matched residues. */
  text: string;
  /** Judged by all evidence. */
  verdict: Verdict;
  /** The verdict by its earlier name; null if the match could not be scored. */
  overallVerdict: Exclude<Verdict, "not scored"> | null;
  /** The verdict of the score, where documents say that the match is a known instance; absent otherwise. */
  scoreVerdict?: Verdict;
  /** Evidence for the match, in standard deviations from the mean of random matches; null if the match could not be scored. */
  z: number | null;
  /**
   * Fraction of random matches in proteins with as many homologs and as much order whose z is as high or higher; null if the
   * match could not be scored.
   */
  overallPValue: number | null;
  overallPValueIs: PValueKind | null;
  /** Probability of a true motif, 0..1, from z and the prior; null likewise, absent in results of earlier versions. */
  probability?: number | null;
  /** Judged by conservation alone. */
  conservationLevel: ConservationLevel;
  /** Conservation score CS, 0..1; null if data are insufficient, like the next three. */
  score: number | null;
  /** CS expected from the local divergence, 0..1. */
  expected: number | null;
  /** Fraction of comparable random matches that are conserved as well or better, 0.00001..0.99. */
  pValue: number | null;
  /** True if the P value is an estimate, or a bound beyond the ends of the null distribution. */
  pValueIs: PValueKind | null;
  /** Homologs that reach this match, their effective number (Kish), and how many keep it in place, or only nearby. */
  homologs: number;
  effectiveHomologs: number;
  kept: number;
  nearby: number;
  /** Mean local identity, 0..1; null without homologs. */
  localIdentity: number | null;
  /** Information content of the matched path, in bits. */
  informationContent: number;
  /**
   * Weighted fraction of homologs that keep the residue, per position, 0..1; null at wildcards and without homologs.
   */
  conservation: (number | null)[];
  atHomologs: HomologAtMatch[];
  /** The match in orthologs and in paralogs, and where it appeared and was lost; absent in results of earlier versions. */
  orthologs?: KeptIn;
  paralogs?: KeptIn;
  history?: MatchHistory;
  /** The parts of z; absent if the match could not be scored. */
  contributions?: Contributions;
  warnings: string[];
}

/** Contribution of each term, and of what is known beside the sequence, relative to random matches; the sum is z. */
export interface Contributions {
  /** Retention beyond expectation, and slow loss along the tree. */
  conservation: number;
  /** Predicted order of the match: motifs lie in disordered regions. */
  order: number;
  /** Predicted order of the whole chain, against which a disordered match stands out. */
  chainOrder: number;
  /** Hydrophobic segment near the match, as in a membrane or core. */
  burial: number;
  /** Proximity to an end of the chain. */
  terminusProximity: number;
  /** More matches in the query than expected by chance. */
  abundance: number;
  /** Random matches of the pattern look less like motifs than those of others, absent in results of earlier versions. */
  pattern?: number;
  /** Position in a folded domain. */
  domain?: number;
  /** Position in a signal or transit peptide, a membrane segment, or on the other side of the membrane than the partner. */
  topology?: number;
  /** Compartment of the protein, if it excludes that of the class. */
  compartment?: number;
  /** Known phosphosite at the residue that has to be phosphorylated. */
  phosphosite?: number;
  /** Similarity to known instances of the motif class; absent without a class model. */
  classModel?: number;
}

/** Terms that are computed from the sequences alone; every scored match has them. */
export const TERMS = [
  "conservation",
  "order",
  "chainOrder",
  "burial",
  "terminusProximity",
  "abundance",
  "pattern",
] as const satisfies readonly (keyof Contributions)[];

export type Term = (typeof TERMS)[number];

/** Alignment behind the scores; its columns are the query's residues. */
export interface FamilyAlignment {
  /** The query's residues. */
  query: string;
  /** Aligned row of each homolog in A3M: `-` for a gap, insertions in lower case. */
  rows: string[];
  /** Weighted fraction of homologs with an identical residue, per residue, 0..1; null if no homolog reaches it. */
  conservation: (number | null)[];
  /** Predicted disorder per residue, 0..1; above 0.5 a region counts as disordered. */
  disorder: number[];
  /** Predicted pLDDT per residue, as a fraction: 0.7 and more is confidently folded. */
  order: number[];
}

/** Gain of a class model on protein families that were held out. */
export interface ModelGain {
  /** AUC of z without and with the model. */
  without: number;
  with: number;
  /** 95 % interval of the difference. */
  low: number;
  high: number;
}

/** A class model as results show it. */
export interface AppliedClassModel {
  /** SHA-256 of its content. */
  hash: string;
  /** Instances from which it was learned. */
  instances: number;
  gain: ModelGain;
}

export interface PatternScores {
  expression: string;
  /** Name of the motif class, if requested by name. */
  name: string | null;
  /** The pattern in words. */
  explanation: string;
  /** Minimum information content over the pattern's paths, in bits. */
  informationContent: number;
  /** Matches in order of start; empty if nothing matched. */
  matches: MatchScore[];
  /** z of the random matches with which the matches are compared; absent if none could be scored. */
  randomMatches?: RandomMatches;
  /** The class model that contributes to z; absent without one. */
  classModel?: AppliedClassModel;
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
  /** Share of true motifs among the matches on which the probabilities rest, 0..1; absent for the default. */
  prior?: number;
  warnings: string[];
}
