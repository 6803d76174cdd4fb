import { STANDARD } from "./alphabet.ts";
import { BLOSUM62, STRIDE } from "./matrix.ts";
import { END_GAP_SHARE } from "./options.ts";
import { GAP_FIRST, GAP_NEXT } from "./statistics.ts";

const RESIDUES = STANDARD.length;

/** Sequences aligned among themselves, as an alignment of them with others sees them. */
export interface Profile {
  /** Columns. */
  length: number;
  /** Per column and residue the part of the sequences that have it there, 0..1. */
  shares: Float64Array;
  /** Per column the cost of opening and of closing a gap in the others beside it, and of going on with one. */
  open: Float64Array;
  close: Float64Array;
  next: Float64Array;
}

/**
 * A profile of sequences (codes) whose residues lie in the given columns, ascending. Where some of them have a gap already,
 * a gap of the others costs that much less: as a sum over pairs of sequences counts it.
 */
export function profileOf(
  sequences: readonly Uint8Array[],
  columns: readonly Int32Array[],
  length: number,
): Profile {
  const shares = new Float64Array(length * RESIDUES);
  const open = new Float64Array(length);
  const close = new Float64Array(length);
  const next = new Float64Array(length);
  for (const [k, sequence] of sequences.entries()) {
    const own = columns[k];
    let free = 0;
    for (let i = 0; i <= own.length; i++) {
      const column = i < own.length ? own[i] : length;
      if (column > free) {
        open[free]++;
        close[column - 1]++;
      }
      free = column + 1;
      if (i === own.length) break;
      next[column]++;
      if (sequence[i] < RESIDUES) shares[column * RESIDUES + sequence[i]]++;
    }
  }
  const half = (GAP_FIRST - GAP_NEXT) / 2;
  const count = sequences.length;
  for (let c = 0; c < length; c++) {
    open[c] = half * (1 - open[c] / count);
    close[c] = half * (1 - close[c] / count);
    next[c] = GAP_NEXT * (next[c] / count);
  }
  for (let i = 0; i < shares.length; i++) if (shares[i] > 0) shares[i] /= count;
  return { length, shares, open, close, next };
}

/** For each count of columns of one profile (0..length) the least and the greatest count of the other's to try. */
export interface Band {
  low: Int32Array;
  high: Int32Array;
}

/** The new column of each column of two profiles, and how many there are. */
export interface Joined {
  first: Int32Array;
  second: Int32Array;
  length: number;
  /** Whether the path ran along an edge of the band that is none of the matrix. */
  touched: boolean;
}

const NEVER = -1e30;
/** Step bits: 1 gap in the first profile, 2 gap in the second; 4 and 8: the gap in the second, the first was open. */
const IN_FIRST = 1;
const IN_SECOND = 2;
const LONGER_SECOND = 4;
const LONGER_FIRST = 8;

/**
 * The best alignment of two profiles within a band: Gotoh, J. Mol. Biol. 1982, 162:705, with the mean BLOSUM62 of all pairs of
 * sequences and costs of gaps by position; gaps at the ends cost END_GAP_SHARE of that. Ties: columns together before a
 * gap in the first before one in the second, opening before going on.
 */
