import type { Actor } from "./model/access.ts";
import { ALIVE } from "./bulk.ts";
import { type Json, parseUuid, printInstant } from "./model/field.ts";
import type { Upload } from "./request-body.ts";
import type { Routed } from "./resources/index.ts";
import type { Store } from "./store.ts";
import { fieldProblem, forbidden } from "./writing.ts";
import { Problem } from "../problem.ts";
import type { Clock } from "../shell/clock.ts";

/** Files of records, kept in the database. Who may view a record may read them; who may change it may add and remove them. */
export interface Attachments {
  /** Those of one record, which `app`, `model` and `object_id` name. @throws Problem not_found, invalid_request */
  list(named: URLSearchParams, base: string, actor: Actor): Json[];
  add(named: URLSearchParams, upload: Upload, base: string, actor: Actor): Json;
  read(id: string, actor: Actor): { name: string; type: string; content: Uint8Array<ArrayBuffer> };
  remove(id: string, actor: Actor): void;
}

type Row = Record<string, string | number | null>;

const NAME_LENGTH = 255;
const COLUMNS = "a.rid, a.id, a.object_kind, a.object_rid, a.name, a.media_type, a.size, a.sha256, a.created";
const FROM = "FROM attachment AS a JOIN user_account AS u ON u.rid = a.created_by";

export function openAttachments(store: Store, resources: readonly Routed[], clock: Clock): Attachments {
  const { statements, reading } = store;

  const recordOf = (named: URLSearchParams, actor: Actor): { resource: Routed; rid: number } => {
    const model = `${named.get("app") ?? ""}.${named.get("model") ?? ""}`;
    const resource = resources.find((candidate) => candidate.model === model);
    if (!resource) throw fieldProblem(new Map([["model", ["app and model name no list."]]]));
    const rid = reading.find(resource, named.get("object_id") ?? "", ALIVE, actor);
    if (rid === undefined) throw new Problem("not_found", "Not found.");
    return { resource, rid };
  };

  const mayChange = (resource: Routed, rid: number, actor: Actor): void => {
    if (!reading.rights(resource, actor, [rid]).get(rid)?.change) throw forbidden();
  };

  /** One attachment and the record that it belongs to. */
  const find = (id: string, actor: Actor): { row: Row; resource: Routed; rid: number } => {
    const row = statements.get({
      text: `SELECT ${COLUMNS} ${FROM} WHERE a.id = ?`,
      args: [parseUuid(id) ?? ""],
    });
    const resource = resources.find(({ name }) => name === row?.object_kind);
    const owner = resource && {
      text: `SELECT id FROM ${resource.table} WHERE rid = ?`,
      args: [row!.object_rid],
    };
    const objectId = owner && statements.get(owner)?.id;
    const rid = resource && reading.find(resource, String(objectId), ALIVE, actor);
    if (!row || !resource || rid === undefined) throw new Problem("not_found", "Not found.");
    return { row, resource, rid };
  };

  const print = (row: Row, base: string): Json => ({
    id: row.id,
    name: row.name,
    media_type: row.media_type,
    size: row.size,
    sha256: row.sha256,
    created: printInstant(Number(row.created)),
    created_by: row.username,
    url: `${base}attachments/${String(row.id)}/`,
  });

  return {
    list(named, base, actor) {
      const { resource, rid } = recordOf(named, actor);
      // Attachments are removed for good.
      if (/^(true|1)$/i.test(named.get("deleted") ?? "")) return [];
      const order = named.get("ordering") === "created" ? "ASC" : "DESC";
      return statements
        .all({
          text: `SELECT ${COLUMNS}, u.username ${FROM} WHERE a.object_kind = ? AND a.object_rid = ? ORDER BY a.rid ${order}`,
          args: [resource.name, rid],
        })
        .map((row) => print(row, base));
    },
    add(named, { name, type, bytes }, base, actor) {
      const { resource, rid } = recordOf(named, actor);
      mayChange(resource, rid, actor);
      // A name is no path, and has nothing that a header or a terminal would take for more than a name.
      const plain = [...(name.split(/[/\\]/).pop() ?? "")].filter(
        (letter) => letter >= " " && letter !== "\u007f",
      );
      const shown = plain.join("").toWellFormed().slice(0, NAME_LENGTH).trim() || "file";
      const id = clock.newId();
      const columns: [string, string | number | null | Uint8Array][] = [
        ["id", id],
        ["object_kind", resource.name],
        ["object_rid", rid],
        ["name", shown],
        ["media_type", /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : "application/octet-stream"],
        ["size", bytes.length],
        ["sha256", new Bun.CryptoHasher("sha256").update(bytes).digest("hex")],
        ["content", bytes],
        ["created", Math.round(clock.now() * 1000)],
        ["created_by", actor.user],
      ];
      const text = `INSERT INTO attachment (${columns.map(([column]) => column).join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
      store.write(() => statements.run({ text, args: columns.map(([, value]) => value as string) }));
      const row = statements.get({
        text: `SELECT ${COLUMNS}, u.username ${FROM} WHERE a.id = ?`,
        args: [id],
      })!;
      return print(row, base);
    },
    read(id, actor) {
      const { row } = find(id, actor);
      const content = statements.get({
        text: "SELECT content FROM attachment WHERE rid = ?",
        args: [row.rid],
      })!;
      return {
        name: String(row.name),
        type: String(row.media_type),
        content: content.content as unknown as Uint8Array<ArrayBuffer>,
      };
    },
    remove(id, actor) {
      const { row, resource, rid } = find(id, actor);
      mayChange(resource, rid, actor);
      store.write(() => statements.run({ text: "DELETE FROM attachment WHERE rid = ?", args: [row.rid] }));
    },
  };
}
