import type { Actor } from "../model/access.ts";
import { type Json, KINDS, isObject } from "../model/field.ts";
import type { Query, Row } from "../model/operator.ts";
import { fieldProblem, invalidField, addUnknown } from "../model/parse-body.ts";
import type { Resource } from "../model/resource.ts";
import { grant, OWNERS_ONLY } from "../resources/grant.ts";
import { type Kind, resolvePerson } from "./people.ts";
import type { RecordWriter } from "./record-writer.ts";

type Rights = { view: boolean; change: boolean; delete: boolean };
interface Entry {
  rid: number;
  given: Partial<Rights>;
}

/** A sharing request, parsed from its body. */
export interface SharingRequest {
  public: boolean | undefined;
  user: Entry[] | undefined;
  group: Entry[] | undefined;
}

const RIGHTS = ["view", "change", "delete"] as const;
const NO_RIGHTS: Rights = { view: false, change: false, delete: false };
/** Entries of one list in a body. */
const MAX_ENTRIES = 1000;
/** The list in a body, the names of an entry, and the form of shown entries, by kind. */
const KIND: Record<Kind, { list: string; names: readonly [string, string]; columns: string; table: string }> =
  {
    user: {
      list: "users",
      names: ["user", "username"],
      columns: "p.id, p.username, p.full_name",
      table: "user_account",
    },
    group: { list: "groups", names: ["group", "name"], columns: "p.id, p.name", table: "user_group" },
  };

const RECORD_CONDITION = "object_kind = ? AND object_rid = ?";

const readRights = (row: Row): Rights => ({
  view: row.can_view === 1,
  change: row.can_change === 1,
  delete: row.can_delete === 1,
});

/** The rights on a record, for users who may change it. A query of the past shows earlier rights. */
export function showSharing(query: Query, resource: Resource, rid: number): Json {
  const entries = (kind: Kind): Json[] => {
    const { columns, table, names } = KIND[kind];
    const text =
      `SELECT ${columns}, g.id AS "grant", can_view, can_change, can_delete FROM object_permission AS g` +
      ` JOIN ${table} AS p ON p.rid = g.${kind}_rid WHERE ${RECORD_CONDITION} AND g.deleted = 0 ORDER BY p.${names[1]}`;
    return query.all({ text, args: [resource.name, rid] }).map((row) => {
      const { can_view: _view, can_change: _change, can_delete: _delete, ...grantee } = row;
      return Object.assign(grantee, readRights(row));
    });
  };
  const text =
    `SELECT u.username AS owner, g.name AS owned_by, t.public AS public FROM ${resource.table} AS t` +
    " JOIN user_account AS u ON u.rid = t.owner JOIN user_group AS g ON g.rid = t.owned_by WHERE t.rid = ?";
  const owner = query.get({ text, args: [rid] })!;
  return {
    owner: owner.owner,
    owned_by: owner.owned_by,
    public: owner.public === 1,
    users: entries("user"),
    groups: entries("group"),
  };
}

/** Writes rights on single records. The right to change a record includes sharing it. */
export class Sharing {
  constructor(
    private readonly query: Query,
    private readonly writer: RecordWriter,
  ) {}

  /**
   * Sets rights; within a transaction. replace: the given lists are complete; merge: only the named users and groups
   * change. @throws Problem forbidden, invalid_request
   */
  set(
    resource: Resource,
    rid: number,
    request: SharingRequest,
    mode: "replace" | "merge",
    actor: Actor,
  ): void {
    const { writer } = this;
    writer.require(resource, rid, "change", actor);
    const giver = {
      mayDelete: writer.allows(resource, rid, "delete", actor),
      isOwner: actor.superuser || writer.current(resource, rid).owner === actor.user,
    };
    if (request.public !== undefined && request.public !== (writer.current(resource, rid).public === 1))
      writer.update(resource, rid, { public: request.public }, "merge", actor);
    for (const kind of ["user", "group"] as const) {
      const entries = request[kind];
      if (entries === undefined) continue;
      const before = this.#grants(resource, rid, kind);
      const left = new Map(before);
      for (const { rid: grantee, given } of entries) {
        left.delete(grantee);
        const was = before.get(grantee)?.rights ?? NO_RIGHTS;
        const rights = combine(kind, mode === "merge" ? was : NO_RIGHTS, given);
        checkGain(kind, was, rights, giver);
        this.#store({ object_kind: resource.name, object_rid: rid }, kind, grantee, rights, actor);
      }
      if (mode === "replace") for (const { row } of left.values()) writer.endSubResource(grant, row, actor);
    }
  }

