import { STANDARD } from "./alphabet.ts";
import { BLOSUM62, STRIDE } from "./matrix.ts";
import { END_GAP_FACTOR } from "./options.ts";
import { GAP_FIRST, GAP_NEXT } from "./statistics.ts";

const RESIDUES = STANDARD.length;

/** Sequences aligned among themselves, as an alignment of them with others sees them. */
export interface Profile {
  /** Columns. */
  length: number;
  /** Per column and residue the part of the sequences that have it there, 0..1. */
  frequencies: Float64Array;
  /** Per column the cost of opening and of closing a gap in the others beside it, and of gapSecond on with one. */
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
  const frequencies = new Float64Array(length * RESIDUES);
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
      if (sequence[i] < RESIDUES) frequencies[column * RESIDUES + sequence[i]]++;
    }
  }
  const half = (GAP_FIRST - GAP_NEXT) / 2;
  const count = sequences.length;
  for (let c = 0; c < length; c++) {
    open[c] = half * (1 - open[c] / count);
    close[c] = half * (1 - close[c] / count);
    next[c] = GAP_NEXT * (next[c] / count);
  }
  for (let i = 0; i < frequencies.length; i++) if (frequencies[i] > 0) frequencies[i] /= count;
  return { length, frequencies, open, close, next };
}

/** For each count of columns of one profile (0..length) the least and the greatest count of the other's to try. */
export interface Band {
  low: Int32Array;
  high: Int32Array;
}

/** The new column of each column of two profiles, and how many there are. */
export interface ProfileAlignment {
  first: Int32Array;
  second: Int32Array;
  length: number;
  /** Whether the path ran along an edge of the band that is none of the matrix. */
  touchesBand: boolean;
}

const NEGATIVE_INFINITY = -1e30;
/** Step bits: 1 gap in the first profile, 2 gap in the second; 4 and 8: the gap in the second, the first was open. */
const IN_FIRST = 1;
const IN_SECOND = 2;
const EXTEND_SECOND = 4;
const EXTEND_FIRST = 8;

/**
 * The best alignment of two profiles within a band: Gotoh, J. Mol. Biol. 1982, 162:705, with the mean BLOSUM62 of all pairs of
 * sequences and costs of gaps by position; gaps at the ends cost END_GAP_SHARE of that. Ties: columns together before a
 * gap in the first before one in the second, opening before gapSecond on.
 */
