/**
 * Prefilter of the search: finds neighbourhood words of the query (Altschul et al., J. Mol. Biol. 1990,
 * 215:403) in the residues of a corpus and extends them without gaps if they score well with their flanks.
 *
 * `bits`: for each of the 32^4 possible first four residues (5 bits each, the first highest) a u32 with one
 * bit per fifth residue of a word. `starts`: for each of the 20^4 first four residues (a base-20 number) the
 * number of words before those with this prefix. `heads`: for each word, ascending, a u32. With LAST: its
 * only position in the query; else the index in `positions` where its positions start, the last with LAST.
 *
 * The query may be several, separated by a residue that scores far below zero against all, which no word or
 * extension crosses. `owners` has the query of each position. Queries share no diagonal, so each gets the
 * same result as alone.
 */
const WORD: i32 = 5;
/** Flank on each side of a word that decides about its extension. */
const NEAR: i32 = 6;
const PREFIX: u32 = 0xfffff;
const LAST: u32 = 0x80000000;

let bits: usize = 0;
let starts: usize = 0;
let heads: usize = 0;
let positions: usize = 0;
let query: usize = 0;
let queryLength: i32 = 0;
let matrix: usize = 0;
let diagonals: usize = 0;
let diagonalMask: i32 = 0;
let hits: usize = 0;
let drop: i32 = 0;
let promise: i32 = 0;
let minLength: i32 = 0;
let maxLength: i32 = 0;
/** Number of the query (u16) at each position. */
let owners: usize = 0;
/** Best extension of each query (i32) in the current sequence; all 0 between sequences. */
let bests: usize = 0;
/** Queries (u16) with an extension in the current sequence, and their number. */
let touched: usize = 0;
let touchedCount: i32 = 0;
/** Minimum score of an extension, at least 1. */
let threshold: i32 = 1;
/** Offset of the current sequence in the concatenation of all. */
let base: i32 = 0;

/**
 * Sets the parameters of a scan. `diagonals` has `diagonalMask + 1` i32, a power of two above 2 queryLength.
 */
export function prepareScan(
  bits_: usize,
  starts_: usize,
  heads_: usize,
  positions_: usize,
  query_: usize,
  queryLength_: i32,
  matrix_: usize,
  diagonals_: usize,
  diagonalMask_: i32,
  hits_: usize,
  drop_: i32,
  promise_: i32,
  minLength_: i32,
  maxLength_: i32,
  owners_: usize,
  bests_: usize,
  touched_: usize,
  threshold_: i32,
): void {
  bits = bits_;
  starts = starts_;
  heads = heads_;
  positions = positions_;
  query = query_;
  queryLength = queryLength_;
  matrix = matrix_;
  diagonals = diagonals_;
  diagonalMask = diagonalMask_;
  hits = hits_;
  drop = drop_;
  promise = promise_;
  minLength = max(WORD, minLength_);
  maxLength = maxLength_;
  owners = owners_;
  bests = bests_;
  touched = touched_;
  touchedCount = 0;
  threshold = max(1, threshold_);
  base = 0;
  forget();
}

/** Clears all diagonals. */
function forget(): void {
  base = 1;
  memory.fill(diagonals, 0, (<usize>diagonalMask + 1) << 2);
}

/** Sequences done and rows written by the last call of `scan`. */
let done: i32 = 0;
let rows: i32 = 0;
export function scannedSequences(): i32 {
  return done;
}
export function scannedRows(): i32 {
  return rows;
}

/**
 * Scans up to `count` sequences: sequence k is at residues + offsets[k] up to offsets[k + 1] (u32). For every
 * query and sequence with an extension of `threshold` or more, writes three i32 to `found`: k, query, best
 * score. Stops early if `room` rows may not suffice for the next sequence. Seven bytes after the residues
 * must be readable. Returns the number of seeds.
 */
