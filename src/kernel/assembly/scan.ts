/**
 * The prefilter's pass over the residues of a corpus: words of five residues that resemble words of the query (Altschul
 * et al., J. Mol. Biol. 1990, 215:403), each extended without gaps where its surroundings are worth it.
 *
 * `bits`: which words are in the query's neighbourhood; for each of the 32^4 possible first four residues (5 bits
 * each, the first highest) a u32 with one bit per fifth residue. Every residue looks there, but only at the 20^4 that
 * standard residues lead to.
 * `starts`: for each of the 20^4 first four residues (a number of base 20) how many words of the neighbourhood come
 * before those that begin so. `heads`: for each of these words, in ascending order, a u32. With LAST: the one place in
 * the query where such a word begins; else where in `positions` its places begin, the last with LAST.
 *
 * The query may be several, one behind the other with a residue between them that scores far below zero against all:
 * words do not reach across it, nor do extensions. `owners` says which query a place belongs to. One pass over the
 * residues then serves all of them, and each gets what it would get alone, since queries share no diagonal.
 */
const WORD: i32 = 5;
/** Residues on either side of a word that tell whether it is worth an extension. */
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
/** For each place of the query a u16: the number of the query it is in. */
let owners: usize = 0;
/** For each query an i32: its best extension in the running sequence, 0 without one. All 0 between sequences. */
let bests: usize = 0;
/** The queries (u16) with a best extension in the running sequence, and how many. */
let touched: usize = 0;
let touchedCount: i32 = 0;
/** Extensions below this are forgotten; at least 1. */
let threshold: i32 = 1;
/** Position of the running sequence in the row of all sequences. */
let base: i32 = 0;

/** What stays for all blocks of a scan. `diagonals` has `diagonalMask + 1` i32, a power of two above 2 queryLength. */
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

/** Nothing of any diagonal is known any more. */
function forget(): void {
  base = 1;
  memory.fill(diagonals, 0, (<usize>diagonalMask + 1) << 2);
}

/** Sequences that the last call of `scan` has done, and the rows that it wrote. */
let done: i32 = 0;
let rows: i32 = 0;
export function scannedSequences(): i32 {
  return done;
}
export function scannedRows(): i32 {
  return rows;
}

/**
 * Scans up to `count` sequences: sequence k lies at residues + offsets[k] up to offsets[k + 1] (u32). For every query
 * and sequence of admissible length with an extension of `threshold` or more, a row of three i32 is written to
 * `found`: k, number of the query, score of the best. Ends early where `room` rows might not hold those of one more
 * sequence. Seven bytes behind the residues must be readable. Returns the number of places where a word of the
 * neighbourhood stood.
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

/** Notes an extension of the query to which a place belongs. */
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
 * Writes to `hits` where the words of the neighbourhood begin, returns the end of what it wrote. No branch depends
 * on the residues: a place is always written, and kept or not by moving on or not, since a branch that is taken at
 * random costs more than all of this.
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

/** Writes before each place from `hits` up to `end` (8 bytes each) the head of the word that begins there. */
function findHeads(sequence: usize, end: usize): void {
  // Copies of what stays, since a global is read anew each time.
  const bits_ = bits;
  const starts_ = starts;
  const heads_ = heads;
  for (let hit = hits; hit < end; hit += 8) {
    const word = sequence + <usize>load<i32>(hit);
    // Four codes to numbers of base 20 and of base 32: first both pairs at once, then the two.
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

/** Extends and notes the words at the places from `hits` up to `end`, but for those within an earlier extension. */
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
        // Words up to the end of the extension, as far as it reached, are part of it.
        store<i32>(diagonal, max(here, here + reach - WORD));
      }
      if (entry & LAST) break;
      p += 4;
      entry = load<u32>(p);
    }
  }
}

/**
 * Score of the best stretch without gaps that begins up to NEAR residues before the word and ends up to NEAR behind it:
 * always the same steps, no branch that depends on residues. The query has more than NEAR codes on either side to spare.
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

/** Residues of the subject from the word's start to the end of the extension's best part. */
let reach: i32 = 0;

/**
 * Score of the best stretch without gaps through the word, given up `drop` below the best on either side. No branch
 * but the end depends on the residues.
 */
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
