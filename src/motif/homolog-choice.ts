import type { Corpus } from "./corpus.ts";
import { DEFAULTS, type Options } from "./options.ts";
import { findSpecies } from "./species.ts";

/** The choice of homologs, besides the thresholds of the method. */
export type HomologChoice = Partial<
  Pick<Options, "organisms" | "leaveOut" | "minIdentity" | "maxIdentity" | "maxHomologs">
>;

const NAMES = ["organisms", "leaveOut", "minIdentity", "maxIdentity", "maxHomologs"] as const;

/** True if homologs were chosen otherwise than by the method, so that the null distribution holds only roughly. */
export const isChosen = (options: Options): boolean =>
  NAMES.some((name) => JSON.stringify(options[name]) !== JSON.stringify(DEFAULTS[name]));

/** True if a protein (index into the corpus) may be a homolog. */
export function eligibility(
  corpus: Corpus,
  { organisms, leaveOut }: Pick<Options, "organisms" | "leaveOut">,
): (index: number) => boolean {
  const excluded = new Set(leaveOut);
  const isOfOrganism = organismTest(organisms);
  // Reading the accession of every hit takes time.
  return (index) =>
    !(excluded.size > 0 && excluded.has(corpus.accession(index))) &&
    (organisms.length === 0 || isOfOrganism(corpus, index));
}

/** Finds the organisms of which the corpus has no protein. */
export function unknownOrganisms(corpus: Corpus, organisms: readonly string[]): string[] {
  const wanted = new Set(organisms);
  const seen = new Set<number>();
  for (let index = 0; index < corpus.sequenceCount && wanted.size > 0; index++) {
    const species = corpus.species(index);
    if (species < 0 || seen.has(species)) continue;
    seen.add(species);
    const names = speciesNames(corpus, index);
    for (const organism of wanted) if (names.includes(normalized(organism))) wanted.delete(organism);
  }
  return [...wanted];
}

const normalized = (organism: string): string => organism.trim().toLowerCase();

/** Names of a species in requests: scientific name, also without strain, NCBI's number, UniProt's mnemonic; lower case. */
function speciesNames(corpus: Corpus, index: number): string[] {
  const organism = corpus.organism(index) ?? "";
  // Test for a taxon or, without a taxon, a mnemonic.
  const key = corpus.speciesKey(index)?.replace(/^(ox|id):/, "");
  const mnemonics = [corpus.identity(index).entryName?.split("_")[1], findSpecies(organism)?.mnemonic];
  return [organism, organism.replace(/ \(.*/, ""), key, ...mnemonics].flatMap(
    (name) => name?.toLowerCase() ?? [],
  );
}

/** True if proteins are of organisms; each species is compared once. */
export function organismTest(organisms: readonly string[]): (corpus: Corpus, index: number) => boolean {
  const wanted = new Set(organisms.map(normalized));
  const bySpecies = new Map<number, boolean>([[-1, false]]);
  return (corpus, index) => {
    const species = corpus.species(index);
    const isWanted = bySpecies.get(species) ?? speciesNames(corpus, index).some((name) => wanted.has(name));
    bySpecies.set(species, isWanted);
    return isWanted;
  };
}