export function alignProfiles(a: Profile, b: Profile, band: Band): Joined {
  const { low, high } = band;
  const [rows, columns] = [a.length, b.length];
  const worths = worthsOf(b);
  const starts = new Int32Array(rows + 1);
  let cells = 0;
  for (let i = 0; i <= rows; i++) {
    starts[i] = cells - low[i];
    cells += high[i] - low[i] + 1;
  }
  const steps = new Uint8Array(cells);
  // Best paths of the row above: all, and those that end in a gap in the second profile.
  const h = new Float64Array(columns + 1).fill(NEVER);
  const down = new Float64Array(columns + 1).fill(NEVER);
  const scores = new Float64Array(columns + 1);
  const inner = costsOf(b, 1);
  const outer = costsOf(b, END_GAP_SHARE);
  for (let i = 0; i <= rows; i++) {
    const [from, to] = [low[i], high[i]];
    if (i > 0) {
      for (let j = high[i - 1] + 1; j <= to; j++) h[j] = down[j] = NEVER;
      scoreRow(a, i - 1, worths, scores, from, to);
    }
    fillRow(i, from, to, starts[i], i > 0 && from > 0 && from - 1 >= low[i - 1] ? h[from - 1] : NEVER);
  }
  return walkBack(rows, columns, band, (i, j) => steps[starts[i] + j]);

  /** Row i of the matrix; `diagonal` is what the row above has before its first cell. */
  function fillRow(i: number, from: number, to: number, at: number, diagonal: number): void {
    const { open, close, next } = i === 0 || i === rows ? outer : inner;
    const openA = i > 0 ? a.open[i - 1] : 0;
    const closeA = i > 0 ? a.close[i - 1] : 0;
    const nextA = i > 0 ? a.next[i - 1] : 0;
    let across = NEVER;
    let left = NEVER;
    for (let j = from; j <= to; j++) {
      const above = h[j];
      let bits = 0;
      let best = diagonal + scores[j];
      diagonal = above;
      if (i === 0) best = j === 0 ? 0 : NEVER;
      else if (j === 0) best = NEVER;
      const openedAcross = left - open[j];
      if (across > openedAcross) bits = LONGER_FIRST;
      else across = openedAcross;
      across -= next[j];
      const share = j === 0 || j === columns ? END_GAP_SHARE : 1;
      const openedDown = above - openA * share;
      let going = down[j];
      if (going > openedDown) bits |= LONGER_SECOND;
      else going = openedDown;
      going -= nextA * share;
      down[j] = going;
      if (across - close[j] > best) {
        best = across - close[j];
        bits |= IN_FIRST;
      }
      if (going - closeA * share > best) {
        best = going - closeA * share;
        bits = (bits & ~IN_FIRST) | IN_SECOND;
      }
      left = best;
      h[j] = best;
      steps[at + j] = bits;
    }
  }
}

/** Costs of a gap beside the columns of a profile: entry j for column j − 1. */
function costsOf(
  { length, open, close, next }: Profile,
  share: number,
): Record<"open" | "close" | "next", Float64Array> {
  const moved = (own: Float64Array): Float64Array => {
    const out = new Float64Array(length + 1);
    for (let j = 0; j < length; j++) out[j + 1] = own[j] * share;
    return out;
  };
  return { open: moved(open), close: moved(close), next: moved(next) };
}

/** Mean scores of column `column` of a profile beside those of the other, into entries from..to. */
function scoreRow(
  { shares }: Profile,
  column: number,
  worths: readonly Float64Array[],
  scores: Float64Array,
  from: number,
  to: number,
): void {
  for (let j = from; j <= to; j++) scores[j] = 0;
  for (let r = 0; r < RESIDUES; r++) {
    const share = shares[column * RESIDUES + r];
    if (share === 0) continue;
    const worth = worths[r];
    for (let j = from; j <= to; j++) scores[j] += share * worth[j];
  }
}

function walkBack(
  rows: number,
  columns: number,
  { low, high }: Band,
  step: (i: number, j: number) => number,
): Joined {
  const first = new Int32Array(rows);
  const second = new Int32Array(columns);
  let touched = false;
  let column = rows + columns;
  let state = 0;
  for (let i = rows, j = columns; i > 0 || j > 0;) {
    if ((j === low[i] && j > 0) || (j === high[i] && j < columns)) touched = true;
    const bits = step(i, j);
    if (state === 0) state = bits & (IN_FIRST | IN_SECOND);
    column--;
    if (state !== IN_FIRST) first[--i] = column;
    if (state !== IN_SECOND) second[--j] = column;
    if (state === IN_FIRST && (bits & LONGER_FIRST) === 0) state = 0;
    if (state === IN_SECOND && (bits & LONGER_SECOND) === 0) state = 0;
  }
  for (let i = 0; i < rows; i++) first[i] -= column;
  for (let j = 0; j < columns; j++) second[j] -= column;
  return { first, second, length: rows + columns - column, touched };
}

/** Per residue what it is worth beside the columns of a profile: entry j for column j − 1. */
function worthsOf({ length, shares }: Profile): Float64Array[] {
  const worths = Array.from({ length: RESIDUES }, () => new Float64Array(length + 1));
  for (let j = 0; j < length; j++) {
    for (let r = 0; r < RESIDUES; r++) {
      const share = shares[j * RESIDUES + r];
      if (share === 0) continue;
      for (let q = 0; q < RESIDUES; q++) worths[q][j + 1] += share * BLOSUM62[q * STRIDE + r];
    }
  }
  return worths;
}
