import { GAP, STANDARD, X } from "./alphabet.ts";
import type { PairwiseAlignment } from "./align.ts";
import { maskLowComplexity, type SegParameters } from "./complexity.ts";
import { extensionScore, SCALE } from "./extension.ts";
import { BLOSUM62, STRIDE } from "./matrix.ts";
import { bitScore, eValue } from "./statistics.ts";

/**
 * Scores with a matrix adjusted to the compositions of two sequences (Yu, Wootton & Altschul, PNAS 2003,
 * 100:15688; Yu & Altschul, Bioinformatics 2005, 21:902; Altschul et al., FEBS J. 2005, 272:5101). blastp does
 * the same by default, so E-values are comparable with blastp's.
 */

/** Residue order of the published table. */
const ORDER = "ARNDCQEGHILKMFPSTWYV";

/**
 * Counts of aligned residue pairs in the blocks behind BLOSUM62, per 10,000 (Henikoff & Henikoff 1992,
 * "qij").
 */
const PAIR_COUNTS = `
  215
   23 178
   19  20 141
   22  16  37 213
   16   4   4   4 119
   19  25  15  16   3  73
   30  27  22  49   4  35 161
   58  17  29  25   8  14  19 378
   11  12  14  10   2  10  14  10  93
   32  12  10  12  11   9  12  14   6 184
   44  24  14  15  16  16  20  21  10 114 371
   33  62  24  24   5  31  41  25  12  16  25 161
   13   8   5   5   4   7   7   7   4  25  49   9  40
   16   9   8   8   5   5   9  12   8  30  54   9  12 183
   22  10   9  12   4   8  14  14   5  10  14  16   4   5 191
   63  23  31  28  10  19  30  38  11  17  24  31   9  12  17 126
   37  18  22  19   9  14  20  22   7  27  33  23  10  12  14  47 125
    4   3   2   2   1   2   3   4   2   4   7   3   2   8   1   3   3  65
   13   9   7   6   3   7   9   8  15  14  22  10   6  42   5  10   9   9 102
   51  16  12  13  14  12  17  18   6 120  95  19  23  26  12  24  36   4  15 196`;

const CODES = STANDARD.length;

/** ln of each pair's frequency, up to a constant. */
const LOG_PAIR_FREQUENCIES = new Float64Array(CODES * CODES);
/** Residue frequencies in these pairs. */
const BACKGROUND = new Float64Array(CODES);
{
  const rows = PAIR_COUNTS.trim()
    .split("\n")
    .map((row) => row.trim().split(/\s+/).map(Number));
  const total = rows.reduce((sum, row, i) => sum + row.reduce((s, n, j) => s + (i === j ? n : 2 * n), 0), 0);
  for (let a = 0; a < CODES; a++) {
    for (let b = 0; b < CODES; b++) {
      const [i, j] = [ORDER.indexOf(STANDARD[a]), ORDER.indexOf(STANDARD[b])];
      const frequency = rows[Math.max(i, j)][Math.min(i, j)] / total;
      LOG_PAIR_FREQUENCIES[a * CODES + b] = Math.log(frequency);
      BACKGROUND[a] += frequency;
    }
  }
}

/** Ungapped lambda of BLOSUM62 per half bit, as in NCBI BLAST. */
const UNGAPPED_LAMBDA = 0.3176;
/**
 * Relative entropy of the adjusted pairs in nats: that of BLOSUM62 in its standard context (Altschul et al.
 * 2005).
 */
const ENTROPY = 0.44;
/** Pseudocounts from the background added to a composition (Altschul et al. 2005). */
const PSEUDOCOUNTS = 20;
/** SEG parameters of blastp for subjects … */
const SUBJECT_SEG: SegParameters = { window: 10, trigger: 1.8, extension: 2.1 };
/**
 * … which are not masked if the alignment is nearly identical: at least MIN_LENGTH residues, or the query, with this
 * identical fraction of the columns and this score (1.74 bits) per residue.
 */
const MIN_LENGTH = 50;
const NEAR_IDENTITY = 0.96;
const NEAR_IDENTICAL_SCORE = 4.517;
/** Maximum score of a masked residue in half bits; otherwise the expected score of a residue in its place. */
const MAX_X_SCORE = -1 / SCALE;

/** Residue frequencies of a sequence with pseudocounts. */
function countFrequencies(residues: Uint8Array): Float64Array {
  const counts = new Float64Array(32);
  for (const code of residues) counts[code & 31]++;
  let sum = 0;
  for (let a = 0; a < CODES; a++) sum += counts[a];
  return BACKGROUND.map((background, a) => (counts[a] + PSEUDOCOUNTS * background) / (sum + PSEUDOCOUNTS));
}

/** Convergence limits: relative error of the residue frequencies, and error of the entropy in nats. */
const PRECISION = 1e-4;
const ENTROPY_PRECISION = 1e-5;
const MAX_ITERATIONS = 200;
const MIN_POWER = 0.1;
const MAX_POWER = 8;

/**
 * Log-odds scores in half bits, at `a * 20 + b`, from the pair frequencies closest to BLOSUM62's (least
 * relative entropy) with the given marginals (`p`, `q`; none zero) and a relative entropy of `entropy` nats.
 *
 * By Lagrange multipliers they are A(a) B(b) f(a, b)^t. For a given t, scaling rows and columns in turn gives
 * the factors; the entropy increases with t, which the secant method finds.
 */
