/**
 * Constants of the method, with reason and source. Changing one makes a new method version. Values a caller
 * may change are options.
 */

/** Version of the method: equal versions give equal numbers. */
export const METHOD = "labd-4";

/**
 * The method that last changed homologs, alignments, trees or predicted order: stored families of later methods are equal,
 * so that an upgrade does not compute those of a proteome again.
 */
export const FAMILY_METHOD = "labd-3";

/** Options of a run; results are only comparable if these are equal. */
export interface Options {
  /** Maximum E-value of a homolog. */
  maxEValue: number;
  /** Minimum fraction of the query's residues aligned, 0..1. */
  minCoverage: number;
  /** Minimum identical fraction of the aligned pairs, 0..1. */
  minIdentity: number;
  /** Maximum identical fraction, 0..1; 1 by default. */
  maxIdentity: number;
  /** Organisms of the homologs, by scientific name, NCBI's number or UniProt's mnemonic; empty for all. */
  organisms: readonly string[];
  /** Accessions of hits that are no homologs. */
  leaveOut: readonly string[];
  /** Maximum length of a homolog relative to the query. */
  maxLengthRatio: number;
  /** Number of homologs kept, best first. */
  maxHomologs: number;
  /** Align every protein instead of those that pass the prefilter. */
  exhaustive: boolean;
  /** Matches of one pattern that are scored and listed; a warning reports the rest. */
  maxMatches: number;
  /** Maximum length of a scored match. */
  maxMatchLength: number;
  /** Share of true motifs among the matches, 0..1 exclusive; only the probability depends on it. */
  prior: number;
}

/**
 * Share of the matches of a motif class that are true motifs, before any evidence: twice the known instances of half of
 * ELM's instances in human proteins, 1,115 of 550,901 matches of their 237 classes, rounded up because many are unknown.
 */
export const PRIOR = 0.005;

/**
 * P values hold for these homolog criteria, under which the null distribution was made. E ≤ 1e-5 and half of
 * the query exclude hits by one shared domain; below 25 % identity an alignment cannot place a short motif
 * (twilight zone: Rost, Protein Eng. 1999, 12:85); a protein three times as long has another architecture;
 * the null distribution covers 100 homologs.
 *
 * 3,000 matches exceed those of any of 349 motif classes in titin (34,350 residues). Short linear motifs span
 * 3 to about 60 residues; 500 bounds the work per match.
 */
export const DEFAULTS: Readonly<Options> = Object.freeze({
  maxEValue: 1e-5,
  minCoverage: 0.5,
  minIdentity: 0.25,
  maxIdentity: 1,
  organisms: [],
  leaveOut: [],
  maxLengthRatio: 3,
  maxHomologs: 100,
  exhaustive: false,
  maxMatches: 3000,
  maxMatchLength: 500,
  prior: PRIOR,
});

/**
 * Maximum number of nodes of a pattern with its repeats expanded. The largest motif class has 90; 10,000
 * bounds a pass over titin to about half a second.
 */
export const MAX_PATTERN_NODES = 10_000;

/** Maximum count in `{n,m}`. */
export const MAX_REPEAT = MAX_PATTERN_NODES;

/** Maximum nesting of groups; motif classes need three. */
export const MAX_NESTING = 100;

/**
 * Automaton steps in the homologs per pattern and job, about two seconds; ordinary patterns need a
 * thousandth. A step limit, unlike a time limit, is deterministic.
 */
export const MAX_MATCHING_STEPS = 400_000_000;

/** Columns on each side of the pairwise alignments that a profile alignment may use. */
export const PROFILE_BAND = 32;

/** Cost of an end gap relative to an inner one: fragments are common. */
export const END_GAP_FACTOR = 0.5;

/** Minimum number of shared columns for an identity, and the dissimilarity assumed below it. */
export const MIN_SHARED_COLUMNS = 10;
export const UNKNOWN_DISSIMILARITY = 0.9;

/** Lower limit of the argument of Kimura's logarithm (distance 3.0). */
export const MIN_KIMURA_ARGUMENT = 0.05;

/** Added to every weight, so that sequences at distance 0 still count. */
export const WEIGHT_FLOOR = 1e-6;

/**
 * Positions with less information (bits) are wildcards: `.`, `[^P]`, and sets of about four fifths of all
 * residues.
 */
export const MIN_DEFINED_BITS = 0.3;

/** Information of a position that admits no standard residue, in bits. */
export const MAX_POSITION_BITS = 10;

/** Maximum fraction of the motif beyond the aligned part of a homolog; above it the homolog is missing. */
export const MAX_UNALIGNED = 0.5;

/**
 * Maximum shift from the aligned position at which the motif is still found, and its retention there.
 * Alignments slip in disordered regions; without a shift the AUC on PairK's benchmark falls by .05.
 */
export const SHIFT = 10;
export const SHIFT_RETENTION = 0.75;

/** Columns on each side that define local identity, and the pseudocount of the global identity. */
export const IDENTITY_FLANK = 30;
export const IDENTITY_PRIOR = 5;

/** Frequency assumed for a non-standard residue of the query. */
export const UNKNOWN_FREQUENCY = 0.05;

/** Limits of expected retention, so that no variance is zero. */
export const MIN_EXPECTATION = 0.001;
export const MAX_EXPECTATION = 0.99;

