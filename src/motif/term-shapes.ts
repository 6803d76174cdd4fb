import type { Term } from "./prediction.ts";
import type { Shape } from "./shape.ts";

/** Made by test/bench/quality.bench.ts from 10007 matches of published motif classes; do not edit. */
export const TERM_SHAPES: Readonly<Record<Term, Shape>> = {
  conservation: {
    low: -0.901627,
    high: 2.2173,
    knots: [0.114771],
    coefficients: [-0.12622, 0.715289, -0.00199931, 0.254077],
  },
  order: {
    low: 0.208405,
    high: 0.933254,
    knots: [0.54357],
    coefficients: [1.29988, -1.06315, -1.22933, -5.77712],
  },
  chainOrder: {
    low: 0.353635,
    high: 0.876001,
    knots: [0.592567],
    coefficients: [-1.23883, 1.24965, 1.32127, 3.74739],
  },
  burial: {
    low: -1.87368,
    high: 2.6,
    knots: [0.0473684],
    coefficients: [0.194697, -0.0476589, -0.221137, -0.152865],
  },
  terminusProximity: {
    low: 6.98627e-17,
    high: 1,
    knots: [0.00551656],
    coefficients: [-0.0860928, 1.15328, -0.353387, -0.378367],
  },
  abundance: {
    low: -0.721273,
    high: 2.7641,
    knots: [0.614596],
    coefficients: [-0.410017, 0.772419, 0.0516213, -0.450422],
  },
};
