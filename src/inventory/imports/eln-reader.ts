import type { Cell } from "./check-cells.ts";
import { ANNOTATION_PROPERTY, RECORD_FILES } from "./eln-file.ts";
import { CrateGraph, decoded, hasType } from "./eln-graph.ts";
import { isHtml, isRich, plainText } from "./plain-text.ts";
import { type Json, type JsonObject, parseUuid } from "../model/field.ts";
import { LIMITS } from "../model/limits.ts";
import { Problem } from "../../problem.ts";
import type { ZipMember } from "../../platform/zip-file.ts";

/** Reads archives of the ELN file format that labd or eLabFTW wrote. */

/** A property of datasets, which becomes a column. */
export interface ElnColumn {
  header: string;
  /** Names by which a field or an annotation type may be known. */
  names: string[];
  /** Kind of an annotation type that would hold the values. */
  kind: string;
}

export interface ElnFile {
  name: string;
  type: string;
  content: ZipMember | Uint8Array;
  sha256: string;
  size: string;
}

/** A dataset of an archive, which becomes a record. */
export interface ElnRecord {
  /** Id that the record had, if labd wrote the archive, or is to have; others may refer to it. */
  id: string | undefined;
  /** Values by header, the best first: an id, then a name, for example. */
  cells: Map<string, Cell[]>;
  /** Texts of notes: the text of the dataset and its comments. */
  notes: ElnNote[];
  /** All else that is known: author, dates, keywords, links, properties beyond the columns. */
  about: string[];
  files: ElnFile[];
  leftOut: string[];
}

export interface ElnNote {
  text: string;
  /** Author and date; empty if they are known otherwise. */
  by: string;
  /** Name of a file for a text that is too long. */
  name: string;
}

export interface ElnArchive {
  /** Name of the program that wrote the archive. */
  publisher: string;
  /** Segment of the list, if labd wrote the archive. */
  list: string | undefined;
  columns: ElnColumn[];
  records: ElnRecord[];
  leftOut: string[];
}

/** Kinds of annotation types whose values need nothing else. */
const PLAIN_KINDS = new Set(["TEXT", "NUMBER", "DATE", "BOOLEAN", "JSON"]);
/** Programs whose archives are read, as they name themselves in `sdPublisher`. */
const PUBLISHERS = ["labd", "eLabFTW"];
const NAME = "name";
const LINK: ElnColumn = { header: "Link", names: ["Link"], kind: "TEXT" };

/** @throws Problem malformed, too_large */
export async function readEln(bytes: Uint8Array): Promise<ElnArchive> {
  return new ElnReader(await CrateGraph.read(bytes)).read();
}

class ElnReader {
  readonly #columns = new Map<string, ElnColumn & { values: Json[] }>();
  readonly #isOwn: boolean;
  readonly #publisher: string;
  /** Datasets that become records of their own, with their ids. */
  readonly #datasets: ReadonlyMap<JsonObject, string | undefined>;

