/** Neighbourhood words of a query. */
export interface WordTable {
  /** Distinct words, ascending: five codes (0-19) as a base-20 number, the first residue most significant. */
  words: Uint32Array;
  /** The only position of each word in the query with the highest bit set, or an index into `positions`. */
  heads: Uint32Array;
  /** Positions of words with several, each list ended by an entry with the highest bit set. */
  positions: Uint32Array;
}

/** Queries of a scan, concatenated, each followed by the code 31. */
export interface ScanQueries {
  query: Uint8Array;
  /** The number of the query of each position, ascending from 0. */
  owners: Uint16Array;
  table: WordTable;
}

/** Sequence k is `residues.subarray(offsets[k], offsets[k + 1])`. */
export interface ScanSequences {
  residues: Uint8Array;
  offsets: Uint32Array;
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
  /** Minimum score of an extension, at least 1. */
  minExtensionScore: number;
  /** Range of sequence lengths. */
  minLength: number;
  maxLength: number;
}
