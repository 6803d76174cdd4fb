/** An entry of UniProtKB, read from any of its formats. */
export interface UniProtEntry {
  /** Such as `P53_HUMAN`. */
  entryName: string;
  /** The primary accession, then secondary ones. */
  accessions: string[];
  /** True for Swiss-Prot, false for TrEMBL. */
  isReviewed: boolean;
  /** Recommended name, or the first submitted one, with `(Fragment)` or `(Fragments)`. */
  name: string;
  /** Scientific name, and NCBI's number. */
  organism: string;
  taxon: string;
  /** Name of the first gene, or its first locus or open reading frame; may be empty. */
  gene: string;
  /** Level of evidence for the protein (PE), and version of the sequence (SV). */
  existence: string;
  version: string;
  features: EntryFeature[];
  /** Structures in the PDB, as the entry lists them. */
  structures: { id: string; method: string; resolution: string; chains: string }[];
  /** Subcellular locations of the protein and of chains, but not of isoforms, such as `Cell membrane; Multi-pass membrane protein`. */
  locations: string[];
  /** Residues, and their number; empty and 0 where the file lacks them. */
  residues: string;
  length: number;
}

/** A feature as an entry lists it. */
export interface EntryFeature {
  type: string;
  /** First and last residue, from 1; null for an unknown position. */
  start: number | null;
  end: number | null;
  name: string;
  id: string;
  /** The isoform to whose sequence the positions belong; undefined for that of the entry. */
  isoform?: string | undefined;
}

/** Features of one protein; longer lists are a mistake, or an attack. */
export const MAX_PER_PROTEIN = 200_000;

export const emptyEntry = (): UniProtEntry => ({
  entryName: "",
  accessions: [],
  isReviewed: true,
  name: "",
  organism: "",
  taxon: "",
  gene: "",
  existence: "",
  version: "",
  features: [],
  structures: [],
  locations: [],
  residues: "",
  length: 0,
});

/** Name with the flag of a fragment, as UniProt's FASTA has it. @param flags such as `Precursor; Fragment` */
export const withFragment = (name: string, flags: string): string =>
  `${name} ${/\bFragments?\b/.exec(flags)?.[0].replace(/.+/, "($&)") ?? ""}`.trim();

/** @param line number of its first line in the file */
export type TakeEntry = (entry: UniProtEntry, line: number) => void;
