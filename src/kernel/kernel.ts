import {
  type Band,
  bandScalar,
  checkpointCount,
  type Edge,
  emptyBand,
  scoreLong,
  TILE,
  traceLong,
} from "./long.ts";
import { MODULE } from "./module.ts";
import { traceback, type Path } from "./path.ts";
import type { ScanLimits, ScanQueries, ScanSequences } from "./words.ts";
import { bestEnd, type Scoring, traceScalar } from "./scalar.ts";

/** Exports of assembly/index.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  score(...addresses: number[]): void;
  trace16(...addresses: number[]): void;
  band32(...addresses: number[]): void;
  scoreBand(...addresses: number[]): void;
  prepareScan(...addresses: number[]): void;
  scan(...addresses: number[]): number;
  scannedRows(): number;
  scannedSequences(): number;
}

const PAGE = 65_536;
const CODES = 32;
/** Number of words of four standard residues. */
const WORD_COUNT = 20 ** 4;
/** Size of a table of base-20 numbers of any four codes. */
const FOUR_CODES = (CODES - 1) * 21 * 401 + 1;
/** Positions of the scan at a time (STEP in assembly/scan.ts), and bytes that it reads after the residues. */
const SCAN_STEP = 4096;
const SCAN_MARGIN = 32;
/** Padding before and after the query of a scan (MARGIN there). */
const QUERY_MARGIN = 16;
/** Padding of shorter subjects; scores below zero against everything. */
const PADDING = 31;
/** Lowest score, as an unsigned byte. */
const MIN_SCORE = 0x80;
const MAX_INT = 0x7fff_ffff;
/** Maximum size of the step bits of trace16, 4 bytes per cell for eight subjects. */
const MAX_STEP_BYTES = 1 << 25;
/** Maximum product of the highest matrix score and the shorter length that fits 16 bits. */
const MAX_SCORE_16 = 30_000;
/** Rows of (sequence, query, score) per call of the scan, unless there are more queries. */
const SCAN_ROWS = 4096;
const MAX_COLUMNS_16 = 16_000;
/** A pair with this many cells that would be alone in its batch is scored in 32 bits. */
const LARGE_PAIR = 100_000_000;
/** Residues copied into the kernel's memory at a time; they fit the second-level cache. */
export const SCAN_BLOCK = 1 << 19;

let compiled: WebAssembly.Module | undefined;

/** An instance of the SIMD kernels. Its memory grows as needed and is freed with the instance. */
export class Kernel {
  readonly #scoring: Scoring;
  readonly #exports: Exports;
  #bytes: Uint8Array;
  readonly #matrixAt: number;
  readonly #profileAt: number;
  readonly #free: number;
  readonly #maxScore: number;

  /** @throws RangeError if the matrix is not 32 x 32 or the padding code has no negative scores */
  constructor(scoring: Scoring) {
    const { matrix } = scoring;
    if (matrix.length !== CODES * CODES) throw new RangeError("the matrix must have 32 x 32 signed bytes");
    for (let code = 0; code < CODES; code++) {
      if (matrix[code * CODES + PADDING] >= 0) throw new RangeError("code 31 must score below zero");
    }
    this.#scoring = scoring;
    this.#maxScore = matrix.reduce((a, b) => Math.max(a, b), 1);
    compiled ??= new WebAssembly.Module(Uint8Array.fromBase64(MODULE));
    this.#exports = new WebAssembly.Instance(compiled).exports as unknown as Exports;
    this.#bytes = new Uint8Array(this.#exports.memory.buffer);
    // Address 0 is not used.
    this.#matrixAt = 1024;
    this.#profileAt = this.#matrixAt + CODES * CODES;
    this.#free = this.#profileAt + CODES * 64;
    this.#reserve(this.#free);
    this.#bytes.set(new Uint8Array(matrix.buffer, matrix.byteOffset, matrix.length), this.#matrixAt);
    // Ends every extension at padding, so that none crosses from one query into the next.
    for (let code = 0; code < CODES; code++) {
      this.#bytes[this.#matrixAt + code * CODES + PADDING] = MIN_SCORE;
      this.#bytes[this.#matrixAt + PADDING * CODES + code] = MIN_SCORE;
    }
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#bytes.length) return;
    this.#exports.memory.grow(Math.ceil((bytes - this.#bytes.length) / PAGE));
    this.#bytes = new Uint8Array(this.#exports.memory.buffer);
  }

