/**
 * Every constant of the methods, named, with its reason and source. What fixes a method's numbers is a
 * constant: changing one makes a new method version. What a caller may vary is an option.
 */

/** Version of the method: equal versions give equal numbers. */
export const METHOD = "labd-2";

// ---- What a caller may vary ------------------------------------------------------------------------------

/** What a caller may vary; the numbers of two runs compare only where these are equal. */
export interface Options {
  /** Hits above this expected number of chance hits in the corpus are no homologs. */
  maxEValue: number;
  /** Least part of the query's residues that a homolog must align to, 0..1. */
  minCoverage: number;
  /** Least part of identical residues among aligned pairs, 0..1. */
  minIdentity: number;
  /** Homologs longer than this multiple of the query are left out. */
  maxLengthRatio: number;
  /** At most so many homologs, the best. */
  maxHomologs: number;
  /** Compare the query with every protein instead of only those that the prefilter lets through. */
  exhaustive: boolean;
  /** At most so many matches of one pattern are scored and listed; a warning tells of the rest. */
  maxMatches: number;
  /** Longer matches are listed without a score. */
  maxMatchLength: number;
}

/**
 * P values hold for these homolog rules, for the empirical null was made under them. Their reasons: E ≤ 1e-5 and half of the
 * query covered keep families together and leave out hits by a shared domain alone; below 25 % identity an
 * alignment no longer places a short motif (the twilight zone, Rost, Protein Eng. 1999, 12:85); what is three times as
 * long as the query is another architecture, whose alignment around a motif is arbitrary; 100 is the depth up to
 * which the null goes.
 *
 * 3,000 matches are more than any of the 349 motif classes in use has in titin (34,350 residues; at most 2,584 there).
 * Short linear motifs span 3 to about 60 residues; 500 leaves room, and bounds the work per match.
 */
export const DEFAULTS: Readonly<Options> = Object.freeze({
  maxEValue: 1e-5,
  minCoverage: 0.5,
  minIdentity: 0.25,
  maxLengthRatio: 3,
  maxHomologs: 100,
  exhaustive: false,
  maxMatches: 3000,
  maxMatchLength: 500,
});

// ---- Patterns --------------------------------------------------------------------------------------------

/**
 * Nodes that a pattern may have once its repeats are written out. The largest motif class in use has
 * 90; 10,000 lets `.{0,1000}` stand four times, and bounds one pass over titin to about half a second.
 */
export const MAX_PATTERN_NODES = 10_000;

/** Largest count in `{n,m}`; more copies than this could not fit MAX_PATTERN_NODES anyway. */
export const MAX_REPEAT = MAX_PATTERN_NODES;

/** Depth of nested groups; motif classes in use need three. */
export const MAX_NESTING = 100;

/**
 * Steps of the automaton in the homologs that one job may spend on one pattern, about two seconds. Ordinary
 * patterns need a thousandth of it. It counts steps, not time, so that the outcome never depends on the clock.
 */
export const MAX_MATCHING_STEPS = 400_000_000;

// ---- Alignment -------------------------------------------------------------------------------------------

/** Columns on each side of where the pairwise alignments suggest it that an alignment of profiles may run. */
export const PROFILE_BAND = 32;

/** What a gap at an end of the chain costs, as a part of one within: fragments are common, loose ends are not. */
export const END_GAP_FACTOR = 0.5;

// ---- Distances, tree and weights -------------------------------------------------------------------------

/** Shared columns below which an identity says nothing, and the dissimilarity then assumed. */
export const MIN_SHARED_COLUMNS = 10;
export const UNKNOWN_DISSIMILARITY = 0.9;

/** Kimura's logarithm is cut at this argument (distance 3.0): beyond it the estimate runs to infinity. */
export const MIN_KIMURA_ARGUMENT = 0.05;

/** Added to every weight, so that sequences at distance 0 from all others still count where they are alone. */
export const WEIGHT_FLOOR = 1e-6;

// ---- The score -------------------------------------------------------------------------------------------

/**
 * A position with less information (bits) is a wildcard: keeps `.` and `[^P]` out of the score, and takes in
 * any set that excludes a fifth of all residues or more.
 */
export const MIN_DEFINED_BITS = 0.3;

/** Bits given to a position that admits no standard residue at all, where the logarithm has no value. */
export const MAX_POSITION_BITS = 10;

/** A homolog with more than this part of the motif outside its first to last aligned residue is missing there. */
export const MAX_UNALIGNED = 0.5;

/**
 * How far beside the aligned place the motif is looked for, and what it is worth there. Motifs lie in disordered
 * regions, where alignments slip; without it the area under the curve on PairK's benchmark falls by .05.
 */
export const SHIFT = 10;
export const SHIFT_RETENTION = 0.75;

