import type { Homolog, HomologAtMatch, MatchScore, PatternScores, Prediction } from "../../scoring/index.ts";

export type { Homolog };
export type State = HomologAtMatch["state"];
export type Verdict = MatchScore["verdict"];
export type Match = MatchScore;
export type PatternResult = PatternScores;
/** A result as the scoring service returns it (docs/scoring-api.md). */
export type Result = Prediction & { identifier: string };

export const VERDICTS: readonly Verdict[] = [
  "conserved",
  "weakly conserved",
  "not conserved",
  "insufficient data",
];

/** A match with its number over all patterns, from 1, by which addresses and files name it. */
export interface NumberedMatch extends Match {
  number: number;
  pattern: PatternResult;
}

export const nameOf = ({ name, expression }: PatternResult): string => name ?? expression;

export function matchesOf({ patterns }: Result): NumberedMatch[] {
  let number = 0;
  return patterns.flatMap((pattern) =>
    pattern.matches.map((match) => Object.assign({ number: ++number, pattern }, match)),
  );
}

/** The less, the more a match tells. */
export const rank = ({ verdict, z }: Pick<Match, "verdict" | "z">): number =>
  VERDICTS.indexOf(verdict) * 1000 - Math.min(z ?? -99, 99);

/** The match that tells most: the best verdict, and of equals the largest z. */
export function best(matches: readonly NumberedMatch[]): NumberedMatch | undefined {
  return matches.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** Two decimals, as many as tell something. */
export const decimal = (value: number | null, digits = 2): string =>
  value === null ? "–" : value.toFixed(digits).replace("-", "−");

/** With a space that does not break. */
export const percent = (part: number, digits = 0): string => `${(part * 100).toFixed(digits)}\u00A0%`;

/** A P value with its bound: ≤ 0.005. */
export function pText({ pValue, pValueIs }: Pick<Match, "pValue" | "pValueIs">): string {
  if (pValue === null) return "–";
  const sign = pValueIs === "at most" ? "≤ " : pValueIs === "at least" ? "≥ " : "";
  return sign + String(Number(pValue.toPrecision(2)));
}

/** How many homologs keep a match, have it beside its place, have lost it, and do not reach it. */
export function tally({ atHomologs }: Match): Record<"kept" | "shifted" | "lost" | "missing", number> {
  const count = (...states: State[]): number =>
    atHomologs.filter(({ state }) => states.includes(state)).length;
  return {
    kept: count("conserved"),
    shifted: count("shifted"),
    lost: count("substituted", "gap"),
    missing: count("missing"),
  };
}

/** The score of a match in a sentence or two, with what was to be expected. */
export function sentence(match: Match): string {
  const { text, start, end, verdict, score, expected, homologs, pValue, pValueIs } = match;
  const shown = text.length > 24 ? `${text.slice(0, 24)}…` : text;
  const where = `${shown} at ${start}–${end}`;
  if (score === null || expected === null || pValue === null) {
    const seen =
      ["no homolog reaches", "only one homolog reaches"][homologs] ?? `only ${homologs} homologs reach`;
    return `${where} cannot be judged: ${homologs < 5 ? `${seen} it` : "no position of it tells residues apart"}.`;
  }
  const { kept, shifted } = tally(match);
  const beside = shifted > 0 ? `, ${shifted} more ${shifted === 1 ? "has" : "have"} it nearby` : "";
  const bound = pValueIs === "at most" ? "at most " : pValueIs === "at least" ? "at least " : "";
  const also = `${bound}${percent(pValue, pValue < 0.0995 ? 1 : 0)}`;
  return (
    `${where} is ${verdict}: its conservation score is ${decimal(score)}, where ${decimal(expected)} would be expected ` +
    `from how far its surroundings have diverged. ${kept} of ${homologs} homologs keep it${beside}; of comparable random matches ` +
    `${also} are conserved as well or better.`
  );
}
