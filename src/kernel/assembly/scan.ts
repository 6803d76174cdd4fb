/**
 * Prefilter of the search: finds neighbourhood words of the query (Altschul et al., J. Mol. Biol. 1990,
 * 215:403) in the residues of a corpus and extends them without gaps if they score well with their flanks.
 *
 * Words at positions i and i + 1 share the four residues from i + 1 on. So one look-up of those, a base-20 number, rules
 * out both positions in most cases. `filter`: for each four codes of five bits a byte, 4 if a word ends or starts with
 * them, else 0. `outer`: for each four standard residues 40 bits: the residues (0-19) before them in words that end
 * with them, and (from bit 20) those after them in words that start with them. `starts`: for each four standard residues
 * the number of words before those that start with them. `heads`: for each word, ascending, a u32. With LAST: its only
 * position in the query; else the index in `positions` where its positions start, the last with LAST.
 *
 * The query may be several, separated by a residue that scores far below zero against all, which no word or
 * extension crosses. `owners` has the query of each position. Queries share no diagonal, so each gets the
 * same result as alone.
 */
const WORD: i32 = 5;
/** Flank on each side of a word that decides about its extension. */
const NEAR: i32 = 6;
/** Residues read before and after the query. */
const MARGIN: i32 = 16;
const LAST: u32 = 0x80000000;
/** Positions at a time, whose lists stay in the first-level cache. */
const STEP: i32 = 4096;
/** Offsets of the lists in `lists`: four residues as numbers (before them), candidates, hits. */
const CANDIDATES: usize = 2 * STEP;
const HITS: usize = CANDIDATES + 2 * STEP + 16;

let filter: usize = 0;
let outer: usize = 0;
let starts: usize = 0;
let heads: usize = 0;
let positions: usize = 0;
/** For each position of the query, the address (u16) of the scores of its residue. */
let profile: usize = 0;
let queryLength: i32 = 0;
let diagonals: usize = 0;
let diagonalMask: i32 = 0;
let lists: usize = 0;
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
/** Number of residues before the current call of `scan`. */
let base: i32 = 0;

/**
 * Sets the parameters of a scan. MARGIN codes before and after the query are padding, and `profile` has u16 for them,
 * too. `matrix` is below 2^15. `diagonals` has `diagonalMask + 1` i32, a power of two above 2 queryLength. `lists` has
 * 12 STEP + 32 bytes.
 */
