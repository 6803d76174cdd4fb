import { abundance, pathProbability } from "./abundance.ts";
import type { Automaton } from "./automaton.ts";
import type { Match } from "./automaton-matches.ts";
import { average, type DisorderPrediction } from "./disorder/disorder.ts";
import { BURIAL_MAX_OFFSET, BURIAL_WINDOW, TERMINUS_DECAY } from "./options.ts";
import type { Term } from "./prediction.ts";

/** Terms of the query alone, independent of homologs. */
export const CONTEXT_TERMS = [
  "order",
  "chainOrder",
  "burial",
  "terminusProximity",
  "abundance",
] as const satisfies readonly Term[];
export type ContextTerms = Record<(typeof CONTEXT_TERMS)[number], number>;

/** A protein as far as its own residues say. */
export interface Chain {
  query: Uint8Array;
  /** Residue frequencies. */
  composition: Float64Array;
  prediction: Pick<DisorderPrediction, "order">;
}

/** Hydropathy by residue code, 0 for letters beyond the twenty: Kyte & Doolittle, J. Mol. Biol. 1982, 157:105. */
const HYDROPATHY = new Float64Array(32);
HYDROPATHY.set([
  1.8, 2.5, -3.5, -3.5, 2.8, -0.4, -3.2, 4.5, -3.9, 3.8, 1.9, -3.5, -1.6, -3.5, -4.5, -0.8, -0.7, 4.2, -0.9,
  -1.3,
]);

/**
 * Proximity of a match to an end of the query, 1 at the end and falling by e every TERMINUS_DECAY residues:
 * chain ends are disordered and accessible.
 */
export function terminusProximity(queryLength: number, { start, end }: Match): number {
  return Math.exp(-Math.min(start, queryLength - end) / TERMINUS_DECAY);
}

/**
 * Maximum mean hydropathy of the windows of BURIAL_WINDOW residues centred within BURIAL_MAX_OFFSET of a
 * match's middle: membrane segments and domain cores cannot be bound. 0 for an empty chain.
 */
export function burial(query: Uint8Array, { start, end }: Match): number {
  const middle = (start + end) >> 1;
  const half = BURIAL_WINDOW >> 1;
  let max = -Infinity;
  for (
    let centre = Math.max(0, middle - BURIAL_MAX_OFFSET);
    centre <= Math.min(query.length - 1, middle + BURIAL_MAX_OFFSET);
    centre++
  ) {
    const from = Math.max(0, centre - half);
    const to = Math.min(query.length, centre + half + 1);
    let sum = 0;
    for (let p = from; p < to; p++) sum += HYDROPATHY[query[p]];
    max = Math.max(max, sum / (to - from));
  }
  return max === -Infinity ? 0 : max;
}

/**
 * Terms of a match that need no homologs.
 *
 * @param path residues admitted at each matched position, as masks.
 * @param matches number of matches of the pattern in the chain.
 */
export function contextTerms(
  { anchored }: Automaton,
  { query, composition, prediction }: Chain,
  match: Match,
  path: Int32Array,
  matches: number,
): ContextTerms {
  return {
    order: average(prediction.order, match.start, match.end),
    chainOrder: average(prediction.order),
    burial: burial(query, match),
    terminusProximity: terminusProximity(query.length, match),
    abundance: abundance(matches, anchored ? 1 : query.length, pathProbability(path, composition)),
  };
}
