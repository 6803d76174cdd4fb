import {
  type Corpus,
  decode,
  firstNotBelow,
  type ProteinIdentity,
  proteinsNamed,
  searchNames,
} from "../../motif/index.ts";
import { nearest, Problem } from "../../problem.ts";
import type { ProteinObject } from "../prediction/prediction.ts";

/** A protein of a corpus by its place in it. */
export function summarize(corpus: Corpus, index: number): ProteinObject {
  const length = corpus.offsets[index + 1] - corpus.offsets[index];
  return toProteinObject({ ...corpus.identity(index), length });
}

/** A protein by its accession: its index and its residues. @throws Problem not_found */
export function requireSequence(
  { findAccession, residues, offsets }: Corpus,
  accession: string,
): { index: number; sequence: string } {
  const index = findAccession(accession);
  if (index < 0) throw new Problem("not_found", "The corpus in use has no protein with this accession.");
  return { index, sequence: decode(residues.subarray(offsets[index], offsets[index + 1])) };
}

/** Near misses that are offered. */
const MAX_NEAR = 5;
/** Names among which near misses are sought; Swiss-Prot has more genes with some first letters. */
const MAX_COMPARED = 20_000;

/** Proteins by name, gene or species; if nothing has all words, `near` are those without one of them or with similar ones. */
export function findProteins(corpus: Corpus, query: string, limit: number) {
  const { total, proteins } = searchNames(corpus, query, limit);
  const near = total === 0 ? nearMisses(corpus, query) : [];
  return { total, results: proteins.map(toProteinObject), near, searched: corpus.sequenceCount };
}

function nearMisses(corpus: Corpus, query: string): ProteinObject[] {
  const words = query
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, 8);
  const texts =
    words.length === 1
      ? similarNames(corpus, words[0])
      : words.map((left) => words.filter((word) => word !== left).join(" "));
  const found = texts.flatMap((text) => searchNames(corpus, text, MAX_NEAR).proteins);
  const unique = new Map(found.map((one) => [one.index, one]));
  return Array.from(unique.values(), toProteinObject).slice(0, MAX_NEAR);
}

/** Genes, entry names and accessions that differ by a few letters, but not in the first one. */
function similarNames({ names: { genes, entryNames, accessions } }: Corpus, word: string): string[] {
  const similar = new Set<string>();
  for (const { count, key } of [genes, entryNames, accessions]) {
    const first = key === accessions.key ? word.charAt(0).toUpperCase() : word.charAt(0).toLowerCase();
    const from = firstNotBelow(count, key, first);
    for (let i = from; i < count && i < from + MAX_COMPARED && key(i).startsWith(first); i++)
      if (Math.abs(key(i).length - word.length) < 3) similar.add(key(i));
  }
  return nearest(word, similar);
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
