import { X } from "./alphabet.ts";

/**
 * Regions of low complexity (SEG: Wootton & Federhen, Comput. Chem. 1993, 17:149): windows of low entropy,
 * extended while the entropy stays low, then trimmed to the segment with the least likely composition.
 */

export interface SegParameters {
  window: number;
  /** Entropy in bits that starts a region, and that up to which it is extended. */
  trigger: number;
  extension: number;
}

/** SEG's defaults for proteins. */
export const SEG: SegParameters = { window: 12, trigger: 2.2, extension: 2.5 };
/** Maximum number of residues trimmed off a region. */
const MAX_TRIM = 50;
const ALPHABET = 20;

/** ln n and ln n! by n; `extendTables` lengthens them. */
let logs = new Float64Array(1);
let logFactorials = new Float64Array(1);
/** Number of letters with each count: buffer of `logProbability`, all zero between calls. */
let lettersWith = new Int32Array(1);

function extendTables(length: number): void {
  if (logs.length > length) return;
  logs = Float64Array.from({ length: length * 2 }, (_, n) => Math.log(n));
  logFactorials = new Float64Array(logs.length);
  for (let n = 2; n < logs.length; n++) logFactorials[n] = logFactorials[n - 1] + logs[n];
  lettersWith = new Int32Array(logs.length);
}

/** Entropy in bits of each full window, by its first residue. */
export function windowEntropies(residues: Uint8Array, window: number): Float64Array {
  const count = Math.max(0, residues.length - window + 1);
  const out = new Float64Array(count);
  const counts = new Int32Array(32);
  const term = Float64Array.from({ length: window + 1 }, (_, n) => (n === 0 ? 0 : n * Math.log2(n)));
  let sum = 0;
  for (let i = 0; i < residues.length; i++) {
    const entering = residues[i] & 31;
    sum += term[counts[entering] + 1] - term[counts[entering]];
    counts[entering]++;
    if (i < window - 1) continue;
    out[i - window + 1] = Math.log2(window) - sum / window;
    const leaving = residues[i - window + 1] & 31;
    sum += term[counts[leaving] - 1] - term[counts[leaving]];
    counts[leaving]--;
  }
  return out;
}

/**
 * ln of the probability that a random sequence has a composition with these counts in any order (P0 of SEG).
 */
function logProbability(counts: Int32Array, length: number): number {
  let log = logFactorials[length] - length * logs[ALPHABET];
  let distinct = 0;
  for (let a = 0; a < counts.length; a++) {
    const count = counts[a];
    if (count === 0) continue;
    log -= logFactorials[count];
    distinct++;
    log -= logs[++lettersWith[count]];
  }
  for (let a = 0; a < counts.length; a++) lettersWith[counts[a]] = 0;
  const letters = Math.max(ALPHABET, distinct);
  return log + logFactorials[letters] - logFactorials[letters - distinct];
}

/** Segment of residues[from, to) with the least likely composition; the longest of several. */
function trim(residues: Uint8Array, from: number, to: number): [number, number] {
  const length = to - from;
  extendTables(Math.max(length, 32));
  let best: [number, number] = [from, to];
  let bestLog = Infinity;
  const counts = new Int32Array(32);
  for (let size = length; size > Math.max(1, length - MAX_TRIM); size--) {
    counts.fill(0);
    for (let i = from; i < to; i++) {
      counts[residues[i] & 31]++;
      if (i - from < size - 1) continue;
      const start = i - size + 1;
      const log = logProbability(counts, size);
      if (log < bestLog) {
        bestLog = log;
        best = [start, i + 1];
      }
      counts[residues[start] & 31]--;
    }
  }
  return best;
}

/** Regions of low complexity as [start, end), ascending and disjoint. */
export function lowComplexity(residues: Uint8Array, parameters: SegParameters = SEG): [number, number][] {
  const merged: [number, number][] = [];
  for (const [from, to] of findRegions(residues, parameters).sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** The regions unordered; they may overlap. */
function findRegions(residues: Uint8Array, parameters: SegParameters): [number, number][] {
  const { window, trigger, extension } = parameters;
  const regions: [number, number][] = [];
  const entropy = windowEntropies(residues, window);
  // First window that no earlier region contains.
  let floor = 0;
  for (let i = 0; i < entropy.length; i++) {
    if (entropy[i] > trigger) continue;
    let first = i;
    let last = i;
    while (first > floor && entropy[first - 1] <= extension) first--;
    while (last + 1 < entropy.length && entropy[last + 1] <= extension) last++;
    const [from, to] = trim(residues, first, last + window);
    if (i + window <= from) {
      // The window was trimmed off: it has a region of its own.
      for (const [start, end] of findRegions(residues.subarray(first, from), parameters))
        regions.push([first + start, first + end]);
    }
    regions.push([from, to]);
    i = Math.min(last, to - 1);
    floor = i + 1;
  }
  return regions;
}

/** Copy with the regions of low complexity replaced by X. */
export function maskLowComplexity(residues: Uint8Array, parameters: SegParameters = SEG): Uint8Array {
  const masked = residues.slice();
  for (const [from, to] of lowComplexity(residues, parameters)) masked.fill(X, from, to);
  return masked;
}