export function adjustedScores(p: Float64Array, q: Float64Array, entropy: number = ENTROPY): Float64Array {
  const rows = new Float64Array(CODES).fill(1);
  const columns = new Float64Array(CODES).fill(1);
  const powers = new Float64Array(CODES * CODES);
  const scores = new Float64Array(CODES * CODES);
  const entropyAt = (t: number): number => {
    for (let k = 0; k < powers.length; k++) powers[k] = Math.exp(t * LOG_PAIR_FREQUENCIES[k]);
    for (let step = 0, error = 1; error > PRECISION && step < MAX_ITERATIONS; step++) {
      error = 0;
      for (let a = 0; a < CODES; a++) {
        let sum = 0;
        for (let b = 0; b < CODES; b++) sum += powers[a * CODES + b] * columns[b];
        const factor = p[a] / sum;
        error = Math.max(error, Math.abs(factor / rows[a] - 1));
        rows[a] = factor;
      }
      for (let b = 0; b < CODES; b++) {
        let sum = 0;
        for (let a = 0; a < CODES; a++) sum += powers[a * CODES + b] * rows[a];
        columns[b] = q[b] / sum;
      }
    }
    let sum = 0;
    for (let a = 0; a < CODES; a++) {
      for (let b = 0; b < CODES; b++) {
        const frequency = rows[a] * columns[b] * powers[a * CODES + b];
        const logOdds = Math.log(frequency / (p[a] * q[b]));
        scores[a * CODES + b] = logOdds / UNGAPPED_LAMBDA;
        sum += frequency * logOdds;
      }
    }
    return sum;
  };
  let [before, t] = [1, 1.05];
  let [entropyBefore, entropyNow] = [entropyAt(before), entropyAt(t)];
  for (let step = 0; Math.abs(entropyNow - entropy) > ENTROPY_PRECISION && step < MAX_ITERATIONS; step++) {
    const slope = (entropyNow - entropyBefore) / (t - before);
    const next = Math.min(MAX_POWER, Math.max(MIN_POWER, t + (entropy - entropyNow) / slope));
    // Extreme compositions cannot reach the entropy with any power.
    if (!(slope > ENTROPY_PRECISION) || next === t) break;
    [before, entropyBefore] = [t, entropyNow];
    t = next;
    entropyNow = entropyAt(t);
  }
  return scores;
}

/** True if an alignment is nearly identical, so that the subject is not masked. */
function isNearlyIdentical(query: Uint8Array, local: PairwiseAlignment): boolean {
  const { anchored, before } = local.row;
  const first = anchored.findIndex((code) => code !== GAP);
  if (first < 0) return false;
  const last = anchored.findLastIndex((code) => code !== GAP);
  const pairs = local.coverage * query.length;
  const [length, subjectLength] = [last - first + 1, before[last] - before[first] + 1];
  return (
    subjectLength >= Math.min(MIN_LENGTH, query.length) &&
    local.score >= NEAR_IDENTICAL_SCORE * Math.min(length, subjectLength) &&
    local.identity * pairs > NEAR_IDENTITY * (length + subjectLength - pairs)
  );
}

const SCALED_BLOSUM62 = Int32Array.from(BLOSUM62, (score) => score * SCALE);

/** Scores in units of 1 / SCALE at `a * STRIDE + b`. Masked residues get expected scores, other letters BLOSUM62's. */
function scoreMatrix(scores: Float64Array, p: Float64Array, q: Float64Array): Int32Array {
  const matrix = SCALED_BLOSUM62.slice();
  let sharedCount = 0;
  for (let a = 0; a < CODES; a++) {
    let [asQuery, asSubject] = [0, 0];
    for (let b = 0; b < CODES; b++) {
      matrix[a * STRIDE + b] = Math.round(scores[a * CODES + b] * SCALE);
      asQuery += scores[a * CODES + b] * q[b];
      asSubject += scores[b * CODES + a] * p[b];
    }
    const score = Math.min(MAX_X_SCORE, asQuery);
    matrix[a * STRIDE + X] = Math.round(score * SCALE);
    matrix[X * STRIDE + a] = Math.round(Math.min(MAX_X_SCORE, asSubject) * SCALE);
    sharedCount += p[a] * score;
  }
  matrix[X * STRIDE + X] = Math.round(sharedCount * SCALE);
  return matrix;
}

/** Score of a local alignment with a matrix adjusted to both sequences. */
export interface AdjustedScore {
  bitScore: number;
  /** Expected number of chance hits in the corpus with this score or better. */
  eValue: number;
}

/**
 * Scorer of local alignments of one query (codes) by composition-based statistics, as in blastp. blastp scales
 * BLOSUM62 instead if one sequence is more than three times as long as the other, among other conditions; labd
 * takes no such homologs.
 */
export function adjustedScorer(
  query: Uint8Array,
  residueCount: number,
): (subject: Uint8Array, local: PairwiseAlignment) => AdjustedScore {
  const p = countFrequencies(query);
  return (subject, local) => {
    const masked = isNearlyIdentical(query, local) ? subject : maskLowComplexity(subject, SUBJECT_SEG);
    const q = countFrequencies(masked);
    const matrix = scoreMatrix(adjustedScores(p, q), p, q);
    const score = extensionScore(query, masked, local, matrix);
    return { bitScore: bitScore(score), eValue: eValue(score, query.length, subject.length, residueCount) };
  };
}
