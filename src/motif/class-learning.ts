import { decode, GAP } from "./alphabet.ts";
import {
  areHomologous,
  buildProfile,
  type ClassNull,
  FLANK,
  type LearnedModel,
  type Profile,
  profileFit,
  profileScore,
  scoreByClass,
} from "./class-model.ts";
import { sumContributions } from "./evidence.ts";
import { fitLogistic } from "./logistic.ts";
import { LOG_LIKELIHOOD_RATIO } from "./options.ts";
import { type ModelGain, type ScoringModel, SCORING_MODELS, type Term, TERMS } from "./prediction.ts";
import { seededRandom } from "./random.ts";

/** A match of a class from which it is learned. */
export interface ClassExample {
  /** Known instance, or random match. */
  isTrue: boolean;
  /** Name of its protein family. */
  family: string;
  /** `alignWindow` for the columns of the model. */
  window: Uint8Array;
  contributions: Readonly<Record<ScoringModel, Readonly<Record<Term, number>>>>;
  /** z that each of NULL_SHARES of random matches in proteins like its own reach. */
  thresholds: Readonly<Record<ScoringModel, readonly number[]>>;
}

/** Why a class has no model. */
export interface NotLearned {
  instances: number;
  families: number;
  reason: string;
  /** Gain of the model that was rejected; null if there was none. */
  gain: ModelGain | null;
}

/** Fewer instances, families or random matches tell too little. */
export const MIN_INSTANCES = 4;
export const MIN_FAMILIES = 3;
export const MIN_RANDOM = 50;
/** Shares of random matches that P values are matched at. */
export const NULL_SHARES = [0.2, 0.05];
/** Weight of the standardised profile in units of z. */
const PROFILE_WEIGHT = 0.4;
/** Penalty of squared changes of standardised weights, in instances. */
const SLOPE_RIDGE = 10;
/** Random matches that the general null distribution counts as. */
const NULL_PRIOR = 20;
const FOLDS = 8;
const RESAMPLED = 1000;
const SEED = 28;
/** The slopes are those of one scoring model: the two differ only in the conservation. */
const SLOPE_MODEL = "discontinuous";

/** A model, if it ranks instances of families that were held out better than z does. */
export function learnClass(
  all: readonly ClassExample[],
  columns: readonly number[],
): LearnedModel | NotLearned {
  const known = all.filter(({ isTrue }) => isTrue);
  // A random match beside which the chain is like that of an instance is probably true.
  const examples = all.filter(
    ({ isTrue, window }) => isTrue || !known.some((one) => areHomologous(one.window, window)),
  );
  const counts = { instances: known.length, families: new Set(known.map(({ family }) => family)).size };
  const randomMatches = examples.length - known.length;
  if (counts.instances < MIN_INSTANCES || counts.families < MIN_FAMILIES)
    return {
      ...counts,
      gain: null,
      reason: `fewer than ${MIN_INSTANCES} instances or ${MIN_FAMILIES} families`,
    };
  if (randomMatches < MIN_RANDOM)
    return { ...counts, gain: null, reason: `fewer than ${MIN_RANDOM} random matches` };
  const gain = crossValidate(examples);
  if (!isHelpful(gain)) return { ...counts, gain, reason: "it does not rank held-out instances better" };
  const fitted = fitClass(examples);
  return {
    ...counts,
    randomMatches,
    ...usedColumns(columns, fitted.windows),
    profile: fitted.profile,
    slopes: fitted.slopes,
    nullModel: fitNull(examples, fitted),
    gain,
  };
}

/** Columns in which an instance has a residue; others tell nothing about a match. */
function usedColumns(
  columns: readonly number[],
  windows: readonly Uint8Array[],
): Pick<LearnedModel, "columns" | "windows"> {
  const isUsed = (position: number): boolean =>
    position < FLANK ||
    position >= FLANK + columns.length ||
    windows.some((window) => window[position] !== GAP);
  return {
    columns: columns.filter((_, i) => isUsed(FLANK + i)),
    windows: windows.map((window) => decode(window.filter((_, position) => isUsed(position)))),
  };
}

const isHelpful = (gain: ModelGain): boolean => gain.with > gain.without;

