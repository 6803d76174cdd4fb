import { X } from "./alphabet.ts";

/**
 * Regions of low complexity after Wootton & Federhen, Comput. Chem. 1993, 17:149 (SEG): found by the entropy of a
 * sliding window, widened while the entropy stays low, then cut to the stretch whose composition is least likely.
 */

export interface SegParameters {
  /** Residues. */
  window: number;
  /** Entropy in bits that triggers, and the one up to which a region is widened. */
  trigger: number;
  extension: number;
}

/** SEG's own values for proteins. */
export const SEG: SegParameters = { window: 12, trigger: 2.2, extension: 2.5 };
/** At most so many residues are cut off a region when it is trimmed. */
const MAX_TRIM = 50;
const ALPHABET = 20;

/** ln(n!) as a growing table. */
const LOG_FACTORIAL: number[] = [0];
function logFactorial(n: number): number {
  for (let i = LOG_FACTORIAL.length; i <= n; i++) LOG_FACTORIAL.push(LOG_FACTORIAL[i - 1] + Math.log(i));
  return LOG_FACTORIAL[n];
}

/** Entropy in bits of every full window, the first at residue 0. A window without room is not there. */
function entropies(residues: Uint8Array, window: number): Float64Array {
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

/** How many letters occur once, twice ...: work space of `logProbability`, all zero between its calls. */
let lettersWith = new Int32Array(64);

/** ln of the probability that a random sequence has a composition with these counts, in whatever order (P0 of SEG). */
function logProbability(counts: Int32Array, length: number): number {
  if (lettersWith.length <= length) lettersWith = new Int32Array(length * 2);
  // Ways to arrange the residues, times ways to give the counts to letters, over all sequences.
  let log = logFactorial(length) - length * Math.log(ALPHABET);
  let held = 0;
  for (let a = 0; a < counts.length; a++) {
    const count = counts[a];
    if (count === 0) continue;
    log -= logFactorial(count);
    held++;
    // ln(n!) for n letters of one count, term by term.
    log -= Math.log(++lettersWith[count]);
  }
  for (let a = 0; a < counts.length; a++) lettersWith[counts[a]] = 0;
  const letters = Math.max(ALPHABET, held);
  return log + logFactorial(letters) - logFactorial(letters - held);
}

/** The stretch of residues[from, to) with the least likely composition, the longest first. */
function trim(residues: Uint8Array, from: number, to: number): [number, number] {
  const length = to - from;
  const least = Math.max(1, length - MAX_TRIM);
  let best: [number, number] = [from, to];
  let bestLog = Infinity;
  const counts = new Int32Array(32);
  for (let size = length; size >= least; size--) {
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

/** Regions of low complexity as [first, behind last], ascending, not overlapping. */
export function lowComplexity(
  residues: Uint8Array,
  { window, trigger, extension }: SegParameters = SEG,
): [number, number][] {
  const regions: [number, number][] = [];
  const entropy = entropies(residues, window);
  let i = 0;
  while (i < entropy.length) {
    if (entropy[i] > trigger) {
      i++;
      continue;
    }
    let first = i;
    let last = i;
    const floor = regions.length === 0 ? 0 : regions[regions.length - 1][1];
    while (first > floor && entropy[first - 1] <= extension) first--;
    while (last + 1 < entropy.length && entropy[last + 1] <= extension) last++;
    const [from, to] = trim(residues, first, last + window);
    regions.push([from, to]);
    // What the trimming left over to the right is looked at again.
    i = Math.max(i + 1, to);
  }
  return regions;
}

/** A copy with X for every residue in a region of low complexity. */
export function maskLowComplexity(residues: Uint8Array, parameters: SegParameters = SEG): Uint8Array {
  const masked = residues.slice();
  for (const [from, to] of lowComplexity(residues, parameters)) masked.fill(X, from, to);
  return masked;
}
