import { matchDisorder } from "./match-disorder.ts";
import { compareEvidence, type Scored } from "./match-order.ts";
import { groupOverlapping } from "./overlap.ts";
import { rounded } from "./pattern-scores.ts";
import type { MatchScore, PatternScores, Prediction, PValueKind } from "./prediction.ts";

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
  /** Whether q is an estimate, or a bound because it follows from P values that are bounds. */
  qIs: PValueKind | null;
  /** Number of its group of overlapping matches, from 1; groups are numbered by their best match. */
  group: number;
  /** True if the match is the best of its group. */
  isBest: boolean;
  /** Mean predicted disorder, 0..1; null in results of earlier versions. */
  disorder: number | null;
}

/**
 * All matches of a prediction, best first: by verdict and z, of equals in order of the patterns. Q-values are those of Benjamini and
 * Hochberg (1995) over all scored matches; a P value that is a bound counts as the bound.
 */
export function rankMatches({ patterns, alignment }: Prediction): RankedMatch[] {
  let number = 0;
  const rows = patterns.flatMap((pattern) =>
    pattern.matches.map((match) => ({ number: ++number, pattern, match })),
  );
  const sorted = rankRows(rows, ({ match }) => match);
  const groups = groupOverlapping(sorted.map(({ match }) => match));
  return sorted.map((row, i) =>
    Object.assign(row, { disorder: matchDisorder(alignment?.disorder, row.match), ...groups[i] }),
  );
}

/** Rows in an order, equals as given, with ranks, and q-values over all of them. */
export function rankRows<Row extends object>(
  rows: readonly Row[],
  readMatch: (row: Row) => Scored,
  compare = compareEvidence,
): (Row & Pick<RankedMatch, "rank" | "q" | "qIs">)[] {
  const byP = rows
    .flatMap((row) => {
      const { overallPValue: p, overallPValueIs: is } = readMatch(row);
      return p == null ? [] : { row, p, is: is ?? "estimate" };
    })
    .toSorted((a, b) => a.p - b.p);
  const qs = qValues(byP.map(({ p }) => p));
  const last = byP.at(-1);
  // The q-values of rows that reach the largest P value depend on it.
  const kindOf = (is: PValueKind, q: number): PValueKind =>
    is === "at most" ? is : last?.is === "at least" && q === qs.at(-1) ? "at least" : "estimate";
  const found = new Map(byP.map(({ row, is }, i) => [row, { q: qs[i], qIs: kindOf(is, qs[i]) }]));
  return rows
    .toSorted((a, b) => compare(readMatch(a), readMatch(b)))
    .map((row, i) => Object.assign({}, row, { rank: i + 1, ...(found.get(row) ?? { q: null, qIs: null }) }));
}

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
