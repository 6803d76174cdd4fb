import { decode } from "./alphabet.ts";
import { findMatches, type Match, pathOfMatch, type Sight, sightOf } from "./automaton-matches.ts";
import { type Conservation, conservationOf } from "./conserve.ts";
import type { Family } from "./divergence.ts";
import { explain } from "./explain.ts";
import { leastBits, pathBits } from "./information.ts";
import { type PValue, pValueOf } from "./null-distribution.ts";
import { MAX_MATCHING_STEPS, MIN_HOMOLOGS, type Options } from "./options.ts";
import type { Pattern } from "./pattern.ts";
import type { MatchScore, PatternScores, ScoringModel } from "./prediction.ts";
import { type Motif, openMotif } from "./retention.ts";
import { verdictOf } from "./verdict.ts";
import { matchWarnings, patternWarnings } from "./warnings.ts";

/** Every match of one pattern in the family's query, scored; `report` is told the part that is done. */
export function scorePattern(
  pattern: Pattern,
  name: string | null,
  model: ScoringModel,
  family: Family,
  options: Readonly<Options>,
  report: (part: number) => void,
): PatternScores {
  const { automaton, root } = pattern;
  const sight = sightOf(automaton, family.query);
  const found = findMatches(automaton, family.query, sight);
  const motif = openMotif(automaton, model);
  const bits = leastBits(root);
  const matches = found.slice(0, options.maxMatches).map((match, i, { length }) => {
    report(i / length);
    return scoreMatch(motif, family, match, sight, bits, options);
  });
  return {
    expression: pattern.expression,
    name,
    explanation: explain(pattern),
    informationContent: rounded(bits),
    matches,
    warnings: patternWarnings(pattern, family.query.length, found.length, options),
  };
}

function scoreMatch(
  motif: Motif,
  family: Family,
  match: Match,
  sight: Sight,
  leastBits: number,
  options: Readonly<Options>,
): MatchScore {
  const { simulation, automaton } = motif;
  const isShort = match.end - match.start <= options.maxMatchLength;
  let path: Int32Array | null = null;
  let numbers = NOT_SCORED;
  if (isShort && simulation.steps <= MAX_MATCHING_STEPS) {
    simulation.steps += (match.end - match.start + 1) * automaton.program.size;
    path = pathOfMatch(automaton, family.query, match, sight);
    if (path) numbers = conservationOf(motif, family, match, path);
  }
  const isAffordable = simulation.steps <= MAX_MATCHING_STEPS;
  if (!isAffordable) numbers = NOT_SCORED;
  const isScored = numbers.homologs >= MIN_HOMOLOGS && numbers.z !== null;
  const pValue: PValue | null = isScored ? pValueOf(motif.model, numbers.homologs, numbers.z!) : null;
  const orNull = (value: number | null): number | null =>
    isScored && value !== null ? rounded(value) : null;
  return {
    start: match.start + 1,
    end: match.end,
    text: decode(family.query.subarray(match.start, match.end)),
    verdict: verdictOf(pValue),
    score: orNull(numbers.score),
    expected: orNull(numbers.expected),
    z: orNull(numbers.z),
    pValue: pValue && rounded(pValue.p),
    pValueIs: pValue && pValue.is,
    homologs: numbers.homologs,
    effectiveHomologs: rounded(numbers.effectiveHomologs),
    localIdentity: numbers.localIdentity === null ? null : rounded(numbers.localIdentity),
    informationContent: rounded(path ? pathBits(path) : leastBits),
    conservation: numbers.conservation.map((part) => (part === null ? null : rounded(part))),
    atHomologs: numbers.atHomologs.map((at) => ({
      ...at,
      retention: at.retention === null ? null : rounded(at.retention),
    })),
    warnings: matchWarnings(family.query, match, numbers, { isShort, isAffordable }, options),
  };
}

const NOT_SCORED: Conservation = {
  homologs: 0,
  effectiveHomologs: 0,
  score: null,
  expected: null,
  z: null,
  localIdentity: null,
  conservation: [],
  atHomologs: [],
};

/** Six decimals: beyond them processors' logarithms may differ, and no one reads on. */
export function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
