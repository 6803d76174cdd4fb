import { readFlatEntries } from "../corpus/uniprot-flat.ts";
import { readJsonEntries } from "../corpus/uniprot-json.ts";
import type { TextReader } from "../corpus/text-reader.ts";
import type { EntryFeature, UniProtEntry } from "../corpus/uniprot-entry.ts";
import { type Feature, findTypeGroup, placed } from "./feature.ts";
import type { Emit } from "./feature-reader.ts";

/** UniProt's flat file (Swiss-Prot, TrEMBL). */
export const readUniProtFlat = (emit: Emit): TextReader =>
  readFlatEntries((entry) => emitFeatures(entry, emit));

/** UniProt's JSON. */
export const readUniProtJson = (emit: Emit, head: string): TextReader =>
  readJsonEntries((entry) => emitFeatures(entry, emit), head);

/** Features of isoforms are records of their own: their positions are not those of the entry's sequence. */
function emitFeatures(entry: UniProtEntry, emit: Emit): void {
  const { accessions, entryName, residues, length, structures, locations } = entry;
  const size = length || residues.length;
  const [primary, ...secondary] = accessions;
  const names = [primary, entryName, ...secondary].filter(Boolean);
  if (names.length === 0) return;
  const own: Feature[] = structures.flatMap(makeStructures);
  if (size > 0) own.push(...locations.map((name) => makeLocation(name, size)));
  const isoforms = new Map<string, Feature[]>();
  for (const read of entry.features) {
    const isoform = read.isoform === undefined || accessions.includes(read.isoform) ? "" : read.isoform;
    const features = isoform === "" ? own : (isoforms.get(isoform) ?? []);
    features.push(...makeFeatures(read));
    if (isoform !== "") isoforms.set(isoform, features);
  }
  const sequence = { ...(residues === "" ? {} : { residues }), ...(length > 0 ? { length } : {}) };
  if (own.length > 0) emit({ names, features: own, sequence });
  for (const [isoform, features] of isoforms) if (features.length > 0) emit({ names: [isoform], features });
}

/** None for a feature without a known position. */
function makeFeatures({ type, start, end, name, id }: EntryFeature): Feature[] {
  if (start === null || end === null || start < 1 || end < start) return [];
  const title = NAMES[type] ?? type;
  return placed({
    group: findTypeGroup(type),
    type: title,
    start,
    end,
    name: name.replace(/\.$/, "") || title,
    id,
    source: "UniProt",
  });
}

/** A location of the whole protein. */
const makeLocation = (name: string, length: number): Feature => ({
  group: "location",
  type: "Subcellular location",
  start: 1,
  end: length,
  name,
  id: "",
  source: "UniProt",
});

/** Residues of a structure in the PDB by its chains, such as `A/B=17-29, C=1-10`. */
function makeStructures({ id, method, resolution, chains }: UniProtEntry["structures"][number]): Feature[] {
  const about = [method, resolution === "-" ? "" : resolution].filter(Boolean).join(", ");
  return [...chains.matchAll(/=(\d{1,9})-(\d{1,9})/g)].map(([, start, end]) => ({
    group: "structure",
    type: "Structure",
    start: Number(start),
    end: Number(end),
    name: about === "" ? id : `${id}, ${about}`,
    id,
    source: "PDB",
  }));
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
