/** Neighbourhood words of a query. */
export interface WordTable {
  /** Distinct words, ascending: five codes (0-19) as a base-20 number, the first residue most significant. */
  words: Uint32Array;
  /** For each word its only position in the query with the highest bit set, or an index into `positions`. */
  heads: Uint32Array;
  /** Positions of words with several, each list ended by an entry with the highest bit set. */
  positions: Uint32Array;
}

/** Limits of seeds, extensions and sequences of a scan. */
export interface ScanLimits {
  /** X-drop of ungapped extensions. */
  xDrop: number;
  /**
   * Minimum score of the best segment within six residues on both sides of a word for its extension; words
   * near an end are always extended.
   */
  minSeedScore: number;
  /** Range of sequence lengths. */
  minLength: number;
  maxLength: number;
}
