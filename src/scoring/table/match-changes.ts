import type { MatchVerdict } from "./verdict.ts";

/** Changes of a match by a variant, with their meanings. */
export const CHANGES = {
  broken: "The pattern no longer fits.",
  weaker: "z falls by 0.1 or more, or the verdict changes.",
  stronger: "z rises by 0.1 or more, or the verdict changes.",
  new: "The pattern fits only the variant.",
  unchanged: "z changes by less than 0.1.",
} as const;
export type MatchChange = keyof typeof CHANGES;
export const CHANGE_NAMES = Object.keys(CHANGES) as MatchChange[];

/** What has become of a match in another protein, with their meanings. */
export const FATES = {
  kept: "Both proteins have the match at aligned residues.",
  moved: "The other protein has the motif within ten residues.",
  lost: "Only the first protein has the match.",
  gained: "Only the second protein has the match.",
} as const;
export type MatchFate = keyof typeof FATES;
export const FATE_NAMES = Object.keys(FATES) as MatchFate[];

/** Each substitution moves z of most matches by some hundredths, because it changes distances and predicted disorder. */
const LEAST_CHANGE = 0.1;

interface Scored {
  z?: number | null | undefined;
  verdict: MatchVerdict;
}

/** The change of a match from the unchanged protein to its variant; null where one of them does not have it. */
export function findChange(a: Scored | null | undefined, b: Scored | null | undefined): MatchChange {
  if (!b) return "broken";
  if (!a) return "new";
  const difference = (b.z ?? 0) - (a.z ?? 0);
  if (a.verdict === b.verdict && Math.abs(difference) < LEAST_CHANGE) return "unchanged";
  return difference < 0 ? "weaker" : "stronger";
}

interface Changed {
  change?: MatchChange | undefined;
  a: { z: number | null } | null;
  b: { z: number | null } | null;
}

/** True if both proteins have the match. */
export const isInBoth = ({ a, b }: Pick<Changed, "a" | "b">): boolean => a !== null && b !== null;

/** Matches that a variant changes: those that only one protein has first, then the others, by the highest z. */
export function listChanges<Match extends Changed>(matches: readonly Match[]): Match[] {
  const highest = ({ a, b }: Match): number => Math.max(a?.z ?? -Infinity, b?.z ?? -Infinity);
  return matches
    .filter(({ change }) => change !== undefined && change !== "unchanged")
    .toSorted((x, y) => Number(isInBoth(x)) - Number(isInBoth(y)) || highest(y) - highest(x));
}
