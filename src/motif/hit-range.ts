import type { Corpus } from "./corpus.ts";
import type { Hit } from "./search.ts";

/** Residues of the corpora in which a search finds the same hits in the same order; both ends included. */
export type SizeRange = readonly [least: number, most: number];

type Size = Pick<Corpus, "residueCount" | "offsets">;

/** The factor above the limit up to which E-values are known: until the corpus has half of its residues. */
export const KNOWN_E_VALUES = 2;

/** Far more than the rounding errors of E-values. */
const PRECISION = 1e-12;
/** Rounding errors of the smallest E-values, which have few digits. */
const SMALLEST = 2e-323;

/**
 * E-values are proportional to the residues of the corpus: in a larger one the weakest hits are lost, in a smaller one
 * weaker alignments become hits.
 * @param hits with E-values up to KNOWN_E_VALUES times the limit, in order
 */
export function sizeRange(hits: readonly Hit[], corpus: Size, maxEValue: number): SizeRange {
  const { residueCount } = corpus;
  if (!isOrderCertain(hits, corpus)) return [residueCount, residueCount];
  const weakest = hits.findLast(({ eValue }) => eValue <= maxEValue)?.eValue ?? 0;
  // No number of residues makes a hit of E-value 0 weaker.
  const maxResidues = weakest === 0 ? Infinity : ((residueCount * maxEValue) / weakest) * (1 - PRECISION);
  return [
    minSize(hits, corpus, maxEValue),
    Math.max(Math.floor(Math.min(maxResidues, Number.MAX_SAFE_INTEGER)), residueCount),
  ];
}

/** Residues of the smallest corpus in which hits above the limit stay above it. */
export function minSize(
  hits: readonly Hit[],
  { residueCount }: Pick<Corpus, "residueCount">,
  maxEValue: number,
): number {
  const above = hits.flatMap(({ eValue }) => (eValue > maxEValue ? eValue : []));
  const next = above.reduce((least, eValue) => Math.min(least, eValue), maxEValue * KNOWN_E_VALUES);
  return Math.min(residueCount, Math.ceil(((residueCount * maxEValue) / next) * (1 + PRECISION)));
}

/** True if no rounding can exchange hits whose E-values differ. */
function isOrderCertain(hits: readonly Hit[], { offsets }: Size): boolean {
  const subjectLength = ({ index }: Hit): number => offsets[index + 1] - offsets[index];
  return hits.every((hit, i) => {
    const next = hits[i + 1];
    if (next === undefined || next.eValue - hit.eValue > PRECISION * next.eValue + SMALLEST) return true;
    const isEqual = hit.rawScore === next.rawScore && subjectLength(hit) === subjectLength(next);
    return next.eValue === hit.eValue && (isEqual || hit.eValue === 0);
  });
}
