import { decode, GAP } from "./alphabet.ts";
import type { Match } from "./automaton-matches.ts";
import { type AlignedHomolog, type Family, localIdentity, overlap } from "./divergence.ts";
import { MAX_EXPECTATION, MAX_OUTSIDE, MIN_EXPECTATION } from "./options.ts";
import type { HomologAtMatch } from "./prediction.ts";
import { describeMatch, type Motif, type MotifMatch, retention, spanOf } from "./retention.ts";

/** The numbers of a match, however few the homologs: what they are worth is for the caller to say. */
export interface Conservation {
  /** Homologs that are not missing here, and how many equally weighted ones they are worth (Kish, Survey Sampling, 1965). */
  homologs: number;
  effectiveHomologs: number;
  /**
   * CS, its expectation (both 0..1) and z; null where nothing can be scored: no homolog here, or no position that tells
   * residues apart.
   */
  score: number | null;
  expected: number | null;
  z: number | null;
  /** Mean identity of the surroundings over these homologs; null without any. */
  localIdentity: number | null;
  /** Per position the weighted part of these homologs with an admitted residue; null at wildcards and without homologs. */
  conservation: (number | null)[];
  atHomologs: HomologAtMatch[];
}

/**
 * The conservation score of one match (docs/algorithm.md): each homolog's retention, weighted by the tree, against
 * the retention expected from how far the surroundings have diverged.
 *
 * @param path the residues admitted at each matched position, as masks.
 */
export function conservationOf(motif: Motif, family: Family, match: Match, path: Int32Array): Conservation {
  const described = describeMatch(motif, family.query, match, path);
  const length = match.end - match.start;
  const kept = new Float64Array(described.defined.length);
  const sums = { homologs: 0, weight: 0, squares: 0, score: 0, expected: 0, variance: 0, identity: 0 };
  const atHomologs = family.homologs.map((homolog, index): HomologAtMatch => {
    const residues = residuesAt(homolog, match);
    const inside = overlap(homolog.first, homolog.last, match.start, match.end);
    if ((length - inside) / length > MAX_OUTSIDE) {
      return { homolog: index, state: "missing", residues, retention: null };
    }
    const { weight } = homolog;
    const { value, state } = retention(motif, described, homolog);
    const identity = localIdentity(homolog, match.start, match.end);
    const expectation = expectedRetention(described, identity);
    sums.homologs++;
    sums.weight += weight;
    sums.squares += weight * weight;
    sums.identity += identity;
    sums.score += weight * value;
    sums.expected += weight * expectation;
    sums.variance += weight * weight * expectation * (1 - expectation);
    for (let i = 0; i < kept.length; i++) {
      const position = described.defined[i];
      const residue = homolog.row.anchored[match.start + position];
      if (residue !== GAP && (path[position] >>> residue) & 1) kept[i] += weight;
    }
    return { homolog: index, state, residues, retention: value };
  });
  const conservation: (number | null)[] = Array.from({ length }, () => null);
  const isScored = sums.homologs > 0 && kept.length > 0;
  if (sums.homologs > 0) {
    for (let i = 0; i < kept.length; i++) conservation[described.defined[i]] = kept[i] / sums.weight;
  }
  return {
    homologs: sums.homologs,
    effectiveHomologs: sums.homologs > 0 ? (sums.weight * sums.weight) / sums.squares : 0,
    score: isScored ? sums.score / sums.weight : null,
    expected: isScored ? sums.expected / sums.weight : null,
    z: isScored ? (sums.score - sums.expected) / Math.sqrt(sums.variance) : null,
    localIdentity: sums.homologs > 0 ? sums.identity / sums.homologs : null,
    conservation,
    atHomologs,
  };
}

/** e_i: every defined position is either kept, as its surroundings are, or substituted by a residue that will do. */
export function expectedRetention({ substituted }: MotifMatch, identity: number): number {
  let expectation = 1;
  for (const share of substituted) expectation *= identity + (1 - identity) * share;
  return Math.min(MAX_EXPECTATION, Math.max(MIN_EXPECTATION, expectation));
}

/** The residues aligned to a match, `-` for a gap, insertions between its columns in lower case. */
export function residuesAt(homolog: AlignedHomolog, match: Match): string {
  const { row } = homolog;
  const [from, to] = spanOf(homolog, match);
  if (to - from === match.end - match.start) {
    const plain = row.anchored.subarray(match.start, match.end);
    if (!plain.includes(GAP)) return decode(plain);
  }
  let text = "";
  for (let column = match.start; column < match.end; column++) {
    const residue = row.anchored[column];
    text += decode(row.anchored.subarray(column, column + 1));
    if (column === match.end - 1) break;
    const behind = row.before[column] + (residue === GAP ? 0 : 1);
    text += decode(row.residues.subarray(behind, row.before[column + 1])).toLowerCase();
  }
  return text;
}
