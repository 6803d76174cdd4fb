import type { Query } from "../model/operator.ts";
import { fieldProblem } from "../model/parse-body.ts";
import type { Actor } from "../model/access.ts";
import { type Json, KINDS } from "../model/field.ts";
import type { Resource } from "../model/resource.ts";
import { type Kind, resolvePerson } from "./people.ts";
import { SUB_RESOURCES } from "../resources/index.ts";
import type { Statements } from "./statements.ts";
import { forbidden, type RecordWriter } from "./record-writer.ts";

/** Rights that are given on single records to users and groups. Whoever may change a record may share it. */
export interface Sharing {
  /**
   * Gives and takes rights; within a transaction. replace: the lists that are given are all there is; merge: only who
   * is named changes. @throws Problem forbidden, invalid_request
   */
  set(resource: Resource, rid: number, wish: SharingRequest, mode: "replace" | "merge", actor: Actor): void;
}

type Rights = { view: boolean; change: boolean; delete: boolean };
interface Entry {
  rid: number;
  given: Partial<Rights>;
}

/** What a body asks for. */
export interface SharingRequest {
  public: boolean | undefined;
  user: Entry[] | undefined;
  group: Entry[] | undefined;
}

const LISTS = { user: "users", group: "groups" } as const;
const RIGHTS = ["view", "change", "delete"] as const;
const NOTHING: Rights = { view: false, change: false, delete: false };

/**
 * Who has which rights on a record, besides owner and owning group; for those who may change it. `statements` of the
 * past show what was.
 */
export function showSharing(statements: Query, resource: Resource, rid: number): Json {
  const people = (kind: Kind, columns: string, table: string, order: string): Json[] =>
    statements
      .all({
        text:
          `SELECT ${columns}, g.id AS "grant", can_view, can_change, can_delete FROM object_permission AS g JOIN ${table} AS p` +
          ` ON p.rid = g.${kind}_rid WHERE object_kind = ? AND object_rid = ? AND g.deleted = 0 ORDER BY ${order}`,
        args: [resource.name, rid],
      })
      .map((row) => {
        const { can_view: _view, can_change: _change, can_delete: _delete, ...who } = row;
        return Object.assign(who, rightsOf(row));
      });
  const owner = statements.get({
    text:
      `SELECT u.username AS owner, g.name AS owned_by, t.public AS public FROM ${resource.table} AS t` +
      " JOIN user_account AS u ON u.rid = t.owner JOIN user_group AS g ON g.rid = t.owned_by WHERE t.rid = ?",
    args: [rid],
  })!;
  return {
    owner: owner.owner,
    owned_by: owner.owned_by,
    public: owner.public === 1,
    users: people("user", "p.id, p.username, p.full_name", "user_account", "p.username"),
    groups: people("group", "p.id, p.name", "user_group", "p.name"),
  };
}

const rightsOf = (row: Record<string, string | number | null>): Rights => ({
  view: row.can_view === 1,
  change: row.can_change === 1,
  delete: row.can_delete === 1,
});

/** @param writing writes the flag `public`, which is part of the record */
export function openSharing(statements: Statements, writing: RecordWriter): Sharing {
  const granted = (resource: Resource, rid: number, kind: Kind): Map<number, Rights> => {
    const column = `${kind}_rid`;
    const found = statements.all({
      text:
        `SELECT ${column} AS rid, can_view, can_change, can_delete FROM object_permission` +
        ` WHERE object_kind = ? AND object_rid = ? AND ${column} IS NOT NULL AND deleted = 0`,
      args: [resource.name, rid],
    });
    return new Map(found.map((row) => [Number(row.rid), rightsOf(row)]));
  };

  /** There is one row for whoever ever had rights on a record: deleted where they were taken. */
  const store = (
    resource: Resource,
    rid: number,
    kind: Kind,
    whom: number,
    rights: Rights,
    actor: Actor,
  ): void => {
    const known = statements.get({
      text: `SELECT rid, deleted FROM object_permission WHERE object_kind = ? AND object_rid = ? AND ${kind}_rid = ?`,
      args: [resource.name, rid, whom],
    });
    const values = { view: 1, change: rights.change ? 1 : 0, delete: rights.delete ? 1 : 0 };
    const { grant } = SUB_RESOURCES;
    if (rights.view && !known) {
      const object = { object_kind: resource.name, object_rid: rid, user: null, group: null, [kind]: whom };
      writing.insert(grant, { ...object, ...values }, actor);
    } else if (rights.view) writing.setValues(grant, Number(known!.rid), values, actor);
    // Who gives the own right away may do so: that there was the right was asked before.
    else if (known?.deleted === 0) writing.endSubResource(grant, Number(known.rid), actor);
  };

  return {
    set(resource, rid, wish, mode, actor) {
      if (!writing.allows(resource, rid, "change", actor)) throw forbidden();
      const mayDelete = writing.allows(resource, rid, "delete", actor);
      if (wish.public !== undefined && wish.public !== (writing.current(resource, rid).public === 1))
        writing.update(resource, rid, { public: wish.public }, "merge", actor);
      for (const kind of ["user", "group"] as const) {
        const entries = wish[kind];
        if (entries === undefined) continue;
        const before = granted(resource, rid, kind);
        const left = new Set(before.keys());
        for (const { rid: whom, given } of entries) {
          left.delete(whom);
          const was = before.get(whom) ?? NOTHING;
          const rights = { ...(mode === "merge" ? was : NOTHING), ...given };
          // Nobody changes or deletes what cannot be seen.
          if (given.view === undefined && (rights.change || rights.delete)) rights.view = true;
          if (!rights.view && (rights.change || rights.delete))
            throw wrong(kind, "change and delete need view.");
          if (rights.delete && !was.delete && !mayDelete)
            throw wrong(kind, "You cannot give the right to delete, for you do not have it.");
          store(resource, rid, kind, whom, rights, actor);
        }
        if (mode === "replace") for (const whom of left) store(resource, rid, kind, whom, NOTHING, actor);
      }
    },
  };
}

