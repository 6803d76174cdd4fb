import { type Corpus, type ProteinIdentity, searchNames } from "../../motif/index.ts";

/** A protein of a corpus, as its FASTA header describes it. */
export interface ProteinSummary extends Omit<ProteinIdentity, "description"> {
  name: string;
  length: number;
}

export function summarize(corpus: Corpus, index: number): ProteinSummary {
  const length = corpus.offsets[index + 1] - corpus.offsets[index];
  return summaryOf({ ...corpus.identity(index), length });
}

/** Proteins by name, gene or species. */
export function findProteins(corpus: Corpus, query: string, limit: number) {
  const { total, proteins } = searchNames(corpus, query, limit);
  return { total, results: proteins.map(summaryOf) };
}

const summaryOf = (found: ProteinIdentity & { length: number }): ProteinSummary => {
  const { accession, entryName, description: name, gene, organism, taxon, length } = found;
  return { accession, entryName, name, gene, organism, taxon, length };
};
