import { type Corpus, decode } from "../../motif/index.ts";
import type { ProteomeRow } from "./table.ts";

/** Residues beside a match that are shown. */
const FLANK = 4;

/** The residues before and after a match; empty at an end of the protein, or if the corpus lacks it. */
export function readFlanks(
  corpus: Corpus | null,
  { protein: { accession, length }, start, end }: Pick<ProteomeRow, "protein" | "start" | "end">,
): { before: string; after: string } {
  const index = corpus?.findAccession(accession) ?? -1;
  if (!corpus || index < 0) return { before: "", after: "" };
  const first = corpus.offsets[index];
  const residues = (from: number, to: number): string =>
    decode(corpus.residues.subarray(first + Math.max(0, from), first + Math.min(length, to)));
  return { before: residues(start - 1 - FLANK, start - 1), after: residues(end, end + FLANK) };
}
