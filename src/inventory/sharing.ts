import type { Actor } from "./model/access.ts";
import { type Json, KINDS } from "./model/field.ts";
import type { Resource } from "./model/resource.ts";
import { type Kind, readPerson } from "./people.ts";
import type { Statements } from "./statements.ts";
import { fieldProblem, forbidden, type Writing } from "./writing.ts";

/** Rights that are given on single records to users and groups. Whoever may change a record may share it. */
export interface Sharing {
  /**
   * Gives and takes rights; within a transaction. replace: the lists that are given are all there is; merge: only who
   * is named changes. @throws Problem forbidden, invalid_request
   */
  set(resource: Resource, rid: number, wish: Wish, mode: "replace" | "merge", actor: Actor): void;
}

type Rights = { view: boolean; change: boolean; delete: boolean };
interface Entry {
  rid: number;
  given: Partial<Rights>;
}

/** What a body asks for. */
export interface Wish {
  public: boolean | undefined;
  user: Entry[] | undefined;
  group: Entry[] | undefined;
}

const LISTS = { user: "users", group: "groups" } as const;
const RIGHTS = ["view", "change", "delete"] as const;
const NOTHING: Rights = { view: false, change: false, delete: false };

/** Who has which rights on a record, besides owner and owning group. For those who may change it. */
export function showSharing(statements: Statements, resource: Resource, rid: number): Json {
  const people = (kind: Kind, columns: string, table: string, order: string): Json[] =>
    statements
      .all({
        text:
          `SELECT ${columns}, can_view, can_change, can_delete FROM object_permission AS g JOIN ${table} AS p` +
          ` ON p.rid = g.${kind}_rid WHERE object_kind = ? AND object_rid = ? ORDER BY ${order}`,
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
export function openSharing(statements: Statements, writing: Writing): Sharing {
  const rows = (text: string, ...args: (string | number | null)[]) => statements.all({ text, args });

  const granted = (resource: Resource, rid: number, kind: Kind): Map<number, Rights> => {
    const column = `${kind}_rid`;
    const found = rows(
      `SELECT ${column} AS rid, can_view, can_change, can_delete FROM object_permission` +
        ` WHERE object_kind = ? AND object_rid = ? AND ${column} IS NOT NULL`,
      resource.name,
      rid,
    );
    return new Map(found.map((row) => [Number(row.rid), rightsOf(row)]));
  };

  const store = (resource: Resource, rid: number, kind: Kind, whom: number, rights: Rights): void => {
    statements.run({
      text: `DELETE FROM object_permission WHERE object_kind = ? AND object_rid = ? AND ${kind}_rid = ?`,
      args: [resource.name, rid, whom],
    });
    if (!rights.view) return;
    statements.run({
      text:
        `INSERT INTO object_permission (object_kind, object_rid, ${kind}_rid, can_view, can_change, can_delete)` +
        " VALUES (?, ?, ?, 1, ?, ?)",
      args: [resource.name, rid, whom, rights.change ? 1 : 0, rights.delete ? 1 : 0],
    });
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
          store(resource, rid, kind, whom, rights);
        }
        if (mode === "replace") for (const whom of left) store(resource, rid, kind, whom, NOTHING);
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
export function readWish(statements: Statements, body: Json, more: readonly string[] = []): Wish {
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
    } else if (!["id", "full_name", ...NAMES[kind]].includes(name))
      return `Choices: ${[NAMES[kind][0], ...RIGHTS].join(", ")}.`;
  }
  const named = item.id ?? NAMES[kind].map((name) => item[name]).find((value) => value !== undefined) ?? null;
  const rid = readPerson(statements, kind, named);
  return typeof rid === "string" ? rid : { rid, given };
}
