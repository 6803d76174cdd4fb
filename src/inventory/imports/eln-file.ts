import { isObject, type Json, type JsonObject } from "../model/field.ts";
import {
  type Crate,
  crateEntries,
  type CrateFile,
  type CrateNode,
  cratePath,
  crateReference,
  jsonBytes,
  type CratePart,
  propertyValue,
} from "../../platform/ro-crate.ts";
import type { ZipEntry } from "../../platform/zip-file.ts";

/** A record for an archive, as far as its reader may view it. */
export interface ArchivedRecord {
  id: string;
  name: string;
  /** URL of the record in the API. */
  url: string;
  /** Fields that are properties of the record: neither its name nor computed from others. */
  measured: readonly string[];
  /** Plain values by field. */
  values: JsonObject;
  /** Records that fields refer to, by field. */
  references: ReadonlyMap<string, { name: string; url: string }>;
  notes: JsonObject[];
  annotations: JsonObject[];
  /** Changes, latest first. */
  history: Json[];
  files: { shown: JsonObject; bytes: Uint8Array }[];
}

export interface Archive extends Pick<Crate, "name" | "title" | "publisher" | "at"> {
  /** Segment of the list, such as `stocks/consumables`. */
  segment: string;
  records: Iterable<ArchivedRecord>;
}

/** Files of every record that are no attachments. */
export const RECORD_FILES = ["record.json", "history.json"] as const;

/** The prefix before the name of an annotation type in the name of a property. */
export const ANNOTATION_PROPERTY = "annotations.";

/** Fields other than measured values: they have terms of schema.org, or concern access. */
const UNMEASURED_FIELDS = new Set([
  "id",
  "description",
  "created",
  "created_by",
  "modified",
  "modified_by",
  "owner",
  "owned_by",
  "public",
]);

const personId = (username: Json): string => `#user-${encodeURIComponent(String(username))}`;
const referToPerson = (username: Json) => crateReference(personId(username));

/**
 * The entries of an archive of the ELN file format, with a folder for each record: its values, its history and its files.
 */
export function elnEntries({ segment, records, ...crate }: Archive): Generator<ZipEntry> {
  function* parts(): Generator<CratePart> {
    for (const record of records) yield toPart(record, segment);
  }
  const description = (count: number): string =>
    `${count} records of the list ${segment}, with their history and files.`;
  return crateEntries({ ...crate, description, parts: parts() });
}

function toPart(record: ArchivedRecord, segment: string): CratePart {
  const { id, name, url, values, notes, files } = record;
  const folder = [cratePath(name), id].filter((part) => part !== "").join("-");
  const comments = notes.map((note) => ({
    "@id": `#note-${String(note.id)}`,
    "@type": "Comment",
    name: `Note of ${String(note.created_by)}`,
    text: note.content,
    dateCreated: note.created,
    author: referToPerson(note.created_by),
  }));
  const measured = makeProperties(record);
  const people = [
    values.owner,
    values.created_by,
    ...[...notes, ...files.map(({ shown }) => shown)].map((each) => each.created_by),
  ];
  const persons = people.map((person): CrateNode => {
    const username = String(person);
    return { "@id": personId(username), "@type": "Person", name: username, identifier: username };
  });
  const dataset = {
    name: name || id,
    identifier: id,
    url,
    genre: segment,
    text: values.description,
    author: referToPerson(values.owner),
    creator: referToPerson(values.created_by),
    dateCreated: values.created,
    dateModified: values.modified,
    comment: comments.map((comment) => crateReference(comment["@id"])),
    variableMeasured: measured.map((node) => crateReference(node["@id"])),
  };
  return { folder, files: recordFiles(record), dataset, others: [...comments, ...measured, ...persons] };
}

function* recordFiles({ values, notes, annotations, history, files }: ArchivedRecord): Generator<CrateFile> {
  const json = (path: string, description: string, value: Json): CrateFile => ({
    path,
    bytes: jsonBytes(value),
    node: { name: path, description, encodingFormat: "application/json" },
  });
  yield json(RECORD_FILES[0], "The record with its notes and annotations.", {
    ...values,
    notes,
    annotations,
  });
  yield json(RECORD_FILES[1], "All changes of the record, latest first.", history);
  for (const { shown, bytes } of files) {
    const { id, name, media_type, created, created_by } = shown;
    yield {
      path: `files/${String(id)}-${cratePath(String(name))}`,
      bytes,
      node: {
        name: String(name),
        encodingFormat: String(media_type),
        identifier: id,
        dateCreated: created,
        author: referToPerson(created_by),
      },
    };
  }
}

function makeProperties({ id, measured, values, references, annotations }: ArchivedRecord): CrateNode[] {
  const fields = measured
    .map((field) => [field, values[field]] as const)
    .filter(
      ([field, value]) =>
        !UNMEASURED_FIELDS.has(field) && value !== null && value !== "" && value !== undefined,
    );
  return [
    ...fields.map(([field, value]) => {
      const node = propertyValue(`#${id}/${field}`, field, value);
      const far = references.get(field);
      return far ? Object.assign(node, { value: far.name, valueReference: crateReference(far.url) }) : node;
    }),
    ...annotations.map(annotationProperty),
  ];
}

/** An annotation; amounts have a unit, and references the name of the record. */
function annotationProperty({ id, name, value, type }: JsonObject): CrateNode {
  const property = `${ANNOTATION_PROPERTY}${String(name)}`;
  const node = { ...propertyValue(`#annotation-${String(id)}`, property, value), name, additionalType: type };
  if (!isObject(value)) return node;
  if (type === "NUMBERUNIT" && isObject(value.unit))
    return { ...node, value: value.value, unitText: value.unit.name };
  return typeof value.name === "string" && typeof value.id === "string"
    ? { ...node, value: value.name }
    : node;
}
