import { decode, GAP } from "./alphabet.ts";
import type { Match } from "./automaton-matches.ts";
import { type AlignedHomolog, type Family, localIdentity, overlap } from "./divergence.ts";
import { positionBits } from "./information.ts";
import {
  DIVERGENCE_PRIOR,
  IDENTITY_DECAY,
  MAX_EXPECTATION,
  MAX_UNALIGNED,
  MIN_EXPECTATION,
  MIN_LOG_IDENTITY,
  LOSS_RATE_WEIGHT,
  NEAREST_LOSS_WEIGHT,
  RETENTION_WEIGHT,
  SHIFT,
  SHIFT_RETENTION,
} from "./options.ts";
import { patternTerm } from "./pattern-reference.ts";
import { type Contributions, type HomologAtMatch, type Term, TERMS } from "./prediction.ts";
import {
  describeMatch,
  type Motif,
  type MotifMatch,
  retention,
  type Retention,
  findSpan,
} from "./retention.ts";
import { contextTerms } from "./region.ts";
import { shapeAt } from "./shape.ts";
import { tailRetention } from "./tail.ts";
import { TERM_SHAPES } from "./term-shapes.ts";
import { lossRateLikelihood, type Observation } from "./tree-likelihood.ts";

/** The variables of the score, one number for each contribution. */
export type Terms = Record<Term, number>;

/** Numbers of one match. `terms` and `z` are null if every position is a wildcard. */
export interface Evidence {
  /** Homologs that reach the match, and their effective number (Kish, Survey Sampling, 1965). */
  homologs: number;
  effectiveHomologs: number;
  /** CS and its expectation, 0..1; null without homologs. */
  score: number | null;
  expected: number | null;
  z: number | null;
  /** Mean local identity; null without homologs. */
  localIdentity: number | null;
  /** Weighted fraction of homologs with an admitted residue, per position; null at wildcards and without homologs. */
  conservation: (number | null)[];
  atHomologs: HomologAtMatch[];
  terms: Terms | null;
}

/** z of the terms alone; random matches have mean 0 and standard deviation 1. */
export const zScore = (terms: Terms): number => sumContributions(computeContributions(terms));

/** z, the sum of all contributions. */
export const sumContributions = (contributions: Contributions): number =>
  Object.values(contributions).reduce((sum: number, part: number) => sum + part, 0);

/** The shape of each term at its value: a generalised additive model (Hastie & Tibshirani, Stat. Sci. 1986, 1:297). */
export function computeContributions(terms: Terms): Terms {
  return Object.fromEntries(
    TERMS.map((name) => [name, shapeAt(TERM_SHAPES[name], terms[name])]),
  ) as unknown as Terms;
}

/** Running sums over the homologs of one match. */
class Sums {
  homologs = 0;
  weight = 0;
  squares = 0;
  score = 0;
  expected = 0;
  variance = 0;
  identity = 0;
  nearestLoss = 0;
  localDivergence = DIVERGENCE_PRIOR;
  overallDivergence = DIVERGENCE_PRIOR;
  readonly retained: Float64Array;

  constructor(positions: number) {
    this.retained = new Float64Array(positions);
  }

  add(homolog: AlignedHomolog, value: number, expectation: number, identity: number): number {
    const weight = homolog.weight * Math.exp((homolog.identity - 1) / IDENTITY_DECAY);
    this.localDivergence += homolog.weight * divergenceAt(identity);
    this.overallDivergence += homolog.weight * divergenceAt(homolog.identity);
    this.homologs++;
    this.weight += weight;
    this.squares += weight * weight;
    this.identity += identity;
    this.nearestLoss = Math.max(this.nearestLoss, identity * (1 - value));
    this.score += weight * value;
    this.expected += weight * expectation;
    this.variance += weight * weight * expectation * (1 - expectation);
    return weight;
  }
}

/**
 * Evidence for one match (docs/method.md): weighted retention against its expectation from the local
 * divergence, the rate of loss along the tree, and properties of the region.
 *
 * @param path residues admitted at each matched position, as masks.
 * @param matches number of matches of the pattern in the query.
 */
export function computeEvidence(
  motif: Motif,
  family: Family,
  match: Match,
  path: Int32Array,
  matches: number,
): Evidence {
  const { query } = family;
  const described = describeMatch(motif, query, match, path);
  const exact = 2 ** -described.defined.reduce((bits, p) => bits + positionBits(path[p]), 0);
  const chance = { exact, near: motif.automaton.anchored ? 0 : 1 - Math.exp(-2 * SHIFT * exact) };
  const sums = new Sums(described.defined.length);
  const observations: Observation[] = ["retained"];
  const atHomologs = family.homologs.map((homolog, index): HomologAtMatch => {
    const residues = residuesAt(homolog, match);
    const found = computeRetention(motif, described, homolog, query.length);
    if (found === null) {
      observations.push("unknown");
      return { homolog: index, state: "missing", residues, retention: null };
    }
    observations.push(STATE_WORDS[found.state]);
    const identity = localIdentity(homolog, match.start, match.end);
    const aligned = expectedRetention(described, identity);
    const expectation = aligned + (1 - aligned) * SHIFT_RETENTION * chance.near;
    const weight = sums.add(homolog, found.value, expectation, identity);
    described.defined.forEach((position, i) => {
      const residue = homolog.row.anchored[match.start + position];
      if (residue !== GAP && (path[position] >>> residue) & 1) sums.retained[i] += weight;
    });
    return { homolog: index, state: found.state, residues, retention: found.value };
  });
  let terms: Terms | null = null;
  if (described.defined.length > 0) {
    const rate =
      (sums.localDivergence / sums.overallDivergence) *
      described.substitutionScores.reduce((sum, share) => sum + 1 - share, 0);
    const isKept = sums.homologs > 0;
    terms = {
      conservation: isKept
        ? RETENTION_WEIGHT * signedLog((sums.score - sums.expected) / Math.sqrt(sums.variance)) +
          LOSS_RATE_WEIGHT * signedLog(lossRateLikelihood(family.tree, observations, rate, chance)) -
          NEAREST_LOSS_WEIGHT * sums.nearestLoss
        : 0,
      ...contextTerms(motif.automaton, family, match, path, matches),
      pattern: patternTerm(motif.automaton),
    };
  }
  return {
    ...summary(sums, match, described),
    atHomologs,
    terms,
    z: terms && zScore(terms),
  };
}

