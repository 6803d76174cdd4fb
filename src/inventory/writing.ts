import { type Actor, changeable, deletable, visible } from "./model/access.ts";
import { and, compare } from "./model/condition.ts";
import type { Json, Stored } from "./model/field.ts";
import { foldCase } from "./model/operator.ts";
import { type Change, type Mode, noSuchRecord, type Pending, readChange } from "./model/patch.ts";
import { plan } from "./model/plan.ts";
import { columnOf, isGuarded, type Resource, type Resources, target } from "./model/resource.ts";
import { compile, rows } from "./model/sql.ts";
import { Problem } from "../problem.ts";
import type { Clock } from "../shell/clock.ts";
import type { Statements } from "./statements.ts";

/** Writes of single records, each within a transaction that the caller opens. All throw a Problem. */
export interface Writing {
  /** Stores a new record and returns its row number. `id`: instead of a new one. */
  create(resource: Resource, body: Json, actor: Actor, id?: string): number;
  /** Changes a record that the actor may view. */
  update(resource: Resource, rid: number, body: Json, mode: Mode, actor: Actor): void;
  /** Deletes records that the actor may view; they stay in the database. Together, for they may refer to each other. */
  remove(resource: Resource, rids: readonly number[], actor: Actor): void;
}

type StoredRecord = Record<string, Stored>;

export const forbidden = (): Problem =>
  new Problem("forbidden", "You do not have permission to perform this action.");

