import { decode } from "./alphabet.ts";
import { findMatches, lookaroundTable, type Match, findPathNodes } from "./automaton-matches.ts";
import { alignWindow, applyClassModel, type ClassModel, describeClassModel } from "./class-model.ts";
import { average } from "./disorder/disorder.ts";
import type { Family } from "./divergence.ts";
import {
  computeContributions,
  type Evidence,
  computeEvidence,
  sumContributions,
  type Terms,
} from "./evidence.ts";
import { explain } from "./explain.ts";
import { minBits, pathBits } from "./information.ts";
import { type ClassFacts, featureEvidence, type KnownFeatures } from "./knowledge.ts";
import { MAX_MATCHING_STEPS, MIN_HOMOLOGS, type Options } from "./options.ts";
import {
  computePValue,
  conservationFeatures,
  type Divergence,
  judgeConservation,
  judgeOverall,
  computeProbability,
  randomMatches,
  type Surroundings,
  zFeatures,
} from "./p-value.ts";
import type { Pattern } from "./pattern.ts";
import type { Contributions, HomologState, MatchScore, PatternScores, ScoringModel } from "./prediction.ts";
import { openMotif } from "./retention.ts";
import { matchWarnings, patternWarnings } from "./warnings.ts";

/** Shared by all patterns of a job. */
export interface ScoringContext {
  model: ScoringModel;
  family: Family;
  options: Readonly<Options>;
  /** Known features of the query, and facts about the pattern's class. */
  features?: KnownFeatures | undefined;
  facts?: ClassFacts | undefined;
  /** Learned from instances of the class. */
  classModel?: ClassModel | undefined;
}

/** Scores every match of a pattern in the query; `report` gets the fraction done. */
export function scorePattern(
  pattern: Pattern,
  name: string | null,
  context: ScoringContext,
  report: (fraction: number) => void,
): PatternScores {
  const { automaton, root } = pattern;
  const { family, options } = context;
  const lookarounds = lookaroundTable(automaton, family.query);
  const found = findMatches(automaton, family.query, lookarounds);
  const motif = openMotif(automaton, context.model);
  const bits = minBits(root);
  const score = (match: Match): MatchScore => {
    const isShort = match.end - match.start <= options.maxMatchLength;
    let nodes: Int32Array | null = null;
    let path: Int32Array | null = null;
    let evidence = NO_EVIDENCE;
    if (isShort && motif.simulation.steps <= MAX_MATCHING_STEPS) {
      motif.simulation.steps += (match.end - match.start + 1) * automaton.program.size;
      nodes = findPathNodes(automaton, family.query, match, lookarounds);
      path = nodes && nodes.map((node) => automaton.program.mask[node]);
      if (path) evidence = computeEvidence(motif, family, match, path, found.length);
    }
    const isAffordable = motif.simulation.steps <= MAX_MATCHING_STEPS;
    if (!isAffordable) evidence = NO_EVIDENCE;
    const warnings = matchWarnings(family.query, match, evidence, { isShort, isAffordable }, options);
    const judged = { match, evidence, nodes, bits: path ? pathBits(path) : bits, warnings, pattern };
    return matchScore(judged, context);
  };
  const matches = found.slice(0, options.maxMatches).map((match, i, { length }) => {
    report(i / length);
    return score(match);
  });
  return {
    expression: pattern.expression,
    name,
    explanation: explain(pattern),
    informationContent: rounded(bits),
    matches,
    ...(matches.some(({ z }) => z !== null) && {
      randomMatches: randomMatches(context.model, describeSurroundings(family, pattern)),
    }),
    ...(context.classModel && { classModel: describeClassModel(context.classModel) }),
    warnings: patternWarnings(pattern, family.query.length, found.length, options),
  };
}

interface FoundEvidence {
  match: Match;
  evidence: Evidence;
  /** Nodes of the automaton along the matched path. */
  nodes: Int32Array | null;
  /** Information content of the matched path. */
  bits: number;
  warnings: string[];
  pattern: Pattern;
}

