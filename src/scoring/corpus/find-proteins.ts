import { type Corpus, searchNames } from "../../motif/index.ts";

/** Proteins by name, gene or species, as JSON has them. */
export function findProteins(corpus: Corpus, query: string, limit: number) {
  const { total, proteins } = searchNames(corpus, query, limit);
  return {
    total,
    results: proteins.map(({ accession, entryName, description: name, gene, organism, taxon, length }) => ({
      accession,
      entryName,
      name,
      gene,
      organism,
      taxon,
      length,
    })),
  };
}
