/**
 * The prefilter's pass over the residues of a corpus: words of four residues that resemble words of the query,
 * two of them on one diagonal within a window (Altschul et al., Nucleic Acids Res. 1997, 25:3389), joined by an
 * extension without gaps.
 *
 * A word is four 5-bit codes. `table`: for each of the 32^3 possible first three residues a u32 of bits (which
 * fourth residues are in the query's neighbourhood) and a u32 rank (how many words come before). `starts[rank]`
 * to `starts[rank + 1]` are the places in `positions`, where in the query such words begin.
 */
const WORD: i32 = 4;

let table: usize = 0;
let starts: usize = 0;
let positions: usize = 0;
let query: usize = 0;
let queryLength: i32 = 0;
let matrix: usize = 0;
let diagonals: usize = 0;
let diagonalMask: i32 = 0;
let hits: usize = 0;
let window: i32 = 0;
let drop: i32 = 0;
/** Position of the running sequence in the row of all sequences, each followed by a gap as wide as the window. */
let base: i32 = 0;

/** What stays for all blocks of a scan. `diagonals` has `diagonalMask + 1` i32, a power of two above queryLength + window. */
export function prepareScan(
  table_: usize,
  starts_: usize,
  positions_: usize,
  query_: usize,
  queryLength_: i32,
  matrix_: usize,
  diagonals_: usize,
  diagonalMask_: i32,
  hits_: usize,
  window_: i32,
  drop_: i32,
): void {
  table = table_;
  starts = starts_;
  positions = positions_;
  query = query_;
  queryLength = queryLength_;
  matrix = matrix_;
  diagonals = diagonals_;
  diagonalMask = diagonalMask_;
  hits = hits_;
  window = window_;
  drop = drop_;
  base = 0;
  forget();
}

/** No diagonal has a hit any more. */
function forget(): void {
  base = window + 1;
  memory.fill(diagonals, 0, (<usize>diagonalMask + 1) << 2);
}

/**
 * Scans `count` sequences: sequence k lies at residues + offsets[k] up to offsets[k + 1] (u32). `best[k]` (i32)
 * gets the score of its best extension, 0 without one. Returns the number of word hits looked at.
 */
export function scan(residues: usize, offsets: usize, count: i32, best: usize): i32 {
  let seen: i32 = 0;
  for (let k: usize = 0; k < <usize>count; k++) {
    const from = load<u32>(offsets + (k << 2));
    const length = <i32>(load<u32>(offsets + (k << 2), 4) - from);
    if (base > 0x3fffffff) forget();
    store<i32>(best + (k << 2), length < WORD ? 0 : scanOne(residues + from, length));
    seen += found;
    base += length + window + 1;
  }
  return seen;
}

let found: i32 = 0;

function scanOne(sequence: usize, length: i32): i32 {
  // Where the words of the neighbourhood are. No branch depends on the residues: a hit is written always and
  // kept or not by the count, since a branch that is taken at random costs more than all of this.
  let to = hits;
  let word: u32 =
    (<u32>load<u8>(sequence) << 10) | (<u32>load<u8>(sequence, 1) << 5) | <u32>load<u8>(sequence, 2);
  const end = sequence + length;
  for (let at = sequence + 3; at < end; at++) {
    const entry = load<u32>(table + (<usize>(word & 0x7fff) << 3));
    word = (word << 5) | <u32>load<u8>(at);
    store<u32>(to, <u32>(at - sequence - 3));
    to += ((entry >> (word & 31)) & 1) << 2;
  }
  found = <i32>((to - hits) >>> 2);

  let best: i32 = 0;
  for (let hit = hits; hit < to; hit += 4) {
    const place = <i32>load<u32>(hit);
    const at = sequence + <usize>place;
    const three =
      (<usize>load<u8>(at) << 10) | (<usize>load<u8>(at, 1) << 5) | <usize>load<u8>(at, 2);
    const entry = load<u64>(table + (three << 3));
    const below = <u32>entry & ((<u32>1 << <u32>load<u8>(at, 3)) - 1);
    const rank = <usize>(<u32>(entry >> 32) + popcnt<u32>(below));
    let p = positions + (<usize>load<u32>(starts + (rank << 2)) << 2);
    const pEnd = positions + (<usize>load<u32>(starts + (rank << 2), 4) << 2);
    const here = base + place;
    for (; p < pEnd; p += 4) {
      const inQuery = load<i32>(p);
      const diagonal = diagonals + (<usize>((here - inQuery) & diagonalMask) << 2);
      const distance = here - load<i32>(diagonal);
      if (distance > window) {
        store<i32>(diagonal, here);
      } else if (distance >= WORD) {
        const score = extend(sequence, length, place, inQuery);
        // Hits up to the end of the extension, as far as it reached, are part of it.
        store<i32>(diagonal, max(here, here + reach - WORD));
        if (score > best) best = score;
      }
    }
  }
  return best;
}

/** Residues of the subject from the word's start to the end of the extension's best part. */
let reach: i32 = 0;

/** Score of the best stretch without gaps through the word, given up `drop` below the best on either side. */
function extend(sequence: usize, length: i32, place: i32, inQuery: i32): i32 {
  let q = query + <usize>inQuery;
  let s = sequence + <usize>place;
  let steps = min(length - place, queryLength - inQuery);
  let score: i32 = 0;
  let right: i32 = 0;
  reach = 0;
  for (let i = 0; i < steps; i++) {
    score += <i32>load<i8>(matrix + (<usize>load<u8>(q++) << 5) + <usize>load<u8>(s++));
    if (score > right) {
      right = score;
      reach = i + 1;
    } else if (score < right - drop) break;
  }
  q = query + <usize>inQuery;
  s = sequence + <usize>place;
  steps = min(place, inQuery);
  score = 0;
  let left: i32 = 0;
  for (let i = 0; i < steps; i++) {
    score += <i32>load<i8>(matrix + (<usize>load<u8>(--q) << 5) + <usize>load<u8>(--s));
    if (score > left) left = score;
    else if (score < left - drop) break;
  }
  return right + left;
}
