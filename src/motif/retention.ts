import { BACKGROUND, GAP, STANDARD } from "./alphabet.ts";
import { type Automaton } from "./automaton.ts";
import {
  type Match,
  matchesExactly,
  matchesWithin,
  openSimulation,
  type LookaroundTable,
  lookaroundTable,
  type Simulation,
} from "./automaton-matches.ts";
import type { AlignedHomolog } from "./divergence.ts";
import { sumFrequencies, positionBits } from "./information.ts";
import { blosum62, STRIDE } from "./matrix.ts";
import { MIN_DEFINED_BITS, SHIFT, SHIFT_RETENTION, UNKNOWN_FREQUENCY } from "./options.ts";
import type { HomologState, ScoringModel } from "./prediction.ts";

/** A pattern applied to one family, with caches shared by its matches. */
export interface Motif {
  automaton: Automaton;
  model: ScoringModel;
  simulation: Simulation;
  /** Lookaround tables by homolog. */
  lookarounds: Map<AlignedHomolog, LookaroundTable>;
  /** Residue scores by set of residues. */
  residueScores: Map<number, Float64Array>;
}

export function openMotif(automaton: Automaton, model: ScoringModel): Motif {
  return {
    automaton,
    model,
    simulation: openSimulation(automaton),
    lookarounds: new Map(),
    residueScores: new Map(),
  };
}

/** A match with the residue scores of its positions. */
export interface MotifMatch extends Match {
  /** Defined positions within the match, ascending. */
  defined: Int32Array;
  /** STRIDE scores v_p(a), 0..1, per defined position, by code a; 0 for a gap. */
  residueScores: Float64Array[];
  /** Expected score of a substituted residue, per defined position. */
  substitutionScores: Float64Array;
}

/** Describes a match by its path (a mask per position). */
export function describeMatch(motif: Motif, query: Uint8Array, match: Match, path: Int32Array): MotifMatch {
  const defined = Int32Array.from(path.keys()).filter((p) => positionBits(path[p]) > MIN_DEFINED_BITS);
  const residueScores = Array.from(defined, (p) => residueScoresFor(motif, path[p]));
  const substitutionScores = Float64Array.from(defined, (p, i) => {
    const residue = query[match.start + p];
    const background = residue < STANDARD.length ? BACKGROUND[residue] : UNKNOWN_FREQUENCY;
    let expected = 0;
    for (let code = 0; code < STANDARD.length; code++) expected += residueScores[i][code] * BACKGROUND[code];
    return Math.min(1, Math.max(0, (expected - background) / (1 - background)));
  });
  return { ...match, defined, residueScores, substitutionScores };
}

/**
 * v(a) for a set of residues: 1 for members; for others, in the continuous model, the maximum of B62(a, b) /
 * B62(b, b) over members b, at least 0. Letters beyond the twenty and gaps score 0.
 */
function residueScoresFor(motif: Motif, mask: number): Float64Array {
  const cached = motif.residueScores.get(mask);
  if (cached) return cached;
  const score = new Float64Array(STRIDE);
  for (let code = 0; code < STANDARD.length; code++) {
    if ((mask >>> code) & 1) {
      score[code] = 1;
    } else if (motif.model === "continuous" && sumFrequencies(mask) > 0) {
      for (let member = 0; member < STANDARD.length; member++) {
        if (((mask >>> member) & 1) === 0) continue;
        score[code] = Math.max(score[code], blosum62(code, member) / blosum62(member, member));
      }
    }
  }
  motif.residueScores.set(mask, score);
  return score;
}

export interface Retention {
  /** r_i, 0..1. */
  value: number;
  state: Exclude<HomologState, "missing">;
}

/**
 * Retention of a match in one homolog: 1 if its residues between the outer columns match the pattern;
 * SHIFT_RETENTION if the pattern matches within SHIFT residues. In the continuous model at least the product
 * of the scores of the aligned residues, and SHIFT_RETENTION of the best such product within SHIFT. Anchored
 * patterns are not shifted.
 */
export function retention(motif: Motif, match: MotifMatch, homolog: AlignedHomolog): Retention {
  const { row } = homolog;
  const { simulation } = motif;
  const [from, to] = findSpan(homolog, match);
  const lookarounds = lookaroundIn(motif, homolog);
  if (to > from && matchesExactly(simulation, row.residues, from, to, lookarounds)) {
    return { value: 1, state: "conserved" };
  }
  const graded = motif.model === "continuous";
  const aligned = graded ? product(match, row.anchored, match.start, 0) : 0;
  const lost = gapsIn(homolog, match) * 2 > match.end - match.start ? "gap" : "substituted";
  if (motif.automaton.anchored) return { value: aligned, state: lost };
  const left = Math.max(0, from - SHIFT);
  const right = Math.min(row.residues.length, to + SHIFT);
  if (matchesWithin(simulation, row.residues, left, right, lookarounds)) {
    return aligned > SHIFT_RETENTION
      ? { value: aligned, state: lost }
      : { value: SHIFT_RETENTION, state: "shifted" };
  }
  let best = aligned;
  if (graded) {
    for (let at = left; at <= right - (match.end - match.start); at++) {
      best = Math.max(best, SHIFT_RETENTION * product(match, row.residues, at, best / SHIFT_RETENTION));
    }
  }
  return { value: best, state: lost };
}

/** Residues of the homolog between the outer columns of a match, insertions included: [from, to). */
export function findSpan({ row }: AlignedHomolog, { start, end }: Match): [from: number, to: number] {
  return [row.before[start], row.before[end - 1] + (row.anchored[end - 1] === GAP ? 0 : 1)];
}

/** Lookaround table of a homolog, cached. */
export function lookaroundIn(motif: Motif, homolog: AlignedHomolog): LookaroundTable {
  if (motif.automaton.lookarounds.length === 0) return [];
  let lookarounds = motif.lookarounds.get(homolog);
  if (!lookarounds) {
    lookarounds = lookaroundTable(motif.automaton, homolog.row.residues);
    for (const { program } of motif.automaton.lookarounds) {
      motif.simulation.steps += program.size * homolog.row.residues.length;
    }
    motif.lookarounds.set(homolog, lookarounds);
  }
  return lookarounds;
}

function gapsIn({ row }: AlignedHomolog, { start, end }: Match): number {
  let gaps = 0;
  for (let column = start; column < end; column++) if (row.anchored[column] === GAP) gaps++;
  return gaps;
}

/**
 * Product of the scores of the residues from `at` on over the defined positions; 0 if it does not exceed
 * `floor`.
 */
function product(match: MotifMatch, residues: Uint8Array, at: number, floor: number): number {
  let value = 1;
  for (let i = 0; i < match.defined.length; i++) {
    value *= match.residueScores[i][residues[at + match.defined[i]]];
    if (value <= floor) return 0;
  }
  return value;
}
