const LARGEST_CHUNK = 50_000;

/** Rows of an index that are read newest first, until enough of them are found that the caller may view. */
export interface NewestRows<Row> {
  /** Maximum number of rows to find. */
  maximum: number;
  /** Maximum number of rows to read from the index. Beyond, maximum of them are hidden, and `addAll` is faster. */
  patience: number;
  /** Reads rows before one, the newest first. */
  read(before: number, size: number): ArrayLike<Row>;
  /** The row number of a row, before which the next chunk begins. */
  at(row: Row): number;
  /** Adds the rows that the caller may view. @returns the number of rows added so far */
  add(rows: ArrayLike<Row>): number;
  /** Adds all rows that the caller may view, without the index. @returns how many there are */
  addAll(): number;
}

/**
 * Reads in chunks of about as many rows as are needed at the rate so far. Only rows that the caller may view count for
 * the limit, so that it reveals nothing of others.
 * @returns whether there are more than `maximum`
 */
export function readNewest<Row>({ maximum, patience, read, at, add, addAll }: NewestRows<Row>): boolean {
  let [before, size, total] = [Number.MAX_SAFE_INTEGER, Math.ceil(1.2 * maximum), 0];
  for (;;) {
    if (total + size > patience) return addAll() > maximum;
    const rows = read(before, size);
    const found = add(rows);
    if (found > maximum) return true;
    if (rows.length < size) return false;
    before = at(rows[rows.length - 1]);
    total += size;
    const needed = Math.ceil((1.2 * total * (maximum + 1 - found)) / (found + 1));
    size = Math.min(size * 4, needed, LARGEST_CHUNK);
  }
}
