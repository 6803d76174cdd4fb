import type {
  HomologAtMatch,
  MatchScore,
  PatternScores,
  Prediction,
  ProteinObject,
} from "../../scoring/index.ts";
import type { MatchNotes } from "../../scoring/index.ts";
import { currentPrediction } from "../../scoring/table/earlier-match.ts";
import type { MatchRow } from "../../scoring/table/match-row.ts";
import type { Provenance } from "../../scoring/table/provenance.ts";
import {
  compareEvidence,
  findVerdict,
  LIKELY_P,
  type MatchVerdict,
  POSSIBLE_P,
  VERDICTS,
} from "../../scoring/table/verdict.ts";
import { formatCount, pluralize } from "../format.tsx";
import { call } from "../request.ts";

/** The result of a job, as `GET /api/scoring/jobs/{id}/result` returns it. */
export type Result = Prediction & {
  identifier: string;
  protein: ProteinObject | null;
  provenance?: Provenance;
};
/** @param match the only match that is wanted; undefined for all @throws ApiError */
export const readResult = (id: string, signal: AbortSignal, match?: number): Promise<Result> =>
  call("GET /api/scoring/jobs/:id/result", { params: { id }, query: { match }, signal }).then((result) =>
    currentPrediction(result, result.protein?.organism),
  );

export type State = HomologAtMatch["state"];
/** Suffixes of the CSS classes of verdicts. */
export const TONES: Readonly<Record<MatchVerdict, string>> = {
  "known instance": "known",
  "likely functional": "likely",
  possible: "possible",
  "no evidence": "none",
  "not scored": "nodata",
};
export const VERDICT_ORDER = Object.keys(VERDICTS) as MatchVerdict[];

/**
 * Largest P value of each verdict, and the fractions of known motifs and of random matches that have it or a better one
 * (docs/quality.md).
 */
export const REACHED_SHARES = {
  likely: { p: LIKELY_P, known: 0.47, random: 0.02 },
  possible: { p: POSSIBLE_P, known: 0.71, random: 0.1 },
} as const;

export const percent = (part: number): string => `${Math.round(part * 100)}\u00A0%`;

/** Explains the verdicts: how many known motifs and random matches get each. */
export const VERDICT_HELP: readonly (readonly [verdict: string, meaning: string])[] = [
  [VERDICTS["known instance"], "An imported instance of the motif is here, whatever the score."],
  [
    VERDICTS["likely functional"],
    `P ≤ ${REACHED_SHARES.likely.p}: about ${percent(REACHED_SHARES.likely.known)} of known motifs, but only ${percent(REACHED_SHARES.likely.random)} of random matches.`,
  ],
  [
    VERDICTS.possible,
    `P ≤ ${REACHED_SHARES.possible.p}: about ${percent(REACHED_SHARES.possible.known)} of known motifs and ${percent(REACHED_SHARES.possible.random)} of random matches are at least possible.`,
  ],
  [
    VERDICTS["no evidence"],
    `Nothing sets the match apart from random ones. About ${percent(1 - REACHED_SHARES.possible.known)} of known motifs look like this, too.`,
  ],
];

export type Conservation = MatchScore["conservationLevel"];

/** Conservation in words, beside the number of homologs that keep the match. */
export const CONSERVATION: Readonly<Record<Conservation, { name: string; sentence: string }>> = {
  conserved: { name: "conserved", sentence: "More than its surroundings explain" },
  "weakly conserved": { name: "weakly conserved", sentence: "Slightly more than its surroundings explain" },
  "conserved like its surroundings": {
    name: "like its surroundings",
    sentence: "Conserved like its surroundings",
  },
  "not conserved": { name: "not conserved", sentence: "Not conserved" },
  "insufficient data": { name: "few homologs", sentence: "Conservation cannot be judged" },
};

/** Short form of the verdict; empty for a match that is not scored. */
export const conservationName = ({
  conservationLevel,
  z,
}: Pick<MatchRow, "conservationLevel" | "z">): string =>
  z == null ? "" : CONSERVATION[conservationLevel].name;

/** A match with its number over all patterns, from 1, which addresses and file names use. */
export interface NumberedMatch extends MatchScore {
  number: number;
  pattern: PatternScores;
  /** Name of the motif, where one lane has matches of several. */
  motif?: string;
  notes?: MatchRow["notes"];
}

export const patternName = ({ name, expression }: PatternScores): string => name ?? expression;

export const shorten = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

/** @param notes features at each match */
export function listMatches({ patterns }: Result, notes?: readonly MatchNotes[]): NumberedMatch[] {
  let number = 0;
  return patterns.flatMap((pattern) =>
    pattern.matches.map((match) =>
      Object.assign({ notes: notes?.[number], number: ++number, pattern }, match),
    ),
  );
}

/** Ranks matches: the highest z first, unscored ones last. */
export const rank = ({ z }: Pick<MatchRow, "z">): number => (z == null ? Infinity : -z);

/** The match that tables list first. */
export const best = (matches: readonly NumberedMatch[]): NumberedMatch | undefined =>
  matches.toSorted(compareEvidence)[0];

/** A number with a true minus sign, or a dash for null. */
export const decimal = (value: number | null | undefined, digits = 2): string =>
  value == null ? "–" : value.toFixed(digits).replace("-", "−");

