/** An entry of UniProtKB, read from any of its formats. */
export interface UniProtEntry {
  /** Such as `P53_HUMAN`. */
  entryName: string;
  /** The primary accession, then secondary ones. */
  accessions: string[];
  features: EntryFeature[];
  /** Structures in the PDB, as the entry lists them. */
  structures: { id: string; method: string; resolution: string; chains: string }[];
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
  features: [],
  structures: [],
  residues: "",
  length: 0,
});

/** @param line number of its first line in the file */
export type TakeEntry = (entry: UniProtEntry, line: number) => void;
