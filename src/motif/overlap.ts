/** Residues of a protein from `start` to `end`, counted from 1, both included. */
interface Span {
  start: number;
  end: number;
}

/** Group of a match, from 1; `isBest` for the first match of the group. */
export interface OverlapGroup {
  group: number;
  isBest: boolean;
}

/** Fraction of the shorter match from which on two matches overlap. */
const MIN_OVERLAP = 0.5;

/**
 * The groups of matches of a protein, best first: each match joins the first group whose best match it overlaps by at
 * least MIN_OVERLAP of the shorter, else it begins one. Only best matches count, so that a chain of overlaps does not
 * become one group.
 */
export function groupOverlapping(spans: readonly Span[]): OverlapGroup[] {
  let groups = 0;
  const bestAt = new Map<number, (Span & { group: number })[]>();
  return spans.map(({ start, end }) => {
    const residues = Array.from({ length: end - start + 1 }, (_, i) => start + i);
    const found = residues
      .flatMap((residue) => bestAt.get(residue) ?? [])
      .filter((best) => overlap({ start, end }, best) >= MIN_OVERLAP)
      .map(({ group }) => group);
    if (found.length > 0) return { group: Math.min(...found), isBest: false };
    const best = { start, end, group: ++groups };
    for (const residue of residues) bestAt.set(residue, (bestAt.get(residue) ?? []).concat(best));
    return { group: groups, isBest: true };
  });
}

const countResidues = ({ start, end }: Span): number => end - start + 1;

/** Shared residues as a fraction of the shorter match. */
const overlap = (a: Span, b: Span): number =>
  (Math.min(a.end, b.end) - Math.max(a.start, b.start) + 1) / Math.min(countResidues(a), countResidues(b));