const wrong = (kind: Kind, text: string) => fieldProblem(new Map([[LISTS[kind], [text]]]));

/** Entries of one list in a body. */
const LONGEST = 1000;
const NAMES: Record<Kind, readonly string[]> = { user: ["user", "username"], group: ["group", "name"] };
/** What `show` tells besides, so that what was read can be sent back. */
const READ_ONLY = ["owner", "owned_by"];

/** What a body asks for; `more` are names that it may have besides. @throws Problem invalid_request */
export function parseSharing(
  statements: Statements,
  body: Json,
  more: readonly string[] = [],
): SharingRequest {
  const errors = new Map<string, string[]>();
  if (body === null || typeof body !== "object" || Array.isArray(body))
    throw fieldProblem(new Map([["non_field_errors", ["Invalid data. Expected a dictionary."]]]));
  for (const name of Object.keys(body))
    if (!["public", "users", "groups", ...READ_ONLY, ...more].includes(name))
      errors.set(/^\w{1,60}$/.test(name) ? name : "non_field_errors", [
        "This is not a field of permissions. Choices: public, users, groups.",
      ]);
  let isPublic: boolean | undefined;
  if (body.public !== undefined) {
    const read = ["boolean", "string", "number"].includes(typeof body.public)
      ? KINDS.flag.parse(String(body.public))
      : undefined;
    if (read === undefined) errors.set("public", ["Must be a valid boolean."]);
    isPublic = read === 1;
  }
  const list = (kind: Kind): Entry[] | undefined => {
    const value = body[LISTS[kind]];
    if (value === undefined) return undefined;
    const texts: string[] = [];
    if (!Array.isArray(value)) texts.push("Expected a list of items.");
    else if (value.length > LONGEST) texts.push(`More than ${LONGEST} items.`);
    else {
      const entries = value.map((item, i) => {
        const entry = readEntry(statements, kind, item);
        if (typeof entry === "string") texts.push(`[${i}]: ${entry}`);
        return entry;
      }) as Entry[];
      if (texts.length === 0) {
        if (new Set(entries.map(({ rid }) => rid)).size === entries.length) return entries;
        texts.push(`The same ${kind} is there twice.`);
      }
    }
    errors.set(LISTS[kind], texts);
    return undefined;
  };
  const wish = { public: isPublic, user: list("user"), group: list("group") };
  if (errors.size > 0) throw fieldProblem(errors);
  return wish;
}

function readEntry(statements: Statements, kind: Kind, item: Json): Entry | string {
  if (item === null || typeof item !== "object" || Array.isArray(item))
    return `Expected an object with ${NAMES[kind][0]}, view, change and delete.`;
  const given: Partial<Rights> = {};
  for (const [name, value] of Object.entries(item)) {
    if (RIGHTS.includes(name as "view")) {
      if (typeof value !== "boolean") return `${name}: Must be a valid boolean.`;
      given[name as "view"] = value;
    } else if (!["id", "full_name", "grant", ...NAMES[kind]].includes(name))
      return `Choices: ${[NAMES[kind][0], ...RIGHTS].join(", ")}.`;
  }
  const named = item.id ?? NAMES[kind].map((name) => item[name]).find((value) => value !== undefined) ?? null;
  const rid = resolvePerson(statements, kind, named);
  return typeof rid === "string" ? rid : { rid, given };
}
