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
import { frequencyOf, positionBits } from "./information.ts";
import { blosum62, STRIDE } from "./matrix.ts";
import { MIN_DEFINED_BITS, SHIFT, SHIFT_RETENTION, UNKNOWN_FREQUENCY } from "./options.ts";
import type { HomologState, ScoringModel } from "./prediction.ts";

/** A pattern at work on one family: its automaton and what is remembered between matches. */
export interface Motif {
  automaton: Automaton;
  model: ScoringModel;
  simulation: Simulation;
  /** Per homolog where the pattern's looks hold; made when first asked for. */
  lookarounds: Map<AlignedHomolog, LookaroundTable>;
  /** Per set of residues what each residue is score there. */
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

/** A match with the score of residues at each of its positions. */
export interface MotifMatch extends Match {
  /** Defined positions, from 0 within the match, in order. */
  defined: Int32Array;
  /** Per defined position STRIDE numbers: v_p(a), 0..1, for every code a; 0 for a gap. */
  residueScores: Float64Array[];
  /** Per defined position the probability that a substitutionScores residue is still score as much as a kept one. */
  substitutionScores: Float64Array;
}

/** A match on the query whose path (a mask per position) is known. */
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
 * v(a) for a set of residues: 1 for its members; in the continuous model for others the best of B62(a, b) / B62(b, b)
 * over members b, not below 0; 0 for letters beyond the twenty and for a gap.
 */
function residueScoresFor(motif: Motif, mask: number): Float64Array {
  const known = motif.residueScores.get(mask);
  if (known) return known;
  const score = new Float64Array(STRIDE);
  for (let code = 0; code < STANDARD.length; code++) {
    if ((mask >>> code) & 1) {
      score[code] = 1;
    } else if (motif.model === "continuous" && frequencyOf(mask) > 0) {
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
 * How far one homolog keeps a match: 1 where its residues between the outer columns match the pattern; else, where the
 * pattern matches within SHIFT residues of there, SHIFT_RETENTION; in the continuous model at least the product of the residueScores
 * of the aligned residues, or SHIFT_RETENTION of the best such product over the windows beside it. Patterns
 * with `^` or `$` are not looked for beside their place.
 */
export function retention(motif: Motif, match: MotifMatch, homolog: AlignedHomolog): Retention {
  const { row } = homolog;
  const { simulation } = motif;
  const [from, to] = spanOf(homolog, match);
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

/** The homolog's residues between the outer columns of a match, insertions included: [from, to). */
export function spanOf({ row }: AlignedHomolog, { start, end }: Match): [from: number, to: number] {
  return [row.before[start], row.before[end - 1] + (row.anchored[end - 1] === GAP ? 0 : 1)];
}

/** Where the pattern's looks hold in a homolog; made when first asked for. */
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

/** Product of the residueScores of the residues from `at` on over the defined positions; 0 as soon as it cannot exceed `floor`. */
function product(match: MotifMatch, residues: Uint8Array, at: number, floor: number): number {
  let value = 1;
  for (let i = 0; i < match.defined.length; i++) {
    value *= match.residueScores[i][residues[at + match.defined[i]]];
    if (value <= floor) return 0;
  }
  return value;
}
