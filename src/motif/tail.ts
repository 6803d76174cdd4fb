import type { Match } from "./automaton-matches.ts";
import { matchesWithin } from "./automaton-matches.ts";
import type { AlignedHomolog } from "./divergence.ts";
import { SHIFT, SHIFT_RETENTION, MAX_TERMINUS_OFFSET } from "./options.ts";
import { type Motif, type Retention, lookaroundIn } from "./retention.ts";

/**
 * Retention of a match that lies in a loose end: beyond the aligned part of a homolog that itself goes on there,
 * as end gaps that cost nothing let it. The motif is looked for between where the last aligned column and where the end of
 * the chain put it, and SHIFT to either side. A pattern bound to the end of the chain is found in its one
 * place or not at all, and is worth 1 there. Null where the homolog has no residues to tell.
 *
 * @param length of the query.
 */
export function tailRetention(
  motif: Motif,
  match: Match,
  homolog: AlignedHomolog,
  length: number,
): Retention | null {
  const window = tailWindow(match, homolog, length, motif.automaton.anchored);
  if (window === null) return null;
  const { row } = homolog;
  const left = Math.max(0, window.from - SHIFT);
  const right = Math.min(row.residues.length, window.to + SHIFT);
  const isThere =
    right > left && matchesWithin(motif.simulation, row.residues, left, right, lookaroundIn(motif, homolog));
  if (isThere) {
    return motif.automaton.anchored
      ? { value: 1, state: "conserved" }
      : { value: SHIFT_RETENTION, state: "shifted" };
  }
  return { value: 0, state: "substituted" };
}

/**
 * Where in the homolog a match in a loose end is to be expected; null where it lies in none, or in one too short to hold
 * it. A pattern bound to an end is looked for at the homolog's own end wherever that is aligned.
 */
function tailWindow(
  { start, end }: Match,
  { first, last, row }: AlignedHomolog,
  length: number,
  anchored: boolean,
): { from: number; to: number } | null {
  if (first < 0) return null;
  const isBehind = end - 1 > last;
  const isBefore = start < first;
  let byColumn: number;
  let byEnd: number;
  let loose: number;
  if (isBehind || (anchored && end === length)) {
    byColumn = row.before[last] + (start - last);
    byEnd = row.residues.length - (length - start);
    loose = row.residues.length - 1 - row.before[last];
  } else if (isBefore || (anchored && start === 0)) {
    byColumn = row.before[first] - (first - start);
    byEnd = start;
    loose = row.before[first];
  } else {
    return null;
  }
  if ((isBehind || isBefore) && loose < end - start) return null;
  if (Math.abs(byColumn - byEnd) > MAX_TERMINUS_OFFSET) byEnd = byColumn;
  return { from: Math.min(byColumn, byEnd), to: Math.max(byColumn, byEnd) + (end - start) };
}
