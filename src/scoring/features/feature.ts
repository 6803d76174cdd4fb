/** Features of residues of a protein, from imported files. */
export interface Feature {
  group: FeatureGroup;
  /** Type of feature in the words of the source, such as `Modified residue`. */
  type: string;
  /** First and last residue, from 1. */
  start: number;
  end: number;
  /** Name or description; for an ELM instance its motif class. */
  name: string;
  /** Identifier in the source, such as `PF00870` or `ELMI002256`; may be empty. */
  id: string;
  /** Database or program. */
  source: string;
  /** Logic of an ELM instance in ELM's words, such as `true positive`. */
  logic?: string;
  /** Structures of an ELM instance in the PDB. */
  structures?: string[];
}

/** Groups of features: the tracks of pages, in their order, with their names. */
export const FEATURE_GROUPS = {
  domain: "Domains",
  ptm: "Modifications",
  motif: "Known motifs",
  signal: "Signal peptides",
  transmembrane: "Membrane",
  variant: "Variants",
  site: "Sites",
  region: "Regions",
  structure: "Structures",
  location: "Locations",
  other: "Other features",
} as const;
export type FeatureGroup = keyof typeof FEATURE_GROUPS;
export const FEATURE_GROUP_NAMES = Object.keys(FEATURE_GROUPS) as FeatureGroup[];

/** An instance of a motif class in ELM. */
export const isInstance = ({ group, logic }: Feature): boolean => group === "motif" && logic !== undefined;

const PHOSPHO =
  /phosphorylat|phospho-?(ser|thr|tyr|his|arg|asp|cys|site|residue)|aspartylphosphate|\bp-?(Ser|Thr|Tyr|[STY])-?\d/i;

/** True if a modification is a phosphorylation, by its name. */
export const isPhosphosite = ({ group, name, type }: Feature): boolean =>
  group === "ptm" && (PHOSPHO.test(name) || PHOSPHO.test(type));

/**
 * The group of each type of feature: UniProt's keys, its names in flat files, JSON and GFF, types of InterProScan,
 * and terms of the Sequence Ontology; in lower case, with spaces for underscores and hyphens.
 */
const TYPES: Record<FeatureGroup, string> = {
  domain:
    "domain|repeat|zn fing|zinc finger|zinc finger region|dna bind|dna binding|dna binding region|protein match|polypeptide domain|protein hmm match|homologous superfamily|family",
  ptm: "mod res|modified residue|lipid|lipidation|lipid moiety binding region|carbohyd|glycosylation|glycosylation site|disulfid|disulfide bond|crosslnk|cross link|post translationally modified region|modified amino acid feature|modified residue feature|phosphosite|ptm|phosphorylation|phosphorylation site|acetylation|ubiquitination|sumoylation|methylation",
  motif: "motif|short sequence motif|polypeptide motif|polypeptide conserved motif|elm instance|linear motif",
  signal: "signal|signal peptide|transit|transit peptide|propep|propeptide|propeptide cleavage site",
  transmembrane:
    "transmem|transmembrane|transmembrane region|transmembrane helix|transmembrane polypeptide region|tmhelix|topo dom|topological domain|cytoplasmic domain|non cytoplasmic domain|intramem|intramembrane|intramembrane region|intramembrane polypeptide region",
  variant:
    "variant|natural variant|natural variant site|sequence variant|var seq|alternative sequence|alternate sequence site|splice variant|mutagen|mutagenesis|mutagenesis site|mutated variant site|snp",
  site: "act site|active site|metal|metal binding|metal ion binding site|metal binding site|binding|binding site|site|np bind|nucleotide binding|nucleotide phosphate binding region|ca bind|calcium binding|calcium binding region|non std|non standard residue|catalytic residue|polypeptide binding motif|ligand",
  region:
    "region|region of interest|polypeptide region|coiled|coiled coil|coiled coil region|coil|compbias|compositional bias|compositionally biased region|compositionally biased region of peptide|disorder|disordered|intrinsically unstructured polypeptide region|consensus disorder prediction",
  structure: "structure|pdb",
  location: "subcellular location",
  other: "",
};

const GROUPS = new Map(
  FEATURE_GROUP_NAMES.flatMap((group) => TYPES[group].split("|").map((type) => [type, group] as const)),
);

/** Programs of InterProScan, in lower case, whose matches are no domains: those of families cover whole proteins. */
const PROGRAMS: Readonly<Record<string, FeatureGroup>> = {
  coils: "region",
  panther: "region",
  pirsf: "region",
  hamap: "region",
  mobidblite: "region",
  "mobidb-lite": "region",
  prositepatterns: "site",
  tmhmm: "transmembrane",
  phobius: "transmembrane",
  signalp: "signal",
  signalp_euk: "signal",
  signalp_gram_negative: "signal",
  signalp_gram_positive: "signal",
};

const normal = (type: string): string => type.toLowerCase().replace(/[_-]/g, " ").trim();

/** The group of a type, or `other`. */
export const findTypeGroup = (type: string): FeatureGroup => GROUPS.get(normal(type)) ?? "other";

/** The group of a match by a program of InterProScan. @param name identifier of the signature */
export function findProgramGroup(program: string, name: string): FeatureGroup {
  const named = GROUPS.get(normal(name));
  return named ?? PROGRAMS[program.toLowerCase()] ?? "domain";
}

/** Types of features that are one bond between two residues, not a stretch. */
const BONDS = new Set(["disulfid", "disulfide bond", "crosslnk", "cross link"]);

/** A feature as one or, for a bond, its two residues. */
export function placed(feature: Feature): Feature[] {
  const { start, end, type, name } = feature;
  if (start === end || !BONDS.has(normal(type))) return [feature];
  const at = (own: number, other: number): Feature =>
    Object.assign({}, feature, { start: own, end: own, name: `${name || type}, bond to ${other}` });
  return [at(start, end), at(end, start)];
}
