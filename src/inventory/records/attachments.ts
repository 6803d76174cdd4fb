import type { RecordSource } from "./sub-resources.ts";
import type { Actor } from "../model/access.ts";
import { type Json, parseUuid } from "../model/field.ts";
import { columnOf } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { type ReadableParent } from "../api/sub-resource-request.ts";
import { ofParent, type SubResourceRow, selectSubResources, stampsOf } from "./sub-resource-row.ts";
import type { Upload } from "../api/request-body.ts";
import { SUB_RESOURCES, type RoutedResource } from "../resources/index.ts";
import type { Store } from "./store.ts";
import { fieldProblem, type RecordWriter } from "./record-writer.ts";
import { Problem } from "../../problem.ts";

/** The record that a file belongs to. */
export interface Owner {
  resource: RoutedResource;
  /** Its id, as its address has it. */
  id: string;
}

/**
 * Files of records, kept in the database. Who may view a record may read them, who may change it may write them: the
 * caller finds the record and asks for the rights. The bytes of earlier versions stay.
 */
export interface Attachments {
  /** The record that `app`, `model` and `object_id` name. @throws Problem invalid_request */
  owner(named: URLSearchParams): Owner;
  /** PartRow of a file, deleted or not, and its record. @throws Problem not_found */
  find(id: string): { part: number; owner: Owner };
  /** Files of a record, the newest first. */
  list(resource: RoutedResource, host: ReadableParent, base: string, ascending: boolean): Json[];
  /** One by its row; undefined where it was not there. */
  show(part: number, base: string, source: RecordSource): { [name: string]: Json } | undefined;
  /** The bytes that go with what `show` gives. */
  bytes(shown: { [name: string]: Json }): Uint8Array<ArrayBuffer>;
  /** Returns its row. */
  add(writing: RecordWriter, resource: RoutedResource, rid: number, upload: Upload, actor: Actor): number;
  /** Another file in its place, as a new version. A file without a name keeps the one that it had. */
  replace(writing: RecordWriter, part: number, upload: Upload, actor: Actor): void;
  /** Another name. @throws Problem invalid_request */
  rename(writing: RecordWriter, part: number, body: Json, actor: Actor): void;
}

const NAME_LENGTH = 255;
const SELECT = selectSubResources("attachment");

export function openAttachments(store: Store, resources: readonly RoutedResource[]): Attachments {
  const { statements } = store;

  const print = (row: SubResourceRow, base: string): { [name: string]: Json } => ({
    id: row.id,
    name: row.name,
    media_type: row.media_type,
    size: row.size,
    sha256: row.sha256,
    ...stampsOf(row),
    url: `${base}attachments/${String(row.id)}/`,
  });

  /** Keeps the bytes, each once, and gives what is said of them. */
  const keep = ({ type, bytes }: Upload): StoredRecord => {
    const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    statements.run({
      text: "INSERT INTO attachment_content (sha256, content) VALUES (?, ?) ON CONFLICT DO NOTHING",
      args: [sha256, bytes as unknown as string],
    });
    const known = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type);
    return { media_type: known ? type : "application/octet-stream", size: bytes.length, sha256 };
  };

  return {
    owner(named) {
      const model = `${named.get("app") ?? ""}.${named.get("model") ?? ""}`;
      const resource = resources.find((candidate) => candidate.model === model);
      if (!resource) throw fieldProblem(new Map([["model", ["app and model name no list."]]]));
      return { resource, id: named.get("object_id") ?? "" };
    },
    find(id) {
      const row = statements.get({
        text: "SELECT rid, object_kind, object_rid FROM attachment WHERE id = ?",
        args: [parseUuid(id) ?? ""],
      });
      const resource = resources.find(({ name }) => name === row?.object_kind);
      const owner = resource && {
        text: `SELECT ${columnOf(resource, "id")} AS id FROM ${resource.table} WHERE rid = ?`,
        args: [row!.object_rid],
      };
      if (!row || !resource || !owner) throw new Problem("not_found", "Not found.");
      return { part: Number(row.rid), owner: { resource, id: String(statements.get(owner)?.id) } };
    },
    list: (resource, { statements: from, rid, deletedFilter }, base, ascending) =>
      from
        .all({
          text: `${SELECT} WHERE ${ofParent(deletedFilter)} ORDER BY a.rid ${ascending ? "ASC" : "DESC"}`,
          args: [resource.name, rid],
        })
        .map((row) => print(row, base)),
    show(part, base, source) {
      const row = source.statements.get({ text: `${SELECT} WHERE a.rid = ?`, args: [part] });
      return row ? print(row, base) : undefined;
    },
    bytes: ({ sha256 }) =>
      statements.get({
        text: "SELECT content FROM attachment_content WHERE sha256 = ?",
        args: [String(sha256)],
      })!.content as unknown as Uint8Array<ArrayBuffer>,
    add: (writing, resource, rid, upload, actor) =>
      writing.insert(
        SUB_RESOURCES.attachment,
        {
          object_kind: resource.name,
          object_rid: rid,
          name: plainName(upload.name) || "file",
          ...keep(upload),
        },
        actor,
      ),
    replace(writing, part, upload, actor) {
      const name = upload.named ? plainName(upload.name) : "";
      writing.setValues(
        SUB_RESOURCES.attachment,
        part,
        { ...keep(upload), ...(name === "" ? {} : { name }) },
        actor,
      );
    },
    rename(writing, part, body, actor) {
      const given = body !== null && typeof body === "object" && !Array.isArray(body) ? body : {};
      const name = typeof given.name === "string" ? plainName(given.name) : "";
      if (name === "") throw fieldProblem(new Map([["name", ["This field is required."]]]));
      writing.setValues(SUB_RESOURCES.attachment, part, { name }, actor);
    },
  };
}

/** A name is no path, and has nothing that a header or a terminal would take for more than a name. */
function plainName(name: string): string {
  const letters = [...(name.split(/[/\\]/).pop() ?? "")].filter(
    (letter) => letter >= " " && letter !== "\u007f",
  );
  return letters.join("").toWellFormed().slice(0, NAME_LENGTH).trim();
}
