import { findMatches, findMatchPath, lookaroundTable } from "./automaton-matches.ts";
import type { Corpus } from "./corpus.ts";
import type { Family } from "./divergence.ts";
import { type Evidence, computeEvidence } from "./evidence.ts";
import { findFamilies } from "./family-search.ts";
import { findBin, type Calibration, LEVELS, type Statistics } from "./p-value.ts";
import { NULL_QUANTILES } from "./null-quantiles.ts";
import type { NullRow } from "./null-row.ts";
import { DEFAULTS, MIN_HOMOLOGS } from "./options.ts";
import type { Pattern } from "./pattern.ts";
import { type ScoringModel, SCORING_MODELS } from "./prediction.ts";
import { openMotif } from "./retention.ts";
import { seededRandom, shuffled } from "./random.ts";

/** A random match: its bin of the null distribution and its statistics by scoring model. */
export interface Draw {
  bin: number;
  statistics: Record<ScoringModel, Statistics>;
}

/** More draws from one protein would give its family too much weight. */
const MAX_DRAWS_PER_PROTEIN = 40;

/** Longer proteins are skipped: they would take most of the time. */
const MAX_LENGTH = 2000;

/** Draws per bin at which sampling may stop. */
export const ENOUGH_DRAWS = 950;

/** Fewer draws give no calibration: the standard error at P = 0.05 would exceed one per cent. */
export const MIN_DRAWS = 475;

/** Indexes of the proteins of at most MAX_LENGTH residues, in random order. */
export function drawnProteins(corpus: Corpus, seed: number): Uint32Array {
  return shuffled(corpus.sequenceCount, seed).filter(
    (index) => corpus.offsets[index + 1] - corpus.offsets[index] <= MAX_LENGTH,
  );
}

/**
 * Draws random matches in proteins: in each one match each of at most MAX_DRAWS_PER_PROTEIN patterns. The draws
 * depend only on the seed and the protein's index.
 *
 * @param isKnown whether a pattern is a known motif of a protein, which excludes it.
 */
export function drawMatches(
  corpus: Corpus,
  proteins: readonly number[],
  patterns: readonly Pattern[],
  seed: number,
  isKnown: (protein: number, pattern: number) => boolean = () => false,
): Draw[][] {
  return Array.from(findFamilies(corpus, proteins), ({ family }, k) =>
    drawFromFamily(family, patterns, (seed ^ Math.imul(proteins[k] + 1, 0x9e3779b1)) >>> 0, (i) =>
      isKnown(proteins[k], i),
    ),
  );
}

function drawFromFamily(
  family: Family,
  patterns: readonly Pattern[],
  seed: number,
  isKnown: (pattern: number) => boolean,
): Draw[] {
  const next = seededRandom(seed);
  const draws: Draw[] = [];
  for (const i of shuffled(patterns.length, seed)) {
    if (draws.length === MAX_DRAWS_PER_PROTEIN) break;
    if (isKnown(i)) continue;
    const { automaton } = patterns[i];
    const lookarounds = lookaroundTable(automaton, family.query);
    const matches = findMatches(automaton, family.query, lookarounds);
    if (matches.length === 0) continue;
    const match = matches[Math.floor(next() * matches.length)];
    if (match.end - match.start > DEFAULTS.maxMatchLength) continue;
    const path = findMatchPath(automaton, family.query, match, lookarounds);
    if (path === null) continue;
    const numbers = SCORING_MODELS.map((model) =>
      computeEvidence(openMotif(automaton, model), family, match, path, matches.length),
    );
    const draw = toDraw(numbers);
    if (draw !== null) draws.push(draw);
  }
  return draws;
}

/** A draw from the evidence by each scoring model; null if the match cannot be scored. */
export function toDraw(numbers: readonly Evidence[]): Draw | null {
  const [{ homologs, order, terms }] = numbers;
  if (terms === null) return null;
  const isJudged = homologs >= MIN_HOMOLOGS;
  const statistics = Object.fromEntries(
    SCORING_MODELS.map((model, m): [ScoringModel, Statistics] => [
      model,
      { conservation: isJudged ? numbers[m].terms!.conservation : null, z: numbers[m].z! },
    ]),
  );
  return { bin: findBin(homologs, order), statistics: statistics as Draw["statistics"] };
}

/** Quantiles at LEVELS, to four decimals and strictly increasing. */
export function computeQuantiles(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  let last = -Infinity;
  return LEVELS.map((level) => {
    const at = level * (sorted.length - 1);
    const low = Math.floor(at);
    const value = sorted[low] + (at - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
    last = Math.max(Math.round(value * 10_000), last + 1);
    return last / 10_000;
  });
}

/**
 * Null distribution from the draws of each protein: the built-in rows, adjusted by all bins together, those with
 * fewer than MIN_HOMOLOGS apart. Each draw is placed among the quantiles of its built-in bin on the scale of
 * −ln P; the quantiles of these values, mapped back into each bin, are its row. The draws of a single bin would
 * be too noisy: some come from a dozen families.
 */
export function computeCalibration(seed: number, drawn: readonly (readonly Draw[])[]): Calibration {
  const draws = drawn.flat();
  const calibratedRows = (model: ScoringModel): NullRow[] => {
    const builtIn = NULL_QUANTILES[model];
    const adjustStatistic = (name: keyof Statistics, isJudged: boolean): Adjustment =>
      adjustment(
        draws.flatMap(({ bin, statistics }) => {
          const value = statistics[model][name];
          if (value === null || isJudged !== (builtIn[bin].conservation !== null)) return [];
          return [interpolate(builtIn[bin][name]!, LOG_TAILS, value)];
        }),
      );
    const conservation = adjustStatistic("conservation", true);
    const [z, zOfFew] = [adjustStatistic("z", true), adjustStatistic("z", false)];
    return builtIn.map((row, bin) => ({
      matches: draws.filter((draw) => draw.bin === bin).length,
      conservation: row.conservation && conservation(row.conservation),
      z: row.conservation ? z(row.z) : zOfFew(row.z),
    }));
  };
  return {
    seed,
    proteins: drawn.filter((draw) => draw.length > 0).length,
    examined: drawn.length,
    matches: draws.length,
    rows: { continuous: calibratedRows("continuous"), discontinuous: calibratedRows("discontinuous") },
  };
}

/** Maps built-in quantiles to those of a corpus. */
type Adjustment = (builtIn: readonly number[]) => readonly number[];

/** @param logTails of the draws, in their built-in bins; too few change nothing */
function adjustment(logTails: readonly number[]): Adjustment {
  if (logTails.length < MIN_DRAWS) return (builtIn) => builtIn;
  const quantiles = computeQuantiles(logTails);
  return (builtIn) => quantiles.map((logTail) => interpolate(LOG_TAILS, builtIn, logTail));
}

const LOG_TAILS = LEVELS.map((level) => -Math.log(1 - level));

/** Piecewise linear interpolation through (xs, ys) at x, extrapolated beyond both ends. */
function interpolate(xs: readonly number[], ys: readonly number[], x: number): number {
  const last = xs.findLastIndex((one) => x >= one);
  const i = Math.min(Math.max(last, 0), xs.length - 2);
  return ys[i] + ((x - xs[i]) / (xs[i + 1] - xs[i])) * (ys[i + 1] - ys[i]);
}
