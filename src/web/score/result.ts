import type { HomologAtMatch, MatchScore, PatternScores, Prediction } from "../../scoring/index.ts";
import { formatCount } from "../format.tsx";

/** The result of a job, as `GET /api/scoring/jobs/{id}/result` returns it. */
export type Result = Prediction & { identifier: string };
export type State = HomologAtMatch["state"];
export type Verdict = MatchScore["verdict"];

/** Verdicts from the best to the least, with their names on pages and the suffix of their CSS classes. */
export const VERDICTS: Readonly<Record<Verdict, { name: string; tone: string }>> = {
  conserved: { name: "Likely functional", tone: "likely" },
  "weakly conserved": { name: "Possible", tone: "possible" },
  "not conserved": { name: "No evidence", tone: "none" },
  "insufficient data": { name: "Insufficient data", tone: "nodata" },
};
export const VERDICT_ORDER = Object.keys(VERDICTS) as Verdict[];

/** A match with its number over all patterns, from 1, which addresses and file names use. */
export interface NumberedMatch extends MatchScore {
  number: number;
  pattern: PatternScores;
}

export const nameOf = ({ name, expression }: PatternScores): string => name ?? expression;

export const shorten = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

export function matchesOf({ patterns }: Result): NumberedMatch[] {
  let number = 0;
  return patterns.flatMap((pattern) =>
    pattern.matches.map((match) => Object.assign({ number: ++number, pattern }, match)),
  );
}

/** Ranks matches: the best verdict first, then the largest z. */
export const rank = ({ verdict, z }: Pick<MatchScore, "verdict" | "z">): number =>
  VERDICT_ORDER.indexOf(verdict) * 1000 - Math.min(z ?? -99, 99);

export const best = (matches: readonly NumberedMatch[]): NumberedMatch | undefined =>
  matches.toSorted((a, b) => rank(a) - rank(b))[0];

/** A number with a true minus sign, or a dash for null. */
export const decimal = (value: number | null, digits = 2): string =>
  value === null ? "–" : value.toFixed(digits).replace("-", "−");

export const percent = (part: number): string => `${Math.round(part * 100)}\u00A0%`;

/** A P value with its bound: `≤ 0.005`. */
export function pText({ pValue, pValueIs }: Pick<MatchScore, "pValue" | "pValueIs">): string {
  if (pValue === null) return "–";
  const sign = pValueIs === "at most" ? "≤ " : pValueIs === "at least" ? "≥ " : "";
  return sign + String(Number(pValue.toPrecision(2)));
}

/** How many homologs keep a match, have it nearby, have lost it, and do not reach it. */
export function tally({ atHomologs }: MatchScore): Record<"kept" | "shifted" | "lost" | "missing", number> {
  const count = (...states: State[]): number =>
    atHomologs.filter(({ state }) => states.includes(state)).length;
  return {
    kept: count("conserved"),
    shifted: count("shifted"),
    lost: count("substituted", "gap"),
    missing: count("missing"),
  };
}

/** The result in one sentence. */
export function answer(matches: readonly NumberedMatch[]): string {
  const total = matches.length === 1 ? "the only match" : `${formatCount(matches.length)} matches`;
  const likely = matches.filter(({ verdict }) => verdict === "conserved");
  if (likely.length === 0)
    return matches.length === 1
      ? "The only match is not likely functional."
      : `None of ${total} is likely functional.`;
  const subject = matches.length === 1 ? "The only match" : `${formatCount(likely.length)} of ${total}`;
  const [first] = likely.toSorted((a, b) => rank(a) - rank(b));
  const where = likely.length === 1 ? `: ${shorten(first.text, 24)} at ${first.start}–${first.end}` : "";
  return `${subject} ${likely.length === 1 ? "is" : "are"} likely functional${where}.`;
}

/** A P value as a frequency. */
export function oddsText({ pValue, pValueIs }: Pick<MatchScore, "pValue" | "pValueIs">): string {
  if (pValue === null) return "";
  const of = pValue < 0.01 ? 1000 : 100;
  const bound = pValueIs === "at most" ? "At most " : pValueIs === "at least" ? "At least " : "";
  const count = Number((pValue * of).toPrecision(2));
  return `${bound}${count} in ${formatCount(of)} random matches score this high.`;
}

/** Why a match has no score. */
export function insufficientText({ homologs }: Pick<MatchScore, "homologs">): string {
  if (homologs >= 3) return "No position of the match distinguishes residues.";
  const found =
    ["No homolog reaches", "Only 1 homolog reaches"][homologs] ?? `Only ${homologs} homologs reach`;
  return `${found} this site.`;
}
