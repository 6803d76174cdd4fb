import { unzipAll } from "./unzip.ts";

/**
 * The rules of the ELN file format, read from its specification and not from the code that writes archives: SPECIFICATION.md
 * of TheELNConsortium/TheELNFileFormat, what tests/README.md and tests/checks of version 1.2+20260923 add, and what
 * RO-Crate 1.1 demands. Archives that declare RO-Crate 1.1 keep all rules of 1.2 that need no other declaration.
 */

export type ElnNode = Record<string, unknown> & { "@id": string; "@type": string };

export interface ElnArchive {
  root: string;
  files: Map<string, Buffer>;
  graph: ElnNode[];
  node(id: string): ElnNode;
}

/** Reads an archive, and fails for what is no archive at all. */
export function openEln(bytes: Uint8Array): ElnArchive {
  const files = unzipAll(bytes);
  const [root] = [...files.keys()][0].split("/");
  const metadata = JSON.parse(files.get(`${root}/ro-crate-metadata.json`)!.toString()) as Record<
    string,
    unknown
  >;
  const graph = metadata["@graph"] as ElnNode[];
  return { root, files, graph, node: (id) => graph.find((each) => each["@id"] === id)! };
}

/** Terms of the context of RO-Crate 1.1 that labd uses, and `sha256`, which the ELN format adds. */
const TERMS = new Set(
  (
    "@id @type about additionalType author comment conformsTo contentSize creator dateCreated dateModified datePublished " +
    "description encodingFormat endTime genre hasPart identifier instrument keywords license mentions name object propertyID " +
    "result sdPublisher sha256 softwareVersion startTime text unitText url value valueReference variableMeasured version"
  ).split(" "),
);
const TYPES = new Set(
  "Comment CreateAction CreativeWork Dataset File Organization Person PropertyValue SoftwareApplication".split(
    " ",
  ),
);
/** Subclasses of CreativeWork, which may have a text. */
const WORKS = new Set(["Comment", "CreativeWork", "Dataset", "File"]);
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const TEXTS = new Set([
  "name",
  "description",
  "text",
  "identifier",
  "keywords",
  "genre",
  "encodingFormat",
  "url",
  "version",
]);

const isWeb = (id: string): boolean => /^https?:\/\/[^\s]+$/.test(id);
const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);
const asList = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];
/** Ids of references, each an object with an @id alone. */
const listIds = (value: unknown): string[] =>
  asList(value).flatMap((each) =>
    isObject(each) && typeof each["@id"] === "string" && Object.keys(each).length === 1 ? [each["@id"]] : [],
  );

type Report = (rule: string, where?: string) => void;

/** Reports the rules that are not kept. */
function demand(fault: Report, where: string, rules: Readonly<Record<string, boolean>>): void {
  for (const [rule, isKept] of Object.entries(rules)) if (!isKept) fault(rule, where);
}

/** Every rule that an archive breaks, with the entity or file that breaks it. @param name of the file, without extension */
export function elnFaults(bytes: Uint8Array, name: string): string[] {
  const faults: string[] = [];
  const fault: Report = (rule, where = "") => void faults.push(`${where}: ${rule}`);
  const archive = openEln(bytes);
  const { root, files, graph } = archive;
  checkArchive(archive, name, fault);
  const nodes = new Map(graph.map((node) => [node["@id"], node]));
  demand(fault, "", { "entities MUST occur once": nodes.size === graph.length });
  checkHead(nodes, fault);
  const linked = new Set(["ro-crate-metadata.json"]);
  for (const node of graph) {
    checkNode(node, fault);
    for (const [term, value] of Object.entries(node))
      checkTerm({ node, term, value }, { nodes, linked }, fault);
  }
  for (const id of nodes.keys())
    demand(fault, id, { "entities SHOULD be linked from others": linked.has(id) });
  const checks: Record<string, (node: ElnNode) => void> = {
    Dataset: (node) => checkDataset(node, nodes, fault),
    File: (node) => checkFile(node, files.get(`${root}/${decodeURIComponent(node["@id"].slice(2))}`), fault),
    Comment: (node) => checkComment(node, nodes, fault),
    PropertyValue: (node) => checkProperty(node, fault),
  };
  for (const node of graph) checks[node["@type"]]?.(node);
  return faults;
}

