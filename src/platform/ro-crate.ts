import type { ZipEntry } from "./zip-file.ts";

/**
 * Archives of the ELN file format: RO-Crates 1.1 (w3id.org/ro/crate/1.1) in a ZIP file with one folder, as SPECIFICATION.md
 * of TheELNConsortium asks for.
 */

export const ELN_MEDIA_TYPE = "application/vnd.eln+zip";
export const CRATE_METADATA = "ro-crate-metadata.json";
const PUBLISHER = "#publisher";

/** An entity of the graph. Members without a value are left out. */
export interface CrateNode {
  "@id": string;
  "@type": string;
  [property: string]: unknown;
}

export interface CrateFile {
  /** Path below the folder of the archive. */
  path: string;
  bytes: Uint8Array;
  /** Name, media type and other properties of the file. */
  node: { name: string; encodingFormat: string; [property: string]: unknown };
}

/** A dataset of the archive, with a folder of its own. */
export interface CratePart {
  /** Name of the folder. */
  folder: string;
  files: Iterable<CrateFile>;
  /** The dataset, whose parts are its files. */
  dataset: { name: string; [property: string]: unknown };
  /** Entities that the dataset refers to; an entity with a known id is left out. */
  others: readonly CrateNode[];
}

export interface Crate {
  /** Name of the folder, and of the file without its extension. */
  name: string;
  title: string;
  description(parts: number): string;
  /** URL of the service. */
  publisher: string;
  at: Date;
  parts: Iterable<CratePart>;
}

export const crateReference = (id: string): { "@id": string } => ({ "@id": id });

/** Letters that need no encoding in a path. */
export const cratePath = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, 60);

export const jsonBytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);

const isFilled = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0);

const filled = (node: CrateNode): CrateNode =>
  Object.fromEntries(Object.entries(node).filter(([, value]) => isFilled(value))) as CrateNode;

/** The entries of the archive. The graph comes last, because it has the checksums. */
export function* crateEntries(crate: Crate): Generator<ZipEntry> {
  const nodes = new Map<string, CrateNode>();
  const folders: string[] = [];
  for (const { folder, files, dataset, others } of crate.parts) {
    const id = `./${folder}/`;
    folders.push(id);
    const parts: string[] = [];
    for (const { path, bytes, node } of files) {
      const file = `${folder}/${path}`;
      parts.push(`./${file}`);
      nodes.set(`./${file}`, filled(fileNode(`./${file}`, bytes, node)));
      yield { name: `${crate.name}/${file}`, bytes };
    }
    nodes.set(id, filled({ "@id": id, "@type": "Dataset", ...dataset, hasPart: parts.map(crateReference) }));
    for (const node of others) nodes.set(node["@id"], filled(node));
  }
  const graph = [...headNodes(crate, folders), ...nodes.values()];
  const document = { "@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph };
  yield { name: `${crate.name}/${CRATE_METADATA}`, bytes: jsonBytes(document) };
}

function headNodes({ title, description, publisher, at }: Crate, folders: readonly string[]): CrateNode[] {
  const now = at.toISOString();
  return [
    {
      "@id": CRATE_METADATA,
      "@type": "CreativeWork",
      about: crateReference("./"),
      conformsTo: crateReference("https://w3id.org/ro/crate/1.1"),
      dateCreated: now,
      version: "1.0",
      sdPublisher: crateReference(PUBLISHER),
    },
    {
      "@id": "./",
      "@type": "Dataset",
      name: title,
      description: description(folders.length),
      author: crateReference(PUBLISHER),
      datePublished: now,
      license: crateReference("#license"),
      hasPart: folders.map(crateReference),
    },
    { "@id": PUBLISHER, "@type": "Organization", name: "labd", url: publisher },
    {
      "@id": "#license",
      "@type": "CreativeWork",
      name: "No license",
      description: "The laboratory has named no license for these data.",
    },
  ];
}

const fileNode = (id: string, bytes: Uint8Array, node: CrateFile["node"]): CrateNode => ({
  "@id": id,
  "@type": "File",
  ...node,
  contentSize: String(bytes.length),
  sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex"),
});

/** A property of a dataset. */
export const propertyValue = (id: string, property: string, value: unknown): CrateNode => ({
  "@id": id,
  "@type": "PropertyValue",
  propertyID: property,
  name: property,
  value: typeof value === "object" ? JSON.stringify(value) : value,
});
