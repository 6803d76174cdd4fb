import type { Corpus } from "./corpus.ts";
import { readHeader } from "./header.ts";
import { firstNotBelow, type SortedKeys } from "./name-index.ts";
import { KNOWN_SPECIES } from "./species.ts";

/**
 * Proteins with exactly this accession, else this entry name, else this symbol of a gene, of which there may be one in
 * each species; `TP53 mouse` chooses a species. The most studied species comes first.
 */
export function proteinsNamed(corpus: Corpus, name: string): number[] {
  const [identifier = "", ...species] = name.trim().split(/\s+/);
  const byAccession = [identifier, readHeader(identifier).accession]
    .map((accession) => corpus.findAccession(accession))
    .find((index) => index >= 0);
  if (byAccession !== undefined) return species.length === 0 ? [byAccession] : [];
  const key = identifier.toLowerCase();
  const { entryNames, genes } = corpus.names;
  const named = exactly(entryNames, key);
  const words = corpus.names.speciesWords();
  const wordsOf = (index: number): string => words[corpus.species(index)] ?? "";
  return (named.length > 0 ? named : exactly(genes, key))
    .filter((index) => species.every((word) => wordsOf(index).includes(` ${word.toLowerCase()} `)))
    .toSorted((a, b) => placeOf(wordsOf(a)) - placeOf(wordsOf(b)) || a - b);
}

function exactly({ count, key, proteins }: SortedKeys, word: string): number[] {
  const from = firstNotBelow(count, key, word);
  const to = firstNotBelow(count, key, `${word}\0`);
  return [...new Set(proteins(from, to))];
}

function placeOf(words: string): number {
  const place = KNOWN_SPECIES.findIndex(({ taxon }) => words.includes(` ${taxon} `));
  return place < 0 ? KNOWN_SPECIES.length : place;
}
