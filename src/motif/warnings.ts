import { looksLikeNucleotides, STANDARD } from "./alphabet.ts";
import type { Match } from "./automaton-matches.ts";
import type { Family } from "./divergence.ts";
import type { Evidence } from "./evidence.ts";
import {
  COMPLEXITY_WINDOW,
  MAX_MATCH_DENSITY,
  FEW_HOMOLOGS,
  LOW_COMPLEXITY_BITS,
  MIN_HOMOLOGS,
  type Options,
} from "./options.ts";
import type { Pattern } from "./pattern.ts";

/** What a reader of a prediction must know before its numbers. */
export function familyWarnings({ query, homologs }: Family): string[] {
  if (query.length === 0) return ["The query is empty."];
  const warnings: string[] = [];
  if (query.every((residue) => residue >= STANDARD.length)) {
    warnings.push("The query has none of the twenty residues.");
  }
  if (looksLikeNucleotides(query)) {
    warnings.push("The query looks like DNA or RNA; proteins are scored: translate it first.");
  }
  if (homologs.length === 0) {
    warnings.push("No homologs were found: nothing can be said about conservation.");
  } else if (homologs.length < MIN_HOMOLOGS) {
    warnings.push(`Only ${counted(homologs.length)}: a score needs at least ${MIN_HOMOLOGS}.`);
  }
  return warnings;
}

/** What a pattern as such makes doubtful. */
export function patternWarnings(
  pattern: Pattern,
  queryLength: number,
  matches: number,
  options: Readonly<Options>,
): string[] {
  const warnings: string[] = [];
  if (!pattern.root.consumes) warnings.push("The pattern matches no residues at all.");
  if (matches >= 3 && matches > MAX_MATCH_DENSITY * queryLength) {
    warnings.push(
      `The pattern matches very often (${matches} times in ${queryLength} residues): a single match says little.`,
    );
  }
  if (matches > options.maxMatches) {
    warnings.push(`Only the first ${options.maxMatches} of ${matches} matches are listed.`);
  }
  return warnings;
}

/** What makes a match's numbers doubtful, or why it has none. */
export function matchWarnings(
  query: Uint8Array,
  match: Match,
  numbers: Evidence,
  { isShort, isAffordable }: { isShort: boolean; isAffordable: boolean },
  options: Readonly<Options>,
): string[] {
  const warnings: string[] = [];
  if (!isShort) {
    warnings.push(`Not scored: the match is longer than ${options.maxMatchLength} residues.`);
  } else if (!isAffordable) {
    warnings.push(
      "Not scored: the matches of this pattern before it took all the work one pattern may cost.",
    );
  } else if (numbers.homologs < MIN_HOMOLOGS) {
    warnings.push(
      `Not scored: ${counted(numbers.homologs)} at this match, at least ${MIN_HOMOLOGS} are needed.`,
    );
  } else if (numbers.z === null) {
    warnings.push("Not scored: no position of this match tells residues apart.");
  } else if (numbers.homologs < FEW_HOMOLOGS) {
    warnings.push(`Few homologs: ${counted(numbers.homologs)} at this match.`);
  }
  if (isLowComplexity(query, match)) {
    warnings.push("Low complexity: the match lies in a stretch of few different residues.");
  }
  return warnings;
}

function counted(homologs: number): string {
  return homologs === 1 ? "1 homolog" : `${homologs} homologs`;
}

/** Entropy of the window of COMPLEXITY_WINDOW residues around the middle of a match, in bits, against SEG's trigger. */
function isLowComplexity(query: Uint8Array, { start, end }: Match): boolean {
  if (query.length < COMPLEXITY_WINDOW) return false;
  const middle = Math.floor((start + end - COMPLEXITY_WINDOW) / 2);
  const from = Math.min(Math.max(0, middle), query.length - COMPLEXITY_WINDOW);
  const counts = new Map<number, number>();
  for (const residue of query.subarray(from, from + COMPLEXITY_WINDOW)) {
    counts.set(residue, (counts.get(residue) ?? 0) + 1);
  }
  let bits = 0;
  for (const count of counts.values()) {
    bits -= (count / COMPLEXITY_WINDOW) * Math.log2(count / COMPLEXITY_WINDOW);
  }
  return bits < LOW_COMPLEXITY_BITS;
}