const STATE_WORDS = {
  conserved: "retained",
  shifted: "shifted",
  substituted: "lost",
  gap: "lost",
  missing: "unknown",
} as const satisfies Record<HomologAtMatch["state"], Observation>;

function summary(
  sums: Sums,
  { start, end }: Match,
  { defined }: MotifMatch,
): Omit<Evidence, "atHomologs" | "terms" | "z"> {
  const conservation: (number | null)[] = Array.from({ length: end - start }, () => null);
  const hasHomologs = sums.homologs > 0;
  const isJudged = hasHomologs && defined.length > 0;
  if (hasHomologs) defined.forEach((p, i) => (conservation[p] = sums.retained[i] / sums.weight));
  return {
    homologs: sums.homologs,
    effectiveHomologs: hasHomologs ? (sums.weight * sums.weight) / sums.squares : 0,
    score: isJudged ? sums.score / sums.weight : null,
    expected: isJudged ? sums.expected / sums.weight : null,
    localIdentity: hasHomologs ? sums.identity / sums.homologs : null,
    conservation,
  };
}

/**
 * Expected retention e_i: each defined position is conserved at the local identity or substituted by an
 * accepted residue. 0..1.
 */
export function expectedRetention({ substitutionScores }: MotifMatch, identity: number): number {
  let expectation = 1;
  for (const share of substitutionScores) expectation *= identity + (1 - identity) * share;
  return Math.min(MAX_EXPECTATION, Math.max(MIN_EXPECTATION, expectation));
}

/** True if most of a match lies beyond the aligned part of a homolog. */
export function isMissing({ first, last }: AlignedHomolog, { start, end }: Match): boolean {
  const inside = overlap(first, last, start, end);
  return (end - start - inside) / (end - start) > MAX_UNALIGNED;
}

/**
 * True if a homolog begins or ends inside a match and has an admitted residue at every defined position that it
 * covers: probably a fragment, which says nothing about the rest.
 */
function isCutOff({ first, last, row }: AlignedHomolog, match: MotifMatch): boolean {
  const beginsInside = first > match.start && row.before[first] === 0;
  const endsInside = last < match.end - 1 && row.before[last] === row.residues.length - 1;
  return (
    (beginsInside || endsInside) &&
    match.defined.every((position, i) => {
      const column = match.start + position;
      const isCovered = (column >= first || !beginsInside) && (column <= last || !endsInside);
      return !isCovered || match.residueScores[i][row.anchored[column]] === 1;
    })
  );
}

/**
 * Retention in the aligned part of a homolog, else in its unaligned end; null if neither reaches the match.
 */
function computeRetention(
  motif: Motif,
  match: MotifMatch,
  homolog: AlignedHomolog,
  queryLength: number,
): Retention | null {
  if (isMissing(homolog, match)) return tailRetention(motif, match, homolog, queryLength);
  const found = retention(motif, match, homolog);
  if (found.value === 1) return found;
  if (!motif.automaton.anchored) return isCutOff(homolog, match) && found.state !== "shifted" ? null : found;
  const atEnd = tailRetention(motif, match, homolog, queryLength);
  return atEnd !== null && atEnd.value > found.value ? atEnd : found;
}

/** Residues aligned to a match: `-` for a gap, insertions in lower case. */
export function residuesAt(homolog: AlignedHomolog, match: Match): string {
  const { row } = homolog;
  const [from, to] = findSpan(homolog, match);
  if (to - from === match.end - match.start) {
    const plain = row.anchored.subarray(match.start, match.end);
    if (!plain.includes(GAP)) return decode(plain);
  }
  let text = "";
  for (let column = match.start; column < match.end; column++) {
    const residue = row.anchored[column];
    text += decode(row.anchored.subarray(column, column + 1));
    if (column === match.end - 1) break;
    const insertion = row.before[column] + (residue === GAP ? 0 : 1);
    text += decode(row.residues.subarray(insertion, row.before[column + 1])).toLowerCase();
  }
  return text;
}

function divergenceAt(identity: number): number {
  return -Math.log(Math.max(MIN_LOG_IDENTITY, identity));
}

/** sign(x) · ln(1 + |x|): compresses the tails. */
function signedLog(x: number): number {
  return Math.sign(x) * Math.log1p(Math.abs(x));
}
