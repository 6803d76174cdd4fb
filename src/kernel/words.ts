/** The words of five residues that resemble words of a query. */
export interface WordTable {
  /** Every word once, ascending: its five codes (0-19) as a number of base 20, the first residue counting most. */
  words: Uint32Array;
  /** For each word the one place in the query with the highest bit set, or an index into `positions`. */
  heads: Uint32Array;
  /** Places of words that resemble several, each list ended by an entry with the highest bit set. */
  positions: Uint32Array;
}

/** What a scan looks at, and what it lets through. */
export interface ScanLimits {
  /** An extension ends where it has fallen so far below its best. */
  xDrop: number;
  /**
   * A word is extended where the best stretch from at most six residues before it to at most six behind it scores so much,
   * or where the sequence does not have these six.
   */
  minSeedScore: number;
  /** Sequences with fewer or more residues are passed over. */
  minLength: number;
  maxLength: number;
}
