import type { Corpus } from "./corpus.ts";
import { DEFAULTS, type Options } from "./options.ts";

/** Which hits may be homologs, besides the thresholds of the method. */
export type HomologChoice = Partial<
  Pick<Options, "organisms" | "leaveOut" | "minIdentity" | "maxIdentity" | "maxHomologs">
>;

const NAMES = ["organisms", "leaveOut", "minIdentity", "maxIdentity", "maxHomologs"] as const;

/** Whether homologs were chosen otherwise than by the method, so that the null distribution holds only roughly. */
export const isChosen = (options: Options): boolean =>
  NAMES.some((name) => JSON.stringify(options[name]) !== JSON.stringify(DEFAULTS[name]));

/** The choice in words. */
export function describeChoice(options: Options): string {
  const { organisms, leaveOut, minIdentity, maxIdentity, maxHomologs } = options;
  const percent = (fraction: number): string => `${Number((100 * fraction).toPrecision(6))} %`;
  const parts = [
    organisms.length > 0 ? `of ${organisms.join(", ")}` : "",
    minIdentity !== DEFAULTS.minIdentity || maxIdentity !== DEFAULTS.maxIdentity
      ? `with ${percent(minIdentity)} to ${percent(maxIdentity)} identity`
      : "",
    maxHomologs === DEFAULTS.maxHomologs ? "" : `at most ${maxHomologs}`,
    leaveOut.length > 0 ? `without ${leaveOut.join(", ")}` : "",
  ].filter(Boolean);
  return `Homologs were chosen: ${parts.join("; ")}. P values hold for the default choice, here roughly.`;
}

/** Whether a protein (index into the corpus) may be a homolog. */
export function eligibility(
  corpus: Corpus,
  { organisms, leaveOut }: Pick<Options, "organisms" | "leaveOut">,
): (index: number) => boolean {
  const excluded = new Set(leaveOut);
  const isOf = matcher(organisms);
  return (index) => !excluded.has(corpus.accession(index)) && isOf(corpus, index);
}

/** Whether the corpus has a protein of an organism. */
export function hasOrganism(corpus: Corpus, organism: string): boolean {
  const isOf = matcher([organism]);
  for (let index = 0; index < corpus.sequenceCount; index++) if (isOf(corpus, index)) return true;
  return false;
}

/** Organisms are given by scientific name, in either case, or by NCBI's number. */
function matcher(organisms: readonly string[]): (corpus: Corpus, index: number) => boolean {
  if (organisms.length === 0) return () => true;
  const wanted = new Set(organisms.map((name) => name.trim().toLowerCase()));
  const bySpecies = new Map<number, boolean>();
  return (corpus, index) => {
    const species = corpus.species(index);
    if (species < 0) return false;
    const known = bySpecies.get(species);
    if (known !== undefined) return known;
    const name = corpus.organism(index)?.toLowerCase() ?? "";
    const taxon = corpus.speciesKey(index)?.replace(/^ox:/, "") ?? "";
    const isWanted = wanted.has(name) || wanted.has(name.replace(/ \(.*/, "")) || wanted.has(taxon);
    bySpecies.set(species, isWanted);
    return isWanted;
  };
}