/** Profile and slopes of a class, with what scores of matches need. */
interface FittedClass extends Pick<LearnedModel, "profile" | "slopes"> {
  windows: Uint8Array[];
  whole: Profile | null;
}

function fitClass(examples: readonly ClassExample[]): FittedClass {
  const random = examples.filter(({ isTrue }) => !isTrue);
  const windows = examples.filter(({ isTrue }) => isTrue).map(({ window }) => window);
  const whole = buildProfile(windows);
  const odds = whole ? random.map(({ window }) => profileScore(whole, window)) : [];
  const profile = { weight: PROFILE_WEIGHT, ...describeSpread(odds) };
  return { windows, whole, profile, slopes: fitSlopes(examples) };
}

/** Mean and standard deviation; 1 for none. */
function describeSpread(values: readonly number[]): { mean: number; deviation: number } {
  const mean = average(values);
  const deviation = Math.sqrt(average(values.map((value) => (value - mean) ** 2)));
  return { mean, deviation: deviation > 1e-9 ? deviation : 1 };
}

const average = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Changes of the terms' weights: a ridge logistic regression with z as the known part, both sides of equal weight. */
function fitSlopes(examples: readonly ClassExample[]): LearnedModel["slopes"] {
  const random = examples.filter(({ isTrue }) => !isTrue);
  const perZ = LOG_LIKELIHOOD_RATIO[1];
  const spreads = TERMS.map((term) =>
    describeSpread(random.map(({ contributions }) => contributions[SLOPE_MODEL][term])),
  );
  const known = examples.length - random.length;
  const samples = examples.map(({ isTrue, contributions }) => ({
    isTrue,
    weight: isTrue ? 1 : known / random.length,
    values: Float64Array.from(
      TERMS,
      (term, k) => (contributions[SLOPE_MODEL][term] - spreads[k].mean) / spreads[k].deviation,
    ),
    offset: perZ * sumContributions(contributions[SLOPE_MODEL]),
  }));
  const b = fitLogistic(samples, SLOPE_RIDGE);
  return Object.fromEntries(
    TERMS.map((term, k) => [term, b[k + 1] / (spreads[k].deviation * perZ)]),
  ) as Record<Term, number>;
}

function score(fitted: FittedClass, { window, contributions }: ClassExample, model: ScoringModel): number {
  const fit = profileFit(fitted.profile, fitted.windows, fitted.whole, window);
  return scoreByClass(fitted, contributions[model], fit);
}

/** AUC of instances among random matches, both held out by family, without and with the model. */
function crossValidate(examples: readonly ClassExample[]): ModelGain {
  const folds = assignFolds(examples);
  const before = examples.map(({ contributions }) => sumContributions(contributions[SLOPE_MODEL]));
  const after = new Float64Array(examples.length);
  for (const fold of new Set(folds)) {
    const training = examples.filter((_, i) => folds[i] !== fold);
    const fitted = fitClass(training);
    const random = training.filter(({ isTrue }) => !isTrue);
    const { mean, deviation } = describeSpread(random.map((one) => score(fitted, one, SLOPE_MODEL)));
    for (const [i, one] of examples.entries())
      if (folds[i] === fold) after[i] = (score(fitted, one, SLOPE_MODEL) - mean) / deviation;
  }
  return measureGain(examples, before, after);
}

/** A fold for each example: families of instances, the largest first, and of random matches, in turn. */
function assignFolds(examples: readonly ClassExample[]): number[] {
  const foldByFamily = new Map<string, number>();
  for (const isTrue of [true, false]) {
    const families = Map.groupBy(
      examples.filter((one) => one.isTrue === isTrue),
      ({ family }) => family,
    );
    const sorted = [...families].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
    for (const [i, [family]] of sorted.entries())
      if (!foldByFamily.has(family)) foldByFamily.set(family, i % FOLDS);
  }
  return examples.map(({ family }) => foldByFamily.get(family)!);
}