export function scan(
  residues: usize,
  offsets: usize,
  count: i32,
  found: usize,
  room: i32,
  queries: i32,
): i32 {
  let seen: i32 = 0;
  let k: i32 = 0;
  rows = 0;
  for (; k < count && rows + queries <= room; k++) {
    const at = offsets + ((<usize>k) << 2);
    const from = load<u32>(at);
    const length = <i32>(load<u32>(at, 4) - from);
    if (length < minLength || length > maxLength) continue;
    if (base > 0x3fffffff) forget();
    const to = findWords(residues + from, length);
    seen += <i32>((to - hits) >>> 3);
    findHeads(residues + from, to);
    extendWords(residues + from, length, to);
    base += length;
    for (let t = 0; t < touchedCount; t++) {
      const owner = <i32>load<u16>(touched + ((<usize>t) << 1));
      const best = bests + ((<usize>owner) << 2);
      const row = found + <usize>rows * 12;
      store<i32>(row, k);
      store<i32>(row, owner, 4);
      store<i32>(row, load<i32>(best), 8);
      store<i32>(best, 0);
      rows++;
    }
    touchedCount = 0;
  }
  done = k;
  return seen;
}

/** Records an extension for the query at this position. */
function note(inQuery: i32, score: i32): void {
  const owner = load<u16>(owners + ((<usize>inQuery) << 1));
  const best = bests + ((<usize>owner) << 2);
  const before = load<i32>(best);
  if (before === 0) {
    store<u16>(touched + ((<usize>touchedCount) << 1), owner);
    touchedCount++;
  }
  if (score > before) store<i32>(best, score);
}

/**
 * Writes the positions of words to `hits` and returns its end. Every position is written, and kept by
 * advancing the pointer: an unpredictable branch would cost more.
 */
function findWords(sequence: usize, length: i32): usize {
  const bits_ = bits;
  let to = hits;
  let word: u32 = 0;
  for (let k: usize = 0; k < 4; k++) word = (word << 5) | (<u32>load<u8>(sequence + k));
  const end = length - WORD + 1;
  let place: i32 = 0;
  for (; place < end - 3; place += 4) {
    const four = load<u32>(sequence + <usize>place, 4);
    let entry = load<u32>(bits_ + ((<usize>(word & PREFIX)) << 2));
    word = (word << 5) | (four & 31);
    store<i32>(to, place);
    to += ((entry >>> word) & 1) << 3;
    entry = load<u32>(bits_ + ((<usize>(word & PREFIX)) << 2));
    word = (word << 5) | ((four >>> 8) & 31);
    store<i32>(to, place + 1);
    to += ((entry >>> word) & 1) << 3;
    entry = load<u32>(bits_ + ((<usize>(word & PREFIX)) << 2));
    word = (word << 5) | ((four >>> 16) & 31);
    store<i32>(to, place + 2);
    to += ((entry >>> word) & 1) << 3;
    entry = load<u32>(bits_ + ((<usize>(word & PREFIX)) << 2));
    word = (word << 5) | (four >>> 24);
    store<i32>(to, place + 3);
    to += ((entry >>> word) & 1) << 3;
  }
  for (; place < end; place++) {
    const entry = load<u32>(bits_ + ((<usize>(word & PREFIX)) << 2));
    word = (word << 5) | (<u32>load<u8>(sequence + <usize>place, 4));
    store<i32>(to, place);
    to += ((entry >>> word) & 1) << 3;
  }
  return to;
}

/** Writes the head of the word at each position from `hits` up to `end` (8 bytes each). */
function findHeads(sequence: usize, end: usize): void {
  // Local copies, since globals are read anew each time.
  const bits_ = bits;
  const starts_ = starts;
  const heads_ = heads;
  for (let hit = hits; hit < end; hit += 8) {
    const word = sequence + <usize>load<i32>(hit);
    // Four codes as base-20 and base-32 numbers: first both pairs at once, then the two.
    const four = load<u32>(word);
    const even = four & 0x00ff00ff;
    const odd = (four >>> 8) & 0x00ff00ff;
    const of20 = even * 20 + odd;
    const of32 = (even << 5) | odd;
    const first = load<u32>(starts_ + ((<usize>((of20 & 0xffff) * 400 + (of20 >>> 16))) << 2));
    const entries = load<u32>(bits_ + ((<usize>(((of32 & 0xffff) << 10) | (of32 >>> 16))) << 2));
    const before = <u32>popcnt<u32>(entries & ((1 << load<u8>(word, 4)) - 1));
    store<u32>(hit, load<u32>(heads_ + ((<usize>(first + before)) << 2)), 4);
  }
}

