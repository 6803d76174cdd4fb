import type { ScoringModel } from "./prediction.ts";

/*
 * The empirical null of labd-2, written by test/bench/null.bench.ts: do not edit. Random matches of published motif classes,
 * known instances left out, in 1432 proteins of Swiss-Prot (January 2014) and their homologs there.
 */

/** Least number of homologs of each bin of depth. */
export const NULL_DEPTHS: readonly number[] = [3, 6, 16];

/** Mean TOP-IDP at which the bins of disorder but the first begin: thirds of the random matches. */
export const NULL_DISORDER: readonly number[] = [0.1, 0.2];

/** Quantiles of the persistence at the levels of p-value.ts; rows by depth, within it by disorder. */
export const NULL_QUANTILES: Readonly<
  Record<ScoringModel, readonly { matches: number; persistence: readonly number[] }[]>
> = {
  discontinuous: [
    {
      matches: 3373,
      persistence: [-0.0626, 0.18, 0.3707, 0.5312, 0.5683, 0.7932, 0.965, 1.0927, 1.2569, 1.3185],
    },
    {
      matches: 4170,
      persistence: [0.007, 0.2011, 0.3793, 0.5491, 0.589, 0.828, 1.0031, 1.1294, 1.3009, 1.3972],
    },
    {
      matches: 3706,
      persistence: [-0.0204, 0.1487, 0.326, 0.5211, 0.5682, 0.8181, 0.9904, 1.1355, 1.296, 1.4015],
    },
    {
      matches: 5405,
      persistence: [-0.0238, 0.2045, 0.4291, 0.6302, 0.6841, 0.9201, 1.0844, 1.2297, 1.3696, 1.4601],
    },
    {
      matches: 6184,
      persistence: [0.008, 0.2288, 0.4815, 0.6775, 0.721, 0.966, 1.1325, 1.2281, 1.4006, 1.4936],
    },
    {
      matches: 4295,
      persistence: [-0.0016, 0.1742, 0.4039, 0.6293, 0.6832, 0.9474, 1.1135, 1.2586, 1.4342, 1.5461],
    },
    {
      matches: 9585,
      persistence: [0.0669, 0.3295, 0.6384, 0.8565, 0.9147, 1.1487, 1.3649, 1.5885, 1.8556, 2.0532],
    },
    {
      matches: 6153,
      persistence: [0.0254, 0.2447, 0.5528, 0.8156, 0.8689, 1.1118, 1.3419, 1.5655, 1.8128, 1.9649],
    },
    {
      matches: 2603,
      persistence: [0.0515, 0.2395, 0.5003, 0.7038, 0.7787, 1.0654, 1.2576, 1.5239, 1.7305, 2.0543],
    },
  ],
  continuous: [
    {
      matches: 3373,
      persistence: [0.0227, 0.1988, 0.371, 0.5292, 0.5631, 0.7766, 0.9451, 1.0759, 1.217, 1.2947],
    },
    {
      matches: 4170,
      persistence: [0.0653, 0.23, 0.3758, 0.5316, 0.5694, 0.811, 0.9805, 1.1076, 1.271, 1.3616],
    },
    {
      matches: 3706,
      persistence: [0.0291, 0.1742, 0.3175, 0.4917, 0.5457, 0.7945, 0.9632, 1.1132, 1.2721, 1.3762],
    },
    {
      matches: 5405,
      persistence: [0.063, 0.2273, 0.432, 0.6204, 0.6785, 0.9122, 1.0676, 1.2161, 1.3473, 1.4238],
    },
    {
      matches: 6184,
      persistence: [0.0903, 0.2573, 0.4769, 0.6649, 0.7084, 0.9509, 1.1112, 1.2096, 1.355, 1.4545],
    },
    {
      matches: 4295,
      persistence: [0.0763, 0.2052, 0.4078, 0.6128, 0.6636, 0.9215, 1.0955, 1.243, 1.413, 1.5164],
    },
    {
      matches: 9585,
      persistence: [0.1987, 0.3956, 0.6542, 0.8804, 0.9265, 1.1502, 1.3513, 1.5622, 1.8056, 2.001],
    },
    {
      matches: 6153,
      persistence: [0.166, 0.3384, 0.5799, 0.821, 0.8751, 1.1215, 1.3296, 1.5311, 1.7464, 1.9251],
    },
    {
      matches: 2603,
      persistence: [0.1647, 0.3207, 0.513, 0.7204, 0.7796, 1.0525, 1.2473, 1.4758, 1.7033, 2.0249],
    },
  ],
};