function checkArchive({ root, files, node }: ElnArchive, name: string, fault: Report): void {
  const document = JSON.parse(files.get(`${root}/ro-crate-metadata.json`)!.toString()) as Record<
    string,
    unknown
  >;
  demand(fault, root, {
    "the folder SHOULD have the name of the archive": root === name,
    "@context MUST be that of RO-Crate": document["@context"] === "https://w3id.org/ro/crate/1.1/context",
  });
  for (const path of files.keys()) {
    const id = `./${path.slice(root.length + 1)}`;
    demand(fault, path, {
      "there MUST be one folder at the root": path.startsWith(`${root}/`),
      "paths stay in the folder": !path.split(/[/\\]/).includes(".."),
      "files are described as File": id === "./ro-crate-metadata.json" || node(id)?.["@type"] === "File",
    });
  }
}

function checkHead(nodes: ReadonlyMap<string, ElnNode>, fault: Report): void {
  const none = { "@id": "", "@type": "" };
  const descriptor: ElnNode = nodes.get("ro-crate-metadata.json") ?? none;
  const root: ElnNode = nodes.get("./") ?? none;
  const far = (value: unknown): ElnNode => nodes.get(listIds(value)[0]) ?? none;
  const [publisher, license] = [far(descriptor.sdPublisher), far(root.license)];
  demand(fault, "ro-crate-metadata.json", {
    "the descriptor MUST be a CreativeWork": descriptor["@type"] === "CreativeWork",
    "the descriptor MUST be about ./": listIds(descriptor.about).join() === "./",
    "the descriptor MUST conform to RO-Crate 1.1": listIds(descriptor.conformsTo).includes(
      "https://w3id.org/ro/crate/1.1",
    ),
    "the descriptor needs a version": typeof descriptor.version === "string",
    "sdPublisher SHOULD refer to an Organization": publisher["@type"] === "Organization",
    "the Organization SHOULD have a name": typeof publisher.name === "string",
    "the Organization SHOULD have a url": isWeb(String(publisher.url)),
  });
  demand(fault, "./", {
    "./ MUST be a Dataset": root["@type"] === "Dataset",
    "./ MUST have a name": root.name !== undefined,
    "./ MUST have a description": root.description !== undefined,
    "./ MUST have datePublished": root.datePublished !== undefined,
    "./ MUST have a license": root.license !== undefined,
    "./ needs hasPart": Array.isArray(root.hasPart),
    "the license SHOULD have a name": typeof license.name === "string",
    "the license SHOULD have a description": typeof license.description === "string",
  });
}

/** Rules for every entity. */
function checkNode({ "@id": id, "@type": type, name, text, url }: ElnNode, fault: Report): void {
  const isData = ["Dataset", "File"].includes(type) || id === "ro-crate-metadata.json";
  demand(fault, String(id), {
    "entities MUST have an @id": typeof id === "string" && id !== "",
    [`@type ${String(type)} is not in the context`]: TYPES.has(type),
    "ids of contextual entities SHOULD begin with #": isData || /^#|^https?:/.test(id),
    "contextual entities SHOULD have a name": isData || typeof name === "string",
    "only creative works have a text": text === undefined || WORKS.has(type),
    "url MUST be a URI": url === undefined || isWeb(String(url)),
  });
}

