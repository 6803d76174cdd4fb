import type { Term } from "./prediction.ts";
import type { Shape } from "./shape.ts";

/** Made by test/bench/quality.bench.ts from 10007 matches of published motif classes; do not edit. */
export const TERM_SHAPES: Readonly<Record<Term, Shape>> = {
  conservation: {
    low: -1.46596,
    high: 2.14884,
    knots: [0],
    coefficients: [0.0327255, 0.620103, 0.0453966, 0.215727],
  },
  order: {
    low: 0.208405,
    high: 0.933254,
    knots: [0.54357],
    coefficients: [1.28812, -1.00965, -1.33798, -5.07611],
  },
  chainOrder: {
    low: 0.353635,
    high: 0.876001,
    knots: [0.592567],
    coefficients: [-1.42625, 1.51501, 1.40594, 3.79511],
  },
  burial: {
    low: -1.87368,
    high: 2.6,
    knots: [0.0473684],
    coefficients: [0.189819, -0.0707428, -0.212051, -0.145457],
  },
  terminusProximity: {
    low: 6.98627e-17,
    high: 1,
    knots: [0.00551656],
    coefficients: [-0.0885984, 1.24546, -0.410286, -0.437872],
  },
  abundance: {
    low: 0.0334671,
    high: 4.70053,
    knots: [1.2883],
    coefficients: [-0.91052, 0.695009, 0.0471598, -0.259767],
  },
  // Already a contribution.
  pattern: { low: -3, high: 3, knots: [], coefficients: [0, 1, 0] },
};

/** Shares of the contributions of random matches that REFERENCE_SHARES gives, for the typical pattern of the benchmark. */
export const TYPICAL_REFERENCE = -0.0744232;
