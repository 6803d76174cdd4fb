/** Paired residues of two proteins without a gap, from 1. */
export interface PairedBlock {
  a: number;
  b: number;
  length: number;
}

/** How the residues of two proteins are paired. */
export interface SequencePairs {
  by: "position" | "alignment" | "none";
  /** Identical share of the paired residues, 0 to 1; null without pairs. */
  identity: number | null;
  blocks: PairedBlock[];
}

/** The partner of a residue of one protein in the other; null without one. */
export function findPartner(blocks: readonly PairedBlock[], residue: number, of: "a" | "b"): number | null {
  const block = blocks.find((one) => residue >= one[of] && residue < one[of] + one.length);
  return block ? residue - block[of] + block[of === "a" ? "b" : "a"] : null;
}
