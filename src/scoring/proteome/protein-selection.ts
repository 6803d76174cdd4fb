import type { Corpus } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";

/** Proteins of a corpus; all of them if neither is given. */
export interface ProteinSelection {
  /** NCBI taxon, scientific name, or UniProt's mnemonic. */
  organism?: string | undefined;
  /** Accessions, one per line; blank lines and lines that start with `#` are skipped. */
  accessions?: string | undefined;
}

/** Indexes in the corpus, ascending. @throws Problem not_found, invalid_request naming the line */
export function selectProteins(corpus: Corpus, { organism, accessions }: ProteinSelection): number[] {
  const listed = accessions === undefined ? null : readAccessions(corpus, accessions);
  if (organism === undefined) return listed ?? Array.from({ length: corpus.sequenceCount }, (_, i) => i);
  const isSelected = speciesTest(corpus, organism);
  const candidates = listed ?? corpus.offsets.subarray(0, corpus.sequenceCount).keys();
  const found = [...candidates].filter((index) => isSelected(corpus.species(index)));
  if (found.length > 0) return found;
  throw new Problem(
    "not_found",
    `organism: no protein of corpus ${corpus.name}${listed ? " in the list" : ""} is of "${organism}". Use the taxon, scientific name or mnemonic in its headers (OX=9606, OS=Homo sapiens, _HUMAN).`,
  );
}

/** Whether a number of a species denotes the organism. */
function speciesTest(corpus: Corpus, organism: string): (species: number) => boolean {
  const wanted = organism.trim().toLowerCase();
  const known = new Map<number, boolean>([[-1, false]]);
  for (let index = 0; index < corpus.sequenceCount && known.size <= corpus.speciesCount; index++) {
    const species = corpus.species(index);
    if (known.has(species)) continue;
    const { organism: name, taxon, entryName } = corpus.identity(index);
    const names = [name, String(taxon), entryName?.split("_")[1]];
    known.set(
      species,
      names.some((one) => one?.toLowerCase() === wanted),
    );
  }
  return (species) => known.get(species)!;
}

function readAccessions(corpus: Corpus, text: string): number[] {
  const indexes = new Set<number>();
  for (const [i, line] of text.split(/\r\n|\r|\n/).entries()) {
    const accession = line.trim();
    if (accession === "" || accession.startsWith("#")) continue;
    const index = corpus.findAccession(accession);
    if (index < 0)
      throw new Problem(
        "invalid_request",
        `proteins, line ${i + 1}: corpus ${corpus.name} has no protein ${JSON.stringify(accession)}. Expected one accession per line.`,
      );
    indexes.add(index);
  }
  if (indexes.size === 0)
    throw new Problem("invalid_request", "proteins: the list is empty. Expected one accession per line.");
  return [...indexes].sort((a, b) => a - b);
}
