import { STANDARD } from "./alphabet.ts";
import { blosumKernel } from "./blosum-kernel.ts";
import { BLOSUM62, STRIDE } from "./matrix.ts";
import { END_GAP_FACTOR } from "./options.ts";
import { GAP_FIRST, GAP_NEXT } from "./statistics.ts";

const RESIDUES = STANDARD.length;

/** A profile: aligned sequences as seen by an alignment with others. */
export interface Profile {
  /** Columns. */
  length: number;
  /** Frequency of each residue per column, 0..1. */
  frequencies: Float64Array;
  /** Costs per column of opening, closing and extending a gap beside it. */
  open: Float64Array;
  close: Float64Array;
  next: Float64Array;
}

/**
 * Profile of sequences whose residues lie in the given ascending columns. A gap costs less where some
 * sequences already have one, as in a sum over pairs of sequences.
 */
export function makeProfile(
  sequences: readonly Uint8Array[],
  columns: readonly Int32Array[],
  length: number,
): Profile {
  const frequencies = new Float64Array(length * RESIDUES);
  const open = new Float64Array(length);
  const close = new Float64Array(length);
  const next = new Float64Array(length);
  for (const [k, sequence] of sequences.entries()) {
    const sequenceColumns = columns[k];
    let free = 0;
    for (let i = 0; i <= sequenceColumns.length; i++) {
      const column = i < sequenceColumns.length ? sequenceColumns[i] : length;
      if (column > free) {
        open[free]++;
        close[column - 1]++;
      }
      free = column + 1;
      if (i === sequenceColumns.length) break;
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

/** For each prefix of one profile (0..length) the shortest and the longest prefix of the other to try. */
export interface Band {
  low: Int32Array;
  high: Int32Array;
}

/** Merged column of each column of two profiles, and their number. */
export interface ProfileAlignment {
  first: Int32Array;
  second: Int32Array;
  length: number;
  /** True if the path touches an inner edge of the band. */
  touchesBand: boolean;
}

const NEGATIVE_INFINITY = -1e30;
/** Cells of the band scored at a time, unless a row has more. */
const MAX_SCORED_CELLS = 1 << 18;
/** Step bits: gap in the first profile, gap in the second, and whether these gaps were already open. */
const GAP_IN_FIRST = 1;
const GAP_IN_SECOND = 2;
const EXTEND_SECOND = 4;
const EXTEND_FIRST = 8;

/**
 * Best alignment of two profiles within a band: Gotoh, J. Mol. Biol. 1982, 162:705, with the mean BLOSUM62 of
 * all pairs of sequences and position-specific gap costs; end gaps cost END_GAP_FACTOR of that. Ties: match,
 * gap in the first, gap in the second; opening before extending.
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
  const dsequenceColumns = new Float64Array(columns + 1).fill(NEGATIVE_INFINITY);
  let scores: Float64Array = new Float64Array(columns + 1);
  /** Rows scored so far, and the index of the first cell of `scores` in `steps`. */
  let scored = 0;
  let scoresFrom = 0;
  const inner = scaleCosts(b, 1);
  const outer = scaleCosts(b, END_GAP_FACTOR);
  for (let i = 0; i <= rows; i++) {
    const [from, to] = [low[i], high[i]];
    if (i > 0) {
      for (let j = high[i - 1] + 1; j <= to; j++) h[j] = dsequenceColumns[j] = NEGATIVE_INFINITY;
      if (i > scored) scoreRows(i);
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

  /** Scores rows from `first` on, as many as MAX_SCORED_CELLS admits. */
  function scoreRows(first: number): void {
    scoresFrom = starts[first] + low[first];
    scored = first;
    while (scored < rows && starts[scored + 1] + high[scored + 1] - scoresFrom < MAX_SCORED_CELLS) scored++;
    scores = blosumKernel().bandScores(
      a.frequencies.subarray((first - 1) * RESIDUES, scored * RESIDUES),
      residueScores,
      low.subarray(first, scored + 1),
      high.subarray(first, scored + 1),
    );
  }

  /** Fills row i; `diagonal` is the cell above and left of its first one. */
  function fillRow(i: number, from: number, to: number, at: number, diagonal: number): void {
    const { open, close, next } = i === 0 || i === rows ? outer : inner;
    const openA = i > 0 ? a.open[i - 1] : 0;
    const closeA = i > 0 ? a.close[i - 1] : 0;
    const nextA = i > 0 ? a.next[i - 1] : 0;
    const scoreAt = at - scoresFrom;
    let gapFirst = NEGATIVE_INFINITY;
    let left = NEGATIVE_INFINITY;
    for (let j = from; j <= to; j++) {
      const above = h[j];
      let bits = 0;
      let best = diagonal + scores[scoreAt + j];
      diagonal = above;
      if (i === 0) best = j === 0 ? 0 : NEGATIVE_INFINITY;
      else if (j === 0) best = NEGATIVE_INFINITY;
      const openedFirst = left - open[j];
      if (gapFirst > openedFirst) bits = EXTEND_FIRST;
      else gapFirst = openedFirst;
      gapFirst -= next[j];
      const frequency = j === 0 || j === columns ? END_GAP_FACTOR : 1;
      const openedSecond = above - openA * frequency;
      let gapSecond = dsequenceColumns[j];
      if (gapSecond > openedSecond) bits |= EXTEND_SECOND;
      else gapSecond = openedSecond;
      gapSecond -= nextA * frequency;
      dsequenceColumns[j] = gapSecond;
      if (gapFirst - close[j] > best) {
        best = gapFirst - close[j];
        bits |= GAP_IN_FIRST;
      }
      if (gapSecond - closeA * frequency > best) {
        best = gapSecond - closeA * frequency;
        bits = (bits & ~GAP_IN_FIRST) | GAP_IN_SECOND;
      }
      left = best;
      h[j] = best;
      steps[at + j] = bits;
    }
  }
}

/** Scaled gap costs of a profile; entry j for column j − 1. */
function scaleCosts(
  { length, open, close, next }: Profile,
  factor: number,
): Record<"open" | "close" | "next", Float64Array> {
  const scaled = (costs: Float64Array): Float64Array => {
    const out = new Float64Array(length + 1);
    for (let j = 0; j < length; j++) out[j + 1] = costs[j] * factor;
    return out;
  };
  return { open: scaled(open), close: scaled(close), next: scaled(next) };
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
    if (state === 0) state = bits & (GAP_IN_FIRST | GAP_IN_SECOND);
    column--;
    if (state !== GAP_IN_FIRST) first[--i] = column;
    if (state !== GAP_IN_SECOND) second[--j] = column;
    if (state === GAP_IN_FIRST && (bits & EXTEND_FIRST) === 0) state = 0;
    if (state === GAP_IN_SECOND && (bits & EXTEND_SECOND) === 0) state = 0;
  }
  for (let i = 0; i < rows; i++) first[i] -= column;
  for (let j = 0; j < columns; j++) second[j] -= column;
  return { first, second, length: rows + columns - column, touchesBand };
}

/** Mean score of each residue against the columns of a profile; entry j for column j − 1. */
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
