import type { AlignedRow } from "./aligned-rows.ts";

const RESIDUES = "ACDEFGHIKLMNPQRSTVWY";
/** Information of a column with one residue, in bits. */
export const MOST_BITS = Math.log2(RESIDUES.length);

/** A letter of a sequence logo; its height is its share of the column's information. */
export interface LogoLetter {
  residue: string;
  bits: number;
}

/**
 * The letters of a column, the smallest first (Schneider & Stephens, NAR 1990, 18:6097): residues by weight, corrected
 * for the effective number of homologs, and scaled by the share of homologs that have a residue here. Homologs that do
 * not cover the column do not count.
 */
export function makeLogo(
  rows: readonly AlignedRow[],
  weights: readonly number[],
  column: number,
): LogoLetter[] {
  const sums = new Map<string, number>();
  let [covered, occupied, squares] = [0, 0, 0];
  for (const [i, { residues, first, last }] of rows.entries()) {
    if (column < first || column > last) continue;
    covered += weights[i];
    const residue = residues[column - 1];
    if (!RESIDUES.includes(residue)) continue;
    occupied += weights[i];
    squares += weights[i] ** 2;
    sums.set(residue, (sums.get(residue) ?? 0) + weights[i]);
  }
  if (occupied <= 0) return [];
  const shares = [...sums].map(([residue, sum]) => ({ residue, share: sum / occupied }));
  const entropy = shares.reduce((total, { share }) => total - share * Math.log2(share), 0);
  const correction = ((RESIDUES.length - 1) * squares) / (2 * Math.LN2 * occupied ** 2);
  const bits = (Math.max(0, MOST_BITS - entropy - correction) * occupied) / covered;
  return shares
    .map(({ residue, share }) => ({ residue, bits: share * bits }))
    .toSorted((a, b) => a.bits - b.bits || b.residue.localeCompare(a.residue));
}