/** Rules for every property. */
function checkTerm(
  { node: { "@id": id }, term, value }: { node: ElnNode; term: string; value: unknown },
  { nodes, linked }: { nodes: ReadonlyMap<string, ElnNode>; linked: Set<string> },
  fault: Report,
): void {
  // A list may select no records.
  const mayBeEmpty = id === "./" && term === "hasPart";
  const isDate = term.startsWith("date") || term.endsWith("Time");
  demand(fault, id, {
    [`${term} is not in the context`]: TERMS.has(term),
    [`${term} MUST be a string`]: !TEXTS.has(term) || typeof value === "string",
    [`${term} MUST be an instant`]: !isDate || INSTANT.test(String(value)),
    [`${term} is empty`]: mayBeEmpty || (value !== null && String(value).trim() !== ""),
    [`${term} is not flat`]: asList(value).every((each) => !isObject(each) || listIds(each).length > 0),
  });
  for (const to of listIds(value)) {
    linked.add(to);
    demand(fault, id, { [`${term} refers to ${to}, which is not described`]: nodes.has(to) || isWeb(to) });
  }
}

function checkAuthor(node: ElnNode, nodes: ReadonlyMap<string, ElnNode>, fault: Report): void {
  const authors = listIds(node.author).map((id) => nodes.get(id)?.["@type"] ?? "");
  if (authors.length === 0 || !authors.every((type) => type === "Person" || type === "Organization"))
    fault("author MUST refer to people or organizations", node["@id"]);
}

function checkDataset(node: ElnNode, nodes: ReadonlyMap<string, ElnNode>, fault: Report): void {
  const id = node["@id"];
  if (typeof node.name !== "string") fault("datasets SHOULD have a name", id);
  checkAuthor(node, nodes, fault);
  if (!id.endsWith("/") || !id.startsWith("./"))
    fault("ids of datasets are relative paths that end in /", id);
  for (const term of ["hasPart", "comment", "variableMeasured"]) {
    const value = node[term];
    if (value !== undefined && (!Array.isArray(value) || listIds(value).length !== value.length))
      fault(`${term} MUST be a list of references`, id);
  }
  const types = (term: string): string[] =>
    listIds(node[term]).map((to) => nodes.get(to)?.["@type"] ?? "nothing");
  const allowed = id === "./" ? ["Dataset", "File"] : ["File"];
  if (!types("hasPart").every((type) => allowed.includes(type)))
    fault("a Dataset MUST NOT contain other Datasets", id);
  if (!types("comment").every((type) => type === "Comment")) fault("comment MUST refer to Comments", id);
  if (!types("variableMeasured").every((type) => type === "PropertyValue"))
    fault("variableMeasured MUST refer to PropertyValues", id);
}

function checkFile(node: ElnNode, content: Buffer | undefined, fault: Report): void {
  const id = node["@id"];
  if (!content) return fault("described files MUST be there", id);
  if (!/^\.\/[A-Za-z0-9._~/-]+$/.test(id)) fault("ids of files MUST be encoded relative paths", id);
  if (typeof node.name !== "string") fault("files SHOULD have a name", id);
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(String(node.encodingFormat)))
    fault("encodingFormat SHOULD be a media type", id);
  if (node.contentSize !== String(content.length))
    fault("contentSize MUST be the number of bytes, as a string", id);
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  if (node.sha256 !== sha256) fault("sha256 MUST be the checksum", id);
}

function checkComment(node: ElnNode, nodes: ReadonlyMap<string, ElnNode>, fault: Report): void {
  if (typeof node.text !== "string" || node.dateCreated === undefined)
    fault("comments have text and date", node["@id"]);
  checkAuthor(node, nodes, fault);
}

function checkProperty(node: ElnNode, fault: Report): void {
  const { propertyID, value } = node;
  if (typeof propertyID !== "string" || /[\s/]/.test(propertyID.replace(/^annotations\..*/s, "")))
    fault("propertyID MUST be a name, nested by dots", node["@id"]);
  if (!["string", "number", "boolean"].includes(typeof value)) fault("values MUST be scalars", node["@id"]);
}
