import { type Actor, hasStock } from "../model/access.ts";
import { type Field, isObject, type Json, shownName, type Stored } from "../model/field.ts";
import { foldCase } from "../model/operator.ts";
import { fieldProblem, invalidField, type WriteMode } from "../model/parse-body.ts";
import { columnName, isGuarded, type ReadContext, type Resource, type Resources } from "../model/resource.ts";
import { clause, selecting } from "../model/sql.ts";
import { type StoredRecord, storedStatement } from "../model/stored-record.ts";
import { Problem } from "../../problem.ts";
import { type Clock, readMicroseconds } from "../../platform/clock.ts";
import { evictionHint, hasPosition } from "../resources/position.ts";
import { annotation } from "../resources/annotation.ts";
import { isSubResource, type SubResource, type SubResourceContext } from "../resources/sub-resource.ts";
import { forgetContent, storedDigests } from "./attachment-content.ts";
import { AnnotationWriter, type Errors, splitAnnotations } from "./annotation-writer.ts";
import { Codes, CODE } from "./codes.ts";
import type { ChangeKind } from "./batch-audit.ts";
import type { Journal } from "./journal.ts";
import { notUsableMessage, RecordValidator } from "./record-validator.ts";
import { forbidden, hasRight, requireRight, type Right } from "./rights.ts";
import type { Statements } from "./statements.ts";

/** Fields that a move sets. */
const PLACE = new Set(["location", "position"]);

/** True if a body moves stock and sets nothing else. */
function isMove(resource: Resource, body: Json): boolean {
  const given = hasStock(resource) && isObject(body) ? Object.keys(body) : [];
  // Read-only fields in bodies are ignored.
  const names = given.filter((name) => resource.fields[name]?.write !== "never");
  return names.length > 0 && names.every((name) => PLACE.has(name));
}

/**
 * Writes of single records, each within a transaction that the caller opens, and each recorded in the journal. All throw
 * a Problem.
 */
export class RecordWriter {
  readonly #validator: RecordValidator;
  readonly #annotations: AnnotationWriter;
  readonly codes: Codes;

  constructor(
    private readonly statements: Statements,
    private readonly resources: Resources,
    private readonly subResources: readonly SubResource[],
    private readonly clock: Clock,
    private readonly journal: Journal,
  ) {
    this.#validator = new RecordValidator(statements, resources);
    this.codes = new Codes(statements, resources);
    this.#annotations = new AnnotationWriter(statements, resources, annotation, this);
  }

  /** Stores a new record and returns its row number. `id` replaces a generated one; `parent`: of a sub-resource. */
  create(resource: Resource, body: Json, actor: Actor, id?: string, parent?: StoredRecord): number {
    const { own, annotations } = splitAnnotations(resource, body);
    const draft = { rid: -1, before: undefined, parent };
    const check = () => this.#validator.validate(resource, own, "create", draft, actor);
    const record = this.#checked(check, () => this.#annotations.findErrors(resource, -1, annotations, actor));
    const rid = this.insert(resource, record, actor, id);
    if (annotations.length > 0) this.#annotations.set(resource, rid, annotations, actor);
    return rid;
  }

