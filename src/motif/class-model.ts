import { BACKGROUND, encode, GAP, STANDARD } from "./alphabet.ts";
import type { Match } from "./automaton-matches.ts";
import { type AppliedClassModel, type ModelGain, type ScoringModel, type Term, TERMS } from "./prediction.ts";

/**
 * A motif class as learned from its known instances: how the z of its matches differs from that of other classes. In the
 * result z is location + scale · (z of the terms + Σ slope · contribution + weight · standardised profile).
 */
export interface ClassModel extends LearnedModel {
  motifClass: string;
  expression: string;
  /** Version of the method whose contributions the model changes, and SHA-256 of the corpus. */
  method: string;
  corpus: string;
  /** SHA-256 of all other members. */
  hash: string;
}

export interface LearnedModel {
  /** Numbers of instances, of their protein families, and of random matches of the class. */
  instances: number;
  families: number;
  randomMatches: number;
  /** SET nodes of the pattern's automaton (automaton.ts) whose residues are columns between the flanks. */
  columns: readonly number[];
  /** Aligned residues around each instance: FLANK, the columns, FLANK; `-` where there is none. */
  windows: readonly string[];
  /** Factor of the standardised profile; mean and standard deviation of the log-odds of random matches. */
  profile: { weight: number; mean: number; deviation: number };
  /** Deviation of each term's weight from 1. */
  slopes: Readonly<Record<Term, number>>;
  /** The class's null distribution: with it, P has its meaning for the random matches of the class. */
  nullModel: Readonly<Record<ScoringModel, ClassNull>>;
  gain: ModelGain;
}

export interface ClassNull {
  location: number;
  scale: number;
}

export const describeClassModel = ({ hash, instances, gain }: ClassModel): AppliedClassModel => ({
  hash,
  instances,
  gain,
});

/** Residues on each side of a match that a profile covers. */
export const FLANK = 6;
/** Identical fraction from which on two windows count as homologous. */
export const MAX_WINDOW_IDENTITY = 0.45;
/** Pseudocounts of the background, in instances. */
const PSEUDOCOUNTS = 20;
/** Code of no residue, and of letters beyond the twenty. */
const NONE = GAP;

/**
 * Residues around a match as codes: FLANK before it, one for each column, FLANK after it.
 *
 * @param nodes node of the automaton for each residue of the match (`findPathNodes`). Of a repeated node the first residue counts.
 */
export function alignWindow(
  columns: readonly number[],
  query: Uint8Array,
  { start, end }: Match,
  nodes: Int32Array,
): Uint8Array {
  const residueAt = (position: number): number => {
    const code = query[position] ?? NONE;
    return code < STANDARD.length ? code : NONE;
  };
  const inside = columns.map((column) => {
    const at = nodes.indexOf(column);
    return at < 0 ? NONE : residueAt(start + at);
  });
  const flank = (from: number): number[] => Array.from({ length: FLANK }, (_, i) => residueAt(from + i));
  return Uint8Array.from([...flank(start - FLANK), ...inside, ...flank(end)]);
}

/** Identical fraction of the positions at which both windows have a residue, 0..1. */
export function windowIdentity(a: Uint8Array, b: Uint8Array): number {
  let [same, both] = [0, 0];
  for (const [i, code] of a.entries()) {
    if (code === NONE || b[i] === NONE) continue;
    both++;
    if (code === b[i]) same++;
  }
  return same / Math.max(1, both);
}

export const areHomologous = (a: Uint8Array, b: Uint8Array): boolean =>
  windowIdentity(a, b) >= MAX_WINDOW_IDENTITY;

/** Log-odds of each residue (by code) at each position of a window. */
export type Profile = Float64Array[];

/** Residues of windows against the background, homologous windows sharing one vote; null without windows. */
export function buildProfile(windows: readonly Uint8Array[]): Profile | null {
  if (windows.length === 0) return null;
  const weights = windows.map(
    (one) => 1 / Math.max(1, windows.filter((other) => areHomologous(one, other)).length),
  );
  return Array.from(windows[0], (_, position) => {
    const counts = new Float64Array(STANDARD.length);
    for (const [i, window] of windows.entries())
      if (window[position] !== NONE) counts[window[position]] += weights[i];
    const total = counts.reduce((sum, count) => sum + count, 0);
    return counts.map((count, code) =>
      Math.log((count / BACKGROUND[code] + PSEUDOCOUNTS) / (total + PSEUDOCOUNTS)),
    );
  });
}

export const profileScore = (profile: Profile, window: Uint8Array): number =>
  profile.reduce((sum, odds, i) => sum + (window[i] === NONE ? 0 : odds[window[i]]), 0);

/** Codes of a window as it is stored. */
export const readWindow = (text: string): Uint8Array =>
  encode(text).map((code, i) => (text[i] === "-" ? NONE : code));

interface OpenedModel {
  windows: Uint8Array[];
  profile: Profile | null;
}

const opened = new WeakMap<ClassModel, OpenedModel>();

function openModel(model: ClassModel): OpenedModel {
  const known = opened.get(model);
  if (known) return known;
  const windows = model.windows.map(readWindow);
  const made = { windows, profile: buildProfile(windows) };
  opened.set(model, made);
  return made;
}

/**
 * Contribution of a class model to z. Instances whose windows are homologous to the match's do not count: it may be one of
 * them, and would be judged by itself.
 *
 * @param contributions those of the terms.
 */
export function applyClassModel(
  model: ClassModel,
  contributions: Readonly<Record<Term, number>>,
  window: Uint8Array,
  scoringModel: ScoringModel,
): number {
  const { windows, profile: whole } = openModel(model);
  const fit = profileFit(model.profile, windows, whole, window);
  const { location, scale } = model.nullModel[scoringModel];
  return location + scale * scoreByClass(model, contributions, fit) - sumTerms(contributions);
}

/** Standardised log-odds of a window by the windows that are not homologous to it; 0 without any. */
export function profileFit(
  { mean, deviation }: Pick<LearnedModel["profile"], "mean" | "deviation">,
  windows: readonly Uint8Array[],
  whole: Profile | null,
  window: Uint8Array,
): number {
  const others = windows.filter((one) => !areHomologous(one, window));
  const profile = others.length === windows.length ? whole : buildProfile(others);
  return profile ? (profileScore(profile, window) - mean) / deviation : 0;
}

const sumTerms = (contributions: Readonly<Record<Term, number>>): number =>
  TERMS.reduce((sum, term) => sum + contributions[term], 0);

/** z with the slopes and the profile, before location and scale. */
export const scoreByClass = (
  { slopes, profile }: Pick<LearnedModel, "slopes" | "profile">,
  contributions: Readonly<Record<Term, number>>,
  fit: number,
): number =>
  TERMS.reduce((sum, term) => sum + (1 + slopes[term]) * contributions[term], 0) + profile.weight * fit;