  #grants(resource: Resource, rid: number, kind: Kind) {
    const text =
      `SELECT rid, ${kind}_rid AS grantee, can_view, can_change, can_delete FROM object_permission` +
      ` WHERE ${RECORD_CONDITION} AND ${kind}_rid IS NOT NULL AND deleted = 0`;
    const found = this.query.all({ text, args: [resource.name, rid] });
    return new Map(
      found.map((row) => [Number(row.grantee), { row: Number(row.rid), rights: readRights(row) }] as const),
    );
  }

  /** There is one row for each user or group that ever had rights on a record: deleted if they were withdrawn. */
  #store(
    object: { object_kind: string; object_rid: number },
    kind: Kind,
    grantee: number,
    rights: Rights,
    actor: Actor,
  ): void {
    const text = `SELECT rid, deleted FROM object_permission WHERE ${RECORD_CONDITION} AND ${kind}_rid = ?`;
    const known = this.query.get({ text, args: [object.object_kind, object.object_rid, grantee] });
    const values = { view: 1, change: rights.change ? 1 : 0, delete: rights.delete ? 1 : 0 };
    if (rights.view && !known)
      this.writer.insert(grant, { ...object, user: null, group: null, [kind]: grantee, ...values }, actor);
    else if (rights.view) this.writer.setValues(grant, Number(known!.rid), values, actor);
    else if (known?.deleted === 0) this.writer.endSubResource(grant, Number(known.rid), actor);
  }
}

/** @throws Problem for rights that this giver may not give */
function checkGain(
  kind: Kind,
  was: Rights,
  rights: Rights,
  giver: { mayDelete: boolean; isOwner: boolean },
): void {
  const { list } = KIND[kind];
  if (rights.delete && !was.delete && !giver.mayDelete)
    throw invalidField(list, "You cannot grant the right to delete, because you do not have it.");
  if (kind === "group" && rights.view && !was.view && !giver.isOwner) throw invalidField(list, OWNERS_ONLY);
}

/** The rights after a change. The rights to change and delete include the right to view, unless it is withdrawn. */
function combine(kind: Kind, before: Rights, given: Partial<Rights>): Rights {
  const rights = { ...before, ...given };
  if (!rights.change && !rights.delete) return rights;
  if (given.view === undefined) rights.view = true;
  if (!rights.view)
    throw invalidField(KIND[kind].list, "The rights to change and delete require the right to view.");
  return rights;
}

/** Parses a body; `more`: names that it may also have. @throws Problem invalid_request */
export function parseSharing(query: Query, body: Json, more: readonly string[] = []): SharingRequest {
  if (!isObject(body)) throw invalidField("non_field_errors", "Invalid data. Expected a dictionary.");
  const errors = new Map<string, string[]>();
  // The owners are read-only: an answer can be sent back.
  const known = new Set(["public", "users", "groups", "owner", "owned_by", ...more]);
  const unknown = Object.keys(body).filter((name) => !known.has(name));
  addUnknown(errors, "permissions", ["public", "users", "groups"], unknown);
  const isPublic = body.public === undefined ? undefined : KINDS.flag.decode(body.public, grant.fields.view);
  if (isPublic && "error" in isPublic) errors.set("public", [isPublic.error]);
  const list = (kind: Kind): Entry[] | undefined => {
    const value = body[KIND[kind].list];
    if (value === undefined) return undefined;
    const entries = parseEntries(query, kind, value);
    if (entries.every((entry) => typeof entry !== "string")) return entries;
    errors.set(
      KIND[kind].list,
      entries.filter((entry) => typeof entry === "string"),
    );
    return undefined;
  };
  const request = {
    public: isPublic && "value" in isPublic ? isPublic.value === 1 : undefined,
    user: list("user"),
    group: list("group"),
  };
  if (errors.size > 0) throw fieldProblem(errors);
  return request;
}

/** The entries of a list, with an error in place of each that is wrong. */
function parseEntries(query: Query, kind: Kind, value: Json): (Entry | string)[] {
  if (!Array.isArray(value)) return ["Expected a list of items."];
  if (value.length > MAX_ENTRIES) return [`More than ${MAX_ENTRIES} items.`];
  const entries = value.map((item, i) => {
    const entry = parseEntry(query, kind, item);
    return typeof entry === "string" ? `[${i}]: ${entry}` : entry;
  });
  const rids = entries.flatMap((entry) => (typeof entry === "string" ? [] : entry.rid));
  return rids.length === entries.length && new Set(rids).size < rids.length
    ? [`The same ${kind} occurs twice.`]
    : entries;
}

function parseEntry(query: Query, kind: Kind, item: Json): Entry | string {
  const { names } = KIND[kind];
  if (!isObject(item)) return `Expected an object with ${names[0]}, view, change and delete.`;
  const given: Partial<Rights> = {};
  for (const [name, value] of Object.entries(item)) {
    if (RIGHTS.includes(name as "view")) {
      if (typeof value !== "boolean") return `${name}: Must be a valid boolean.`;
      given[name as "view"] = value;
    } else if (!["id", "full_name", "grant", ...names].includes(name))
      return `Choices: ${[names[0], ...RIGHTS].join(", ")}.`;
  }
  const named = item.id ?? names.map((name) => item[name]).find((value) => value !== undefined) ?? null;
  const rid = resolvePerson(query, kind, named);
  return typeof rid === "string" ? rid : { rid, given };
}