  constructor(private readonly graph: CrateGraph) {
    const { root, publisher } = graph;
    this.#publisher = graph.text(publisher.name);
    if (!PUBLISHERS.includes(this.#publisher)) throw unknownPublisher(this.#publisher);
    const parts = graph.follow(root.hasPart);
    const folders = parts.filter((part) => hasType(part, "Dataset") && this.#hasContent(part));
    const isRecord = (part: JsonObject): boolean =>
      graph.follow(part.hasPart).some((file) => lastPart(String(file["@id"])) === RECORD_FILES[0]);
    this.#isOwn = this.#publisher === "labd" && folders.every(isRecord);
    const readId = (dataset: JsonObject): string | undefined =>
      this.#isOwn ? parseUuid(graph.text(dataset.identifier)) : crypto.randomUUID();
    this.#datasets = new Map(folders.map((dataset) => [dataset, readId(dataset)]));
  }

  read(): ElnArchive {
    const { graph } = this;
    if (this.#datasets.size > LIMITS.archive.max)
      throw new Problem(
        "too_large",
        `The archive has ${this.#datasets.size} records. At most ${LIMITS.archive.max} are imported at a time: export it in parts.`,
      );
    const datasets = [...this.#datasets.keys()];
    const lists = new Set(datasets.map((dataset) => graph.text(dataset.genre)));
    const records = datasets.map((dataset) => this.#record(dataset));
    for (const [i, dataset] of datasets.entries()) this.#unlisted(records[i], dataset);
    const parts = graph.follow(graph.root.hasPart);
    const empty = parts.filter((part) => !hasType(part, "File") && !this.#datasets.has(part));
    const columns = [...this.#columns.values()].map(({ values, ...column }) => {
      const kind = this.#isOwn ? column.kind : detectKind(values);
      return Object.assign(column, { kind: PLAIN_KINDS.has(kind) ? kind : "TEXT" });
    });
    return {
      publisher: this.#publisher,
      list: this.#isOwn && lists.size === 1 ? [...lists][0] : undefined,
      columns,
      records: referredFirst(records),
      leftOut: [
        ...empty.map((part) => `${String(part["@id"])} is described without any content.`),
        ...graph.repeated.map((id) => `${id} is described twice; the first description counts.`),
        ...graph.unused().map((name) => `The file ${name} belongs to no record.`),
      ],
    };
  }

  #hasContent(dataset: JsonObject): boolean {
    const members = ["name", "hasPart", "text", "comment", "variableMeasured"];
    return members.some((member) => this.graph.text(dataset[member]) !== "");
  }

  #record(dataset: JsonObject): ElnRecord {
    const { graph } = this;
    const record: ElnRecord = {
      id: this.#datasets.get(dataset),
      cells: new Map(),
      notes: [],
      about: [],
      files: [],
      leftOut: [],
    };
    this.#put(record, { header: NAME, names: [NAME], kind: "TEXT" }, [this.#readName(dataset)]);
    if (!this.#isOwn) this.#origin(record, dataset);
    this.#describe(record, dataset);
    for (const property of graph.follow(dataset.variableMeasured)) this.#property(record, property);
    for (const part of graph.follow(dataset.hasPart))
      if (hasType(part, "File")) this.#file(record, part, this.#readName(part));
    return record;
  }

  /** Text and comments. The description of a record of labd is its text. */
  #describe(record: ElnRecord, dataset: JsonObject): void {
    const { graph } = this;
    const description = graph.text(dataset.description);
    const text = graph.text(dataset.text);
    const isShort = this.#isOwn && description === "";
    const header = { header: "description", names: ["description"], kind: "TEXT" };
    if (description !== "" || (isShort && text !== ""))
      this.#put(record, header, [isShort ? text : toPlainText(description)]);
    if (!isShort) this.#note(record, text, "", "text");
    for (const comment of graph.follow(dataset.comment)) {
      const by = [this.#people(comment.author), graph.text(comment.dateCreated)].filter(Boolean).join(", ");
      this.#note(record, graph.text(comment.text), by, "comment");
    }
  }

  #note(record: ElnRecord, text: string, by: string, name: string): void {
    if (text === "") return;
    record.notes.push({ text: toPlainText(text), by, name });
    if (isRich(text)) {
      const content = new TextEncoder().encode(text);
      record.files.push({ name: `${name}.html`, type: "text/html", content, sha256: "", size: "" });
    }
  }

  #readName(dataset: JsonObject): string {
    return this.graph.text(dataset.name) || lastPart(String(dataset["@id"]));
  }

  /** The record of this archive that a value names: its id and its name. */
  #linked(value: Json | undefined): [id: string, name: string] | undefined {
    const found = this.graph.follow(value).find((each) => this.#datasets.has(each));
    return found && [this.#datasets.get(found)!, this.#readName(found)];
  }

  /** A link to another record of this archive becomes a reference, if a field is chosen for it. */
  #link(record: ElnRecord, linked: [id: string, name: string]): void {
    if (linked[0] !== record.id && !this.#put(record, LINK, linked)) record.about.push(`Link: ${linked[1]}`);
  }

  /** The origin of a record of eLabFTW, and data for which labd has no field. */
  #origin(record: ElnRecord, dataset: JsonObject): void {
    const { graph } = this;
    const id = String(dataset["@id"]);
    const url = graph.text(dataset.url);
    const mentions = graph.follow(dataset.mentions).flatMap((each) => {
      const linked = this.#linked(each);
      if (linked) this.#link(record, linked);
      if (linked) return [];
      const address =
        graph.text(each.url) || (/^https?:/.test(String(each["@id"])) ? String(each["@id"]) : "");
      const name = graph.text(each.name) || lastPart(String(each["@id"]));
      return [["Link", address === "" ? name : `${name}, ${address}`]];
    });
    const steps = graph.follow(dataset.step).map((step, i) => {
      const texts = graph.follow(step.itemListElement).map((item) => toPlainText(graph.text(item.text)));
      const state = graph.text(step.creativeWorkStatus);
      return [`Step ${i + 1}`, `${texts.join(" ")}${state === "" ? "" : ` (${state})`}`];
    });
    const known = [
      ["Imported from", [this.#publisher, url || id].filter(Boolean).join(", ")],
      ["Author", this.#people(dataset.author)],
      ["Created", graph.text(dataset.dateCreated)],
      ["Changed", graph.text(dataset.dateModified)],
      ["Identifier", graph.text(dataset.identifier)],
      ["Kind", graph.text(dataset.genre)],
      [
        "Category",
        graph
          .follow(dataset.about)
          .map((each) => graph.text(each.name))
          .join(", "),
      ],
      ["Status", graph.text(dataset.creativeWorkStatus)],
      [
        "Keywords",
        graph
          .follow(dataset.keywords)
          .map((each) => graph.text(each.name ?? each["@id"]))
          .join(", "),
      ],
      ...mentions,
      ...steps,
    ];
    for (const [label, value] of known) if (value !== "") record.about.push(`${label}: ${value}`);
  }

  #people(value: Json | undefined): string {
    const { graph } = this;
    const names = graph.follow(value).map((person) => {
      const parts = [person.givenName, person.familyName].map((part) => graph.text(part));
      return graph.text(person.name) || parts.filter(Boolean).join(" ") || graph.text(person["@id"]);
    });
    return names.join(", ");
  }

  /** Id of the record that a property refers to. eLabFTW has the type of the value there. */
  #readReference({ valueReference }: JsonObject): string | undefined {
    if (!this.#isOwn) return undefined;
    return parseUuid(lastPart(String(this.graph.follow(valueReference)[0]?.["@id"] ?? "")));
  }

  /** A property becomes a cell, or a line if there is no more room. */
  #property(record: ElnRecord, property: JsonObject): void {
    const { graph } = this;
    const [id, given] = [graph.text(property.propertyID), graph.text(property.name)];
    const reference = this.#readReference(property);
    const value = graph.text(property.value);
    if (value === "" || (id === "" && given === "")) return;
    const unit = graph.text(property.unitText);
    const raw =
      typeof property.value === "number" || typeof property.value === "boolean" ? property.value : value;
    const column = this.#isOwn
      ? labdColumn(id, given, graph.text(property.additionalType))
      : foreignColumn(id, given);
    const values: Cell[] = unit === "" ? [raw] : [`${value} ${unit}`, raw];
    const cells = reference === undefined ? values : [reference, ...values];
    if (!this.#put(record, column, cells))
      record.about.push(`${column.header}: ${[value, unit].join(" ").trim()}`);
  }

  /** False if a record has the column already, or if it does not fit. */
  #put(record: ElnRecord, column: ElnColumn, cells: Cell[]): boolean {
    const known = this.#columns.get(column.header);
    const isLong = cells.some((cell) => String(cell).length > LIMITS.cell.max);
    if (record.cells.has(column.header) || isLong || (!known && this.#columns.size >= LIMITS.columns.max))
      return false;
    if (cells[0] !== "") record.cells.set(column.header, cells);
    const values: Json[] = known?.values ?? [];
    values.push(cells.at(-1)!);
    this.#columns.set(column.header, { ...column, values });
    return true;
  }

  /** Files in the folder of a dataset that no dataset lists, as in the first archives of eLabFTW. */
  #unlisted(record: ElnRecord, dataset: JsonObject): void {
    const { graph } = this;
    const folder = `/${decoded(String(dataset["@id"])).replace(/^\.\//, "")}`.replace(/\/*$/, "/");
    for (const path of graph.unused().filter((each) => `/${each}`.startsWith(folder)))
      for (const node of graph.follow(path))
        this.#file(record, node, graph.text(node.name) || lastPart(path));
  }

  #file(record: ElnRecord, node: JsonObject, name: string): void {
    const { graph } = this;
    const content = graph.file(node);
    if (this.#isOwn && (RECORD_FILES as readonly string[]).includes(lastPart(String(node["@id"])))) return;
    if (!content) {
      record.about.push(`File: ${name}`);
      record.leftOut.push(`The file ${name} is not in the archive.`);
      return;
    }
    const [type, sha256, size] = ["encodingFormat", "sha256", "contentSize"].map((key) =>
      graph.text(node[key]),
    );
    const mediaType = (type || Bun.file(name).type).split(";")[0].trim();
    record.files.push({ name, type: mediaType, content, sha256, size });
    const description = graph.text(node.description);
    if (!this.#isOwn && description !== "") record.about.push(`${name}: ${toPlainText(description)}`);
  }
}

const unknownPublisher = (name: string): Problem =>
  new Problem(
    "invalid_request",
    `The archive was written by ${name === "" ? "an unnamed program" : JSON.stringify(name.slice(0, 100))}. Archives of ${PUBLISHERS.join(" and ")} can be imported; export a table (CSV or XLSX) from other notebooks.`,
  );

const toPlainText = (text: string): string => (isHtml(text) ? plainText(text) : text);
const lastPart = (id: string): string => decoded(id.replace(/\/+$/, "").split("/").pop() ?? "");

function labdColumn(id: string, given: string, kind: string): ElnColumn {
  if (!id.startsWith(ANNOTATION_PROPERTY)) return { header: id, names: [id], kind: "TEXT" };
  return { header: id, names: [`annotations__${given || id.slice(ANNOTATION_PROPERTY.length)}`], kind };
}

function foreignColumn(id: string, given: string): ElnColumn {
  const names = [...new Set([given, id].filter(Boolean))];
  // Two properties may have the same name.
  return { header: given === "" || given === NAME ? id || given : given, names, kind: "TEXT" };
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The kind of annotation type that takes all values of a property. */
function detectKind(values: readonly Json[]): string {
  const all = (test: (value: Json) => boolean): boolean => values.every(test);
  if (all((value) => typeof value === "number")) return "NUMBER";
  if (all((value) => typeof value === "boolean")) return "BOOLEAN";
  return all((value) => typeof value === "string" && DAY.test(value)) ? "DATE" : "TEXT";
}

/** Records in an order in which those that others refer to come first; circles stay as they are. */
function referredFirst(records: readonly ElnRecord[]): ElnRecord[] {
  const byId = new Map(records.flatMap((record) => (record.id ? [[record.id, record] as const] : [])));
  const sorted = new Set<ElnRecord>();
  const visiting = new Set<ElnRecord>();
  for (const first of records) {
    const stack = [first];
    while (stack.length > 0) {
      const record = stack.at(-1)!;
      visiting.add(record);
      const next = [...record.cells.values()]
        .map(([cell]) => byId.get(String(cell)))
        .find((each) => each !== undefined && !visiting.has(each));
      if (next) stack.push(next);
      else sorted.add(stack.pop()!);
    }
  }
  return [...sorted];
}
