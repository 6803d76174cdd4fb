import type { Corpus } from "./corpus.ts";
import type { ProteinIdentity } from "./header.ts";
import { splitWords } from "./name-index-builder.ts";
import { proteinsNamedAlike } from "./name-lookup.ts";
import { firstNotBelow, type SortedKeys } from "./name-index.ts";
import { KNOWN_SPECIES } from "./species.ts";

export interface FoundProtein extends ProteinIdentity {
  /** Index of the protein in the corpus. */
  index: number;
  length: number;
}

/** Points of a word by what it matches: exactly, or as a beginning. */
const POINTS = {
  accession: [220, 60],
  entryName: [200, 80],
  gene: [180, 90],
  alike: [160],
  species: [120, 20],
  word: [50, 30],
} as const;
const MAX_WORDS = 8;
/** Shorter words, such as those of strains, do not find species. */
const SHORTEST_SPECIES = 3;
/** Number of best proteins whose names are read to order equal points. */
const MAX_READ = 200;
const SPECIES_RANKS = 32;

const placeByTaxon = new Map(KNOWN_SPECIES.map(({ taxon }, i) => [String(taxon), SPECIES_RANKS - 1 - i]));

/**
 * Proteins that every word of a text finds: by accession, entry name, gene, word of the name, or species (scientific or
 * English name, mnemonic, taxon), or the beginning of one of them; by a gene also proteins with such entry names. Best first: exact identifiers, then beginnings of
 * identifiers, then words of the name; among equals by species, the most studied first.
 */
export function searchNames(
  corpus: Corpus,
  text: string,
  limit: number,
): { total: number; proteins: FoundProtein[] } {
  const words = text
    .split(/[\s,;()"]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, MAX_WORDS);
  if (words.length === 0 || limit < 1) return { total: 0, proteins: [] };
  const points = words.map((word) => scoreNames(corpus, word));
  const places = Uint8Array.from(corpus.names.speciesWords(), speciesRank);
  // Points first, then the place of the species.
  const keys = new Uint16Array(corpus.sequenceCount);
  const histogram = new Uint32Array(65_536);
  let total = 0;
  for (let i = 0; i < keys.length; i++) {
    const sum = addPoints(points, i);
    if (sum === 0) continue;
    const species = corpus.species(i);
    const key = Math.min(sum, 2047) * SPECIES_RANKS + (places[species] ?? 0);
    keys[i] = key;
    histogram[key]++;
    total++;
  }
  const best = selectBest(keys, histogram, Math.max(limit, MAX_READ));
  return { total, proteins: orderByName(corpus, best, keys, text).slice(0, limit) };
}

/** Rank of a species among the preferred species, 0 for others. */
function speciesRank(words: string): number {
  const taxon = /(?<= )\d+(?= )/.exec(words)?.[0];
  return (taxon !== undefined && placeByTaxon.get(taxon)) || 0;
}

/** Zero unless every word has points. */
function addPoints(points: readonly Uint8Array[], i: number): number {
  let sum = 0;
  for (const one of points) {
    if (one[i] === 0) return 0;
    sum += one[i];
  }
  return sum;
}

/** Computes the points of a word for each protein. */
function scoreNames(corpus: Corpus, word: string): Uint8Array {
  const { names } = corpus;
  const lower = word.toLowerCase();
  const points = new Uint8Array(corpus.sequenceCount);
  for (const spelling of new Set([word, word.toUpperCase()]))
    awardPoints(points, names.accessions, spelling, POINTS.accession);
  awardPoints(points, names.entryNames, lower, POINTS.entryName);
  awardPoints(points, names.genes, lower, POINTS.gene);
  for (const i of proteinsNamedAlike(corpus, lower)) points[i] = Math.max(points[i], POINTS.alike[0]);
  const parts = splitWords(word);
  if (parts.length === 1) {
    awardPoints(points, names.words, parts[0], POINTS.word);
  } else {
    // A compound such as NF-kappa-B, three words of a name.
    const each = parts.map((part) => {
      const own = new Uint8Array(points.length);
      awardPoints(own, names.words, part, POINTS.word);
      return own;
    });
    for (let i = 0; i < points.length; i++)
      if (points[i] === 0 && addPoints(each, i) > 0) points[i] = POINTS.word[0];
  }
  if (word.length >= SHORTEST_SPECIES) addSpeciesPoints(points, corpus, parts);
  return points;
}

/** Adds points to the proteins of a key and of the keys that begin with it. */
function awardPoints(
  points: Uint8Array,
  { count, key, proteins }: SortedKeys,
  word: string,
  [exact, beginning]: readonly [number, number],
): void {
  const from = firstNotBelow(count, key, word);
  const between = firstNotBelow(count, key, `${word}\0`);
  const to = firstNotBelow(count, key, `${word}\uffff`);
  for (const i of proteins(from, between)) if (points[i] < exact) points[i] = exact;
  for (const i of proteins(between, to)) if (points[i] < beginning) points[i] = beginning;
}

/** Adds points to the proteins of the species that all parts of a word match. */
function addSpeciesPoints(points: Uint8Array, corpus: Corpus, parts: readonly string[]): void {
  const [exact, beginning] = POINTS.species;
  const given = Uint8Array.from(corpus.names.speciesWords(), (words) => {
    if (!parts.every((part) => words.includes(` ${part}`))) return 0;
    return parts.every((part) => words.includes(` ${part} `)) ? exact : beginning;
  });
  if (!given.some((value) => value > 0)) return;
  for (let i = 0; i < points.length; i++) {
    const species = corpus.species(i);
    if (species >= 0 && points[i] < given[species]) points[i] = given[species];
  }
}

/** Proteins with the highest keys, at most `limit`, in the order of the corpus. */
function selectBest(keys: Uint16Array, histogram: Uint32Array, limit: number): number[] {
  let lowest = histogram.length - 1;
  let above = 0;
  while (lowest > 1 && above + histogram[lowest] < limit) above += histogram[lowest--];
  let left = limit - above;
  const best: number[] = [];
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] > lowest || (keys[i] === lowest && left-- > 0)) best.push(i);
  }
  return best;
}

/** Sorts by key, then by names that begin with the text, then by length of the name. */
function orderByName(corpus: Corpus, best: readonly number[], keys: Uint16Array, text: string) {
  const lower = text.trim().toLowerCase();
  return best
    .map((index) => {
      const identity = corpus.identity(index);
      const begins = identity.description.toLowerCase().startsWith(lower) ? 1 : 0;
      const length = corpus.offsets[index + 1] - corpus.offsets[index];
      return { key: keys[index] + begins * SPECIES_RANKS, found: { index, length, ...identity } };
    })
    .sort(
      (a, b) =>
        b.key - a.key ||
        a.found.description.length - b.found.description.length ||
        a.found.index - b.found.index,
    )
    .map(({ found }): FoundProtein => found);
}
