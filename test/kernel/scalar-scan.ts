import type { ScanLimits } from "../../src/kernel/words.ts";

/** Separator around queries. */
const BARRIER = 31;
const BARRIER_SCORE = -128;

const WORD = 5;
/** Residues on each side of a word that decide about its extension. */
const FLANK = 6;

/** A residue of the query and one of the subject. */
interface Pair {
  inQuery: number;
  inSubject: number;
}

/**
 * Scalar scan of one sequence: score of the best extension of a seed, 0 without one or outside the length
 * limits. `positionsOf(word)` gives the ascending positions of the neighbourhood word in the query.
 */
export function scanPlain(
  query: Uint8Array,
  findPositions: (word: Uint8Array) => readonly number[],
  matrix: Int8Array,
  { xDrop, minSeedScore, minLength, maxLength }: ScanLimits,
  subject: Uint8Array,
): number {
  if (subject.length < Math.max(WORD, minLength) || subject.length > maxLength) return 0;
  const computeScore = ({ inQuery, inSubject }: Pair): number | null => {
    if (inSubject < 0 || inSubject >= subject.length) return null;
    const code = query[inQuery] ?? BARRIER;
    return code === BARRIER ? BARRIER_SCORE : matrix[code * 32 + subject[inSubject]];
  };
  /** Per diagonal (subject minus query position) the start of the last word covered by an extension. */
  const covered = new Map<number, number>();
  let best = 0;
  for (let inSubject = 0; inSubject + WORD <= subject.length; inSubject++) {
    for (const inQuery of findPositions(subject.subarray(inSubject, inSubject + WORD))) {
      const diagonal = inSubject - inQuery;
      if (inSubject <= (covered.get(diagonal) ?? -1)) continue;
      const seed = { inQuery, inSubject };
      const before = { inQuery: inQuery - 1, inSubject: inSubject - 1 };
      if (inSubject >= FLANK && inSubject + WORD + FLANK <= subject.length) {
        const ahead = bestSegment(scores(seed, 1, WORD + FLANK, computeScore)).score;
        const behind = bestSegment(scores(before, -1, FLANK, computeScore)).score;
        if (ahead + behind < minSeedScore) continue;
      }
      const right = bestSegment(scores(seed, 1, Infinity, computeScore), xDrop);
      const left = bestSegment(scores(before, -1, Infinity, computeScore), xDrop);
      best = Math.max(best, right.score + left.score);
      covered.set(diagonal, Math.max(inSubject, inSubject + right.residues - WORD));
    }
  }
  return best;
}

/** Scores of at most `count` pairs from `start` in one direction, to an end of the subject. */
function* scores(
  { inQuery, inSubject }: Pair,
  step: 1 | -1,
  count: number,
  computeScore: (pair: Pair) => number | null,
): Generator<number> {
  for (let n = 0; n < count; n++) {
    const score = computeScore({ inQuery: inQuery + n * step, inSubject: inSubject + n * step });
    if (score === null) return;
    yield score;
  }
}

/** Best sum from the first score on, and its length; stops `drop` below the best. */
function bestSegment(scores: Iterable<number>, drop = Infinity): { score: number; residues: number } {
  const best = { score: 0, residues: 0 };
  let sum = 0;
  let residues = 0;
  for (const score of scores) {
    sum += score;
    residues++;
    if (sum > best.score) Object.assign(best, { score: sum, residues });
    else if (sum < best.score - drop) break;
  }
  return best;
}
