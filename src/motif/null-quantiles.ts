import type { ScoringModel } from "./prediction.ts";

/*
 * The empirical null of labd-2, written by test/bench/null.bench.ts: do not edit. Random matches of published motif classes,
 * known instances left out, in 1469 proteins of Swiss-Prot (January 2014) and their homologs there.
 */

/** Least number of homologs of each bin of depth. */
export const NULL_DEPTHS: readonly number[] = [3, 6, 16];

/** Mean TOP-IDP at which the bins of disorder but the first begin: thirds of the random matches. */
export const NULL_DISORDER: readonly number[] = [0.1, 0.2];

/** Quantiles of the persistence at the levels of null-distribution.ts; rows by depth, within it by disorder. */
export const NULL_QUANTILES: Readonly<
  Record<ScoringModel, readonly { matches: number; persistence: readonly number[] }[]>
> = {
  discontinuous: [
    {
      matches: 3077,
      persistence: [-0.0019, 0.2028, 0.3831, 0.552, 0.5981, 0.8188, 0.9749, 1.1142, 1.2622, 1.3278],
    },
    {
      matches: 3828,
      persistence: [-0.0269, 0.1701, 0.3561, 0.5187, 0.5619, 0.8121, 0.9723, 1.1055, 1.2333, 1.3881],
    },
    {
      matches: 3429,
      persistence: [-0.0421, 0.126, 0.3071, 0.4867, 0.5354, 0.8182, 0.9884, 1.1244, 1.2994, 1.4253],
    },
    {
      matches: 4894,
      persistence: [0.0152, 0.2443, 0.4922, 0.6566, 0.6957, 0.9353, 1.1229, 1.2367, 1.4076, 1.5064],
    },
    {
      matches: 5804,
      persistence: [-0.0472, 0.1605, 0.4221, 0.6295, 0.6836, 0.9387, 1.1059, 1.2403, 1.4133, 1.5628],
    },
    {
      matches: 4353,
      persistence: [-0.0452, 0.1209, 0.3187, 0.549, 0.6141, 0.9139, 1.1106, 1.2673, 1.4368, 1.5115],
    },
    {
      matches: 10608,
      persistence: [0.0445, 0.3306, 0.6499, 0.8654, 0.9054, 1.1587, 1.4102, 1.6608, 1.9855, 2.1695],
    },
    {
      matches: 7351,
      persistence: [-0.0334, 0.1868, 0.4707, 0.7685, 0.8174, 1.0844, 1.334, 1.5533, 1.804, 2.0026],
    },
    {
      matches: 3296,
      persistence: [-0.0416, 0.1218, 0.3423, 0.5925, 0.6737, 1.016, 1.2389, 1.461, 1.7604, 2.0277],
    },
  ],
  continuous: [
    {
      matches: 3077,
      persistence: [0.0627, 0.2361, 0.3838, 0.5447, 0.583, 0.8054, 0.9567, 1.0816, 1.2071, 1.2749],
    },
    {
      matches: 3828,
      persistence: [0.0355, 0.1934, 0.3547, 0.4993, 0.5425, 0.7917, 0.952, 1.0813, 1.2194, 1.339],
    },
    {
      matches: 3429,
      persistence: [0.0196, 0.1553, 0.3076, 0.463, 0.5039, 0.7911, 0.9584, 1.0893, 1.2521, 1.3754],
    },
    {
      matches: 4894,
      persistence: [0.0979, 0.2673, 0.4913, 0.66, 0.6897, 0.9209, 1.1004, 1.2231, 1.3751, 1.4895],
    },
    {
      matches: 5804,
      persistence: [0.0493, 0.2114, 0.426, 0.6146, 0.6665, 0.9229, 1.0936, 1.2161, 1.3862, 1.4721],
    },
    {
      matches: 4353,
      persistence: [0.0326, 0.1659, 0.3301, 0.5161, 0.5764, 0.8923, 1.0836, 1.2465, 1.4116, 1.4634],
    },
    {
      matches: 10608,
      persistence: [0.1943, 0.4128, 0.6818, 0.8952, 0.9373, 1.1597, 1.3891, 1.6326, 1.9428, 2.128],
    },
    {
      matches: 7351,
      persistence: [0.1371, 0.2915, 0.52, 0.7803, 0.8372, 1.0905, 1.3078, 1.5145, 1.7412, 1.9491],
    },
    {
      matches: 3296,
      persistence: [0.1113, 0.2303, 0.3863, 0.6101, 0.6847, 1.0059, 1.2117, 1.4312, 1.6776, 1.9991],
    },
  ],
};