/** @param before scores of the examples, and `after` those to compare. */
function measureGain(
  examples: readonly ClassExample[],
  before: ArrayLike<number>,
  after: ArrayLike<number>,
): ModelGain {
  const known = [...examples.keys()].filter((i) => examples[i].isTrue);
  const [without, withModel] = [before, after].map((scores) => shareBelow(examples, scores));
  const groups = [...Map.groupBy(known.keys(), (k) => examples[known[k]].family).values()];
  const next = seededRandom(SEED);
  const gains = Array.from({ length: RESAMPLED }, () => {
    const drawn = groups.flatMap(() => groups[Math.floor(next() * groups.length)]);
    return average(drawn.map((k) => withModel[k] - without[k]));
  }).sort((a, b) => a - b);
  const at = (share: number): number => round(gains[Math.floor(share * (RESAMPLED - 1))]);
  return {
    without: round(average(without)),
    with: round(average(withModel)),
    low: at(0.025),
    high: at(0.975),
  };
}

const round = (value: number): number => Math.round(value * 1e4) / 1e4;

/** Of each instance the share of random matches with lower scores, ties counting half; their mean is the AUC. */
function shareBelow(examples: readonly ClassExample[], scores: ArrayLike<number>): number[] {
  const random = Float64Array.from(
    [...examples.keys()].filter((i) => !examples[i].isTrue),
    (i) => scores[i],
  ).sort();
  return [...examples.keys()]
    .filter((i) => examples[i].isTrue)
    .map((i) => {
      const below = random.filter((score) => score < scores[i]).length;
      const same = random.filter((score) => score === scores[i]).length;
      return (below + same / 2) / random.length;
    });
}

/** Location and scale with which NULL_SHARES of the class's random matches have P values of at most these shares. */
function fitNull(examples: readonly ClassExample[], fitted: FittedClass): LearnedModel["nullModel"] {
  const random = examples.filter(({ isTrue }) => !isTrue);
  return Object.fromEntries(
    SCORING_MODELS.map((model) => {
      const scores = random.map((one) => score(fitted, one, model));
      const z = random.map(({ contributions }) => sumContributions(contributions[model]));
      const thresholds = random.map((one) => one.thresholds[model]);
      return [model, mixNull(matchShares(scores, thresholds), keepSpread(scores, z), random.length)];
    }),
  ) as Record<ScoringModel, ClassNull>;
}

/** Mean and spread stay those of z. */
function keepSpread(scores: readonly number[], z: readonly number[]): ClassNull {
  const [now, wanted] = [describeSpread(scores), describeSpread(z)];
  const scale = wanted.deviation / now.deviation;
  return { location: wanted.mean - scale * now.mean, scale };
}

/** Scales between which the class's null distribution is sought, by bisection. */
const SCALES = [0.4, 2.5];
const HALVINGS = 40;

function matchShares(scores: readonly number[], thresholds: readonly (readonly number[])[]): ClassNull {
  const locationAt = (scale: number, k: number): number => {
    const excess = scores.map((value, i) => scale * value - thresholds[i][k]).sort((a, b) => a - b);
    return -excess[Math.min(excess.length - 1, Math.floor((1 - NULL_SHARES[k]) * excess.length))];
  };
  const difference = (scale: number): number => locationAt(scale, 0) - locationAt(scale, 1);
  let [low, high] = SCALES;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (difference(middle) < 0) low = middle;
    else high = middle;
  }
  return { location: locationAt(low, 1), scale: low };
}

/** Few random matches leave the general null distribution. */
function mixNull(own: ClassNull, general: ClassNull, matches: number): ClassNull {
  const share = matches / (matches + NULL_PRIOR);
  const mix = (a: number, b: number): number => Math.round((share * a + (1 - share) * b) * 1e6) / 1e6;
  return { location: mix(own.location, general.location), scale: mix(own.scale, general.scale) };
}

/** Joins examples into families: by the names that they share, or by homologous windows of instances. */
export function joinFamilies(
  examples: readonly { window: Uint8Array; names: readonly string[] }[],
): string[] {
  const parents = examples.map((_, i) => i);
  const root = (i: number): number => (parents[i] === i ? i : (parents[i] = root(parents[i])));
  const firstWith = new Map<string, number>();
  for (const [i, { window, names }] of examples.entries()) {
    for (const name of names) {
      const first = firstWith.get(name);
      if (first === undefined) firstWith.set(name, i);
      else parents[root(i)] = root(first);
    }
    for (let k = 0; k < i; k++) if (areHomologous(window, examples[k].window)) parents[root(i)] = root(k);
  }
  return parents.map((_, i) => String(root(i)));
}
