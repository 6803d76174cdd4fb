import { LOST_ERROR, RATE_SPREAD, SHIFTED_ERROR, LOSS_RATE_FACTORS } from "./options.ts";
import type { Tree } from "./tree.ts";

/** Observation at a leaf: motif at its position, shifted, absent, or no data. */
export type Observation = "retained" | "shifted" | "lost" | "unknown";

/** Probabilities of the motif by chance. */
export interface Chance {
  /** State at the aligned position. */
  exact: number;
  /** Matches within the allowed shift, but not at the aligned position. */
  near: number;
}

/** Lower limit of these probabilities, for finite logarithms. */
const MIN_CHANCE = 1e-12;

/** Gauss–Hermite nodes and weights for three points of a normal distribution. */
const QUADRATURE_POINTS = [-Math.sqrt(3), 0, Math.sqrt(3)];
const QUADRATURE_WEIGHTS = [1 / 6, 2 / 3, 1 / 6];

/**
 * Log-likelihood ratio, in nats, of slow loss of the motif against loss at the local rate. Presence follows a
 * two-state Markov chain along the tree (Felsenstein, J. Mol. Evol. 1981, 17:368), so close relatives that
 * agree do not count as independent.
 *
 * Slow loss is the mean over LOSS_RATE_FACTORS, the last of which is 1; the ratio is therefore at least −ln
 * of their number. The local rate has a lognormal error with RATE_SPREAD, which is integrated out.
 *
 * @param observations one per leaf; leaf 0 is the query.
 * @param rate expected losses per unit of branch length at the local rate.
 */
export function lossRateLikelihood(
  tree: Tree,
  observations: readonly Observation[],
  rate: number,
  chance: Chance,
): number {
  const near = Math.min(0.5, Math.max(MIN_CHANCE, chance.near));
  const exact = Math.min(0.5, Math.max(MIN_CHANCE, chance.exact));
  const emission: Record<Observation, readonly [on: number, off: number]> = {
    retained: [1 - SHIFTED_ERROR - LOST_ERROR, exact],
    shifted: [SHIFTED_ERROR, near],
    lost: [LOST_ERROR, Math.max(1e-3, 1 - exact - near)],
    unknown: [1, 1],
  };
  const leaves = observations.map((observation, leaf) =>
    leaf === 0 ? ([1, 0] as const) : emission[observation],
  );
  const share = Math.min(0.5, exact + near);
  const logLikelihoods = LOSS_RATE_FACTORS.map((factor) =>
    logSumExp(
      QUADRATURE_POINTS.map((node) =>
        logLikelihood(tree, leaves, factor * rate * Math.exp(RATE_SPREAD * node), share),
      ),
      QUADRATURE_WEIGHTS,
    ),
  );
  const uniform = logLikelihoods.map(() => 1 / logLikelihoods.length);
  return logSumExp(logLikelihoods, uniform) - logLikelihoods[logLikelihoods.length - 1];
}

/**
 * Log-likelihood of the leaves by pruning, in one pass from the leaves to the root.
 *
 * @param leaves per leaf the probability of its observation with and without the motif.
 * @param share stationary probability of the motif.
 */
function logLikelihood(
  tree: Tree,
  leaves: readonly (readonly [number, number])[],
  rate: number,
  share: number,
): number {
  const nodes = tree.parent.length;
  const on = new Float64Array(nodes).fill(1);
  const off = new Float64Array(nodes).fill(1);
  for (let leaf = 0; leaf < tree.leaves; leaf++) [on[leaf], off[leaf]] = leaves[leaf];
  let log = 0;
  for (let node = 0; node < nodes - 1; node++) {
    const parent = tree.parent[node];
    const same = Math.exp(-rate * tree.length[node]);
    const mixed = (1 - same) * (share * on[node] + (1 - share) * off[node]);
    on[parent] *= same * on[node] + mixed;
    off[parent] *= same * off[node] + mixed;
    const scale = Math.max(on[parent], off[parent]);
    on[parent] /= scale;
    off[parent] /= scale;
    log += Math.log(scale);
  }
  return log + Math.log(share * on[nodes - 1] + (1 - share) * off[nodes - 1]);
}

/** ln Σ weight · e^log without overflow. */
function logSumExp(logs: readonly number[], weights: readonly number[]): number {
  const max = Math.max(...logs);
  return max + Math.log(logs.reduce((sum, log, i) => sum + weights[i] * Math.exp(log - max), 0));
}