  /** Addresses of 16-byte aligned buffers of these sizes after the fixed part; grows the memory. */
  #layOut(sizes: number[]): number[] {
    let at = this.#free;
    const addresses = sizes.map((size) => {
      const address = at;
      at += (size + 15) & ~15;
      return address;
    });
    this.#reserve(at + 16);
    return addresses;
  }

  /** Writes subjects as padded rows of equal length. */
  #setRows(at: number, rows: number, stride: number, subjects: readonly Uint8Array[]): void {
    this.#bytes.fill(PADDING, at, at + rows * stride);
    for (const [row, subject] of subjects.entries()) this.#bytes.set(subject, at + row * stride);
  }

  /**
   * Exact best local scores of up to 16 subjects; -1 from 255 on, beyond 8 bits. All take as long as the
   * longest.
   */
  scores8(query: Uint8Array, subjects: readonly Uint8Array[]): Int32Array {
    const at = this.#score(query, subjects, 16);
    return Int32Array.from(subjects, (_, lane) => {
      const score = ((this.#bytes[at + lane] << 24) >> 24) + 128;
      return score === 255 ? -1 : score;
    });
  }

  /** 16-bit scores of up to 8 subjects; -1 from 65,535 on. */
  scores16(query: Uint8Array, subjects: readonly Uint8Array[]): Int32Array {
    const at = this.#score(query, subjects, 8);
    return Int32Array.from(new Int16Array(this.#bytes.buffer, at, subjects.length), (score) =>
      score === 32_767 ? -1 : score + 32_768,
    );
  }

  #score(query: Uint8Array, subjects: readonly Uint8Array[], lanes: number): number {
    if (subjects.length > lanes) throw new RangeError(`at most ${lanes} subjects per call`);
    const stride = (longest(subjects) + 3) & ~3;
    const [queryAt, rowsAt, stateAt, bestAt] = this.#layOut([
      query.length,
      lanes * stride,
      query.length * 32,
      16,
    ]);
    this.#bytes.set(query, queryAt);
    this.#setRows(rowsAt, lanes, stride, subjects);
    const { gapFirst, gapNext } = this.#scoring;
    this.#exports.score(
      16 / lanes,
      queryAt,
      query.length,
      rowsAt,
      stride,
      this.#matrixAt,
      this.#profileAt,
      stateAt,
      bestAt,
      gapFirst,
      gapNext,
    );
    return bestAt;
  }

  /**
   * Exact best local scores of any number of subjects: in 8 bits, if they overflow in 16, then in 32. Fastest
   * in order of length.
   *
   * @param high whether subject k is likely to need 16 bits, which skips the first attempt
   */
  scores(
    query: Uint8Array,
    subjects: readonly Uint8Array[],
    high: (index: number) => boolean = () => false,
  ): Int32Array {
    const scores = new Int32Array(subjects.length);
    const wide: number[] = [];
    const narrow: number[] = [];
    for (let k = 0; k < subjects.length; k++) (high(k) ? wide : narrow).push(k);
    /** Scores a large pair that would be alone in a batch in 32 bits at once. */
    const alone = ([k, ...others]: readonly number[]): boolean => {
      if (others.length > 0 || query.length * subjects[k].length < LARGE_PAIR) return false;
      scores[k] = scoreLong(query, subjects[k], this.computeBand);
      return true;
    };
    for (let from = 0; from < narrow.length; from += 16) {
      const batch = narrow.slice(from, from + 16);
      if (alone(batch)) continue;
      const batchScores = this.scores8(
        query,
        batch.map((k) => subjects[k]),
      );
      for (const [lane, k] of batch.entries()) {
        scores[k] = batchScores[lane];
        if (batchScores[lane] < 0) wide.push(k);
      }
    }
    wide.sort((a, b) => subjects[a].length - subjects[b].length || a - b);
    for (let from = 0; from < wide.length; from += 8) {
      const batch = wide.slice(from, from + 8);
      if (alone(batch)) continue;
      const batchScores = this.scores16(
        query,
        batch.map((k) => subjects[k]),
      );
      for (const [lane, k] of batch.entries()) {
        scores[k] =
          batchScores[lane] < 0 ? scoreLong(query, subjects[k], this.computeBand) : batchScores[lane];
      }
    }
    return scores;
  }

  /**
   * Alignments with tracebacks, equal to `traceScalar`: local, or global with free end gaps. In batches of
   * eight; pairs too long or too high-scoring for 16 bits one by one.
   */
  traces(query: Uint8Array, subjects: readonly Uint8Array[], local: boolean): Path[] {
    const paths: Path[] = [];
    paths.length = subjects.length;
    const order = Array.from(subjects, (_, k) => k).sort(
      (a, b) => subjects[a].length - subjects[b].length || a - b,
    );
    const fitting: number[] = [];
    for (const k of order) {
      const length = subjects[k].length;
      const fits =
        query.length > 0 &&
        length > 0 &&
        length <= MAX_COLUMNS_16 &&
        query.length <= MAX_COLUMNS_16 &&
        Math.min(length, query.length) * this.#maxScore <= MAX_SCORE_16 &&
        (length + 3) * query.length * 4 <= MAX_STEP_BYTES;
      if (fits) fitting.push(k);
      else if (query.length === 0 || length === 0)
        paths[k] = traceScalar(query, subjects[k], this.#scoring, local);
      else paths[k] = traceLong(query, subjects[k], this.#scoring, local, this.computeBand);
    }
    for (let from = 0; from < fitting.length; from += 8) {
      const batch = fitting.slice(from, from + 8);
      const batchScores = this.#trace(
        query,
        batch.map((k) => subjects[k]),
        local,
      );
      for (const [lane, k] of batch.entries()) paths[k] = batchScores[lane];
    }
    return paths;
  }

  #trace(query: Uint8Array, subjects: readonly Uint8Array[], local: boolean): Path[] {
    const rows = query.length;
    const stride = (longest(subjects) + 3) & ~3;
    const [queryAt, rowsAt, stateAt, bestAt, stepsAt, lastRowAt, lastColumnsAt, lengthsAt] = this.#layOut([
      rows,
      8 * stride,
      rows * 32,
      48,
      rows * stride * 4,
      stride * 16,
      rows * 16,
      32,
    ]);
    this.#bytes.set(query, queryAt);
    this.#setRows(rowsAt, 8, stride, subjects);
    new Int32Array(this.#bytes.buffer, lengthsAt, 8).set(subjects.map((subject) => subject.length));
    const { gapFirst, gapNext } = this.#scoring;
    this.#exports.trace16(
      queryAt,
      rows,
      rowsAt,
      stride,
      this.#matrixAt,
      this.#profileAt,
      stateAt,
      bestAt,
      gapFirst,
      gapNext,
      local ? 1 : 0,
      stepsAt,
      lastRowAt,
      lastColumnsAt,
      lengthsAt,
    );
    const bytes = this.#bytes;
    const best = new Int16Array(bytes.buffer, bestAt, 24);
    const lastRow = new Int16Array(bytes.buffer, lastRowAt, stride * 8);
    const lastColumns = new Int16Array(bytes.buffer, lastColumnsAt, rows * 8);
    return subjects.map((subject, lane) => {
      const end = local
        ? { score: best[lane], row: best[8 + lane] - 1, column: best[16 + lane] - 1 }
        : bestEnd(
            rows,
            subject.length,
            (j) => lastRow[j * 8 + lane],
            (i) => lastColumns[lane * rows + i],
          );
      // Lanes 0-3 are the low halves of the four bytes of a cell, lanes 4-7 the high halves.
      const at = stepsAt + (lane & 3);
      const shift = lane < 4 ? 0 : 4;
      return traceback(
        rows,
        end.score,
        end.row,
        end.column,
        (i, j) => (bytes[at + (j * rows + i) * 4] >> shift) & 15,
      );
    });
  }

  /** Rows of a band, four at a time in SIMD, the remainder in scalar code. */
  readonly computeBand = (rows: Uint8Array, subject: Uint8Array, above: Edge, local: boolean): Band => {
    const columns = subject.length;
    const whole = rows.length & ~3;
    const band = emptyBand(rows.length, columns);
    const [queryAt, subjectAt, scoresAt, slantedAt, hAt, fAt, marksAt, bestAt] = this.#layOut([
      rows.length,
      columns + 32,
      (columns + 96) * 4,
      (columns + 32) * 4,
      (columns + 8) * 4,
      (columns + 8) * 4,
      checkpointCount(columns) * 8 * rows.length,
      32,
    ]);
    const bytes = this.#bytes;
    bytes.set(rows, queryAt);
    bytes.set(subject, subjectAt);
    bytes.fill(PADDING, subjectAt + columns, subjectAt + columns + 32);
    const [h, f] = [hAt, fAt].map((at) => new Int32Array(bytes.buffer, at, columns));
    h.set(above.h);
    f.set(above.f);
    const { gapFirst, gapNext } = this.#scoring;
    this.#exports.band32(
      queryAt,
      whole,
      subjectAt,
      columns,
      this.#matrixAt,
      scoresAt,
      slantedAt,
      hAt,
      fAt,
      marksAt,
      rows.length,
      TILE,
      bestAt,
      gapFirst,
      gapNext,
      local ? 1 : 0,
    );
    band.checkpoints.set(new Int32Array(bytes.buffer, marksAt, band.checkpoints.length));
    const [score, row, column] = new Int32Array(bytes.buffer, bestAt, 3);
    band.best = { score, row, column };
    above.h.set(h);
    above.f.set(f);
    return whole === rows.length ? band : bandScalar(rows, subject, above, local, this.#scoring, whole, band);
  };

  /**
   * Scores of the columns of a profile against the columns `low[i]` to `high[i]` of another, row after row: sums of
   * frequency times score over the residues. Valid until the next use of the kernel.
   *
   * @param frequencies of the residues in each row
   * @param residueScores for each residue its score against each column
   */
  bandScores(
    frequencies: Float64Array,
    residueScores: readonly Float64Array[],
    low: Int32Array,
    high: Int32Array,
  ): Float64Array {
    const [first, last] = [Math.min(...low), Math.max(...high)];
    const cells = low.reduce((sum, from, i) => sum + high[i] + 1 - from, 0);
    const columns = last + 1 - first;
    const [frequenciesAt, rowsAt, lowAt, highAt, termsAt, scoresAt] = this.#layOut([
      frequencies.byteLength,
      residueScores.length * columns * 8 + 56,
      low.byteLength,
      high.byteLength,
      residueScores.length * 16,
      cells * 8 + 56,
    ]);
    const { buffer } = this.#bytes;
    new Float64Array(buffer, frequenciesAt, frequencies.length).set(frequencies);
    const rows = new Float64Array(buffer, rowsAt, residueScores.length * columns);
    for (const [r, scores] of residueScores.entries())
      rows.set(scores.subarray(first, last + 1), r * columns);
    new Int32Array(buffer, lowAt, low.length).set(low);
    new Int32Array(buffer, highAt, high.length).set(high);
    this.#exports.scoreBand(
      low.length,
      frequenciesAt,
      rowsAt - first * 8,
      columns * 8,
      lowAt,
      highAt,
      termsAt,
      scoresAt,
    );
    return new Float64Array(buffer, scoresAt, cells);
  }

  /**
   * Finds seeds in the sequences of `ranges` ([first, end)). Calls `onHit` for every sequence and query with an
   * ungapped extension of at least `minExtensionScore`. One pass serves all queries with the same results as alone.
   */
  scan(
    { query, owners, table }: ScanQueries,
    limits: ScanLimits,
    { residues, offsets }: ScanSequences,
    ranges: Iterable<readonly [number, number]>,
    onHit: (index: number, score: number, query: number) => void,
  ): void {
    const block = Math.max(SCAN_BLOCK, longestGap(offsets));
    const maxCount = Math.min(offsets.length - 1, SCAN_BLOCK >> 4);
    // Power of two, so large that no two active diagonals share a slot.
    const slots = 2 ** Math.ceil(Math.log2(2 * query.length + 2));
    const queries = (owners.at(-1) ?? 0) + 1;
    const room = Math.max(SCAN_ROWS, queries);
    const [
      filterAt,
      outerAt,
      startsAt,
      headsAt,
      positionsAt,
      queryAt,
      profileAt,
      diagonalsAt,
      listsAt,
      residuesAt,
      offsetsAt,
      rowsAt,
    ] = this.#layOut([
      FOUR_CODES,
      WORD_COUNT * 5 + 8,
      WORD_COUNT * 4,
      table.heads.byteLength,
      table.positions.byteLength,
      query.length + 2 * QUERY_MARGIN,
      (query.length + 2 * QUERY_MARGIN) * 2,
      slots * 4,
      SCAN_STEP * 12 + 32,
      block + SCAN_MARGIN,
      maxCount * 4 + 4,
      room * 12 + owners.byteLength + queries * 6,
    ]);
    const bestsAt = rowsAt + room * 12;
    const ownersAt = bestsAt + queries * 4;
    const touchedAt = ownersAt + owners.byteLength;
    const bytes = this.#bytes;
    const numbers = new Uint32Array(bytes.buffer);
    bytes.fill(0, filterAt, outerAt + WORD_COUNT * 5);
    listFours(table.words, bytes, filterAt, outerAt);
    countBefore(table.words, numbers, startsAt >> 2);
    numbers.set(table.heads, headsAt >> 2);
    numbers.set(table.positions, positionsAt >> 2);
    numbers.fill(0, bestsAt >> 2, (bestsAt >> 2) + queries);
    new Uint16Array(bytes.buffer, ownersAt, owners.length).set(owners);
    bytes.fill(PADDING, queryAt, queryAt + query.length + 2 * QUERY_MARGIN);
    bytes.set(query, queryAt + QUERY_MARGIN);
    this.#exports.prepareScan(
      filterAt,
      outerAt,
      startsAt,
      headsAt,
      positionsAt,
      queryAt + QUERY_MARGIN,
      query.length,
      this.#matrixAt,
      profileAt + 2 * QUERY_MARGIN,
      diagonalsAt,
      slots - 1,
      listsAt,
      limits.xDrop,
      limits.minSeedScore,
      Math.min(limits.minLength, MAX_INT),
      Math.min(limits.maxLength, MAX_INT),
      ownersAt,
      bestsAt,
      touchedAt,
      limits.minExtensionScore,
    );
    for (const [first, end] of ranges) {
      for (let k = first; k < end;) {
        const start = k;
        const from = offsets[k];
        const next = blockEnd(offsets, k, Math.min(end, k + maxCount), block);
        const residuesEnd = residuesAt + offsets[next] - from;
        bytes.set(residues.subarray(from, offsets[next]), residuesAt);
        bytes.fill(PADDING, residuesEnd, residuesEnd + SCAN_MARGIN);
        numbers.set(offsets.subarray(k, next + 1), offsetsAt >> 2);
        while (k < next) {
          const offsetAt = offsetsAt + (k - start) * 4;
          this.#exports.scan((residuesAt - from) | 0, offsetAt, next - k, rowsAt, room, queries);
          eachRow(numbers, rowsAt >> 2, this.#exports.scannedRows(), k, onHit);
          k += this.#exports.scannedSequences();
        }
      }
    }
  }
}