/** A q-value or P value in a table: two digits. */
export const shortNumber = (value: number | null | undefined): string =>
  value == null ? "–" : String(Number(value.toPrecision(2)));

/** A P value, or the bound beyond which it lies; null if the match has none. */
export interface PValue {
  p?: number | null | undefined;
  is?: MatchScore["pValueIs"] | undefined;
}

export const overallP = ({
  overallPValue,
  overallPValueIs,
}: Pick<MatchScore, "overallPValue" | "overallPValueIs">): PValue => ({
  p: overallPValue,
  is: overallPValueIs,
});

/** `≤ 0.00001`. */
export function formatPValue({ p, is }: PValue): string {
  if (p == null) return "–";
  const sign = is === "at most" ? "≤\u00A0" : is === "at least" ? "≥\u00A0" : "";
  return sign + String(Number(p.toPrecision(2)));
}

/** A P value as a frequency: `1 in 50 random matches scores as high.` */
export function oddsText({ p, is }: PValue, [one, several]: readonly [one: string, several: string]): string {
  if (p == null) return "";
  if (is === "at least") return `At least ${percent(p)} of random matches ${several}.`;
  if (p > 0.2) return `${Math.round(100 * p)} in 100 random matches ${several}.`;
  return `${is === "at most" ? "At most 1" : "1"} in ${Math.round(1 / p)} random matches ${one}.`;
}

/** The probability of a true motif as a sentence; "" if the result has none. @param prior undefined for the default. */
export const probabilityText = (
  { probability }: Pick<MatchScore, "probability">,
  prior: number | undefined,
): string =>
  probability == null
    ? ""
    : `Probability of a true motif ${shortNumber(probability)}, if ${prior ?? "0.005"} of the matches of a motif are true (${prior === undefined ? "default: instances of motif classes in human proteins" : "chosen for this job"}).`;

/** The number of homologs that do not reach a match. */
export const countMissing = ({ atHomologs }: Pick<MatchScore, "atHomologs">): number =>
  atHomologs.filter(({ state }) => state === "missing").length;

/** `3 of 25 homologs in place, 12 nearby`. */
export const keptText = ({
  kept,
  nearby,
  homologs,
}: Pick<MatchRow, "kept" | "nearby" | "homologs">): string =>
  `${kept ?? 0} of ${pluralize(homologs, "homolog")} in place${nearby ? `, ${nearby} nearby` : ""}`;

/** Values with two decimals that add up to their sum with two decimals: the largest rounding errors go the other way; `+ 0` makes -0 0. */
export function roundedParts(values: readonly number[], sum: number): number[] {
  const parts = values.map((value) => Math.round(100 * value));
  const surplus = parts.reduce((total, part) => total + part, 0) - Math.round(100 * Number(sum.toFixed(2)));
  const roundingError = (i: number): number => Math.sign(surplus) * (parts[i] - 100 * values[i]);
  const largest = [...parts.keys()]
    .toSorted((i, j) => roundingError(j) - roundingError(i))
    .slice(0, Math.abs(surplus));
  for (const i of largest) parts[i] -= Math.sign(surplus);
  return parts.map((part) => part / 100 + 0);
}

/** The verdict on the only match, as the end of a sentence. */
const ONLY: Readonly<Record<MatchVerdict, string>> = {
  "known instance": "is a known instance",
  "likely functional": "is likely functional",
  possible: "is possibly functional",
  "no evidence": "shows no evidence of function",
  "not scored": "could not be scored",
};

/** The verdicts on all matches in a sentence; each known instance counts once. @param where the only likely match */
export function countVerdicts(matches: readonly Pick<MatchRow, "verdict" | "notes">[], where = ""): string {
  const verdicts = matches.map(findVerdict);
  if (verdicts.length === 1) return `The only match ${ONLY[verdicts[0]]}${where}.`;
  const count = (wanted: MatchVerdict): number => verdicts.filter((verdict) => verdict === wanted).length;
  const [known, likely, possible] = [count("known instance"), count("likely functional"), count("possible")];
  const others = verdicts.length - known;
  const rest = `likely functional${where}${possible > 0 ? `, ${formatCount(possible)} possible` : ""}`;
  const verb = likely > 1 ? "are" : "is";
  if (known === 0)
    return `${likely > 0 ? formatCount(likely) : "None"} of ${formatCount(others)} matches ${verb} ${rest}.`;
  const instances = pluralize(known, "known instance");
  if (others === 0) return `${instances}.`;
  if (others === 1)
    return `${instances}; the other match ${ONLY[verdicts.find((verdict) => verdict !== "known instance")!]}${where}.`;
  return `${instances}; of the other ${formatCount(others)} matches, ${likely > 0 ? formatCount(likely) : "none"} ${verb} ${rest}.`;
}

/** The result in one sentence, or two without homologs. */
export function answer(matches: readonly NumberedMatch[]): string {
  const likely = matches.filter((match) => findVerdict(match) === "likely functional");
  const [{ text, start, end } = { text: "", start: 0, end: 0 }] = likely;
  const sentence = countVerdicts(
    matches,
    likely.length === 1 ? `: ${shorten(text, 24)} at ${start}–${end}` : "",
  );
  const isContext = matches.every(({ homologs, z }) => homologs === 0 && z !== null);
  return isContext ? `${sentence} Without homologs, only disorder and position count.` : sentence;
}
