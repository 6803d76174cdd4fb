import { isObject, type Json, type JsonObject } from "../model/field.ts";
import { parseJson } from "../../platform/parse-json.ts";
import { Problem } from "../../problem.ts";
import { CRATE_METADATA } from "../../platform/ro-crate.ts";
import { readZip, unzip, type ZipMember } from "../../platform/zip-file.ts";

/** The graph of an RO-Crate, and the files beside it. */

/** Bytes of all files together, uncompressed, and of the metadata. */
const MAX_UNCOMPRESSED = 500_000_000;
const MAX_METADATA = 20_000_000;
export const MAX_FILES = 20_000;
/** References that are followed and characters that are read: few bytes could name the same entity many times. */
const MAX_FOLLOWED = 1_000_000;
const MAX_CHARACTERS = 100_000_000;

const CONTEXTS = /^https?:\/\/(?:w3id\.org|(?:www\.)?researchobject\.org)\/ro\/?-?crate\/1\.[0-2]\b/i;
const refuse = (text: string): Problem => new Problem("malformed", text);

const isMetadata = ({ name }: ZipMember): boolean => /^(?:[^/]+\/)?ro-crate-metadata\.json$/.test(name);
/** Files that macOS adds to packed folders. */
const isJunk = ({ name }: ZipMember): boolean => name.startsWith("__MACOSX/") || name.endsWith("/.DS_Store");

/** True if a ZIP file is an RO-Crate, or at least no spreadsheet. */
export const isArchive = (members: readonly ZipMember[]): boolean =>
  members.some(isMetadata) || !members.some(({ name }) => name.startsWith("xl/"));

export class CrateGraph {
  readonly #nodes = new Map<string, JsonObject>();
  readonly #files = new Map<string, ZipMember>();
  readonly #unused = new Set<string>();
  #followed = 0;
  #characters = 0;
  /** Ids of entities after the first that has the id. */
  readonly repeated: string[] = [];
  readonly root: JsonObject;
  readonly publisher: JsonObject;

  /** @throws Problem malformed, too_large */
  static async read(bytes: Uint8Array): Promise<CrateGraph> {
    const members = readZip(bytes).filter((member) => !isJunk(member));
    const metadata = findMetadata(members);
    return new CrateGraph(members, metadata, parseGraph(await unzip(metadata)));
  }

