import { compareEvidence } from "../../motif/match-order.ts";
import { groupOverlapping } from "../../motif/overlap.ts";
import type { MatchRow } from "./match-row.ts";
import { isKnown } from "./match-values.ts";

/** Overlapping matches of a protein. */
export interface Place<Row> {
  /** The known instance with the best evidence, else the match with the best. */
  best: Row;
  /** The other matches, in the order of the table. */
  others: Row[];
}

/**
 * Numbers of the places of matches, from 1: matches that overlap the best one of a place by half of the shorter. Known
 * instances come before other matches, so that each is the best of its place unless it overlaps a better one.
 * @param findProtein the protein of a match, if they are of several
 */
export function numberPlaces<Row extends MatchRow>(
  matches: readonly Row[],
  findProtein: (match: Row) => number = () => 0,
): Map<Row, number> {
  let before = 0;
  const numbers = new Map<Row, number>();
  for (const ofProtein of Map.groupBy(matches.toSorted(compareMatches), findProtein).values()) {
    const groups = groupOverlapping(ofProtein);
    for (const [i, match] of ofProtein.entries()) numbers.set(match, before + groups[i].group);
    before += groups.filter(({ isBest }) => isBest).length;
  }
  return numbers;
}

/** Known instances first, then by evidence. */
const compareMatches = (a: MatchRow, b: MatchRow): number =>
  Number(isKnown(b) ?? false) - Number(isKnown(a) ?? false) || compareEvidence(a, b);

/** The places of the listed matches, in the order of their best ones. @param numbers of `numberPlaces` for all matches */
export function listPlaces<Row extends MatchRow>(
  listed: readonly Row[],
  numbers: ReadonlyMap<Row, number>,
): Place<Row>[] {
  const rows = new Map(listed.map((match, i) => [match, i]));
  return [...Map.groupBy(listed, (match) => numbers.get(match)).values()]
    .map((matches) => {
      const [best] = matches.toSorted(compareMatches);
      return { best, others: matches.filter((match) => match !== best) };
    })
    .toSorted((a, b) => rows.get(a.best)! - rows.get(b.best)!);
}
