/** Rows of an alignment, and which parts of them are shown. Columns are the query's residues, counted from 1. */

export interface AlignedRow {
  /** One character per column: a residue, or `-` for a gap. */
  residues: string;
  /** Residues inserted after a column, in lower case; column 0 is before the first. */
  insertions: ReadonlyMap<number, string>;
  /** First and last column with a residue. Beyond them the homolog is not aligned, so that nothing is known. */
  first: number;
  last: number;
}

const LOWER_CASE = "a".charCodeAt(0);

/** Parses a row in A3M, where lower-case letters are insertions. A loop is faster than a regular expression on long rows. */
export function readRow(row: string): AlignedRow {
  const insertions = new Map<number, string>();
  const parts: string[] = [];
  let [columns, done] = [0, 0];
  for (let at = 0; at < row.length; at++) {
    if (row.charCodeAt(at) < LOWER_CASE) continue;
    parts.push(row.slice(done, at));
    columns += at - done;
    done = at;
    while (row.charCodeAt(done) >= LOWER_CASE) done++;
    insertions.set(columns, row.slice(at, done));
    at = done - 1;
  }
  const residues = parts.join("") + row.slice(done);
  let last = residues.length;
  while (last > 0 && residues[last - 1] === "-") last--;
  return { residues, insertions, first: residues.search(/[^-]/) + 1 || 1, last };
}

export interface Insertions {
  /** Rows that have one here. */
  rows: number;
  /** Residues of the longest. */
  longest: number;
}

/** The columns after which rows have insertions. */
export function findInsertions(rows: readonly AlignedRow[]): Map<number, Insertions> {
  const found = new Map<number, Insertions>();
  for (const { insertions } of rows)
    for (const [column, letters] of insertions) {
      const { rows = 0, longest = 0 } = found.get(column) ?? {};
      found.set(column, { rows: rows + 1, longest: Math.max(longest, letters.length) });
    }
  return found;
}

/** The shown columns, counted from 0: an open insertion has slots between two columns. */
export interface Slots {
  columns: number;
  open: { after: number; size: number } | null;
}

export const countSlots = ({ columns, open }: Slots): number => columns + (open?.size ?? 0);

export const columnSlot = (column: number, { open }: Slots): number =>
  column - 1 + (open && column > open.after ? open.size : 0);

/** The column in a slot, and 0; or the column before an open insertion, and which of its residues, from 1. */
export function columnAt(slot: number, { open }: Slots): { column: number; inserted: number } {
  if (!open || slot < open.after) return { column: slot + 1, inserted: 0 };
  const inserted = slot - open.after + 1;
  if (inserted <= open.size) return { column: open.after, inserted };
  return { column: slot + 1 - open.size, inserted: 0 };
}

/** Part of a list of slots or rows: from `from` to before `to`. */
export interface Range {
  from: number;
  to: number;
}

/**
 * The letters of a row in some slots: `-` for a gap, `.` next to an insertion of another row, a space outside the
 * aligned part.
 */
export function listLetters(row: AlignedRow, slots: Slots, { from, to }: Range): string[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => {
    const { column, inserted } = columnAt(from + i, slots);
    if (inserted > 0) {
      const isInside = column >= row.first && column < row.last;
      return row.insertions.get(column)?.[inserted - 1] ?? (isInside ? "." : " ");
    }
    return column < row.first || column > row.last ? " " : row.residues[column - 1];
  });
}

/** The visible range after scrolling, enlarged to whole blocks so that it changes rarely. */
export function visible(scrolled: number, size: number, cell: number, count: number, block: number): Range {
  const from = Math.floor(Math.max(0, scrolled) / cell / block) * block;
  const to = Math.ceil((Math.max(0, scrolled) + size) / cell / block) * block;
  return { from: Math.min(from, count), to: Math.min(to, count) };
}

/** The scroll position that centres a range, or starts it near the edge if it is longer than the view. */
export function scrollTo({ from, to }: Range, size: number, cell: number): number {
  const length = (to - from) * cell;
  return Math.max(0, from * cell - (length > size ? 2 * cell : (size - length) / 2));
}

/** Runs of neighbours with the same look; null has no look. */
export function findRuns(looks: readonly (string | null)[]): (Range & { look: string })[] {
  const runs: (Range & { look: string })[] = [];
  for (const [i, look] of looks.entries()) {
    const previous = runs.at(-1);
    if (look === null) continue;
    if (previous?.to === i && previous.look === look) previous.to = i + 1;
    else runs.push({ look, from: i, to: i + 1 });
  }
  return runs;
}

/** The shown part of the rows in FASTA; uncovered columns become gaps. */
export const printFasta = (
  rows: readonly { name: string; row: AlignedRow }[],
  slots: Slots,
  range: Range,
): string =>
  rows
    .map(
      ({ name, row }) =>
        `>${name}\n${listLetters(row, slots, range).join("").replace(/[ .]/g, "-").toUpperCase()}\n`,
    )
    .join("");
