import { Network, type NetworkShape } from "../../kernel/network.ts";
import { WEIGHTS } from "./weights.ts";

/** Predictions for each residue of a chain, 0..1. */
export interface DisorderPrediction {
  /** True if the residue belongs to a disordered region; metapredict V3's threshold is 0.5. */
  disorder: Float32Array;
  /** AlphaFold's confidence (pLDDT) divided by 100, as metapredict predicts it: high in folded domains. */
  order: Float32Array;
}

/** Sizes of the trained network (train.py). */
export const SHAPE: NetworkShape = { span: 11, width: 32, blocks: 4, outputs: 4 };

/**
 * Share of the rank in a prediction. Half of the outputs are trained on values, which separate disordered regions
 * best, half on their ranks, which also order residues of folded ones (README.md).
 */
const RANK_SHARE = 0.2;

let network: Network | undefined;

/**
 * Disorder and order of a chain of residue codes, by a network trained on metapredict V3 and its predictor of pLDDT
 * (Emenecker, Griffith & Holehouse, Biophys. J. 2021, 120:4312). Same bits on every processor; 1 MB and 2 ms per
 * 1,000 residues.
 */
export function predictDisorder(residues: Uint8Array): DisorderPrediction {
  network ??= new Network(SHAPE, decodeWeights());
  const [disorderRank, orderRank, disorder, order] = network.predict(residues);
  return { disorder: blend(disorder!, disorderRank!), order: blend(order!, orderRank!) };
}

const blend = (values: Float32Array, ranks: Float32Array): Float32Array =>
  values.map((value, i) => Math.round(((value + RANK_SHARE * ranks[i]!) / (1 + RANK_SHARE)) * 1e6) / 1e6);

/** The weights as 16-bit floats, which changes predictions by at most 0.001. */
export function decodeWeights(): Float32Array {
  return Float32Array.from(new Float16Array(Uint8Array.fromBase64(WEIGHTS).buffer));
}

/** Means over a match, and over the whole chain; 0.5 for none. */
export function average(values: Float32Array, start = 0, end = values.length): number {
  let sum = 0;
  for (let i = start; i < end; i++) sum += values[i]!;
  return end > start ? sum / (end - start) : 0.5;
}
