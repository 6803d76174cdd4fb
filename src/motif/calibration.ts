import { findMatches, pathOfMatch, sightOf } from "./automaton-matches.ts";
import type { Corpus } from "./corpus.ts";
import { familyOf, isAdmitted, measure } from "./divergence.ts";
import { evidenceOf } from "./evidence.ts";
import { findHits, findHomologs } from "./homologs.ts";
import { decode } from "./alphabet.ts";
import { rowsBy } from "./method.ts";
import { binOf, NULL_BINS } from "./null-context.ts";
import { type Calibration, LEVELS, type NullRow } from "./null-distribution.ts";
import { DEFAULTS, MIN_HOMOLOGS } from "./options.ts";
import type { Pattern } from "./pattern.ts";
import { type ScoringModel, SCORING_MODELS } from "./prediction.ts";
import { openMotif } from "./retention.ts";
import { residuesOf } from "./search.ts";
import { seeded, shuffled } from "./seeded.ts";

/** A random match: its bin of the null, and by model how well it was kept. */
export interface Draw {
  bin: number;
  persistence: Record<ScoringModel, number>;
}

/** Random matches that are drawn in one protein at most: more would rest on one family. */
const PER_PROTEIN = 40;

/** Longer proteins are not drawn: they would take most of the time. */
const MAX_LENGTH = 2000;

/** Random matches below which a bin has no row of its own: a standard error of one per cent at P = 0.05. */
export const LEAST_DRAWS = 475;

/**
 * A pattern with the same positions in another order, drawn by the seed: as much information, no function. Null where
 * positions cannot change places: bound to an end, with looks, or with a choice of the whole.
 */
export function shuffledExpression(expression: string, seed: number): string | null {
  const position = /(?:\[[^\]]*\]|\((?!\?)(?:[^()]|\([^()?]*\))*\)|[A-Z.])(?:\{[^}]*\}|[*+?])?/gy;
  const positions = expression.match(position) ?? [];
  if (positions.join("") !== expression || positions.length < 2) return null;
  return Array.from(shuffled(positions.length, seed), (i) => positions[i]).join("");
}

/** The proteins of a corpus in the order in which the seed draws them; those too long to serve are left out. */
export function drawnProteins(corpus: Corpus, seed: number): Uint32Array {
  return shuffled(corpus.sequenceCount, seed).filter(
    (index) => corpus.offsets[index + 1] - corpus.offsets[index] <= MAX_LENGTH,
  );
}

/**
 * Random matches in proteins of a corpus: in each that has enough homologs there, one match each of at most PER_PROTEIN
 * patterns, drawn by the seed and the protein's number alone. Per protein its draws; none where it has too few homologs.
 *
 * @param isKnown whether a pattern is known to be a true motif of a protein: such are left out.
 */
export function drawMatches(
  corpus: Corpus,
  proteins: readonly number[],
  patterns: readonly Pattern[],
  seed: number,
  isKnown: (protein: number, pattern: number) => boolean = () => false,
): Draw[][] {
  const queries = proteins.map((index) => residuesOf(corpus, index));
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const hits = findHits(
    queries.map((query) => decode(query)),
    corpus,
    DEFAULTS,
    counter,
  );
  return proteins.map((protein, k) => {
    const query = queries[k];
    const found = findHomologs(query, corpus, DEFAULTS, () => {}, hits[k]);
    if (found.length < MIN_HOMOLOGS) return [];
    const rows = rowsBy(
      "labd-2",
      query,
      found.map(({ row }) => row),
    );
    const homologs = rows.map((row) => measure(query, row)).filter((one) => isAdmitted(one, DEFAULTS));
    if (homologs.length < MIN_HOMOLOGS) return [];
    return drawIn(
      familyOf(query, homologs),
      patterns,
      (seed ^ Math.imul(protein + 1, 0x9e3779b1)) >>> 0,
      (i) => isKnown(protein, i),
    );
  });
}

function drawIn(
  family: ReturnType<typeof familyOf>,
  patterns: readonly Pattern[],
  seed: number,
  isKnown: (pattern: number) => boolean,
): Draw[] {
  const next = seeded(seed);
  const draws: Draw[] = [];
  for (const i of shuffled(patterns.length, seed)) {
    if (draws.length === PER_PROTEIN) break;
    if (isKnown(i)) continue;
    const { automaton } = patterns[i];
    const sight = sightOf(automaton, family.query);
    const matches = findMatches(automaton, family.query, sight);
    if (matches.length === 0) continue;
    const match = matches[Math.floor(next() * matches.length)];
    if (match.end - match.start > DEFAULTS.maxMatchLength) continue;
    const path = pathOfMatch(automaton, family.query, match, sight);
    if (path === null) continue;
    const numbers = SCORING_MODELS.map((model) =>
      evidenceOf(openMotif(automaton, model), family, match, path, matches.length),
    );
    const [{ homologs, disorder }] = numbers;
    if (homologs < MIN_HOMOLOGS || numbers.some(({ persistence }) => persistence === null)) continue;
    const persistence = Object.fromEntries(
      SCORING_MODELS.map((model, m) => [model, numbers[m].persistence!]),
    );
    draws.push({ bin: binOf(homologs, disorder), persistence: persistence as Draw["persistence"] });
  }
  return draws;
}

/** Quantiles at LEVELS, to four decimals, strictly rising so that every P value has one place. */
export function quantilesOf(values: readonly number[]): number[] {
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

/** The null that random matches make, protein by protein as `drawMatches` gives them. */
export function calibrationOf(seed: number, drawn: readonly (readonly Draw[])[]): Calibration {
  const draws = drawn.flat();
  const byBin = Array.from({ length: NULL_BINS }, (_, bin) => draws.filter((draw) => draw.bin === bin));
  const rowsOf = (model: ScoringModel): (NullRow | null)[] =>
    byBin.map((own) =>
      own.length < LEAST_DRAWS
        ? null
        : { matches: own.length, persistence: quantilesOf(own.map(({ persistence }) => persistence[model])) },
    );
  return {
    seed,
    proteins: drawn.filter((own) => own.length > 0).length,
    looked: drawn.length,
    matches: draws.length,
    rows: { continuous: rowsOf("continuous"), discontinuous: rowsOf("discontinuous") },
  };
}