export function prepareScan(
  filter_: usize,
  outer_: usize,
  starts_: usize,
  heads_: usize,
  positions_: usize,
  query: usize,
  queryLength_: i32,
  matrix: usize,
  profile_: usize,
  diagonals_: usize,
  diagonalMask_: i32,
  lists_: usize,
  drop_: i32,
  promise_: i32,
  minLength_: i32,
  maxLength_: i32,
  owners_: usize,
  bests_: usize,
  touched_: usize,
  threshold_: i32,
): void {
  filter = filter_;
  outer = outer_;
  starts = starts_;
  heads = heads_;
  positions = positions_;
  profile = profile_;
  queryLength = queryLength_;
  for (let i = -MARGIN; i < queryLength + MARGIN; i++)
    store<u16>(profile + ((<usize>i) << 1), <u16>(matrix + ((<usize>load<u8>(query + <usize>i)) << 5)));
  diagonals = diagonals_;
  diagonalMask = diagonalMask_;
  lists = lists_;
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

/** Sequences done and rows written by the last call of `scan`, and where it writes them. */
let done: i32 = 0;
let rows: i32 = 0;
let rowsAt: usize = 0;
export function scannedSequences(): i32 {
  return done;
}
export function scannedRows(): i32 {
  return rows;
}

/**
 * Scans up to `count` sequences: sequence k is at residues + offsets[k] up to offsets[k + 1] (u32). For every
 * query and sequence with an extension of `threshold` or more, writes three i32 to `found`: k, query, best
 * score. Stops early if `room` rows may not suffice for the next sequence. 32 bytes after the residues must
 * be codes. Returns the number of seeds.
 */
export function scan(
  residues: usize,
  offsets: usize,
  count: i32,
  found: usize,
  room: i32,
  queries: i32,
): i32 {
  rows = 0;
  rowsAt = found;
  done = 0;
  let seen: i32 = 0;
  const total = offsetOf(offsets, count) - offsetOf(offsets, 0);
  if (base > 0x3fffffff - total) forget();
  const start = residues + <usize>offsetOf(offsets, 0);
  while (done < count && rows + queries <= room) {
    if (!admits(offsets, done)) {
      done++;
      continue;
    }
    // Neighbouring sequences are scanned as one.
    let end = done + 1;
    while (end < count && admits(offsets, end)) end++;
    const stop = offsetOf(offsets, end);
    let full = false;
    for (let at = offsetOf(offsets, done); at < stop && !full; at += STEP) {
      const to = findHeads(residues + <usize>at, findWords(residues + <usize>at, min(STEP, stop - at)));
      seen += <i32>((to - lists - HITS) >>> 3);
      full = extendWords(residues, offsets, end, at, to, start, room - queries);
    }
    if (full) break;
    writeRows();
    done = end;
  }
  base += total;
  return seen;
}

function offsetOf(offsets: usize, k: i32): i32 {
  return load<i32>(offsets + ((<usize>k) << 2));
}

function admits(offsets: usize, k: i32): bool {
  const length = offsetOf(offsets, k + 1) - offsetOf(offsets, k);
  return length >= minLength && length <= maxLength;
}

/** Writes the rows of the sequence `done`. */
function writeRows(): void {
  for (let t = 0; t < touchedCount; t++) {
    const owner = <i32>load<u16>(touched + ((<usize>t) << 1));
    const best = bests + ((<usize>owner) << 2);
    const row = rowsAt + <usize>rows * 12;
    store<i32>(row, done);
    store<i32>(row, owner, 4);
    store<i32>(row, load<i32>(best), 8);
    store<i32>(best, 0);
    rows++;
  }
  touchedCount = 0;
}

/** The base-20 numbers of the four residues at 0, 4, 8 and 12 bytes from `at`. */
function residueNumbers(at: usize): v128 {
  const codes = v128.load(at);
  const even = v128.and(codes, i16x8.splat(0xff));
  // Not by a shift, which takes four instructions. 31 stands for zero.
  const odd = i8x16.swizzle(codes, i8x16(1, 31, 3, 31, 5, 31, 7, 31, 9, 31, 11, 31, 13, 31, 15, 31));
  return i32x4.add(
    i32x4.dot_i16x8_s(even, i16x8(8000, 20, 8000, 20, 8000, 20, 8000, 20)),
    i32x4.dot_i16x8_s(odd, i16x8(400, 1, 400, 1, 400, 1, 400, 1)),
  );
}

/**
 * Lists the positions of words among the `length` from `at` on, and perhaps some beyond them, ascending, 8 bytes each;
 * returns the end of the list. Words may contain codes from 20 on, and cross the ends of sequences.
 */
function findWords(at: usize, length: i32): usize {
  // Local copies, since globals are read again each time.
  const filter_ = filter;
  const outer_ = outer;
  const numbers = lists;
  let candidate = numbers + CANDIDATES;
  let number = numbers;
  for (let i: i32 = 0; i < length; i += 16) {
    const some = residueNumbers(at + <usize>i + 1);
    const others = residueNumbers(at + <usize>i + 3);
    v128.store(number, v128.shuffle<i32>(some, others, 0, 4, 1, 5));
    v128.store(number, v128.shuffle<i32>(some, others, 2, 6, 3, 7), 16);
    store<i32>(candidate, i);
    candidate += <usize>load<u8>(filter_ + <usize>load<u32>(number));
    store<i32>(candidate, i + 2);
    candidate += <usize>load<u8>(filter_ + <usize>load<u32>(number, 4));
    store<i32>(candidate, i + 4);
    candidate += <usize>load<u8>(filter_ + <usize>load<u32>(number, 8));
    store<i32>(candidate, i + 6);
    candidate += <usize>load<u8>(filter_ + <usize>load<u32>(number, 12));
    store<i32>(candidate, i + 8);
    candidate += <usize>load<u8>(filter_ + <usize>load<u32>(number, 16));
    store<i32>(candidate, i + 10);
    candidate += <usize>load<u8>(filter_ + <usize>load<u32>(number, 20));
    store<i32>(candidate, i + 12);
    candidate += <usize>load<u8>(filter_ + <usize>load<u32>(number, 24));
    store<i32>(candidate, i + 14);
    candidate += <usize>load<u8>(filter_ + <usize>load<u32>(number, 28));
    number += 32;
  }
  let hit = numbers + HITS;
  for (let c = numbers + CANDIDATES; c < candidate; c += 4) {
    const i = <usize>load<i32>(c);
    const bits = load<u64>(outer_ + <usize>load<u32>(numbers + (i << 1)) * 5);
    store<i32>(hit, <i32>i);
    hit += (<usize>((bits >> (<u64>load<u8>(at + i))) & 1)) << 3;
    store<i32>(hit, <i32>i + 1);
    hit += (<usize>((bits >> (<u64>load<u8>(at + i, 5) + 20)) & 1)) << 3;
  }
  return hit;
}

/** Removes words with codes from 20 on from the hits up to `end` and adds the heads of the others; returns the new end. */
function findHeads(at: usize, end: usize): usize {
  const outer_ = outer;
  const starts_ = starts;
  const heads_ = heads;
  let to = lists + HITS;
  for (let hit = to; hit < end; hit += 8) {
    const i = load<i32>(hit);
    const word = at + <usize>i;
    const four = load<u32>(word);
    const fifth = <u32>load<u8>(word, 4);
    if (((four + 0x0c0c0c0c) | (fifth + 0x0c)) & 0x20202020) continue;
    const pairs = (four & 0x00ff00ff) * 20 + ((four >>> 8) & 0x00ff00ff);
    const number = <usize>((pairs & 0xffff) * 400 + (pairs >>> 16));
    const after = <u32>(load<u64>(outer_ + number * 5) >> 20);
    const before = <u32>popcnt<u32>(after & ((1 << fifth) - 1));
    const first = load<u32>(starts_ + (number << 2));
    store<i32>(to, i);
    store<u32>(to, load<u32>(heads_ + ((<usize>(first + before)) << 2)), 4);
    to += 8;
  }
  return to;
}

/**
 * Extends the hits up to `end` except those within an earlier extension, and writes the rows of finished sequences.
 * Positions count from offset `at`, the sequences are `done` up to `last`. Returns whether rows remain in `room`.
 */
function extendWords(
  residues: usize,
  offsets: usize,
  last: i32,
  at: i32,
  end: usize,
  start: usize,
  room: i32,
): bool {
  let from = offsetOf(offsets, done);
  let next = offsetOf(offsets, done + 1);
  for (let hit = lists + HITS; hit < end; hit += 8) {
    const position = at + load<i32>(hit);
    if (position >= next) {
      writeRows();
      do {
        done++;
        from = next;
        next = offsetOf(offsets, done + 1);
      } while (done < last && position >= next);
      if (done >= last) return false;
      if (rows > room) return true;
    }
    if (position + WORD > next) continue;
    const word = residues + <usize>position;
    extendWord(
      residues + <usize>from,
      next - from,
      position - from,
      load<u32>(hit, 4),
      base + <i32>(word - start),
    );
  }
  return false;
}

/**
 * Extends a word of a sequence at each of its positions in the query, from `head` on. `here` is its position in the
 * concatenation of all sequences.
 */
function extendWord(sequence: usize, length: i32, place: i32, head: u32, here: i32): void {
  const near = place >= NEAR && place < length - (WORD + NEAR) + 1;
  let entry = head;
  let p: usize = 0;
  if (!(entry & LAST)) {
    p = positions + ((<usize>entry) << 2);
    entry = load<u32>(p);
  }
  while (true) {
    const inQuery = <i32>(entry & ~LAST);
    const diagonal = diagonals + ((<usize>((here - inQuery) & diagonalMask)) << 2);
    if (here > load<i32>(diagonal) && (!near || scoreNear(sequence + <usize>place, inQuery) >= promise)) {
      const score = extend(sequence, length, place, inQuery);
      if (score >= threshold) note(inQuery, score);
      // Words up to the end of the extension belong to it.
      store<i32>(diagonal, max(here, here + reach - WORD));
    }
    if (entry & LAST) return;
    p += 4;
    entry = load<u32>(p);
  }
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

/** Score at one of four addresses of 16 bits, the lowest first. */
function scoreAt(addresses: u64, k: u32): i32 {
  return <i32>load<i8>(<usize>((addresses >> (<u64>(k << 4))) & 0xffff));
}

/**
 * Score of the best ungapped segment from up to NEAR residues before the word to up to NEAR after it, without
 * branches on residues.
 */
function scoreNear(word: usize, inQuery: i32): i32 {
  const own = profile + ((<usize>(inQuery - NEAR)) << 1);
  const residues = v128.load(word - NEAR);
  const low = i16x8.add(v128.load(own), i16x8.extend_low_i8x16_u(residues));
  const high = i16x8.add(v128.load(own, 16), i16x8.extend_high_i8x16_u(residues));
  // Addresses of the scores at the 16 positions from NEAR before the word on.
  const a = <u64>i64x2.extract_lane(low, 0);
  const b = <u64>i64x2.extract_lane(low, 1);
  const c = <u64>i64x2.extract_lane(high, 0);
  const d = <u64>i64x2.extract_lane(high, 1);
  let score = scoreAt(b, 1);
  let left = max(0, score);
  score += scoreAt(b, 0);
  left = max(left, score);
  score += scoreAt(a, 3);
  left = max(left, score);
  score += scoreAt(a, 2);
  left = max(left, score);
  score += scoreAt(a, 1);
  left = max(left, score);
  score += scoreAt(a, 0);
  left = max(left, score);
  score = scoreAt(b, 2);
  let right = max(0, score);
  score += scoreAt(b, 3);
  right = max(right, score);
  score += scoreAt(c, 0);
  right = max(right, score);
  score += scoreAt(c, 1);
  right = max(right, score);
  score += scoreAt(c, 2);
  right = max(right, score);
  score += scoreAt(c, 3);
  right = max(right, score);
  score += scoreAt(d, 0);
  right = max(right, score);
  score += scoreAt(d, 1);
  right = max(right, score);
  score += scoreAt(d, 2);
  right = max(right, score);
  score += scoreAt(d, 3);
  right = max(right, score);
  score += <i32>load<i8>(<usize>load<u16>(own, 32) + <usize>load<u8>(word, 10));
  return left + max(right, score);
}

/** Length of the best extension to the right, from the start of the word. */
let reach: i32 = 0;

/** Score of the best ungapped segment through the word, with an X-drop on either side. */
function extend(sequence: usize, length: i32, place: i32, inQuery: i32): i32 {
  const drop_ = drop;
  const own = profile + ((<usize>inQuery) << 1);
  let q = own;
  let s = sequence + <usize>place;
  let end = s + <usize>min(length - place, queryLength - inQuery);
  const start = s;
  let score: i32 = 0;
  let right: i32 = 0;
  let best = s;
  while (s < end && score >= right - drop_) {
    score += <i32>load<i8>(<usize>load<u16>(q) + <usize>load<u8>(s++));
    q += 2;
    best = select<usize>(s, best, score > right);
    right = select<i32>(score, right, score > right);
  }
  reach = <i32>(best - start);
  q = own;
  s = start;
  end = s - <usize>min(place, inQuery);
  score = 0;
  let left: i32 = 0;
  while (s > end && score >= left - drop_) {
    q -= 2;
    score += <i32>load<i8>(<usize>load<u16>(q) + <usize>load<u8>(--s));
    left = select<i32>(score, left, score > left);
  }
  return right + left;
}
