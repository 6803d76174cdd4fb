/** One row of an empirical null distribution: quantiles at LEVELS. */
export interface NullRow {
  /** Number of random matches behind the row. */
  matches: number;
  /** P value; null below MIN_HOMOLOGS. */
  conservation: readonly number[] | null;
  z: readonly number[];
}