function matchScore(
  { match, evidence, nodes, bits, warnings, pattern }: FoundEvidence,
  context: ScoringContext,
): MatchScore {
  const { model, family } = context;
  const { homologs, terms } = evidence;
  const place = {
    start: match.start + 1,
    end: match.end,
    text: decode(family.query.subarray(match.start, match.end)),
  };
  const contributions = terms && allContributions(terms, { match, nodes, place }, context);
  const z = contributions && sumContributions(contributions);
  const count = (wanted: HomologState): number =>
    evidence.atHomologs.filter(({ state }) => state === wanted).length;
  const [kept, nearby] = [count("conserved"), count("shifted")];
  const isJudged = terms !== null && homologs >= MIN_HOMOLOGS;
  const { anchors } = pattern.automaton;
  const pValue = isJudged
    ? computePValue(
        "conservation",
        terms.conservation,
        model,
        conservationFeatures(divergenceOf(evidence, anchors)),
      )
    : null;
  const overall =
    z === null ? null : computePValue("z", z, model, zFeatures(describeSurroundings(family, pattern)));
  const ifJudged = (value: number | null): number | null => (isJudged ? roundedOrNull(value) : null);
  return {
    ...place,
    verdict: overall ? judgeOverall(overall) : "not scored",
    overallVerdict: overall && judgeOverall(overall),
    z: roundedOrNull(z),
    overallPValue: overall && rounded(overall.p),
    overallPValueIs: overall && overall.is,
    probability: z === null ? null : rounded(computeProbability(z, context.options.prior)),
    conservationLevel: judgeConservation(pValue, (kept + nearby) / homologs),
    score: ifJudged(evidence.score),
    expected: ifJudged(evidence.expected),
    pValue: pValue && rounded(pValue.p),
    pValueIs: pValue && pValue.is,
    homologs,
    effectiveHomologs: rounded(evidence.effectiveHomologs),
    kept,
    nearby,
    localIdentity: roundedOrNull(evidence.localIdentity),
    informationContent: rounded(bits),
    conservation: evidence.conservation.map(roundedOrNull),
    atHomologs: evidence.atHomologs.map((at) => ({ ...at, retention: roundedOrNull(at.retention) })),
    ...(contributions && { contributions: roundAll(contributions) }),
    warnings,
  };
}

/** The contributions of the terms, then those of knowledge beside the sequences. */
function allContributions(
  terms: Terms,
  {
    match,
    nodes,
    place,
  }: Pick<FoundEvidence, "match" | "nodes"> & { place: Pick<MatchScore, "start" | "end" | "text"> },
  { model, family, features, facts, classModel }: ScoringContext,
): Contributions {
  const ofTerms = computeContributions(terms);
  const contributions: Contributions = { ...ofTerms };
  if (features)
    Object.assign(contributions, featureEvidence(features, facts, place, family.prediction.order));
  if (classModel && nodes) {
    const window = alignWindow(classModel.columns, family.query, match, nodes);
    contributions.classModel = applyClassModel(classModel, ofTerms, window, model);
  }
  return contributions;
}

const describeSurroundings = ({ homologs, prediction }: Family, { automaton }: Pattern): Surroundings => ({
  homologs: homologs.length,
  chainOrder: average(prediction.order),
  anchors: automaton.anchors,
});

/** @param evidence of a match with homologs. */
export const divergenceOf = (
  { homologs, localIdentity, expected, conservation }: Evidence,
  anchors: Surroundings["anchors"],
): Divergence => ({
  homologs,
  localIdentity: localIdentity!,
  expected: expected!,
  positions: conservation.filter((share) => share !== null).length,
  anchors,
});

const NO_EVIDENCE: Evidence = {
  homologs: 0,
  effectiveHomologs: 0,
  score: null,
  expected: null,
  z: null,
  localIdentity: null,
  conservation: [],
  atHomologs: [],
  terms: null,
};

const roundAll = (contributions: Contributions): Contributions =>
  Object.fromEntries(
    Object.entries(contributions).map(([name, value]) => [name, rounded(value)]),
  ) as unknown as Contributions;

/** Six decimals, since logarithms may differ between processors; `+ 0` turns -0 into 0, as JSON has no -0. */
export function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6 + 0;
}

const roundedOrNull = (value: number | null): number | null => (value === null ? null : rounded(value));
