import { LOST_ERROR, RATE_SPREAD, SHIFTED_ERROR, LOSS_RATE_FACTORS } from "./options.ts";
import type { Tree } from "./tree.ts";

/** What was seen at a leaf: the motif in its place, beside it, nowhere near, or nothing can be told. */
export type Observation = "kept" | "shifted" | "lost" | "unknown";

/** How likely chance alone shows the motif. */
export interface Chance {
  /** In the aligned place. */
  exact: number;
  /** Within the shift, but beside that place. */
  near: number;
}

/** Nothing is impossible by chance: keeps the logarithms finite. */
const MIN_CHANCE = 1e-12;

/** Gauss–Hermite nodes and weights for three points of a normal law. */
const QUADRATURE_POINTS = [-Math.sqrt(3), 0, Math.sqrt(3)];
const QUADRATURE_WEIGHTS = [1 / 6, 2 / 3, 1 / 6];

/**
 * Log of the likelihood ratio, in nats, of what the leaves show if the motif is lost more slowly than its surroundings change,
 * against as fast. The motif is there or not, and changes along the branches as a Markov chain of two states
 * (Felsenstein, J. Mol. Evol. 1981, 17:368): near relatives that agree count once, not as independent trials.
 *
 * Slower means `SLOWDOWNS` times the rate, all equally likely beforehand, the last of which is 1: so the ratio never falls below
 * −ln of their number. The rate itself is known up to a lognormal factor of spread RATE_SPREAD, which is integrated out.
 *
 * @param sightings one per leaf; leaf 0 is the query and kept.
 * @param rate losses per unit of branch length to be expected from the surroundings.
 */
export function lossRateLikelihood(
  tree: Tree,
  sightings: readonly Observation[],
  rate: number,
  chance: Chance,
): number {
  const near = Math.min(0.5, Math.max(MIN_CHANCE, chance.near));
  const exact = Math.min(0.5, Math.max(MIN_CHANCE, chance.exact));
  const seen: Record<Observation, readonly [on: number, off: number]> = {
    kept: [1 - SHIFTED_ERROR - LOST_ERROR, exact],
    shifted: [SHIFTED_ERROR, near],
    lost: [LOST_ERROR, Math.max(1e-3, 1 - exact - near)],
    unknown: [1, 1],
  };
  const leaves = sightings.map((sighting, leaf) => (leaf === 0 ? ([1, 0] as const) : seen[sighting]));
  const share = Math.min(0.5, exact + near);
  const given = LOSS_RATE_FACTORS.map((slowdown) =>
    logSumExp(
      QUADRATURE_POINTS.map((node) =>
        logLikelihood(tree, leaves, slowdown * rate * Math.exp(RATE_SPREAD * node), share),
      ),
      QUADRATURE_WEIGHTS,
    ),
  );
  const even = given.map(() => 1 / given.length);
  return logSumExp(given, even) - given[given.length - 1];
}

/**
 * Log-likelihood of the leaves by pruning. Nodes have lower numbers than their parents, so one pass up suffices.
 *
 * @param leaves per leaf the probability of what was seen if the motif is there, and if not.
 * @param share of the time that the chain spends with the motif when left alone.
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

/** ln Σ weight · e^log, without overflow. */
function logSumExp(logs: readonly number[], weights: readonly number[]): number {
  const most = Math.max(...logs);
  return most + Math.log(logs.reduce((sum, log, i) => sum + weights[i] * Math.exp(log - most), 0));
}