/**
 * Difference in identity (0..1) over which a homolog's weight falls by e: close relatives share interactions.
 * Without it the AUC falls by .005 (A, B) and .02 (K).
 */
export const IDENTITY_DECAY = 0.3;

/** Maximum offset between the ends of query and homolog for a motif in an unaligned end. */
export const MAX_TERMINUS_OFFSET = 60;

/** Mean disorder above which a match lies in a disordered region. */
export const DISORDER_THRESHOLD = 0.5;

/** Residues over which terminus proximity falls by e. */
export const TERMINUS_DECAY = 30;

/** Lower limit of an identity in a logarithm. */
export const MIN_LOG_IDENTITY = 0.05;

/** Pseudocount of local and overall divergence. */
export const DIVERGENCE_PRIOR = 0.05;

/** Probability that a present motif appears shifted, or lost, because of alignment errors. */
export const SHIFTED_ERROR = 0.25;
export const LOST_ERROR = 0.03;

/** Loss rates compared, relative to the local rate; the last is the null hypothesis. */
export const LOSS_RATE_FACTORS: readonly number[] = [0.05, 0.2, 0.5, 1];

/** Standard deviation of ln of the local rate. */
export const RATE_SPREAD = 0.8;

/** Maximum probability of a random match. */
export const MAX_CHANCE = 0.3;

/**
 * Window for hydrophobic segments (Kyte & Doolittle's for membranes), and the maximum distance of its centre
 * from the match's.
 */
export const BURIAL_WINDOW = 19;
export const BURIAL_MAX_OFFSET = 10;

/**
 * Evidence of known features in units of z: coefficients of logistic regressions beside z, divided by that of z, on 1,115
 * true and 549,786 random matches in 2,600 human proteins, shrunk by a normal prior of the log odds (standard deviation 2).
 * Predicted segments and signal peptides stood in for known ones, and the Gene Ontology for locations (docs/quality.md).
 */
export const TARGETING_EVIDENCE = -1.4;
export const MEMBRANE_EVIDENCE = -1;
export const SIDE_EVIDENCE = -1.9;
export const COMPARTMENT_EVIDENCE = -1.8;

/** Between the -.09 and -.36 that long ordered segments say beside z (A and B); their order counts already. */
export const DOMAIN_EVIDENCE = -0.2;

/**
 * Chosen, not fitted: the two differ by a likelihood ratio of 3, since up to two thirds of phosphosites may have no function
 * (Landry et al., Trends Genet. 2009, 25:193). P stays within .055 for random matches if up to 15 % of residues are known sites.
 */
export const PHOSPHOSITE_EVIDENCE = 0.5;
export const NO_PHOSPHOSITE_EVIDENCE = -0.2;

/** Mean predicted order above which a known domain is folded: some families of domains are motifs. */
export const FOLDED_ORDER = 0.7;

/** Weights of retention and loss rate in the term `conservation`. */
export const RETENTION_WEIGHT = 0.36;
export const LOSS_RATE_WEIGHT = 0.51;

/**
 * Weight of the highest local identity at which a homolog lost the match: a loss in an unchanged region counts against it.
 * .004 on A and .002 on B.
 */
export const NEAREST_LOSS_WEIGHT = 0.6;

/**
 * Shares of the mean contributions of a pattern's random matches in the term `pattern`, and the weight of the typical pattern
 * beside them. .007 on A, .011 on B and .015 on K; between .4 and .8 of order makes no difference.
 */
export const REFERENCE_SHARES = {
  order: 0.5,
  chainOrder: 0.5,
  burial: 0.5,
  terminusProximity: 0.5,
  abundance: 1,
};
export const REFERENCE_PSEUDOCOUNT = 10;

/** Random matches of a pattern that count in one protein, and automaton steps after which no further protein is read. */
export const MAX_REFERENCE_MATCHES = 8;
export const MAX_REFERENCE_STEPS = 50_000_000;

/** Minimum number of homologs at a match for its conservation to be judged. */
export const MIN_HOMOLOGS = 3;

/** Fewer homologs give a warning: the first bin of the null distribution (3 to 5) is the least certain. */
export const FEW_HOMOLOGS = 6;

/** Maximum P value of `conserved`. */
export const CONSERVED_P = 0.05;

/** Maximum P value of `weakly conserved`: a fifth of random matches are at least weakly conserved. */
export const WEAKLY_CONSERVED_P = 0.2;

/** Minimum fraction of homologs that keep a match which is conserved, though not more than its surroundings. */
export const KEPT_FRACTION = 0.5;

/** Maximum overall P values of `likely functional` and `possible` (docs/quality.md has the share of true motifs). */
export const LIKELY_P = 0.02;
export const POSSIBLE_P = 0.1;

/** Coefficients of 1, z and z² of the log likelihood ratio of true motifs and random matches, and the range of z that has data. */
export const LOG_LIKELIHOOD_RATIO = [-1.066, 1.194, 0.081];
export const LIKELIHOOD_RATIO_RANGE = [-3, 4];

/**
 * Low complexity: 12 residues with less than 2.2 bits of entropy, the trigger of SEG (Wootton & Federhen,
 * Comput. Chem. 1993, 17:149).
 */
export const COMPLEXITY_WINDOW = 12;
export const LOW_COMPLEXITY_BITS = 2.2;

/** Matches per residue of the query above which a match says little. */
export const MAX_MATCH_DENSITY = 0.1;
