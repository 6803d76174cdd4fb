import { type Actor, changeable, deletable, visible } from "../model/access.ts";
import { and, compare } from "../model/condition.ts";
import type { Json, Stored } from "../model/field.ts";
import { foldCase } from "../model/operator.ts";
import {
  type ParsedBody,
  type WriteMode,
  missingReference,
  type UnresolvedReference,
  parseBody,
} from "../model/parse-body.ts";
import { plan } from "../model/plan.ts";
import { columnOf, isGuarded, type Resource, type Resources, targetOf } from "../model/resource.ts";
import { compile, rows } from "../model/sql.ts";
import { type StoredRecord, storedStatement } from "../model/stored-record.ts";
import { Problem } from "../../problem.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Journal } from "./journal.ts";
import { openSubResourceRules } from "./sub-resource-rules.ts";
import type { Statements } from "./statements.ts";

/**
 * Writes of single records, each within a transaction that the caller opens, and each noted in the journal. All throw a
 * Problem.
 */
export interface RecordWriter {
  /** Stores a new record and returns its row number. `id`: instead of a new one. */
  create(resource: Resource, body: Json, actor: Actor, id?: string): number;
  /** Stores a part of a record; its values, and the right to write it, are the caller's to check. */
  insert(part: Resource, values: Readonly<StoredRecord>, actor: Actor, id?: string): number;
  /** Sets values of a part, and gives it life again where it is deleted; the same holds. Equal values are not written. */
  setValues(part: Resource, rid: number, values: Readonly<StoredRecord>, actor: Actor): void;
  /** Deletes a part; the same holds. */
  endSubResource(part: Resource, rid: number, actor: Actor): void;
  /** Changes a record that the actor may view. */
  update(resource: Resource, rid: number, body: Json, mode: WriteMode, actor: Actor): void;
  /** Deletes records that the actor may view; they stay in the database. Together, for they may refer to each other. */
  remove(resource: Resource, rids: readonly number[], actor: Actor): void;
  /** Deletes one record without asking what refers to it, which `verify` does. */
  markDeleted(resource: Resource, rid: number, actor: Actor): void;
  /**
   * Gives a record stored values of an earlier state, and life again where it is deleted. What they refer to, and
   * whether they may stand together, `verify` asks.
   */
  restoreValues(resource: Resource, rid: number, values: Readonly<StoredRecord>, actor: Actor): void;
  /** Whether the record, as it stands after `mark` and `put`, keeps all rules. */
  verify(resource: Resource, rid: number): void;
  /** Removes a deleted record and its history for good. */
  purge(resource: Resource, rid: number, actor: Actor): void;
  /** The record as it is stored. @throws Problem conflict where it is gone: a right or a membership with its group */
  current(resource: Resource, rid: number): StoredRecord;
  allows(resource: Resource, rid: number, right: "change" | "delete", actor: Actor): boolean;
}

export const forbidden = (): Problem =>
  new Problem("forbidden", "You do not have permission to perform this action.");

