import { alignLocal, encode, eValue, partnersOf } from "../../motif/index.ts";
import type { PairedBlock, SequencePairs } from "../table/sequence-pairs.ts";

/** Proteins of one length with less identity are aligned. */
const MUTANT_IDENTITY = 0.9;
/** Alignments of unrelated proteins that are as good. */
const MAX_E_VALUE = 0.001;

/** Pairs residues by position if the second protein is the first or has substitutions of it, else by local alignment. */
export function pairSequences(a: string, b: string): SequencePairs {
  const inPlace = [{ a: 1, b: 1, length: a.length }];
  if (a.length === b.length && identityOf(inPlace, a, b) >= MUTANT_IDENTITY)
    return { by: "position", identity: identityOf(inPlace, a, b), blocks: inPlace };
  const [aligned] = alignLocal(encode(a), [encode(b)]);
  if (eValue(aligned.score, a.length, b.length, b.length) > MAX_E_VALUE)
    return { by: "none", identity: null, blocks: [] };
  const blocks = listBlocks(partnersOf(aligned));
  return { by: "alignment", identity: identityOf(blocks, a, b), blocks };
}

/** Identical share of the paired residues, 0 to 1. */
function identityOf(blocks: readonly PairedBlock[], a: string, b: string): number {
  let [pairs, identical] = [0, 0];
  for (const block of blocks)
    for (let i = -1; i < block.length - 1; i++) {
      pairs++;
      if (a[block.a + i] === b[block.b + i]) identical++;
    }
  return identical / pairs;
}

/** @param partners per residue of a its partner in b, both from 0; -1 without one */
function listBlocks(partners: Int32Array): PairedBlock[] {
  const blocks: PairedBlock[] = [];
  for (const [i, place] of partners.entries()) {
    if (place < 0) continue;
    const last = blocks.at(-1);
    if (last && last.a + last.length === i + 1 && last.b + last.length === place + 1) last.length++;
    else blocks.push({ a: i + 1, b: place + 1, length: 1 });
  }
  return blocks;
}