/** Extends the words at the positions from `hits` up to `end`, except those within an earlier extension. */
function extendWords(sequence: usize, length: i32, end: usize): void {
  const positions_ = positions;
  const diagonals_ = diagonals;
  const mask = diagonalMask;
  const base_ = base;
  for (let hit = hits; hit < end; hit += 8) {
    const place = load<i32>(hit);
    let entry = load<u32>(hit, 4);
    let p: usize = 0;
    if (!(entry & LAST)) {
      p = positions_ + ((<usize>entry) << 2);
      entry = load<u32>(p);
    }
    const here = base_ + place;
    while (true) {
      const inQuery = <i32>(entry & ~LAST);
      const diagonal = diagonals_ + ((<usize>((here - inQuery) & mask)) << 2);
      const near = place >= NEAR && place < length - (WORD + NEAR) + 1;
      if (here > load<i32>(diagonal) && (!near || scoreNear(sequence + <usize>place, inQuery) >= promise)) {
        const score = extend(sequence, length, place, inQuery);
        if (score >= threshold) note(inQuery, score);
        // Words up to the end of the extension belong to it.
        store<i32>(diagonal, max(here, here + reach - WORD));
      }
      if (entry & LAST) break;
      p += 4;
      entry = load<u32>(p);
    }
  }
}

/**
 * Score of the best ungapped segment from up to NEAR residues before the word to up to NEAR after it, without
 * branches on residues.
 */
function scoreNear(word: usize, inQuery: i32): i32 {
  const matrix_ = matrix;
  const own = query + <usize>inQuery;
  let score: i32 = 0;
  let right: i32 = 0;
  for (let i: usize = 0; i < <usize>(WORD + NEAR); i++) {
    score += <i32>load<i8>(matrix_ + ((<usize>load<u8>(own + i)) << 5) + <usize>load<u8>(word + i));
    right = max(right, score);
  }
  score = 0;
  let left: i32 = 0;
  for (let i: usize = 1; i <= <usize>NEAR; i++) {
    score += <i32>load<i8>(matrix_ + ((<usize>load<u8>(own - i)) << 5) + <usize>load<u8>(word - i));
    left = max(left, score);
  }
  return right + left;
}

/** Length of the best extension to the right, from the start of the word. */
let reach: i32 = 0;

/** Score of the best ungapped segment through the word, with an X-drop on either side. */
function extend(sequence: usize, length: i32, place: i32, inQuery: i32): i32 {
  const matrix_ = matrix;
  const drop_ = drop;
  let q = query + <usize>inQuery;
  let s = sequence + <usize>place;
  let end = s + <usize>min(length - place, queryLength - inQuery);
  const start = s;
  let score: i32 = 0;
  let right: i32 = 0;
  let best = s;
  while (s < end && score >= right - drop_) {
    score += <i32>load<i8>(matrix_ + ((<usize>load<u8>(q++)) << 5) + <usize>load<u8>(s++));
    best = select<usize>(s, best, score > right);
    right = select<i32>(score, right, score > right);
  }
  reach = <i32>(best - start);
  q = query + <usize>inQuery;
  s = start;
  end = s - <usize>min(place, inQuery);
  score = 0;
  let left: i32 = 0;
  while (s > end && score >= left - drop_) {
    score += <i32>load<i8>(matrix_ + ((<usize>load<u8>(--q)) << 5) + <usize>load<u8>(--s));
    left = select<i32>(score, left, score > left);
  }
  return right + left;
}
