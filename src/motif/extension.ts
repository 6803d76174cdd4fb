import type { PairwiseAlignment } from "./align.ts";
import { GAP } from "./alphabet.ts";
import { BLOSUM62, STRIDE } from "./matrix.ts";
import { GAP_FIRST, GAP_NEXT } from "./statistics.ts";

/**
 * Score of a pair of sequences with another matrix than BLOSUM62, as blastp computes it: by gapped extension
 * with a limited drop (Altschul et al., Nucleic Acids Res. 1997, 25:3389) from the best ungapped segments of
 * the alignment with BLOSUM62. Parameters are those of blastp in half bits.
 */

/** Units per half bit of the scores, so that they are integers and equal on all processors. */
export const SCALE = 32;
const OPEN = GAP_FIRST * SCALE;
const NEXT = GAP_NEXT * SCALE;
/** Drop that ends the extension (25 bits), and one in the alignment with BLOSUM62 that ends a piece (15). */
const X_DROP = 65 * SCALE;
const PIECE_X_DROP = 39;
/** Score from which an ungapped segment is extended: 22 bits. */
const MIN_SEGMENT_SCORE = 41;
/** The extension starts in the middle of the best window of this length. */
const WINDOW = 11;
const NEVER = -(1 << 29);

/** Query positions [from, to) aligned without gaps. */
interface Segment {
  score: number;
  from: number;
  to: number;
}

/** Best score of the extensions, in half bits. `scores` is a STRIDE × STRIDE matrix in units of 1 / SCALE. */
export function extensionScore(
  query: Uint8Array,
  subject: Uint8Array,
  { row }: PairwiseAlignment,
  scores: Int32Array,
): number {
  const pairScore = (i: number): number => BLOSUM62[query[i] * STRIDE + row.anchored[i]];
  const [first, ...others] = bestSegments(query.length, row, pairScore);
  if (!first) return 0;
  const extended: { from: number; to: number; subjectFrom: number; subjectTo: number }[] = [];
  let best = 0;
  for (const segment of [first, ...others.filter(({ score }) => score >= MIN_SEGMENT_SCORE)]) {
    const i = bestWindowMiddle(segment, pairScore);
    const j = row.before[i];
    const isDone = extended.some(
      ({ from, to, subjectFrom, subjectTo }) => i >= from && i < to && j >= subjectFrom && j < subjectTo,
    );
    if (isDone) continue;
    const right = extend(query.subarray(i), subject.subarray(j), scores);
    const left = extend(query.slice(0, i).reverse(), subject.slice(0, j).reverse(), scores);
    extended.push({
      from: i - left.queryLength,
      to: i + right.queryLength,
      subjectFrom: j - left.subjectLength,
      subjectTo: j + right.subjectLength,
    });
    best = Math.max(best, left.score + right.score);
  }
  return best / SCALE;
}

/** Best ungapped segment of each piece of an alignment, best first. */
function bestSegments(
  length: number,
  { anchored, before }: PairwiseAlignment["row"],
  pairScore: (i: number) => number,
): Segment[] {
  const pieces: Segment[] = [];
  let isNewPiece = true;
  let [score, peak, last] = [0, 0, -1];
  let segment: Segment = { score: 0, from: 0, to: 0 };
  for (let i = 0; i < length; i++) {
    if (anchored[i] === GAP) continue;
    const gap = last < 0 ? 0 : i - last + before[i] - before[last] - 2;
    if (gap > 0) score -= GAP_FIRST + (gap - 1) * GAP_NEXT;
    if (isNewPiece || gap > 0 || segment.score < 0) segment = { score: 0, from: i, to: i };
    score += pairScore(i);
    peak = Math.max(peak, score);
    segment = { score: segment.score + pairScore(i), from: segment.from, to: i + 1 };
    if (isNewPiece) pieces.push(segment);
    else if (segment.score > pieces.at(-1)!.score) pieces[pieces.length - 1] = segment;
    isNewPiece = score < 0 || score < peak - PIECE_X_DROP;
    if (isNewPiece) score = peak = 0;
    last = i;
  }
  return pieces.filter((piece) => piece.score > 0).sort((a, b) => b.score - a.score || a.from - b.from);
}

/** Middle of the best window of a segment. */
function bestWindowMiddle({ from, to }: Segment, pairScore: (i: number) => number): number {
  let start = from;
  let [score, best] = [0, -Infinity];
  for (let i = from; i < to; i++) {
    score += pairScore(i);
    if (i >= from + WINDOW) score -= pairScore(i - WINDOW);
    if (i < from + WINDOW - 1 || score <= best) continue;
    best = score;
    start = i - WINDOW + 1;
  }
  return start + Math.floor(Math.min(WINDOW, to - from) / 2);
}

/** Best scores by subject position, of all paths and of those that end in a gap in the subject; reused. */
let bestScores = new Int32Array(1024);
let gappedScores = new Int32Array(1024);

/** Best alignment of prefixes of two sequences that drops at most X_DROP below the best score so far. */
function extend(
  query: Uint8Array,
  subject: Uint8Array,
  scores: Int32Array,
): { score: number; queryLength: number; subjectLength: number } {
  if (bestScores.length < subject.length + 2) {
    bestScores = new Int32Array(subject.length * 2);
    gappedScores = new Int32Array(subject.length * 2);
  }
  const [best, gapped] = [bestScores, gappedScores];
  // Positions [first, end) are within X_DROP of the best score, except the last.
  let first = 0;
  best[0] = 0;
  gapped[0] = -OPEN;
  let end = addGap(1, subject.length, -OPEN, -X_DROP);
  let top = 0;
  let queryLength = 0;
  let subjectLength = 0;
  for (let i = 0; i < query.length && first < end; i++) {
    const row = query[i] * STRIDE;
    let score = NEVER;
    let inQuery = NEVER;
    let last = -1;
    for (let j = first; j < end; j++) {
      const diagonal = j < subject.length ? best[j] + scores[row + subject[j]] : NEVER;
      const inSubject = gapped[j];
      if (inSubject > score) score = inSubject;
      if (inQuery > score) score = inQuery;
      if (score < top - X_DROP) {
        if (last < 0) first = j + 1;
        best[j] = NEVER;
        gapped[j] = NEVER;
      } else {
        last = j;
        if (score > top) {
          top = score;
          queryLength = i + 1;
          subjectLength = j;
        }
        best[j] = score;
        gapped[j] = Math.max(inSubject - NEXT, score - OPEN);
        inQuery = Math.max(inQuery - NEXT, score - OPEN);
      }
      score = diagonal;
    }
    if (last < 0) break;
    const limit = last === end - 1 ? top - X_DROP : Infinity;
    end = addGap(last + 1, subject.length, inQuery, limit);
  }
  return { score: top, queryLength, subjectLength };
}

/**
 * Adds the positions from `end` on that a gap in the query of this score reaches above the limit, and one that
 * cannot be reached; returns the new end.
 */
function addGap(end: number, length: number, score: number, limit: number): number {
  for (; end <= length && score >= limit; score -= NEXT, end++) {
    bestScores[end] = score;
    gappedScores[end] = score - OPEN;
  }
  if (end > length) return end;
  bestScores[end] = gappedScores[end] = NEVER;
  return end + 1;
}