export function openWriting(statements: Statements, resources: Resources, clock: Clock): Writing {
  const exists = (text: string, ...args: Stored[]): boolean =>
    statements.get({ text: `SELECT 1 AS found WHERE EXISTS (${text})`, args }) !== null;

  /** What the clock says, in the unit of the tables. */
  const now = (): number => Math.round(clock.now() * 1000);

  const current = (resource: Resource, rid: number): StoredRecord => {
    const columns = stored(resource).map(([name, column]) => `${column} AS "${name}"`);
    return statements.get({
      text: `SELECT ${columns.join(", ")} FROM ${resource.table} WHERE rid = ?`,
      args: [rid],
    })!;
  };

  /** Row numbers of at most two records that a reference may mean. */
  const candidates = (far: Resource, { by, value }: Pending, actor: Actor): number[] => {
    const alive = "deleted" in far.fields ? compare(["deleted"], "==", 0) : and();
    const condition = and(compare([by], "==", value), alive, visible(far, actor));
    const where = compile(condition, plan(resources, far, actor));
    const text = `SELECT t.rid AS rid FROM ${far.table} AS t WHERE ${rows(far)}${where.text} LIMIT 2`;
    return statements.all({ text, args: where.args }).map(({ rid }) => Number(rid));
  };

  /** Puts row numbers in place of references. One that stays as it is needs no right to view its target. */
  const resolve = (
    resource: Resource,
    change: Change,
    before: StoredRecord | undefined,
    actor: Actor,
  ): void => {
    for (const pending of change.pending) {
      const far = target(resources, resource.fields[pending.field]);
      const found = candidates(far, pending, actor);
      const was = before?.[pending.field] ?? null;
      const kept =
        was !== null &&
        exists(
          `SELECT 1 FROM ${far.table} WHERE rid = ? AND ${columnOf(far, pending.by)} = ?`,
          was,
          pending.value,
        );
      if (kept) change.values.set(pending.field, was);
      else if (found.length === 1) change.values.set(pending.field, found[0]);
      else
        change.errors.set(pending.field, [
          found.length === 0
            ? noSuchRecord(pending)
            : `Several objects have this ${pending.by}; give the id of one.`,
        ]);
    }
  };

  const checkUnique = (
    resource: Resource,
    record: StoredRecord,
    rid: number,
    errors: Change["errors"],
  ): void => {
    for (const [name, field] of Object.entries(resource.fields)) {
      if (!field.unique || field.write === "never") continue;
      const text = `SELECT 1 FROM ${resource.table} WHERE ${columnOf(resource, name)} = ? AND rid <> ?`;
      if (exists(text, record[name], rid))
        errors.set(name, [`${resource.name} with this ${name} already exists.`]);
    }
  };

  /** A record is not inside itself, however many steps away. */
  const checkCircles = (
    resource: Resource,
    record: StoredRecord,
    rid: number,
    errors: Change["errors"],
  ): void => {
    for (const [name, field] of Object.entries(resource.fields)) {
      if (field.to !== resource.name || record[name] === null) continue;
      const column = columnOf(resource, name);
      const text =
        `WITH RECURSIVE up (rid) AS (SELECT ? UNION SELECT above.${column} FROM up JOIN ${resource.table} AS above` +
        ` ON above.rid = up.rid WHERE above.${column} IS NOT NULL) SELECT 1 FROM up WHERE rid = ?`;
      if (exists(text, record[name], rid)) errors.set(name, [`A ${resource.name} cannot be inside itself.`]);
    }
  };

  /** The record as it is to be stored, all rules applied. @throws Problem invalid_request with an entry per field */
  const settle = (
    resource: Resource,
    body: Json,
    mode: Mode,
    rid: number,
    before: StoredRecord | undefined,
    actor: Actor,
  ): StoredRecord => {
    const change = readChange(resources, resource, body, mode);
    resolve(resource, change, before, actor);
    checkOwners(change, before, actor);
    const record: StoredRecord = before ? { ...before } : blank(resource, actor);
    for (const [name, value] of change.values) record[name] = value;
    // Rules speak of a whole record; one that lacks a part or has a wrong one is refused for that.
    if (change.errors.size === 0) {
      for (const [name, error] of Object.entries(resource.before?.(record, change.given, before) ?? {}))
        change.errors.set(name, [error]);
      checkUnique(resource, record, rid, change.errors);
      checkCircles(resource, record, rid, change.errors);
    }
    if (change.errors.size > 0) throw fieldProblem(change.errors);
    return record;
  };

  return {
    create(resource, body, actor, id) {
      const record = settle(resource, body, "create", -1, undefined, actor);
      const at = now();
      const columns = columnsOf(resource, record);
      for (const [column, value] of Object.entries(resource.where ?? {})) columns.set(column, value);
      if (resource.fields.id.kind === "uuid") columns.set("id", id ?? clock.newId());
      for (const column of ["created", "modified"]) columns.set(column, at);
      for (const column of ["created_by", "modified_by"]) columns.set(column, actor.user);
      const names = [...columns.keys()];
      return statements.run({
        text: `INSERT INTO ${resource.table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
        args: [...columns.values()],
      });
    },
    update(resource, rid, body, mode, actor) {
      if (!allows(resource, rid, "change", actor)) throw forbidden();
      const record = settle(resource, body, mode, rid, current(resource, rid), actor);
      const columns = columnsOf(resource, record);
      columns.set("modified", now());
      columns.set("modified_by", actor.user);
      const sets = [...columns.keys()].map((column) => `${column} = ?`).join(", ");
      statements.run({
        text: `UPDATE ${resource.table} SET ${sets}, version = version + 1 WHERE rid = ?`,
        args: [...columns.values(), rid],
      });
    },
    remove(resource, rids, actor) {
      const at = now();
      for (const rid of rids) {
        if (!allows(resource, rid, "delete", actor)) throw forbidden();
        statements.run({
          text: `UPDATE ${resource.table} SET deleted = 1, deleted_date = ?, deleted_by = ?, version = version + 1 WHERE rid = ?`,
          args: [at, actor.user, rid],
        });
      }
      for (const rid of rids) refuseReferred(resource, rid);
    },
  };

  function allows(resource: Resource, rid: number, right: "change" | "delete", actor: Actor): boolean {
    const condition = (right === "change" ? changeable : deletable)(resource, actor);
    const { text, args } = compile(condition, plan(resources, resource, actor));
    return exists(`SELECT 1 FROM ${resource.table} AS t WHERE t.rid = ? AND (${text})`, rid, ...args);
  }

  /** @throws Problem conflict where a record that is not deleted refers to this one */
  function refuseReferred(resource: Resource, rid: number): void {
    for (const other of resources.values()) {
      if (!isGuarded(other)) continue;
      for (const [name, field] of Object.entries(other.fields)) {
        if (field.to !== resource.name) continue;
        const text = `SELECT 1 FROM ${other.table} AS t WHERE ${rows(other)}t.${columnOf(other, name)} = ? AND t.deleted = 0`;
        if (exists(text, rid)) {
          const id = String(current(resource, rid).id);
          throw new Problem(
            "conflict",
            `${resource.name} ${id} cannot be deleted: it is the ${name} of records in ${other.segment}. Change or delete those first.`,
          );
        }
      }
    }
  }
}

/** A new record before its body is read. */
function blank(resource: Resource, actor: Actor): StoredRecord {
  const record: StoredRecord = {};
  for (const [name, field] of Object.entries(resource.fields))
    if (field.kind !== "computed") record[name] = field.initial ?? null;
  return { ...record, owner: actor.user, owned_by: actor.primaryGroup };
}

/** 400 with an entry per field; the message is the first of them. */
export function fieldProblem(errors: ReadonlyMap<string, string[]>): Problem {
  const [[name, [text]]] = errors;
  return new Problem("invalid_request", `${name}: ${text}`, { fields: Object.fromEntries(errors) });
}

/** Names and columns of the fields that are in the table. */
const stored = (resource: Resource): [string, string][] =>
  Object.entries(resource.fields)
    .filter(([, field]) => field.kind !== "computed")
    .map(([name]) => [name, columnOf(resource, name)]);

/** Owners change hands by administrators only, and a record goes to a group of its writer. */
const checkOwners = (change: Change, before: StoredRecord | undefined, actor: Actor): void => {
  if (actor.superuser) return;
  const owner = change.values.get("owner");
  if (owner !== undefined && owner !== (before?.owner ?? actor.user))
    change.errors.set("owner", ["Only an administrator may give a record to another owner."]);
  const group = change.values.get("owned_by");
  if (group !== undefined && group !== before?.owned_by && !actor.groups.includes(Number(group)))
    change.errors.set("owned_by", ["You are not a member of this group."]);
};

/** Values by column, folded copies among them. */
const columnsOf = (resource: Resource, record: StoredRecord): Map<string, Stored> => {
  const columns = new Map<string, Stored>();
  for (const [name, field] of Object.entries(resource.fields)) {
    if (field.write === "never" || field.kind === "computed") continue;
    columns.set(columnOf(resource, name), record[name] ?? null);
    if (field.folded) columns.set(field.folded, foldCase(String(record[name])));
  }
  return columns;
};
