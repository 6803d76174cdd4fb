import { type Corpus, organismTest, proteinsNamed } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";

/** Proteins of a corpus; all of them if neither is given. */
export interface ProteinSelection {
  /** NCBI taxon, scientific name, or UniProt's mnemonic. */
  organism?: string | undefined;
  /** Accessions, entry names or genes, one per line; blank lines and lines that start with `#` are skipped. */
  names?: string | undefined;
}

/** Indexes in the corpus, ascending. @throws Problem not_found, invalid_request naming the lines */
export function selectProteins(corpus: Corpus, { organism, names }: ProteinSelection): number[] {
  const isOfOrganism = organismTest(organism === undefined ? [] : [organism]);
  const isSelected = (index: number): boolean => organism === undefined || isOfOrganism(corpus, index);
  if (names !== undefined) return readNames(corpus, names, isSelected);
  const all = Array.from({ length: corpus.sequenceCount }, (_, index) => index);
  const found = all.filter(isSelected);
  if (found.length > 0) return found;
  throw new Problem(
    "not_found",
    `organism: no protein of corpus ${corpus.name} is of "${organism}". Use the taxon, scientific name or mnemonic in its headers (OX=9606, OS=Homo sapiens, _HUMAN).`,
  );
}

/** Unknown names that an error lists. */
const MAX_REPORTED = 20;

/** If several proteins have the name, the protein of the most studied species counts. */
function readNames(corpus: Corpus, text: string, isSelected: (index: number) => boolean): number[] {
  const indexes = new Set<number>();
  const unknown: string[] = [];
  for (const [i, line] of text.split(/\r\n|\r|\n/).entries()) {
    const name = line.trim();
    if (name === "" || name.startsWith("#")) continue;
    const index = proteinsNamed(corpus, name).find(isSelected);
    if (index === undefined) unknown.push(`line ${i + 1} ${JSON.stringify(name.slice(0, 60))}`);
    else indexes.add(index);
  }
  if (unknown.length > 0) {
    const more = unknown.length > MAX_REPORTED ? ` and ${unknown.length - MAX_REPORTED} more` : "";
    throw new Problem(
      "invalid_request",
      `proteins: the selected proteins of corpus ${corpus.name} have no such accession, entry name or gene: ${unknown.slice(0, MAX_REPORTED).join(", ")}${more}.`,
    );
  }
  if (indexes.size > 0) return [...indexes].sort((a, b) => a - b);
  throw new Problem(
    "invalid_request",
    "proteins: the list is empty. Expected one accession or gene per line.",
  );
}
