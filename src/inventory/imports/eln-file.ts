import type { Json, JsonObject } from "../model/field.ts";
import type { ZipEntry } from "../../platform/zip-file.ts";

/** A record for an archive, as its reader may view it. */
export interface ArchivedRecord {
  id: string;
  name: string;
  /** URL of the record in the API. */
  url: string;
  /** Plain values by field. */
  values: JsonObject;
  notes: JsonObject[];
  annotations: JsonObject[];
  /** Changes, latest first. */
  history: Json[];
  files: { shown: JsonObject; bytes: Uint8Array }[];
}

export interface Archive {
  /** Name of the folder, and of the file without its extension. */
  name: string;
  title: string;
  /** Segment of the list, such as `stocks/consumables`. */
  segment: string;
  /** URL of the service. */
  publisher: string;
  at: Date;
  records: Iterable<ArchivedRecord>;
}

type Node = JsonObject & { "@id": string; "@type": string };
const METADATA = "ro-crate-metadata.json";
const PUBLISHER = "#publisher";
/** Fields that are no measured values: they have terms of schema.org, or concern access. */
const NOT_MEASURED = new Set([
  "id",
  "name",
  "description",
  "created",
  "created_by",
  "modified",
  "modified_by",
  "owner",
  "owned_by",
  "public",
]);

const reference = (id: string): JsonObject => ({ "@id": id });
const personId = (username: string): string => `#user-${encodeURIComponent(username)}`;

/** Letters that need no encoding in a path. */
const plainPath = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, 60);

/** Without members that say nothing. */
const filled = (node: Node): Node =>
  Object.fromEntries(
    Object.entries(node).filter(
      ([, value]) =>
        value !== null &&
        value !== undefined &&
        value !== "" &&
        !(Array.isArray(value) && value.length === 0),
    ),
  ) as Node;

/**
 * The entries of an archive of the ELN file format (TheELNConsortium, SPECIFICATION.md): an RO-Crate 1.1 with a folder for
 * each record, with its values, its history and its files. The graph comes last, because it has the checksums.
 */
export function* elnEntries(archive: Archive): Generator<ZipEntry> {
  const graph: Node[] = [];
  const folders: string[] = [];
  const people = new Set<string>();
  for (const record of archive.records) {
    const folder = `${[plainPath(record.name), record.id].filter((part) => part !== "").join("-")}/`;
    folders.push(`./${folder}`);
    const parts: string[] = [];
    for (const { name, bytes, node } of recordFiles(record)) {
      const path = `${folder}${name}`;
      parts.push(`./${path}`);
      graph.push(fileNode(`./${path}`, bytes, node));
      yield { name: `${archive.name}/${path}`, bytes };
    }
    const { dataset, others, authors } = recordNodes(archive, record, `./${folder}`, parts);
    graph.push(dataset, ...others);
    for (const author of authors) people.add(author);
  }
  for (const username of people)
    graph.push({ "@id": personId(username), "@type": "Person", name: username, identifier: username });
  const crate = {
    "@context": "https://w3id.org/ro/crate/1.1/context",
    "@graph": [...headNodes(archive, folders), ...graph],
  };
  yield { name: `${archive.name}/${METADATA}`, bytes: jsonBytes(crate) };
}

const jsonBytes = (value: Json): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);

function headNodes({ title, segment, publisher, at }: Archive, folders: readonly string[]): Node[] {
  const now = at.toISOString();
  return [
    {
      "@id": METADATA,
      "@type": "CreativeWork",
      about: reference("./"),
      conformsTo: reference("https://w3id.org/ro/crate/1.1"),
      dateCreated: now,
      version: "1.0",
      sdPublisher: reference(PUBLISHER),
    },
    {
      "@id": "./",
      "@type": "Dataset",
      name: title,
      description: `${folders.length} records of the list ${segment}, with their history and files.`,
      datePublished: now,
      license: reference("#license"),
      hasPart: folders.map(reference),
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

interface RecordFile {
  name: string;
  bytes: Uint8Array;
  node: JsonObject;
}

function* recordFiles({ values, notes, annotations, history, files }: ArchivedRecord): Generator<RecordFile> {
  const json = (name: string, description: string, value: Json): RecordFile => ({
    name,
    bytes: jsonBytes(value),
    node: { name, description, encodingFormat: "application/json" },
  });
  yield json("record.json", "The record with its notes and annotations.", { ...values, notes, annotations });
  yield json("history.json", "All changes of the record, latest first.", history);
  for (const { shown, bytes } of files) {
    const { id, name, media_type, created, created_by } = shown;
    yield {
      name: `files/${String(id)}-${plainPath(String(name))}`,
      bytes,
      node: {
        name,
        encodingFormat: media_type,
        identifier: id,
        dateCreated: created,
        author: reference(personId(String(created_by))),
      },
    };
  }
}

const fileNode = (id: string, bytes: Uint8Array, node: JsonObject): Node => ({
  "@id": id,
  "@type": "File",
  ...node,
  contentSize: String(bytes.length),
  sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex"),
});

function recordNodes({ segment }: Archive, record: ArchivedRecord, folder: string, parts: readonly string[]) {
  const { id, name, url, values, notes, annotations, files } = record;
  const comments = notes.map((note) => ({
    "@id": `#note-${String(note.id)}`,
    "@type": "Comment",
    text: note.content,
    dateCreated: note.created,
    author: reference(personId(String(note.created_by))),
  }));
  const fields = Object.entries(values).filter(
    ([field, value]) => !NOT_MEASURED.has(field) && value !== null && value !== "" && value !== undefined,
  );
  const measured = [
    ...fields.map(([field, value]) => propertyNode(`#${id}/${field}`, field, value)),
    ...annotations.map((one) =>
      propertyNode(`#annotation-${String(one.id)}`, `annotations.${String(one.name)}`, one.value),
    ),
  ];
  const dataset = filled({
    "@id": folder,
    "@type": "Dataset",
    name: name || id,
    identifier: id,
    url,
    genre: segment,
    text: values.description,
    author: reference(personId(String(values.owner))),
    creator: reference(personId(String(values.created_by))),
    dateCreated: values.created,
    dateModified: values.modified,
    hasPart: parts.map(reference),
    comment: comments.map((comment) => reference(comment["@id"])),
    variableMeasured: measured.map((node) => reference(node["@id"])),
  });
  const authors = [
    values.owner,
    values.created_by,
    ...[...notes, ...files.map(({ shown }) => shown)].map((each) => each.created_by),
  ];
  return { dataset, others: [...comments, ...measured] as Node[], authors: authors.map(String) };
}

const propertyNode = (id: string, property: string, value: Json): Node => ({
  "@id": id,
  "@type": "PropertyValue",
  propertyID: property,
  name: property,
  value: typeof value === "object" ? JSON.stringify(value) : value,
});
