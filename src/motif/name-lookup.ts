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
  const words = corpus.names.speciesWords();
  const readSpeciesWords = (index: number): string => words[corpus.species(index)] ?? "";
  const ofSpecies = (proteins: readonly number[]): number[] =>
    proteins
      .filter((index) => species.every((word) => readSpeciesWords(index).includes(` ${word.toLowerCase()} `)))
      .toSorted((a, b) => speciesRank(readSpeciesWords(a)) - speciesRank(readSpeciesWords(b)) || a - b);
  const named = exactly(entryNames, key);
  const found = ofSpecies(named.length > 0 ? named : exactly(genes, key));
  return found.length > 0 || species.length === 0 ? found : ofSpecies(proteinsNamedAlike(corpus, key));
}

/**
 * Proteins whose entry names begin as those with a gene, or with `V` and the gene: UniProt names orthologs alike
 * (`P53_MOUSE` for TP53, of P53_HUMAN), and proteins of viruses such as E7 `VE7_HPV16`. Headers often lack the gene.
 * @param gene in lower case
 */
export function proteinsNamedAlike(corpus: Corpus, gene: string): number[] {
  const { entryNames, genes } = corpus.names;
  const stems = exactly(genes, gene)
    .slice(0, MAX_NAMESAKES)
    .flatMap((index) => corpus.identity(index).entryName?.toLowerCase().split("_")[0] ?? []);
  return [...new Set([...stems, `v${gene}`])].flatMap((stem) => {
    const [from, to] = [`${stem}_`, `${stem}_\uffff`].map((word) =>
      firstNotBelow(entryNames.count, entryNames.key, word),
    );
    return Array.from(entryNames.proteins(from, to));
  });
}
/** Proteins with a gene whose entry names are read. */
const MAX_NAMESAKES = 50;

function exactly({ count, key, proteins }: SortedKeys, word: string): number[] {
  const from = firstNotBelow(count, key, word);
  const to = firstNotBelow(count, key, `${word}\0`);
  return [...new Set(proteins(from, to))];
}

function speciesRank(words: string): number {
  const place = KNOWN_SPECIES.findIndex(({ taxon }) => words.includes(` ${taxon} `));
  return place < 0 ? KNOWN_SPECIES.length : place;
}

/** A protein that an identifier from elsewhere denotes. */
export interface IdentifiedProtein {
  index: number;
  /** True if the identifier is of another version or isoform, whose sequence may differ. */
  form: "same" | "version" | "isoform";
}

/**
 * The protein with this accession or entry name (`P04637`, `sp|P04637|P53_HUMAN`, `P53_HUMAN`); else another version
 * (`NP_000537.2` for `NP_000537.3`) or the canonical sequence of an isoform (`P04637` for `P04637-2`). Genes are not tried.
 */
export function identifyProtein(corpus: Corpus, identifier: string): IdentifiedProtein | null {
  const { accession, entryName } = readHeader(identifier);
  const index = [identifier, accession].map((name) => corpus.findAccession(name)).find((one) => one >= 0);
  if (index !== undefined) return { index, form: "same" };
  for (const name of [entryName, accession]) {
    const [found] = name?.includes("_") ? exactly(corpus.names.entryNames, name.toLowerCase()) : [];
    if (found !== undefined) return { index: found, form: "same" };
  }
  return findOtherVersion(corpus, accession) ?? canonicalProtein(corpus, accession);
}

function findOtherVersion(corpus: Corpus, accession: string): IdentifiedProtein | null {
  const [, stem] = /^(.+?)\.\d+$/.exec(accession) ?? [];
  const index = stem === undefined ? -1 : corpus.findAccession(stem);
  if (index >= 0) return { index, form: "same" };
  const other = findAnyVersion(corpus, stem ?? accession);
  return other < 0 ? null : { index: other, form: stem === undefined ? "same" : "version" };
}

function canonicalProtein(corpus: Corpus, accession: string): IdentifiedProtein | null {
  const [, canonical, isoform] = /^([A-Z0-9]{6,10})-(\d+)$/.exec(accession) ?? [];
  const index = canonical === undefined ? -1 : corpus.findAccession(canonical);
  return index < 0 ? null : { index, form: isoform === "1" ? "same" : "isoform" };
}

/** The protein whose accession is a stem and a version, or -1. */
function findAnyVersion(corpus: Corpus, stem: string): number {
  const { count, key, proteins } = corpus.names.accessions;
  const place = firstNotBelow(count, key, `${stem}.`);
  const isVersion =
    place < count && key(place).startsWith(`${stem}.`) && /^\.\d+$/.test(key(place).slice(stem.length));
  return isVersion ? proteins(place, place + 1)[0] : -1;
}
