import type { ScanLimits } from "../../src/kernel/words.ts";

/** Separator around queries. */
const BARRIER = 31;

const WORD = 5;
/** Flank on each side of a word that decides about its extension. */
const NEAR = 6;

/**
 * Scalar scan of one sequence: score of the best extension of a seed, 0 without one or outside the length
 * limits. `positionsOf(word)` gives the ascending positions of the neighbourhood word in the query.
 */
export function scanPlain(
  query: Uint8Array,
  positionsOf: (word: Uint8Array) => readonly number[],
  matrix: Int8Array,
  { xDrop, minSeedScore, minLength, maxLength }: ScanLimits,
  subject: Uint8Array,
): number {
  if (subject.length < Math.max(WORD, minLength) || subject.length > maxLength) return 0;
  /** Per diagonal (subject minus query position) the start of the last word covered by an extension. */
  const covered = new Map<number, number>();
  let best = 0;
  for (let place = 0; place + WORD <= subject.length; place++) {
    for (const inQuery of positionsOf(subject.subarray(place, place + WORD))) {
      const diagonal = place - inQuery;
      if (place <= (covered.get(diagonal) ?? -1)) continue;
      if (place >= NEAR && place + WORD + NEAR <= subject.length) {
        const near = subject.subarray(place - NEAR, place + WORD + NEAR);
        const own = Array.from(near, (_, k) => query[inQuery - NEAR + k] ?? BARRIER);
        const ahead = reach(own, near, matrix, Infinity, NEAR, NEAR, 1).score;
        if (ahead + reach(own, near, matrix, Infinity, NEAR - 1, NEAR - 1, -1).score < minSeedScore) continue;
      }
      const right = reach(query, subject, matrix, xDrop, inQuery, place, 1);
      const left = reach(query, subject, matrix, xDrop, inQuery - 1, place - 1, -1);
      best = Math.max(best, right.score + left.score);
      covered.set(diagonal, Math.max(place, place + right.residues - WORD));
    }
  }
  return best;
}

/** Best-scoring segment from a pair of residues in one direction, and its length. */
function reach(
  query: ArrayLike<number>,
  subject: Uint8Array,
  matrix: Int8Array,
  drop: number,
  i: number,
  j: number,
  step: 1 | -1,
): { score: number; residues: number } {
  let score = 0;
  let best = 0;
  let residues = 0;
  for (let n = 1; i >= 0 && j >= 0 && i < query.length && j < subject.length; n++, i += step, j += step) {
    score += query[i] === BARRIER ? -128 : matrix[query[i] * 32 + subject[j]];
    if (score > best) {
      best = score;
      residues = n;
    } else if (score < best - drop) break;
  }
  return { score: best, residues };
}