  /** Runs a check and adds other errors to those that it throws. @throws Problem invalid_request with an entry for each field */
  #checked<Result>(check: () => Result, others: () => Errors): Result {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof Problem) || !error.fields) throw error;
      throw fieldProblem(new Map([...Object.entries(error.fields), ...others()]));
    }
  }

  /** Stores values that the caller has checked, as it has the right to write them. A record without a code gets one. */
  insert(resource: Resource, values: Readonly<StoredRecord>, actor: Actor, id?: string): number {
    const columns = toColumns(resource, values);
    const code = this.codes.make(resource, values);
    if (code !== undefined) columns.set(columnName(resource, CODE), code);
    for (const [column, value] of Object.entries(resource.where ?? {})) columns.set(column, value);
    // Not one that begins with the time: labels and scans name records by the beginnings of their ids.
    if (resource.fields.id.kind === "uuid") columns.set("id", id ?? this.clock.newId());
    const at = this.#now();
    for (const column of ["created", "modified"]) columns.set(column, at);
    for (const column of ["created_by", "modified_by"]) columns.set(column, actor.user);
    const names = [...columns.keys()];
    const rid = this.statements.run({
      text: `INSERT INTO ${resource.table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
      args: [...columns.values()],
    });
    const after = this.current(resource, rid);
    const generated = code === undefined ? {} : { generated: CODE };
    const written = {
      resource,
      rid,
      op: "create",
      version: 1,
      before: undefined,
      after,
      ...generated,
    } as const;
    this.journal.record(written, actor);
    return rid;
  }

  /** Changes a record that the actor may view. Moving stock takes the right to use it. */
  update(resource: Resource, rid: number, body: Json, mode: WriteMode, actor: Actor): void {
    this.require(resource, rid, mode === "merge" && isMove(resource, body) ? "use" : "change", actor);
    const { own, annotations } = splitAnnotations(resource, body);
    if (annotations.length > 0) {
      if (mode === "replace" || Object.keys(own as object).length > 0)
        this.#checked(
          () => this.update(resource, rid, own, mode, actor),
          () => this.#annotations.findErrors(resource, rid, annotations, actor),
        );
      return this.#annotations.set(resource, rid, annotations, actor);
    }
    const before = this.current(resource, rid);
    const record = this.#validator.validate(resource, body, mode, { rid, before }, actor);
    if (isSubResource(resource)) return this.setValues(resource, rid, record, actor);
    const columns = toColumns(resource, record, changedNames(resource, before, record));
    this.#write(resource, before, this.#modified(columns, actor), "update", actor);
  }

  /** Sets checked values of stock, for actors who may use it. */
  use(resource: Resource, rid: number, values: Readonly<StoredRecord>, actor: Actor): void {
    this.require(resource, rid, "use", actor);
    const columns = toColumns(resource, values, Object.keys(values));
    this.#write(resource, this.current(resource, rid), this.#modified(columns, actor), "update", actor);
  }

  /** Sets checked values of a sub-resource and restores it if it is deleted. Equal values are not written. */
  setValues(resource: Resource, rid: number, values: Readonly<StoredRecord>, actor: Actor): void {
    const before = this.current(resource, rid);
    const same = Object.entries(values).every(([name, value]) => before[name] === value);
    if (same && before.deleted === 0) return;
    this.#revive(resource, before, { ...before, ...values }, actor);
  }

  /** Deletes a sub-resource; the caller has checked the right. */
  endSubResource(resource: SubResource, rid: number, actor: Actor): void {
    this.#write(resource, this.current(resource, rid), this.#deletion(actor), "delete", actor);
  }

  /** Deletes records that the actor may view; they stay in the database. Together, as they may refer to each other. */
  remove(resource: Resource, rids: readonly number[], actor: Actor): void {
    for (const rid of rids) this.markDeleted(resource, rid, actor);
    for (const rid of rids) this.#refuseReferenced(resource, rid, actor);
  }

  /** Deletes one record, and sets values of an earlier state. `verify` checks afterwards that nothing refers to it. */
  markDeleted(resource: Resource, rid: number, actor: Actor, values: Readonly<StoredRecord> = {}): void {
    const before = this.current(resource, rid);
    this.require(resource, rid, "delete", actor);
    const record = earlierState(resource, before, values, actor);
    this.#checkRestore(resource, before, { ...record, deleted: 1 }, actor);
    const columns = toColumns(resource, record, changedNames(resource, before, record));
    for (const [name, value] of this.#deletion(actor)) columns.set(name, value);
    constrained(() => this.#write(resource, before, columns, "delete", actor));
  }

  /** Sets values of an earlier state and restores the record if it is deleted. `verify` checks the result. */
  restoreValues(
    resource: Resource,
    rid: number,
    values: Readonly<StoredRecord>,
    actor: Actor,
    right: Right = "change",
  ): void {
    const before = this.current(resource, rid);
    this.require(resource, rid, before.deleted === 1 ? "delete" : right, actor);
    const record = earlierState(resource, before, values, actor);
    this.#checkRestore(resource, before, { ...record, deleted: 0 }, actor);
    const placed = before.deleted === 1 ? undefined : before;
    for (const [name, far] of this.#validator.misplaced(resource, record, placed, actor))
      throw invalidField(name, notUsableMessage(far));
    this.#revive(resource, before, record, actor);
  }

  /** Names of the fields by which a record is in others that the actor may not use. */
  misplaced(resource: Resource, record: StoredRecord, actor: Actor): string[] {
    return this.#validator.misplaced(resource, record, undefined, actor).map(([name]) => name);
  }

  /** Takes a record out of the one that a field names. The caller has checked that the actor may change that one. */
  removeFromLocation(resource: Resource, rid: number, field: string, actor: Actor): void {
    const before = this.current(resource, rid);
    const position = hasPosition(resource) ? { position: "" } : {};
    const columns = toColumns(resource, { ...before, [field]: null, ...position }, [
      field,
      ...Object.keys(position),
    ]);
    this.#write(resource, before, this.#modified(columns, actor), "update", actor);
  }

  /** Checks that a record keeps all rules after `markDeleted` and `restoreValues`. */
  verify(resource: Resource, rid: number, actor: Actor): void {
    const record = this.current(resource, rid);
    if (isSubResource(resource)) {
      const { kind, rid: parent } = resource.parent(record);
      const { table, name, fields } = this.resources.get(kind)!;
      const alive = `SELECT 1 FROM ${table} WHERE rid = ? AND deleted = 0`;
      if (record.deleted === 0 && "deleted" in fields && !this.#validator.exists(alive, parent))
        throw new Problem("conflict", `The ${name} that it belongs to is deleted.`);
      resource.verify?.(record, this.statements);
    }
    if (record.deleted === 1) this.#refuseReferenced(resource, rid, actor);
    else this.#validator.verify(resource, record, actor);
  }

  /** Removes a deleted record and its history permanently. */
  purge(resource: Resource, rid: number, actor: Actor): void {
    if (!actor.superuser) throw forbidden();
    const before = this.current(resource, rid);
    const label = `${resource.name} ${before.id}`;
    if (before.deleted === 0) throw new Problem("conflict", `${label} is not deleted. Delete it first.`);
    for (const { by, segment } of this.#references(resource, rid, [...this.resources.values()]))
      throw new Problem(
        "conflict",
        `${label} cannot be purged: it is the ${by} of records in ${segment}, including deleted ones.`,
      );
    // First, so that the number of a change is never used again.
    const version = Number(before.version) + 1;
    this.journal.record({ resource, rid, op: "purge", version, before, after: undefined }, actor);
    const digests = storedDigests(this.statements, resource, rid);
    const children = isSubResource(resource)
      ? []
      : this.subResources.filter(({ fields }) => fields.object_rid);
    for (const [table, owner] of [
      ["record_change", "object"],
      ["record_change", "host"],
      ...children.map(({ table }) => [table, "object"]),
    ])
      this.statements.run({
        text: `DELETE FROM ${table} WHERE ${owner}_kind = ? AND ${owner}_rid = ?`,
        args: [resource.name, rid],
      });
    constrained(() =>
      this.statements.run({ text: `DELETE FROM ${resource.table} WHERE rid = ?`, args: [rid] }),
    );
    forgetContent(this.statements, digests);
  }

  /** The record as it is stored. @throws Problem conflict for a right or a membership that went with its group */
  current(resource: Resource, rid: number): StoredRecord {
    const found = this.statements.get({ text: storedStatement(resource), args: [rid] });
    if (!found) throw new Problem("conflict", `A record of ${resource.segment} no longer exists.`);
    return found;
  }

  /** Runs work that moves records among slots in any order: until it ends, the slots of these records are free. */
  rearrange<T>(moved: readonly (readonly [Resource, number])[], work: () => T): T {
    const stored = Map.groupBy(
      moved.filter(([resource]) => hasPosition(resource)),
      ([resource]) => resource,
    );
    const rids = [...stored].map(
      ([resource, rows]) => [resource, JSON.stringify(rows.map(([, rid]) => rid))] as const,
    );
    for (const [{ name }, list] of rids)
      this.statements.run({
        text: "DELETE FROM slot WHERE object_kind = ? AND object_rid IN (SELECT value FROM json_each(?))",
        args: [name, list],
      });
    const value = work();
    for (const [resource, list] of rids) this.#occupy(resource, list);
    return value;
  }

  /** Puts records back into their slots that have not moved. */
  #occupy({ name, table }: Resource, rids: string): void {
    const taken = this.statements.get({
      text:
        `SELECT t.id AS id, t.position AS position FROM ${table} AS t JOIN slot AS s ON s.location = t.location` +
        " AND s.position = t.position WHERE t.deleted = 0 AND t.rid IN (SELECT value FROM json_each(?2))" +
        " AND NOT (s.object_kind = ?1 AND s.object_rid = t.rid) LIMIT 1",
      args: [name, rids],
    });
    if (taken)
      throw new Problem(
        "conflict",
        `${name} ${taken.id} and another record would both be in ${taken.position}.`,
      );
    this.statements.run({
      text:
        `INSERT INTO slot SELECT location, position, ?1, rid FROM ${table} WHERE rid IN (SELECT value FROM json_each(?2))` +
        " AND position <> '' AND location IS NOT NULL AND deleted = 0" +
        " AND rid NOT IN (SELECT object_rid FROM slot WHERE object_kind = ?1)",
      args: [name, rids],
    });
  }

  allows(resource: Resource, rid: number, right: Right, actor: Actor): boolean {
    if (isSubResource(resource))
      return this.makeContext(resource, this.current(resource, rid), actor).allows("change");
    return hasRight(this.#reader(actor), resource, rid, right);
  }

  /** @throws Problem forbidden, which names whom to ask */
  require(resource: Resource, rid: number, right: Right, actor: Actor): void {
    if (!isSubResource(resource)) requireRight(this.#reader(actor), resource, rid, right);
    else if (!this.allows(resource, rid, right, actor)) throw forbidden();
  }

  #reader = (actor: Actor): ReadContext => ({ query: this.statements, resources: this.resources, actor });

  /** Context of the rules of a sub-resource. */
  makeContext(resource: SubResource, record: StoredRecord, actor: Actor): SubResourceContext {
    const { kind, rid } = resource.parent(record);
    const parent = { resource: this.resources.get(kind)!, rid };
    return {
      query: this.statements,
      resources: this.resources,
      actor,
      parent,
      allows: (right) =>
        isGuarded(parent.resource) ? this.allows(parent.resource, rid, right, actor) : actor.superuser,
    };
  }

  #checkRestore(resource: Resource, before: StoredRecord, after: StoredRecord, actor: Actor): void {
    if (isSubResource(resource) && !actor.superuser)
      resource.checkRestore?.(before, after, this.makeContext(resource, after, actor));
  }

  /** Sets the values of a record, and restores it if it is deleted. */
  #revive(resource: Resource, before: StoredRecord, record: Readonly<StoredRecord>, actor: Actor): void {
    const columns = toColumns(resource, record, changedNames(resource, before, record));
    columns.set("deleted", 0).set("deleted_date", null).set("deleted_by", null);
    const op = before.deleted === 1 ? "restore" : "update";
    constrained(() => this.#write(resource, before, this.#modified(columns, actor), op, actor));
  }

  /** Sets columns of a record and records the change. */
  #write(
    resource: Resource,
    before: StoredRecord,
    columns: Map<string, Stored>,
    op: ChangeKind,
    actor: Actor,
  ): void {
    const rid = Number(before.rid);
    const sets = [...columns.keys()].map((column) => `${column} = ?`).join(", ");
    this.statements.run({
      text: `UPDATE ${resource.table} SET ${sets}, version = version + 1 WHERE rid = ?`,
      args: [...columns.values(), rid],
    });
    const after = this.current(resource, rid);
    this.journal.record({ resource, rid, op, version: Number(after.version), before, after }, actor);
  }

  #modified(columns: Map<string, Stored>, actor: Actor): Map<string, Stored> {
    return columns.set("modified", this.#now()).set("modified_by", actor.user);
  }

  #deletion(actor: Actor): Map<string, Stored> {
    const columns = this.#modified(new Map(), actor);
    return columns
      .set("deleted", 1)
      .set("deleted_date", columns.get("modified")!)
      .set("deleted_by", actor.user);
  }

  /** Microseconds since 1970-01-01 UTC. */
  #now(): number {
    return readMicroseconds(this.clock);
  }

  /** True if a record that is not deleted refers to one of these. */
  isAnyReferenced(resource: Resource, rids: readonly number[]): boolean {
    const list = clause("SELECT value FROM json_each(?)", [JSON.stringify(rids)]);
    return [...this.resources.values()].filter(isGuarded).some((other) =>
      Object.entries(other.fields).some(([by, { to, outlived }]) => {
        if (to !== resource.name || outlived) return false;
        const referring = clause(`t.${columnName(other, by)} IN (${list.text}) AND t.deleted = 0`, list.args);
        const { text, args } = selecting(other, referring);
        return this.#validator.exists(`SELECT 1 FROM ${other.table} AS t WHERE ${text}`, ...args);
      }),
    );
  }

  /** @throws Problem conflict where a record that is not deleted refers to this one */
  #refuseReferenced(resource: Resource, rid: number, actor: Actor): void {
    const guarded = [...this.resources.values()].filter(isGuarded);
    const isHeld = ({ outlived }: Field) => !outlived;
    const live = " AND t.deleted = 0";
    for (const { by, segment, name: other } of this.#references(resource, rid, guarded, isHeld, live)) {
      const { id, [resource.key]: name = id } = this.current(resource, rid);
      const context = { query: this.statements, resources: this.resources, actor };
      const { places } = this.resources.get(other)!.fields[by];
      const evict = places ? evictionHint(context, rid) : "";
      const text = `${shownName(String(name))} cannot be deleted: it is the ${by} of records in ${segment}. Change or delete those first.${evict}`;
      throw new Problem("conflict", text);
    }
  }

  /** The fields by which records refer to this one. */
  *#references(
    resource: Resource,
    rid: number,
    among: readonly Resource[],
    applies: (field: Field) => boolean = () => true,
    also = "",
  ) {
    for (const other of among)
      for (const [by, field] of Object.entries(other.fields)) {
        if (field.to !== resource.name || !applies(field)) continue;
        const { text, args } = selecting(other, clause(`t.${columnName(other, by)} = ?${also}`, [rid]));
        if (this.#validator.exists(`SELECT 1 FROM ${other.table} AS t WHERE ${text}`, ...args))
          yield { by, segment: other.segment, name: other.name };
      }
  }
}

/** Runs a write that the database itself may refuse. @throws Problem conflict */
function constrained(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    const code = String((error as { code?: string }).code);
    if (!code.startsWith("SQLITE_CONSTRAINT")) throw error;
    const isSlot = /slot\.position/.test((error as Error).message);
    const text = isSlot
      ? "Another record is now in the position of this record. Move that one first."
      : code.endsWith("UNIQUE")
        ? "Another record now has the former name of this record."
        : "A referenced record no longer exists, or other records refer to this one.";
    throw new Problem("conflict", text, { cause: error });
  }
}

/** A record with values of an earlier state. @throws Problem invalid_request where the actor may not set its owners */
function earlierState(
  { fields }: Resource,
  before: StoredRecord,
  values: Readonly<StoredRecord>,
  actor: Actor,
): StoredRecord {
  const record = { ...before };
  for (const [name, value] of Object.entries(values))
    if (Object.hasOwn(fields, name) && fields[name].write !== "never") record[name] = value;
  if (actor.superuser) return record;
  if (record.owner !== before.owner || record.owned_by !== before.owned_by)
    throw invalidField("owner", "Only an administrator may restore the owners.");
  if (before.owner !== actor.user && record.public === 1 && before.public === 0)
    throw invalidField("public", "Only the owner or an administrator may make a record public.");
  return record;
}

/** Names of the fields to write: an unchanged one would be written to its indexes again, and its reference checked. */
const changedNames = ({ fields }: Resource, before: StoredRecord, after: Readonly<StoredRecord>): string[] =>
  Object.keys(fields).filter((name) => (before[name] ?? null) !== (after[name] ?? null));

/** Values by column, with the folded copies. */
export function toColumns(
  resource: Resource,
  record: StoredRecord,
  names: Iterable<string> = Object.keys(resource.fields),
): Map<string, Stored> {
  const columns = new Map<string, Stored>();
  for (const name of names) {
    const field = resource.fields[name];
    if (field.kind === "computed" || field.write === "never") continue;
    columns.set(columnName(resource, name), record[name] ?? null);
    if (field.folded) columns.set(field.folded, foldCase(String(record[name])));
  }
  return columns;
}
