import type { Verdict } from "../../motif/index.ts";
import type { MatchRow } from "./match-row.ts";
import { isKnown } from "./match-values.ts";

/** Largest overall P values of the two levels of evidence, and what counts as kept. */
export { compareEvidence } from "../../motif/match-order.ts";
export { KEPT_FRACTION, LIKELY_P, POSSIBLE_P } from "../../motif/options.ts";

/** The verdict on a match: a known instance of its motif, else all evidence in words. */
export type MatchVerdict = Verdict | "known instance";

/** Verdicts with their names on pages, from the best. */
export const VERDICTS: Readonly<Record<MatchVerdict, string>> = {
  "known instance": "Known instance",
  "likely functional": "Likely functional",
  possible: "Possible",
  "no evidence": "No evidence",
  "not scored": "Not scored",
};

/** The one verdict on a match, for all tables, formats and pages. Q-values do not change it. */
export const findVerdict = (match: Pick<MatchRow, "verdict" | "notes">): MatchVerdict =>
  isKnown(match) ? "known instance" : match.verdict;

/** Largest q-values at which a match stands out among all matches of its ranking, ascending. */
const STANDS_OUT = [0.05, 0.2] as const;
/** The stricter one, by which sentences count. */
export const [STRICT_Q] = STANDS_OUT;

/** `q ≤ 0.05` or `q ≤ 0.2` for a match that stands out; null for the others. */
export const standsOut = ({ q }: Pick<MatchRow, "q">): string | null => {
  const level = q == null ? undefined : STANDS_OUT.find((most) => q <= most);
  return level === undefined ? null : `q ≤ ${level}`;
};

export const STANDING_OUT = STANDS_OUT.map((level) => `q ≤ ${level}`);