export function openRecordWriter(
  statements: Statements,
  resources: Resources,
  clock: Clock,
  journal: Journal,
): RecordWriter {
  const exists = (text: string, ...args: Stored[]): boolean =>
    statements.get({ text: `SELECT 1 AS found WHERE EXISTS (${text})`, args }) !== null;

  /** What the clock says, in the unit of the tables. */
  const now = (): number => Math.round(clock.now() * 1000);

  const current = (resource: Resource, rid: number): StoredRecord => {
    const found = statements.get({ text: storedStatement(resource), args: [rid] });
    if (!found) throw new Problem("conflict", `One of ${resource.segment} is gone for good.`);
    return found;
  };

  /** Sets columns of a record and notes it. */
  const write = (
    resource: Resource,
    before: StoredRecord,
    columns: Map<string, Stored>,
    op: "update" | "delete" | "restore",
    actor: Actor,
  ): void => {
    const rid = Number(before.rid);
    const sets = [...columns.keys()].map((column) => `${column} = ?`).join(", ");
    statements.run({
      text: `UPDATE ${resource.table} SET ${sets}, version = version + 1 WHERE rid = ?`,
      args: [...columns.values(), rid],
    });
    const after = current(resource, rid);
    journal.record({ resource, rid, op, version: Number(after.version), before, after }, actor);
  };

  const parts = openSubResourceRules(statements, resources, { current, allows });

  /** Row numbers of at most two records that a reference may mean. */
  const candidates = (far: Resource, { by, value }: UnresolvedReference, actor: Actor): number[] => {
    const alive = "deleted" in far.fields ? compare(["deleted"], "==", 0) : and();
    const condition = and(compare([by], "==", value), alive, visible(far, actor));
    const where = compile(condition, plan(resources, far, actor));
    const text = `SELECT t.rid AS rid FROM ${far.table} AS t WHERE ${rows(far)}${where.text} LIMIT 2`;
    return statements.all({ text, args: where.args }).map(({ rid }) => Number(rid));
  };

  /** Puts row numbers in place of references. One that stays as it is needs no right to view its target. */
  const resolve = (
    resource: Resource,
    change: ParsedBody,
    before: StoredRecord | undefined,
    actor: Actor,
  ): void => {
    for (const pending of change.pending) {
      const far = targetOf(resources, resource.fields[pending.field]);
      const found = candidates(far, pending, actor);
      const { targetHas = {} } = resource.fields[pending.field];
      const stored = found.length === 1 ? current(far, found[0]) : {};
      const other = Object.entries(targetHas).find(([name, value]) => stored[name] !== value);
      const was = before?.[pending.field] ?? null;
      const kept =
        was !== null &&
        exists(
          `SELECT 1 FROM ${far.table} WHERE rid = ? AND ${columnOf(far, pending.by)} = ?`,
          was,
          pending.value,
        );
      if (kept) change.values.set(pending.field, was);
      else if (found.length === 1 && other)
        change.errors.set(pending.field, [`Expected a ${far.name} whose ${other[0]} is ${other[1]}.`]);
      else if (found.length === 1) change.values.set(pending.field, found[0]);
      else
        change.errors.set(pending.field, [
          found.length === 0
            ? missingReference(pending)
            : `Several objects have this ${pending.by}; give the id of one.`,
        ]);
    }
  };

  /** Asks for the records that ids name without referring to them; one that stays as it is is not asked for. */
  const findNamed = (
    resource: Resource,
    change: ParsedBody,
    before: StoredRecord | undefined,
    actor: Actor,
  ): void => {
    for (const [name, { idOf }] of Object.entries(resource.fields)) {
      const far = idOf === undefined ? undefined : resources.get(idOf);
      const value = change.values.get(name);
      if (!far || value === undefined || value === before?.[name]) continue;
      const pending = { field: name, by: "id", value: String(value) };
      if (candidates(far, pending, actor).length === 0) change.errors.set(name, [missingReference(pending)]);
    }
  };

  /** Puts keys in place of what lists name by key or id, each once. */
  const resolveLists = (resource: Resource, change: ParsedBody): void => {
    for (const [name, { keysOf }] of Object.entries(resource.fields)) {
      const far = keysOf === undefined ? undefined : resources.get(keysOf);
      if (!far || !change.values.has(name)) continue;
      const keys = new Set<Stored>();
      for (const typed of JSON.parse(String(change.values.get(name))) as string[]) {
        const text = `SELECT ${columnOf(far, far.key)} AS key FROM ${far.table} WHERE ${columnOf(far, far.key)} = ?1 OR id = ?1`;
        const row = statements.get({ text, args: [typed.trim()] });
        if (row) keys.add(row.key);
        else change.errors.set(name, [missingReference({ field: name, by: far.key, value: typed })]);
      }
      change.values.set(name, JSON.stringify([...keys]));
    }
  };

  const checkUnique = (
    resource: Resource,
    record: StoredRecord,
    rid: number,
    errors: ParsedBody["errors"],
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
    errors: ParsedBody["errors"],
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
  const validate = (
    resource: Resource,
    body: Json,
    mode: WriteMode,
    rid: number,
    before: StoredRecord | undefined,
    actor: Actor,
  ): StoredRecord => {
    const change = parseBody(resources, resource, body, mode);
    resolve(resource, change, before, actor);
    findNamed(resource, change, before, actor);
    resolveLists(resource, change);
    checkOwners(change, before, actor);
    const record: StoredRecord = before ? { ...before } : blank(resource, actor);
    for (const [name, value] of change.values) record[name] = value;
    // Rules speak of a whole record; one that lacks a part or has a wrong one is refused for that.
    if (change.errors.size === 0) {
      for (const [name, error] of Object.entries(resource.rules?.(record, change.given, before) ?? {}))
        change.errors.set(name, [error]);
      checkUnique(resource, record, rid, change.errors);
      checkCircles(resource, record, rid, change.errors);
    }
    if (change.errors.size > 0) throw fieldProblem(change.errors);
    return record;
  };

  const add = (resource: Resource, record: Readonly<StoredRecord>, actor: Actor, id?: string): number => {
    const at = now();
    const columns = columnsOf(resource, record);
    for (const [column, value] of Object.entries(resource.where ?? {})) columns.set(column, value);
    if (resource.fields.id.kind === "uuid") columns.set("id", id ?? clock.newId());
    for (const column of ["created", "modified"]) columns.set(column, at);
    for (const column of ["created_by", "modified_by"]) columns.set(column, actor.user);
    const names = [...columns.keys()];
    const rid = statements.run({
      text: `INSERT INTO ${resource.table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
      args: [...columns.values()],
    });
    const after = current(resource, rid);
    journal.record({ resource, rid, op: "create", version: 1, before: undefined, after }, actor);
    return rid;
  };

  /** Sets the values of a record, which then lives. */
  const revive = (
    resource: Resource,
    before: StoredRecord,
    record: Readonly<StoredRecord>,
    op: "update" | "restore",
    actor: Actor,
  ): void => {
    const columns = columnsOf(resource, record);
    for (const [column, value] of Object.entries({ deleted: 0, deleted_date: null, deleted_by: null }))
      columns.set(column, value);
    columns.set("modified", now());
    columns.set("modified_by", actor.user);
    constrained(() => write(resource, before, columns, op, actor));
  };

  return {
    create: (resource, body, actor, id) =>
      add(resource, validate(resource, body, "create", -1, undefined, actor), actor, id),
    insert: add,
    setValues(part, rid, values, actor) {
      const before = current(part, rid);
      const same = Object.entries(values).every(([name, value]) => before[name] === value);
      if (same && before.deleted === 0) return;
      revive(part, before, { ...before, ...values }, before.deleted === 1 ? "restore" : "update", actor);
    },
    endSubResource: (part, rid, actor) => write(part, current(part, rid), lifeEnds(actor), "delete", actor),
    update(resource, rid, body, mode, actor) {
      if (!allows(resource, rid, "change", actor)) throw forbidden();
      const before = current(resource, rid);
      const record = validate(resource, body, mode, rid, before, actor);
      const columns = columnsOf(resource, record);
      columns.set("modified", now());
      columns.set("modified_by", actor.user);
      write(resource, before, columns, "update", actor);
    },
    markDeleted: mark,
    remove(resource, rids, actor) {
      for (const rid of rids) mark(resource, rid, actor);
      for (const rid of rids) refuseReferred(resource, rid);
    },
    restoreValues(resource, rid, values, actor) {
      const before = current(resource, rid);
      const op = before.deleted === 1 ? "restore" : "update";
      if (!allows(resource, rid, op === "restore" ? "delete" : "change", actor)) throw forbidden();
      const record = { ...before };
      for (const [name, value] of Object.entries(values))
        if (Object.hasOwn(resource.fields, name) && resource.fields[name].write !== "never")
          record[name] = value;
      if (!actor.superuser && (record.owner !== before.owner || record.owned_by !== before.owned_by))
        throw fieldProblem(new Map([["owner", ["Only an administrator may put back the owners."]]]));
      if (resource.parent) parts.refuseBeyondRights(resource, before, { ...record, deleted: 0 }, actor);
      revive(resource, before, record, op, actor);
    },
    verify(resource, rid) {
      const record = current(resource, rid);
      if (resource.parent) parts.verify(resource, record);
      if (record.deleted === 1) return refuseReferred(resource, rid);
      const errors: ParsedBody["errors"] = new Map();
      for (const [name, field] of Object.entries(resource.fields)) {
        if (field.kind !== "reference" || field.write === "never" || record[name] === null) continue;
        const far = targetOf(resources, field);
        const alive = "deleted" in far.fields ? " AND deleted = 0" : "";
        if (!exists(`SELECT 1 FROM ${far.table} WHERE rid = ?${alive}`, record[name]))
          errors.set(name, [`The ${far.name} that it refers to is deleted.`]);
      }
      checkUnique(resource, record, rid, errors);
      checkCircles(resource, record, rid, errors);
      if (errors.size > 0) throw fieldProblem(errors);
    },
    purge(resource, rid, actor) {
      if (!actor.superuser) throw forbidden();
      const before = current(resource, rid);
      if (before.deleted === 0)
        throw new Problem("conflict", `${resource.name} ${before.id} is not deleted. Delete it first.`);
      for (const other of resources.values())
        for (const [name, field] of Object.entries(other.fields)) {
          if (field.to !== resource.name || field.kind !== "reference") continue;
          const text = `SELECT 1 FROM ${other.table} AS t WHERE ${rows(other)}t.${columnOf(other, name)} = ?`;
          if (exists(text, rid))
            throw new Problem(
              "conflict",
              `${resource.name} ${before.id} cannot be purged: it is the ${name} of records in ${other.segment}, deleted ones among them.`,
            );
        }
      // First, so that no number of a change is used again.
      const version = Number(before.version) + 1;
      journal.record({ resource, rid, op: "purge", version, before, after: undefined }, actor);
      const bytes = parts.bytesOf(resource, rid);
      for (const [table, owner] of [
        ["record_change", "object"],
        ["record_change", "host"],
        ...(resource.parent
          ? []
          : ["object_permission", "annotation", "note", "attachment"].map((t) => [t, "object"])),
      ])
        statements.run({
          text: `DELETE FROM ${table} WHERE ${owner}_kind = ? AND ${owner}_rid = ?`,
          args: [resource.name, rid],
        });
      constrained(() => statements.run({ text: `DELETE FROM ${resource.table} WHERE rid = ?`, args: [rid] }));
      parts.forgetBytes(bytes);
    },
    current,
    allows,
  };

  function mark(resource: Resource, rid: number, actor: Actor): void {
    const before = current(resource, rid);
    if (!allows(resource, rid, "delete", actor)) throw forbidden();
    if (resource.parent) parts.refuseBeyondRights(resource, before, { ...before, deleted: 1 }, actor);
    write(resource, before, lifeEnds(actor), "delete", actor);
  }

  function lifeEnds(actor: Actor): Map<string, Stored> {
    return new Map<string, Stored>([
      ["deleted", 1],
      ["deleted_date", now()],
      ["deleted_by", actor.user],
    ]);
  }

  function allows(resource: Resource, rid: number, right: "change" | "delete", actor: Actor): boolean {
    if (resource.parent) return parts.allows(resource, rid, actor);
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

/** Runs a write that the database itself may refuse. @throws Problem conflict */
function constrained(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    const code = String((error as { code?: string }).code);
    if (!code.startsWith("SQLITE_CONSTRAINT")) throw error;
    const text = code.endsWith("UNIQUE")
      ? "Another record has the name that this one had."
      : "What it refers to is gone, or others refer to it.";
    throw new Problem("conflict", text, { cause: error });
  }
}

/** Owners change hands by administrators only, and a record goes to a group of its writer. */
const checkOwners = (change: ParsedBody, before: StoredRecord | undefined, actor: Actor): void => {
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
