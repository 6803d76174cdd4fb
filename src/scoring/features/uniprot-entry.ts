import { type Feature, findTypeGroup, placed } from "./feature.ts";
import type { Emit, FeatureRecord } from "./feature-reader.ts";

/** An entry of UniProt, read from any of its formats. */
export class UniProtEntry {
  entryName = "";
  readonly accessions: string[] = [];
  readonly features: Feature[] = [];
  /** Features of isoforms, by their accession: their positions are not those of the entry's sequence. */
  readonly #isoforms = new Map<string, Feature[]>();
  residues = "";
  length = 0;

  /** @param start null for an unknown position; such features are left out */
  add(feature: {
    type: string;
    start: number | null;
    end: number | null;
    name: string;
    id: string;
    isoform?: string | undefined;
  }): void {
    const { type, start, end, name, id, isoform } = feature;
    if (start === null || end === null || start < 1 || end < start) return;
    const read: Feature = {
      group: findTypeGroup(type),
      type: NAMES[type] ?? type,
      start,
      end,
      name: name.replace(/\.$/, "") || (NAMES[type] ?? type),
      id,
      source: "UniProt",
    };
    if (isoform === undefined || this.accessions.includes(isoform)) this.features.push(...placed(read));
    else this.#isoforms.set(isoform, (this.#isoforms.get(isoform) ?? []).concat(placed(read)));
  }

  /** Adds a structure of the PDB. @param chains such as `A/B=17-29, C=1-10` */
  addStructure(id: string, method: string, resolution: string, chains: string): void {
    const about = [method, resolution === "-" ? "" : resolution].filter(Boolean).join(", ");
    for (const [, start, end] of chains.matchAll(/=(\d{1,9})-(\d{1,9})/g))
      this.features.push({
        group: "structure",
        type: "Structure",
        start: Number(start),
        end: Number(end),
        name: about === "" ? id : `${id}, ${about}`,
        id,
        source: "PDB",
      });
  }

  emit(emit: Emit): void {
    const [primary, ...secondary] = this.accessions;
    const names = [primary, this.entryName, ...secondary].filter(Boolean);
    if (names.length === 0) return;
    const check = {
      ...(this.residues === "" ? {} : { residues: this.residues }),
      ...(this.length > 0 ? { length: this.length } : {}),
    };
    const records: FeatureRecord[] = [{ names, features: this.features, sequence: check }];
    for (const [isoform, features] of this.#isoforms) records.push({ names: [isoform], features });
    for (const record of records) if (record.features.length > 0) emit(record);
  }
}

/** Names on pages of the keys of flat files. */
const NAMES: Readonly<Record<string, string>> = {
  ACT_SITE: "Active site",
  BINDING: "Binding site",
  CARBOHYD: "Glycosylation",
  CHAIN: "Chain",
  COILED: "Coiled coil",
  COMPBIAS: "Compositional bias",
  CONFLICT: "Sequence conflict",
  CROSSLNK: "Cross-link",
  DISULFID: "Disulfide bond",
  DNA_BIND: "DNA binding",
  DOMAIN: "Domain",
  HELIX: "Helix",
  INIT_MET: "Initiator methionine",
  INTRAMEM: "Intramembrane",
  LIPID: "Lipidation",
  METAL: "Metal binding",
  MOD_RES: "Modified residue",
  MOTIF: "Motif",
  MUTAGEN: "Mutagenesis",
  NP_BIND: "Nucleotide binding",
  PEPTIDE: "Peptide",
  PROPEP: "Propeptide",
  REGION: "Region",
  REPEAT: "Repeat",
  SIGNAL: "Signal peptide",
  SITE: "Site",
  STRAND: "Strand",
  TOPO_DOM: "Topological domain",
  TRANSIT: "Transit peptide",
  TRANSMEM: "Transmembrane",
  TURN: "Turn",
  VARIANT: "Natural variant",
  VAR_SEQ: "Alternative sequence",
  ZN_FING: "Zinc finger",
};