/** Columns on each side that tell the local divergence, and the pseudo-count by which global identity enters. */
export const IDENTITY_FLANK = 30;
export const IDENTITY_PRIOR = 5;

/** Frequency assumed for a residue of the query that is none of the twenty. */
export const UNKNOWN_FREQUENCY = 0.05;

/** Expected retention stays within these, so that no variance becomes zero. */
export const MIN_EXPECTATION = 0.001;
export const MAX_EXPECTATION = 0.99;

// ---- Terms of the score ----------------------------------------------------------------------------------------------

/**
 * A homolog's weight falls by e for every so much of differing residues (0..1): what a motif binds is shared by near
 * relatives first. Without it the areas under the curve fall by .005 (A, B) and .02 (K).
 */
export const IDENTITY_DECAY = 0.3;

/** How far the ends of query and homolog may be out of step for the motif still to be looked for in a loose end. */
export const MAX_TERMINUS_OFFSET = 60;

/** Residues on each side whose disorder counts: the window of 41 in which TOP-IDP was judged, without the match. */
export const DISORDER_FLANK = 20;

/** Residues over which the nearness of an end of the chain wears off. */
export const TERMINUS_DECAY = 30;

/** Part of identical residues below which the logarithm of an identity is cut. */
export const MIN_LOG_IDENTITY = 0.05;

/** Added to both sides of the ratio of local to overall divergence: with nothing diverged it is 1. */
export const DIVERGENCE_PRIOR = 0.05;

/** Probability that a motif that is there is seen beside its place, or not at all, for the alignment slipped. */
export const SHIFTED_ERROR = 0.25;
export const LOST_ERROR = 0.03;

/** Rates of loss that are tried, as parts of the surroundings' rate; the last is the null hypothesis. */
export const LOSS_RATE_FACTORS: readonly number[] = [0.05, 0.2, 0.5, 1];

/** Standard deviation of the logarithm of the rate around what the surroundings tell. */
export const RATE_SPREAD = 0.8;

/** A pattern's chance of matching at a place is cut here. */
export const MAX_CHANCE = 0.3;

/** Columns on each side over which the homologs' disorder is averaged; 5, 20 and 40 did no better. */
export const FAMILY_DISORDER_FLANK = 10;

/** Window for hydrophobic segments, Kyte & Doolittle's for membranes, and how far its centre may lie from a match's. */
export const BURIAL_WINDOW = 19;
export const BURIAL_MAX_OFFSET = 10;

/** Residues on each side that determine charge and serine/threonine fraction of a region. */
export const REGION_FLANK = 40;

/**
 * Weights of retention and lossRate in the persistence, on which P values and their null distribution rest.
 */
export const PERSISTENCE_RETENTION = 0.36;
export const PERSISTENCE_LOSS_RATE = 0.51;

/**
 * Weights of persistence and what surrounds a match, by logistic regression on true and random matches, then shifted and
 * scaled so that random matches have mean 0 and standard deviation 1 (docs/quality.md; test/bench/quality.bench.ts fits them
 * anew). Below 0: what speaks against a true motif.
 */
export const WEIGHT_PERSISTENCE = 0.95;
export const WEIGHT_DIVERGENCE = 0.67;
export const WEIGHT_DISORDER = 2.66;
export const WEIGHT_CHAIN = -3.86;
export const WEIGHT_BURIAL = -0.34;
export const WEIGHT_CHARGE = -1.91;
export const WEIGHT_SER_THR = 2.19;
export const WEIGHT_TERMINUS = 1.18;
export const WEIGHT_ABUNDANCE = 0.47;
export const SCORE_OFFSET = -0.74;

// ---- What the numbers are called -------------------------------------------------------------------------

/** Below so many homologs at a match there is no score: the empirical null begins there, and so does the tree. */
export const MIN_HOMOLOGS = 3;

/** Below so many homologs a warning: the null's first bin (3 to 5) is the least certain. */
export const FEW_HOMOLOGS = 6;

/** `conserved` up to this P value: the customary level. */
export const CONSERVED_P = 0.05;

/**
 * `weakly conserved` up to this P value: a fifth of random matches are called at least weakly conserved. Our choice, near the
 * working point of the service's paper, which sets 78 % of random matches apart.
 */
export const WEAKLY_CONSERVED_P = 0.2;

/**
 * Low complexity: a window of 12 residues with less than 2.2 bits of entropy, the trigger of SEG
 * (Wootton & Federhen, Comput. Chem. 1993, 17:149).
 */
export const COMPLEXITY_WINDOW = 12;
export const LOW_COMPLEXITY_BITS = 2.2;

/** A pattern that matches at more than this part of the query's residues says little wherever it matches. */
export const MAX_MATCH_DENSITY = 0.1;