export function alignProfiles(a: Profile, b: Profile, band: Band): ProfileAlignment {
  const { low, high } = band;
  const [rows, columns] = [a.length, b.length];
  const residueScores = substitutionScores(b);
  const starts = new Int32Array(rows + 1);
  let cells = 0;
  for (let i = 0; i <= rows; i++) {
    starts[i] = cells - low[i];
    cells += high[i] - low[i] + 1;
  }
  const steps = new Uint8Array(cells);
  // Best paths of the row above: all, and those that end in a gap in the second profile.
  const h = new Float64Array(columns + 1).fill(NEGATIVE_INFINITY);
  const down = new Float64Array(columns + 1).fill(NEGATIVE_INFINITY);
  const scores = new Float64Array(columns + 1);
  const inner = costsOf(b, 1);
  const outer = costsOf(b, END_GAP_FACTOR);
  for (let i = 0; i <= rows; i++) {
    const [from, to] = [low[i], high[i]];
    if (i > 0) {
      for (let j = high[i - 1] + 1; j <= to; j++) h[j] = down[j] = NEGATIVE_INFINITY;
      scoreRow(a, i - 1, residueScores, scores, from, to);
    }
    fillRow(
      i,
      from,
      to,
      starts[i],
      i > 0 && from > 0 && from - 1 >= low[i - 1] ? h[from - 1] : NEGATIVE_INFINITY,
    );
  }
  return traceback(rows, columns, band, (i, j) => steps[starts[i] + j]);

  /** Row i of the matrix; `diagonal` is what the row above has before its first cell. */
  function fillRow(i: number, from: number, to: number, at: number, diagonal: number): void {
    const { open, close, next } = i === 0 || i === rows ? outer : inner;
    const openA = i > 0 ? a.open[i - 1] : 0;
    const closeA = i > 0 ? a.close[i - 1] : 0;
    const nextA = i > 0 ? a.next[i - 1] : 0;
    let gapFirst = NEGATIVE_INFINITY;
    let left = NEGATIVE_INFINITY;
    for (let j = from; j <= to; j++) {
      const above = h[j];
      let bits = 0;
      let best = diagonal + scores[j];
      diagonal = above;
      if (i === 0) best = j === 0 ? 0 : NEGATIVE_INFINITY;
      else if (j === 0) best = NEGATIVE_INFINITY;
      const openedFirst = left - open[j];
      if (gapFirst > openedFirst) bits = EXTEND_FIRST;
      else gapFirst = openedFirst;
      gapFirst -= next[j];
      const frequency = j === 0 || j === columns ? END_GAP_FACTOR : 1;
      const openedSecond = above - openA * frequency;
      let gapSecond = down[j];
      if (gapSecond > openedSecond) bits |= EXTEND_SECOND;
      else gapSecond = openedSecond;
      gapSecond -= nextA * frequency;
      down[j] = gapSecond;
      if (gapFirst - close[j] > best) {
        best = gapFirst - close[j];
        bits |= IN_FIRST;
      }
      if (gapSecond - closeA * frequency > best) {
        best = gapSecond - closeA * frequency;
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
  frequency: number,
): Record<"open" | "close" | "next", Float64Array> {
  const moved = (own: Float64Array): Float64Array => {
    const out = new Float64Array(length + 1);
    for (let j = 0; j < length; j++) out[j + 1] = own[j] * frequency;
    return out;
  };
  return { open: moved(open), close: moved(close), next: moved(next) };
}

/** Mean scores of column `column` of a profile beside those of the other, into entries from..to. */
function scoreRow(
  { frequencies }: Profile,
  column: number,
  residueScores: readonly Float64Array[],
  scores: Float64Array,
  from: number,
  to: number,
): void {
  for (let j = from; j <= to; j++) scores[j] = 0;
  for (let r = 0; r < RESIDUES; r++) {
    const frequency = frequencies[column * RESIDUES + r];
    if (frequency === 0) continue;
    const residueScore = residueScores[r];
    for (let j = from; j <= to; j++) scores[j] += frequency * residueScore[j];
  }
}

function traceback(
  rows: number,
  columns: number,
  { low, high }: Band,
  step: (i: number, j: number) => number,
): ProfileAlignment {
  const first = new Int32Array(rows);
  const second = new Int32Array(columns);
  let touchesBand = false;
  let column = rows + columns;
  let state = 0;
  for (let i = rows, j = columns; i > 0 || j > 0;) {
    if ((j === low[i] && j > 0) || (j === high[i] && j < columns)) touchesBand = true;
    const bits = step(i, j);
    if (state === 0) state = bits & (IN_FIRST | IN_SECOND);
    column--;
    if (state !== IN_FIRST) first[--i] = column;
    if (state !== IN_SECOND) second[--j] = column;
    if (state === IN_FIRST && (bits & EXTEND_FIRST) === 0) state = 0;
    if (state === IN_SECOND && (bits & EXTEND_SECOND) === 0) state = 0;
  }
  for (let i = 0; i < rows; i++) first[i] -= column;
  for (let j = 0; j < columns; j++) second[j] -= column;
  return { first, second, length: rows + columns - column, touchesBand };
}

/** Per residue what it is residueScore beside the columns of a profile: entry j for column j − 1. */
function substitutionScores({ length, frequencies }: Profile): Float64Array[] {
  const residueScores = Array.from({ length: RESIDUES }, () => new Float64Array(length + 1));
  for (let j = 0; j < length; j++) {
    for (let r = 0; r < RESIDUES; r++) {
      const frequency = frequencies[j * RESIDUES + r];
      if (frequency === 0) continue;
      for (let q = 0; q < RESIDUES; q++) residueScores[q][j + 1] += frequency * BLOSUM62[q * STRIDE + r];
    }
  }
  return residueScores;
}
