import type { Match } from "./automaton-matches.ts";
import { matchesWithin } from "./automaton-matches.ts";
import type { AlignedHomolog } from "./divergence.ts";
import { SHIFT, SHIFT_RETENTION, MAX_TERMINUS_OFFSET } from "./options.ts";
import { type Motif, type Retention, lookaroundIn } from "./retention.ts";

/**
 * Retention of a match in the unaligned end of a homolog. The motif is searched between the positions
 * predicted from the last aligned column and from the end of the chain, extended by SHIFT. An anchored
 * pattern found at its position counts as 1. Null if the homolog has no residues there.
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
 * Expected range of a match in an unaligned end; null if the match is elsewhere or the end is too short. For
 * an anchored pattern the homolog's own end, whether aligned or not.
 */
function tailWindow(
  { start, end }: Match,
  { first, last, row }: AlignedHomolog,
  length: number,
  anchored: boolean,
): { from: number; to: number } | null {
  if (first < 0) return null;
  const isAfter = end - 1 > last;
  const isBefore = start < first;
  let byColumn: number;
  let byEnd: number;
  let unaligned: number;
  if (isAfter || (anchored && end === length)) {
    byColumn = row.before[last] + (start - last);
    byEnd = row.residues.length - (length - start);
    unaligned = row.residues.length - 1 - row.before[last];
  } else if (isBefore || (anchored && start === 0)) {
    byColumn = row.before[first] - (first - start);
    byEnd = start;
    unaligned = row.before[first];
  } else {
    return null;
  }
  if ((isAfter || isBefore) && unaligned < end - start) return null;
  if (Math.abs(byColumn - byEnd) > MAX_TERMINUS_OFFSET) byEnd = byColumn;
  return { from: Math.min(byColumn, byEnd), to: Math.max(byColumn, byEnd) + (end - start) };
}
