import { statSync } from "node:fs";
import { organismTest, type ProteinIdentity } from "../../motif/index.ts";
import { familiesPath, listFamilies } from "../corpus/families-file.ts";
import { openedCorpus } from "../corpus/corpus.ts";

/** The families that a corpus has. */
export interface FamiliesOverview {
  /** Proteins with a family. */
  proteins: number;
  /** Bytes of their files. */
  bytes: number;
  /** Organisms of these proteins, those with most proteins first. */
  organisms: { name: string | null; taxon: number | null; proteins: number }[];
}

/** Organisms that are listed. */
const MAX_ORGANISMS = 200;

interface StoredFamilies {
  overview: FamiliesOverview;
  /** A protein with a family of each species. */
  species: number[];
}

let last: ({ path: string; changed: number } & StoredFamilies) | undefined;

/** @throws Problem bad_corpus */
export const familiesOverview = (corpus: { path: string; hash: string }): FamiliesOverview =>
  storedFamilies(corpus).overview;

/** An organism that has proteins with families; undefined if it has none. @throws Problem bad_corpus */
export function organismWithFamilies(
  corpus: { path: string; hash: string },
  organism: string,
): ProteinIdentity | undefined {
  const opened = openedCorpus(corpus.path);
  const isOfOrganism = organismTest([organism]);
  const found = storedFamilies(corpus).species.find((index) => isOfOrganism(opened, index));
  return found === undefined ? undefined : opened.identity(found);
}

function storedFamilies(corpus: { path: string; hash: string }): StoredFamilies {
  const changed = statSync(familiesPath(corpus.path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (last?.path !== corpus.path || last.changed !== changed)
    last = { path: corpus.path, changed, ...countFamilies(corpus) };
  return last;
}

function countFamilies(corpus: { path: string; hash: string }): StoredFamilies {
  const files = listFamilies(corpus);
  const proteins = new Set(files.flatMap((file) => file.proteins));
  const opened = openedCorpus(corpus.path);
  const bySpecies = new Map<number, { first: number; proteins: number }>();
  for (const index of proteins) {
    const species = opened.species(index);
    const known = bySpecies.get(species);
    if (known) known.proteins++;
    else bySpecies.set(species, { first: index, proteins: 1 });
  }
  bySpecies.delete(-1);
  const sorted = [...bySpecies.values()].sort((a, b) => b.proteins - a.proteins);
  const organisms = sorted.slice(0, MAX_ORGANISMS).map((species) => {
    const { organism, taxon } = opened.identity(species.first);
    return { name: organism, taxon, proteins: species.proteins };
  });
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return {
    overview: { proteins: proteins.size, bytes, organisms },
    species: sorted.map(({ first }) => first),
  };
}
