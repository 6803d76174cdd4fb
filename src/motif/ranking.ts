import { matchDisorder } from "./match-disorder.ts";
import { judgeOverall } from "./p-value.ts";
import { rounded } from "./pattern-scores.ts";
import type { MatchScore, OverallVerdict, PatternScores, Prediction } from "./prediction.ts";

/** A match among all matches of a scan. */
export interface RankedMatch {
  /** Number of the match over all patterns, from 1. */
  number: number;
  pattern: PatternScores;
  match: MatchScore;
  /** Place among all matches, from 1. */
  rank: number;
  /** Q-value of the overall P value; null if the match could not be scored. */
  q: number | null;
  /** Like the overall verdict, but by q. */
  label: OverallVerdict | null;
  /** Number of its group of overlapping matches, from 1; groups are numbered by their best match. */
  group: number;
  /** True if it is the best of its group. */
  isBest: boolean;
  /** Mean predicted disorder, 0..1; null in results of earlier versions. */
  disorder: number | null;
}

/** Fraction of the shorter match from which on two matches overlap. */
const MIN_OVERLAP = 0.5;

/**
 * All matches of a prediction, best first: by overall P, of equals by z, of equals in order of the patterns. Q-values are
 * those of Benjamini and Hochberg (1995) over all scored matches; a P value that is a bound counts as the bound.
 */
export function rankMatches({ patterns, alignment }: Prediction): RankedMatch[] {
  let number = 0;
  const rows = patterns.flatMap((pattern) =>
    pattern.matches.map((match) => ({ number: ++number, pattern, match })),
  );
  const sorted = rankByP(rows, ({ match }) => match);
  const groups = groupMatches(sorted.map(({ match }) => match));
  return sorted.map((row, i) =>
    Object.assign(row, { disorder: matchDisorder(alignment?.disorder, row.match) }, groups[i]),
  );
}

/** Numbers by which matches are ordered; results of earlier versions lack them. */
type Scored = { [Name in "overallPValue" | "z"]?: number | null | undefined };

/** Rows in order of overall P, of equals by z, of equals as given; with ranks, q-values and labels over all of them. */
export function rankByP<Row extends object>(
  rows: readonly Row[],
  readMatch: (row: Row) => Scored,
): (Row & Pick<RankedMatch, "rank" | "q" | "label">)[] {
  const sorted = rows.toSorted((a, b) => {
    const [one, other] = [readMatch(a), readMatch(b)];
    return rankValue(one) - rankValue(other) || readZ(other) - readZ(one);
  });
  const qs = qValues(sorted.flatMap((row) => readMatch(row).overallPValue ?? []));
  return sorted.map((row, i) => {
    const q = qs[i] ?? null;
    return Object.assign({}, row, {
      rank: i + 1,
      q,
      label: q === null ? null : judgeOverall({ p: q, is: "estimate" as const }),
    });
  });
}

/** Matches without a P value come last. */
const rankValue = ({ overallPValue }: Scored): number => overallPValue ?? 2;
const readZ = ({ z }: Scored): number => z ?? 0;

/** Q-values of P values in ascending order, with six decimals. */
export function qValues(ascending: readonly number[]): number[] {
  const { length } = ascending;
  let smallest = 1;
  return ascending
    .map((_, i) => length - 1 - i)
    .map((i) => (smallest = Math.min(smallest, (ascending[i] * length) / (i + 1))))
    .map(rounded)
    .reverse();
}

/**
 * The groups of matches, best first: each match joins the first group whose best match it overlaps by at least MIN_OVERLAP
 * of the shorter, else it begins one. Only best matches count, so that a chain of overlaps does not become one group.
 */
function groupMatches(matches: readonly MatchScore[]): Pick<RankedMatch, "group" | "isBest">[] {
  const best: MatchScore[] = [];
  return matches.map((match) => {
    const found = best.findIndex((other) => overlap(match, other) >= MIN_OVERLAP);
    const isBest = found < 0;
    return { group: isBest ? best.push(match) : found + 1, isBest };
  });
}

const matchLength = ({ start, end }: MatchScore): number => end - start + 1;

/** Shared residues as a fraction of the shorter match; 0 for an empty one. */
function overlap(a: MatchScore, b: MatchScore): number {
  const shared = Math.min(a.end, b.end) - Math.max(a.start, b.start) + 1;
  return shared <= 0 ? 0 : shared / Math.min(matchLength(a), matchLength(b));
}