// Loops that run often are small functions, which the engine compiles in a fraction of the time for large ones.

/** Fills the tables `filter` and `outer` of the scan. */
function listFours(words: Uint32Array, bytes: Uint8Array, filter: number, outer: number): void {
  for (let k = 0; k < words.length; k++) {
    const word = words[k];
    const first = Math.floor(word / WORD_COUNT);
    const start = Math.floor(word / 20);
    const rest = word - first * WORD_COUNT;
    setBit(bytes, outer + start * 5, 20 + word - start * 20);
    setBit(bytes, outer + rest * 5, first);
    bytes[filter + start] = bytes[filter + rest] = 4;
  }
}

/** Fills the table `starts` of the scan. */
function countBefore(words: Uint32Array, numbers: Uint32Array, starts: number): void {
  let next = 0;
  for (let k = 0; k < words.length; k++) {
    const four = Math.floor(words[k] / 20);
    while (next <= four) numbers[starts + next++] = k;
  }
}

/** Calls `onHit` for each row that the scan of the sequences from `first` on wrote. */
function eachRow(
  numbers: Uint32Array,
  at: number,
  rows: number,
  first: number,
  onHit: (index: number, score: number, query: number) => void,
): void {
  for (const end = at + rows * 3; at < end; at += 3)
    onHit(first + numbers[at], numbers[at + 2], numbers[at + 1]);
}

/** The end of the sequences from `first` on, before `limit`, that fit a block. */
function blockEnd(offsets: Uint32Array, first: number, limit: number, block: number): number {
  let end = first;
  while (end < limit && offsets[end + 1] - offsets[first] <= block) end++;
  return end;
}

/** The longest sequence between offsets. */
function longestGap(offsets: Uint32Array): number {
  let longest = 0;
  for (let k = 1; k < offsets.length; k++) longest = Math.max(longest, offsets[k] - offsets[k - 1]);
  return longest;
}

function setBit(bytes: Uint8Array, at: number, bit: number): void {
  bytes[at + (bit >> 3)] |= 1 << (bit & 7);
}

function longest(subjects: readonly Uint8Array[]): number {
  return subjects.reduce((most, subject) => Math.max(most, subject.length), 0);
}
