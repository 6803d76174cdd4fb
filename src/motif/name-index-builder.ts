import type { NameSection } from "./corpus-format.ts";
import { packTexts, wordBytes } from "./corpus-format.ts";
import type { ProteinIdentity } from "./header.ts";
import { findSpecies } from "./species.ts";

/** The words of a name, in lower case. */
export const splitWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Collects the names of proteins, in the order of the corpus, into the sections that `searchNames` reads. */
export class NameIndexBuilder {
  /** Gene in lower case; empty if the header has none. */
  readonly #entryNames: string[] = [];
  readonly #genes: string[] = [];
  readonly #wordNumbers = new Map<string, number>();
  /** Numbers of the words of all proteins, and where those of each protein begin. */
  readonly #words: number[] = [];
  readonly #starts: number[] = [0];
  readonly #speciesWords: string[] = [];

  /** @param species its number in the corpus, or -1 */
  add(identity: Omit<ProteinIdentity, "accession">, species: number): void {
    this.#entryNames.push((identity.entryName ?? "").toLowerCase());
    this.#genes.push((identity.gene ?? "").toLowerCase());
    for (const word of new Set(splitWords(identity.description))) {
      let number = this.#wordNumbers.get(word);
      if (number === undefined) this.#wordNumbers.set(word, (number = this.#wordNumbers.size));
      this.#words.push(number);
    }
    this.#starts.push(this.#words.length);
    if (species === this.#speciesWords.length) this.#speciesWords.push(listSpeciesWords(identity));
  }

  finish(): Record<NameSection, Uint8Array> {
    const words = [...this.#wordNumbers.keys()].sort();
    const { proteins, offsets } = this.#indexWords(words);
    const texts = packTexts(words);
    return {
      byEntryName: sortedBy(this.#entryNames),
      byGene: sortedBy(this.#genes),
      words: texts.bytes,
      wordOffsets: wordBytes(texts.offsets),
      wordProteins: wordBytes(proteins),
      wordProteinOffsets: wordBytes(offsets),
      speciesWords: new TextEncoder().encode(this.#speciesWords.join("\n")),
    };
  }

  /** Ascending indexes of the proteins whose names contain a word, per word. */
  #indexWords(words: readonly string[]): { proteins: Uint32Array; offsets: Uint32Array } {
    const place = new Uint32Array(words.length);
    for (const [i, word] of words.entries()) place[this.#wordNumbers.get(word)!] = i;
    const offsets = new Uint32Array(words.length + 1);
    for (const number of this.#words) offsets[place[number] + 1]++;
    for (let i = 0; i < words.length; i++) offsets[i + 1] += offsets[i];
    const next = offsets.slice();
    const proteins = new Uint32Array(this.#words.length);
    for (let protein = 0; protein + 1 < this.#starts.length; protein++)
      for (let k = this.#starts[protein]; k < this.#starts[protein + 1]; k++)
        proteins[next[place[this.#words[k]]]++] = protein;
    return { proteins, offsets };
  }
}

/** Indices of the texts that are not empty, in the order of the texts. Sorting strings without a function is fast. */
function sortedBy(texts: readonly string[]): Uint8Array {
  const numbered = texts.flatMap((text, i) =>
    text === "" ? [] : [`${text}\0${String(i).padStart(10, "0")}`],
  );
  return wordBytes(numbered.sort().map((text) => Number(text.slice(-10))));
}

/** The words by which a species is found, with a space on both sides of each. */
function listSpeciesWords({
  organism,
  taxon,
  entryName,
}: Pick<ProteinIdentity, "organism" | "taxon" | "entryName">): string {
  const known = findSpecies(organism ?? undefined);
  const mnemonic = entryName?.split("_")[1] ?? known?.mnemonic ?? "";
  const words = splitWords([organism ?? "", taxon ?? "", mnemonic, known?.common ?? ""].join(" "));
  return ` ${[...new Set(words)].join(" ")} `;
}