  private constructor(members: readonly ZipMember[], metadata: ZipMember, nodes: readonly JsonObject[]) {
    const folder = metadata.name.slice(0, -CRATE_METADATA.length);
    for (const member of members) {
      if (member.name.endsWith("/") || member === metadata) continue;
      const path = member.name.slice(folder.length);
      if (this.#files.has(path)) throw refuse(`The archive has two files of the name ${shown(member.name)}.`);
      this.#files.set(path, member);
      this.#unused.add(path);
    }
    for (const node of nodes) {
      if (typeof node["@id"] !== "string") continue;
      const id = normalizeId(node["@id"]);
      // Some notebooks number comments by the second.
      if (this.#nodes.has(id)) this.repeated.push(node["@id"]);
      else this.#nodes.set(id, node);
    }
    const descriptor = this.#nodes.get(CRATE_METADATA) ?? {};
    const [root] = this.follow(descriptor.about ?? { "@id": "./" });
    if (!root || !this.#nodes.has(normalizeId(String(root["@id"]))))
      throw refuse(`${CRATE_METADATA} does not describe the folder "./".`);
    this.root = root;
    this.publisher = this.follow(descriptor.sdPublisher)[0] ?? {};
  }

  /** Entities that a property refers to or contains, each once; texts are entities with an `@id` alone. */
  follow(value: Json | undefined): JsonObject[] {
    if (value === undefined || value === null) return [];
    const found = new Map<string, JsonObject>();
    for (const item of Array.isArray(value) ? value : [value]) {
      if (++this.#followed > MAX_FOLLOWED)
        throw new Problem("too_large", `${CRATE_METADATA} refers to its entities too often.`);
      const node = isObject(item) ? item : { "@id": String(item) };
      const id = typeof node["@id"] === "string" ? normalizeId(node["@id"]) : `inline ${found.size}`;
      found.set(id, Object.keys(node).length > 1 ? node : (this.#nodes.get(id) ?? node));
    }
    return [...found.values()];
  }

  /** A text, a number or a list of them; empty for anything else. */
  text(value: Json | undefined): string {
    const text = Array.isArray(value)
      ? value
          .map((item) => scalarText(item))
          .filter(Boolean)
          .join(", ")
      : scalarText(value);
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS)
      throw new Problem("too_large", `${CRATE_METADATA} repeats its texts too often.`);
    return text;
  }

  /** The file that an entity describes; undefined if it is elsewhere. */
  file({ "@id": id }: JsonObject): ZipMember | undefined {
    const path = relativePath(String(id));
    const name = [path, decoded(path)].find((each) => this.#files.has(each));
    if (name === undefined) return undefined;
    this.#unused.delete(name);
    return this.#files.get(name);
  }

  /** Files that no call of `file` has found. */
  unused(): string[] {
    return [...this.#unused];
  }
}

/** The one metadata file, in the one folder. @throws Problem malformed, too_large */
function findMetadata(members: readonly ZipMember[]): ZipMember {
  const unsafe = members.find(
    ({ name }) => /^(?:[/\\]|[a-z]:)/i.test(name) || name.split(/[/\\]/).includes(".."),
  );
  if (unsafe) throw refuse(`The archive has a file outside its folder: ${shown(unsafe.name)}.`);
  const [metadata, another] = members.filter(isMetadata);
  if (!metadata)
    throw refuse(
      `The archive has no ${CRATE_METADATA} in its folder: it is neither a spreadsheet (XLSX) nor an archive of a laboratory notebook (.eln).`,
    );
  if (another)
    throw refuse(`The archive has several folders with a ${CRATE_METADATA}. Import one at a time.`);
  const folder = metadata.name.slice(0, -CRATE_METADATA.length);
  const outside = members.find(({ name }) => !name.startsWith(folder));
  if (outside) throw refuse(`The archive has a file outside its folder: ${shown(outside.name)}.`);
  const size = members.reduce((sum, member) => sum + member.size, 0);
  if (members.length > MAX_FILES || size > MAX_UNCOMPRESSED || metadata.size > MAX_METADATA)
    throw new Problem(
      "too_large",
      `The archive has ${members.length} files with ${size} bytes, ${metadata.size} of them metadata. Allowed are ${MAX_FILES}, ${MAX_UNCOMPRESSED} and ${MAX_METADATA}. Export it in parts.`,
    );
  return metadata;
}

const scalarText = (value: Json | undefined): string => {
  if (typeof value === "string") return value.toWellFormed().replaceAll("\0", "").trim();
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return isObject(value) ? scalarText(value.name ?? value["@value"] ?? value["@id"]) : "";
};

const MAX_SHOWN = 200;
const shown = (name: string): string => JSON.stringify(name.slice(0, MAX_SHOWN).toWellFormed());
const relativePath = (id: string): string => id.replace(/^\.\//, "");
/** A key that is equal for a folder with and without a slash. */
const normalizeId = (id: string): string => relativePath(id).replace(/\/+$/, "");

/** A path without percent-encoding. */
export function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The entities of the metadata. @throws Problem malformed */
function parseGraph(metadata: Uint8Array): JsonObject[] {
  const text = new TextDecoder().decode(metadata);
  const document = parseJson(text, CRATE_METADATA);
  const { "@context": context, "@graph": graph } = isObject(document) ? document : {};
  const contexts = Array.isArray(context) ? context : [context];
  if (!contexts.some((each) => typeof each === "string" && CONTEXTS.test(each)))
    throw refuse(
      `${CRATE_METADATA} has the context ${shown(contexts.map(scalarText).join(", "))}. Expected that of RO-Crate 1.0, 1.1 or 1.2: https://w3id.org/ro/crate/1.1/context.`,
    );
  if (!Array.isArray(graph) || !graph.every(isObject))
    throw refuse(`${CRATE_METADATA} has no @graph with a list of entities.`);
  return graph;
}

/** Types of an entity, which may have several. */
export const hasType = ({ "@type": type }: JsonObject, name: string): boolean =>
  Array.isArray(type) ? type.includes(name) : type === name;
