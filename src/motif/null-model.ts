/** The numbers of a match that have P values. */
export type Statistic = "conservation" | "z";

/** Null distribution of one number: random matches have location and scale by their protein and pattern, and one shape. */
export interface NullModel {
  /** Number of random matches behind the model. */
  matches: number;
  /** Weights of `zFeatures` or `conservationFeatures` (p-value.ts) whose sum is the location, and of those whose sum is ln of the scale. */
  location: readonly number[];
  logScale: readonly number[];
  /** Quantiles at LEVELS (p-value.ts) of (value − location) / scale. */
  quantiles: readonly number[];
}
