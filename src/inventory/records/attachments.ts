import type { Actor } from "../model/access.ts";
import { type Json, parseUuid, isObject, type JsonObject } from "../model/field.ts";
import { invalidField } from "../model/parse-body.ts";
import { columnName, type Resource } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { attachment } from "../resources/attachment.ts";
import type { RoutedResource } from "../resources/index.ts";
import { Problem } from "../../problem.ts";
import type { RecordWriter } from "./record-writer.ts";
import type { Statements } from "./statements.ts";

/** The content of a file, hashed before it is written: others must not wait for that. */
export interface FileContent {
  sha256: string;
  size: number;
  /** Reads the bytes if they have to be stored; absent in a dry run that has only examined them. */
  bytes?: () => Uint8Array;
}

export const toContent = (bytes: Uint8Array): FileContent => ({
  sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex"),
  size: bytes.length,
  bytes: () => bytes,
});

/** A file in the form in which a request sends it. */
export interface Upload {
  name: string;
  /** True if the request named the file. */
  named: boolean;
  type: string;
  content: FileContent;
}

/** The record that a file belongs to. */
export interface FileParent {
  resource: RoutedResource;
  /** Id of the record in its address. */
  id: string;
}

const NAME_LENGTH = 255;

/** Files of records, stored in the database. The bytes of earlier versions stay. The caller checks all rights. */
export class Attachments {
  constructor(
    private readonly statements: Statements,
    private readonly resources: readonly RoutedResource[],
  ) {}

  /** The record that `app`, `model` and `object_id` name. @throws Problem invalid_request */
  findParent(parameters: URLSearchParams): FileParent {
    const model = `${parameters.get("app") ?? ""}.${parameters.get("model") ?? ""}`;
    // LabID's client also gives the last part of its own address of the list, such as storageequipment.
    const isNamed = ({ model: own, aliases = [] }: Resource): boolean =>
      own === model || aliases.some((alias) => alias.replace("/", ".") === model);
    const resource = this.resources.find(isNamed);
    if (!resource) throw invalidField("model", "No list has this app and model.");
    return { resource, id: parameters.get("object_id") ?? "" };
  }

  /** Row number of a file, deleted or not, and its record. @throws Problem not_found */
  find(id: string): { rid: number; parent: FileParent } {
    const text = "SELECT rid, object_kind, object_rid FROM attachment WHERE id = ?";
    const row = this.statements.get({ text, args: [parseUuid(id) ?? ""] });
    const resource = this.resources.find(({ name }) => name === row?.object_kind);
    if (!row || !resource) throw new Problem("not_found", "Not found.");
    const parent = this.statements.get({
      text: `SELECT ${columnName(resource, "id")} AS id FROM ${resource.table} WHERE rid = ?`,
      args: [row.object_rid],
    });
    return { rid: Number(row.rid), parent: { resource, id: String(parent?.id) } };
  }

  /** The bytes of a file as it is shown. */
  bytes({ sha256 }: JsonObject): Uint8Array<ArrayBuffer> {
    const text = "SELECT content FROM attachment_content WHERE sha256 = ?";
    return this.statements.get({ text, args: [String(sha256)] })!
      .content as unknown as Uint8Array<ArrayBuffer>;
  }

  /** Returns its row number. */
  add(
    writer: RecordWriter,
    parent: { resource: Resource; rid: number },
    upload: Upload,
    actor: Actor,
  ): number {
    const named = { object_kind: parent.resource.name, object_rid: parent.rid };
    const name = plainName(upload.name) || "file";
    return writer.insert(attachment, { ...named, name, ...this.#store(upload) }, actor);
  }

  /** Stores a new version of a file. A file without a name keeps the previous one. */
  replace(writer: RecordWriter, rid: number, upload: Upload, actor: Actor): void {
    const name = upload.named ? plainName(upload.name) : "";
    writer.setValues(attachment, rid, { ...this.#store(upload), ...(name === "" ? {} : { name }) }, actor);
  }

  /** @throws Problem invalid_request */
  rename(writer: RecordWriter, rid: number, body: Json, actor: Actor): void {
    const given = isObject(body) ? body : {};
    const name = typeof given.name === "string" ? plainName(given.name) : "";
    if (name === "") throw invalidField("name", "This field is required.");
    writer.setValues(attachment, rid, { name }, actor);
  }

  /** Stores the bytes, each content once, and returns the values that describe them. */
  #store({ type, content: { sha256, size, bytes } }: Upload): StoredRecord {
    const has = { text: "SELECT 1 FROM attachment_content WHERE sha256 = ?", args: [sha256] };
    if (bytes && this.statements.get(has) === null)
      this.statements.run({
        text: "INSERT INTO attachment_content (sha256, content) VALUES (?, ?)",
        args: [sha256, bytes() as unknown as string],
      });
    const known = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type);
    return { media_type: known ? type : "application/octet-stream", size, sha256 };
  }
}

/** A file name without a path or control characters. */
function plainName(name: string): string {
  const letters = [...(name.split(/[/\\]/).pop() ?? "")].filter(
    (letter) => letter >= " " && letter !== "\u007f",
  );
  return letters.join("").toWellFormed().slice(0, NAME_LENGTH).trim();
}
