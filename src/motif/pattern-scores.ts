import { decode } from "./alphabet.ts";
import { findMatches, type Match, pathOfMatch, type Sight, sightOf } from "./automaton-matches.ts";
import type { Calibration } from "./null-distribution.ts";
import type { Conservation } from "./conserve.ts";
import type { Family } from "./divergence.ts";
import { explain } from "./explain.ts";
import { leastBits, pathBits } from "./information.ts";
import { judge, type Judgement } from "./method.ts";
import { MAX_MATCHING_STEPS, type Options } from "./options.ts";
import type { Pattern } from "./pattern.ts";
import type { Contributions, MatchScore, PatternScores, ScoringModel } from "./prediction.ts";
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
  own: Calibration | null = null,
): PatternScores {
  const { automaton, root } = pattern;
  const sight = sightOf(automaton, family.query);
  const found = findMatches(automaton, family.query, sight);
  const motif = openMotif(automaton, model);
  const bits = leastBits(root);
  const matches = found.slice(0, options.maxMatches).map((match, i, { length }) => {
    report(i / length);
    return scoreMatch(motif, family, match, found.length, sight, bits, options, own);
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
  matches: number,
  sight: Sight,
  leastBits: number,
  options: Readonly<Options>,
  own: Calibration | null,
): MatchScore {
  const { simulation, automaton } = motif;
  const isShort = match.end - match.start <= options.maxMatchLength;
  let path: Int32Array | null = null;
  let judgement = NOT_JUDGED;
  if (isShort && simulation.steps <= MAX_MATCHING_STEPS) {
    simulation.steps += (match.end - match.start + 1) * automaton.program.size;
    path = pathOfMatch(automaton, family.query, match, sight);
    if (path) judgement = judge(options.method, motif, family, match, path, matches, own);
  }
  const isAffordable = simulation.steps <= MAX_MATCHING_STEPS;
  const { numbers, pValue, contributions } = isAffordable ? judgement : NOT_JUDGED;
  const orNull = (value: number | null): number | null =>
    pValue !== null && value !== null ? rounded(value) : null;
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
    ...(contributions && { contributions: allRounded(contributions) }),
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

const NOT_JUDGED: Judgement = { numbers: NOT_SCORED, pValue: null };

const allRounded = (contributions: Contributions): Contributions =>
  Object.fromEntries(
    Object.entries(contributions).map(([name, value]) => [name, rounded(value)]),
  ) as unknown as Contributions;

/** Six decimals: beyond them processors' logarithms may differ, and no one reads on. Never −0, which JSON does not know. */
export function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6 + 0;
}
