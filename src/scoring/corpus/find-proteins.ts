import { type Corpus, decode, type ProteinIdentity, proteinsNamed, searchNames } from "../../motif/index.ts";
import type { ProteinObject } from "../prediction/prediction.ts";

/** A protein of a corpus by its place in it. */
export function summarize(corpus: Corpus, index: number): ProteinObject {
  const length = corpus.offsets[index + 1] - corpus.offsets[index];
  return toProteinObject({ ...corpus.identity(index), length });
}

/** Proteins by name, gene or species. */
export function findProteins(corpus: Corpus, query: string, limit: number) {
  const { total, proteins } = searchNames(corpus, query, limit);
  return { total, results: proteins.map(toProteinObject) };
}

/**
 * The protein of the corpus with the accession, entry name or gene and the sequence of a query; null without one, or if the corpus
 * cannot be read. People give their own names to sequences, so that the name alone proves nothing.
 */
export function identify(
  corpus: () => Corpus,
  request: { identifier: string; query: string } | null,
): ProteinObject | null {
  if (!request) return null;
  try {
    const opened = corpus();
    const { residues, offsets } = opened;
    const wanted = request.query.toUpperCase();
    const found = proteinsNamed(opened, request.identifier).find(
      (index) =>
        offsets[index + 1] - offsets[index] === wanted.length &&
        decode(residues.subarray(offsets[index], offsets[index + 1])) === wanted,
    );
    return found === undefined ? null : summarize(opened, found);
  } catch {
    return null;
  }
}

const toProteinObject = (found: ProteinIdentity & { length: number }): ProteinObject => {
  const { accession, entryName, description: name, gene, organism, taxon, length } = found;
  return { accession, entryName, name, gene, organism, taxon, length };
};
