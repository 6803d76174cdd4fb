/** Species that people call by an English name, and how databases denote them; the most studied first. */
export interface Species {
  /** Lower case. */
  common: string;
  organism: string;
  /** NCBI taxon. */
  taxon: number;
  /** Species mnemonic of UniProt's entry names. */
  mnemonic: string;
  /** Prefix of Ensembl's stable identifiers; null if it has none. */
  ensembl: string | null;
}

const species = (
  common: string,
  organism: string,
  taxon: number,
  mnemonic: string,
  ensembl: string | null = null,
): Species => ({ common, organism, taxon, mnemonic, ensembl });

export const KNOWN_SPECIES: readonly Species[] = [
  species("human", "Homo sapiens", 9606, "HUMAN", "ENS"),
  species("mouse", "Mus musculus", 10090, "MOUSE", "ENSMUS"),
  species("rat", "Rattus norvegicus", 10116, "RAT", "ENSRNO"),
  species("cow bovine", "Bos taurus", 9913, "BOVIN", "ENSBTA"),
  species("pig", "Sus scrofa", 9823, "PIG", "ENSSSC"),
  species("dog", "Canis lupus familiaris", 9615, "CANLF", "ENSCAF"),
  species("cat", "Felis catus", 9685, "FELCA", "ENSFCA"),
  species("horse", "Equus caballus", 9796, "HORSE", "ENSECA"),
  species("sheep", "Ovis aries", 9940, "SHEEP", "ENSOAR"),
  species("rabbit", "Oryctolagus cuniculus", 9986, "RABIT", "ENSOCU"),
  species("chimpanzee", "Pan troglodytes", 9598, "PANTR", "ENSPTR"),
  species("macaque rhesus", "Macaca mulatta", 9544, "MACMU", "ENSMMU"),
  species("orangutan", "Pongo abelii", 9601, "PONAB", "ENSPPY"),
  species("chicken", "Gallus gallus", 9031, "CHICK", "ENSGAL"),
  species("frog xenopus", "Xenopus laevis", 8355, "XENLA"),
  species("frog xenopus", "Xenopus tropicalis", 8364, "XENTR", "ENSXET"),
  species("zebrafish", "Danio rerio", 7955, "DANRE", "ENSDAR"),
  species("fly", "Drosophila melanogaster", 7227, "DROME"),
  species("worm", "Caenorhabditis elegans", 6239, "CAEEL"),
  species("yeast", "Saccharomyces cerevisiae", 4932, "YEAST"),
  species("yeast", "Saccharomyces cerevisiae (strain ATCC 204508 / S288c)", 559292, "YEAST"),
  species("fission yeast", "Schizosaccharomyces pombe (strain 972 / ATCC 24843)", 284812, "SCHPO"),
  species("thale cress", "Arabidopsis thaliana", 3702, "ARATH"),
  species("rice", "Oryza sativa subsp. japonica", 39947, "ORYSJ"),
  species("maize", "Zea mays", 4577, "MAIZE"),
  species("e.coli coli", "Escherichia coli (strain K12)", 83333, "ECOLI"),
];

const ranks = new Map<string, number>();
for (const [rank, { organism, mnemonic }] of KNOWN_SPECIES.entries())
  for (const key of [organism.toLowerCase(), mnemonic]) if (!ranks.has(key)) ranks.set(key, rank);

const byEnsembl = new Map(KNOWN_SPECIES.map((one) => [one.ensembl, one]));

/** Place of an organism or a mnemonic in KNOWN_SPECIES, or -1. */
export const speciesRank = (organism: string): number =>
  ranks.get(organism) ?? ranks.get(organism.toLowerCase()) ?? -1;

/** The species of an organism or a mnemonic, or undefined. */
export const findSpecies = (organism: string | undefined): Species | undefined =>
  organism === undefined ? undefined : KNOWN_SPECIES[speciesRank(organism)];

/** The species of Ensembl's identifiers with a prefix, such as `ENSMUS`. */
export const findEnsemblSpecies = (prefix: string): Species | undefined => byEnsembl.get(prefix);
