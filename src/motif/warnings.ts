import { looksLikeNucleotides, STANDARD } from "./alphabet.ts";
import type { Match } from "./automaton-matches.ts";
import { windowEntropies } from "./complexity.ts";
import type { Family } from "./divergence.ts";
import type { Evidence } from "./evidence.ts";
import { isChosen } from "./homolog-choice.ts";
import type { ExcludedHits } from "./homologs.ts";
import {
  COMPLEXITY_WINDOW,
  DEFAULTS,
  MAX_MATCH_DENSITY,
  FEW_HOMOLOGS,
  LOW_COMPLEXITY_BITS,
  MIN_HOMOLOGS,
  type Options,
} from "./options.ts";
import type { Pattern } from "./pattern.ts";

/** Warnings about the query and its homologs. */
export function familyWarnings({ query, homologs }: Family): string[] {
  if (query.length === 0) return ["The query is empty."];
  const warnings: string[] = [];
  if (query.every((residue) => residue >= STANDARD.length)) {
    warnings.push("The query contains none of the twenty residues.");
  }
  if (looksLikeNucleotides(query)) {
    warnings.push("The query looks like DNA or RNA. Translate it to protein first.");
  }
  if (homologs.length === 0) {
    warnings.push("No homologs were found: matches are judged by their context only.");
  } else if (homologs.length < MIN_HOMOLOGS) {
    warnings.push(
      `Only ${countHomologs(homologs.length)}: judging conservation needs at least ${MIN_HOMOLOGS}.`,
    );
  }
  return warnings;
}

/** The choice of homologs in words, if it is not that of the method. */
export function choiceWarnings(options: Options): string[] {
  if (!isChosen(options)) return [];
  const { organisms, leaveOut, minIdentity, maxIdentity, maxHomologs } = options;
  const isRange = minIdentity !== DEFAULTS.minIdentity || maxIdentity !== DEFAULTS.maxIdentity;
  const parts = [
    organisms.length > 0 ? `of ${organisms.join(", ")}` : "",
    isRange ? `with ${percent(minIdentity)} to ${percent(maxIdentity)} identity` : "",
    maxHomologs === DEFAULTS.maxHomologs ? "" : `at most ${maxHomologs}`,
    leaveOut.length > 0 ? `without ${leaveOut.join(", ")}` : "",
  ].filter(Boolean);
  return [`Homologs were chosen: ${parts.join("; ")}. P values hold for the default choice, here roughly.`];
}

/** Warnings about hits that are no homologs. */
export function leftOutWarnings(
  { long, dissimilar }: ExcludedHits,
  { maxLengthRatio, minCoverage, minIdentity }: Readonly<Options>,
): string[] {
  const warnings: string[] = [];
  if (long.length > 0) {
    warnings.push(
      `${countHits(long.length)} left out: more than ${maxLengthRatio} times the query's length. If the query is a fragment, score it with its surroundings.`,
    );
  }
  if (dissimilar > 0) {
    warnings.push(
      `${countHits(dissimilar)} left out: less than ${percent(minCoverage)} of the query covered, or less than ${percent(minIdentity)} identity. If they share a domain with the query, score that domain alone.`,
    );
  }
  return warnings;
}

/** Warning about rows of an alignment from the user that are no homologs. */
export function rowsWarning(
  leftOut: number,
  rows: number,
  { minCoverage, minIdentity, maxHomologs }: Readonly<Options>,
): string {
  const are = leftOut === 1 ? "is no homolog" : "are no homologs";
  return `${leftOut} of ${rows} other rows of the alignment ${are}: less than ${percent(minCoverage)} of the query covered, less than ${percent(minIdentity)} identity, or after the first ${maxHomologs}.`;
}

/** Warnings about a pattern. */
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

/** Warnings about a match, or why it is not scored. */
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
    warnings.push("Not scored: earlier matches of this pattern reached the limit of work per pattern.");
  } else if (numbers.z === null) {
    warnings.push("Not scored: every position of this match is a wildcard.");
  } else if (numbers.homologs < MIN_HOMOLOGS) {
    warnings.push(
      `Few homologs: mostly context. ${countHomologs(numbers.homologs)} at this match; judging its conservation needs at least ${MIN_HOMOLOGS}.`,
    );
  } else if (numbers.homologs < FEW_HOMOLOGS) {
    warnings.push(`Few homologs: ${countHomologs(numbers.homologs)} at this match.`);
  }
  if (isLowComplexity(query, match)) {
    warnings.push("Low complexity: the match lies in a region of few different residues.");
  }
  return warnings;
}

function countHits(hits: number): string {
  return hits === 1 ? "1 hit" : `${hits} hits`;
}

function percent(fraction: number): string {
  return `${Number((100 * fraction).toPrecision(6))} %`;
}

function countHomologs(homologs: number): string {
  if (homologs === 0) return "No homologs";
  return homologs === 1 ? "1 homolog" : `${homologs} homologs`;
}

/** True if the window of COMPLEXITY_WINDOW residues around a match has low entropy. */
function isLowComplexity(query: Uint8Array, { start, end }: Match): boolean {
  if (query.length < COMPLEXITY_WINDOW) return false;
  const middle = Math.floor((start + end - COMPLEXITY_WINDOW) / 2);
  const from = Math.min(Math.max(0, middle), query.length - COMPLEXITY_WINDOW);
  const window = query.subarray(from, from + COMPLEXITY_WINDOW);
  return windowEntropies(window, COMPLEXITY_WINDOW)[0] < LOW_COMPLEXITY_BITS;
}
