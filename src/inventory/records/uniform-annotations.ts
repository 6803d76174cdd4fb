import type { Actor } from "../model/access.ts";
import { findAnnotation, withAnnotations } from "../model/annotation-type.ts";
import type { Json, Stored } from "../model/field.ts";
import { LIMITS } from "../model/limits.ts";
import type { AnnotationType, Resource, Resources } from "../model/resource.ts";
import { storedFields, storedStatement, type StoredRecord } from "../model/stored-record.ts";
import { Problem } from "../../problem.ts";
import { type Clock, readMicroseconds } from "../../platform/clock.ts";
import { annotation } from "../resources/annotation.ts";
import { isEmpty, listItems, splitAnnotations } from "./annotation-writer.ts";
import type { RecordWrite } from "./batch-audit.ts";
import type { Change } from "./history.ts";
import type { Journal } from "./journal.ts";
import type { RecordReader } from "./record-reader.ts";
import type { RecordWriter } from "./record-writer.ts";
import type { Statements } from "./statements.ts";
import { areUnchanged, FEW_CHANGES, type PlannedUpdate, recordAll, ROWS } from "./uniform-update.ts";

type Write = RecordWrite & { after: StoredRecord };

/** Writes of one annotation of many records, found and checked, but not written. */
interface Found {
  resource: Resource;
  type: AnnotationType;
  typeVersion: Stored;
  /** The stored value; null removes it. */
  value: string | null;
  records: [rid: number, version: Stored][];
  writes: Write[];
}

/** Fields of an annotation that are reverted together with others. */
const REVERTED_FIELDS = new Set(["value", "deleted", "deleted_date", "deleted_by"]);
const UNDELETED = { deleted_date: null, deleted_by: null };

interface Dependencies {
  reader: RecordReader;
  writer: RecordWriter;
  clock: Clock;
  journal: Journal;
}

/** Sets an annotation of many records by a few statements, as `UniformUpdates` sets fields. */
export class UniformAnnotations {
  constructor(
    private readonly statements: Statements,
    private readonly resources: Resources,
    private readonly dependencies: Dependencies,
  ) {}

  /** Undefined if something is refused, or if the records have to be checked one after another. */
  plan(resource: Resource, rids: readonly number[], body: Json, actor: Actor): PlannedUpdate | undefined {
    const { own, annotations } = splitAnnotations(resource, body);
    const isPlain = annotations.length > 0 && Object.keys(own as object).length === 0;
    const records = isPlain && rids.length <= LIMITS.records.max && this.#records(resource, rids, actor);
    if (!records) return undefined;
    const found = annotations.map((each) => this.#find(resource, records, each, actor));
    const all = found.filter((each) => each !== undefined);
    if (new Set(all.map(({ type }) => type.rid)).size < annotations.length) return undefined;
    const writes = all.flatMap((each) => each.writes);
    return { rids, writes, write: () => this.#write(all, actor) };
  }

  #find(
    resource: Resource,
    records: Found["records"],
    [name, given]: [name: string, value: Json],
    actor: Actor,
  ): Found | undefined {
    const named = findAnnotation(withAnnotations(this.resources, resource, actor), name);
    if (!("type" in named) || named.rest.length > 0 || (named.type.readonly && !actor.superuser))
      return undefined;
    const { type } = named;
    const value = this.#parse(resource, type, given, actor);
    if (value === undefined) return undefined;
    const writes = this.#writes(resource, records, type, value, actor);
    return (
      writes && { resource, type, typeVersion: this.#readType(type.rid).version, value, records, writes }
    );
  }

  /** The value in stored form; undefined if it is refused. */
  #parse(resource: Resource, { id }: AnnotationType, value: Json, actor: Actor): string | null | undefined {
    if (isEmpty(value)) return null;
    const noRecord = { object_kind: resource.name, object_rid: -1 };
    const context = this.dependencies.writer.makeContext(annotation, noRecord, actor);
    try {
      return String(annotation.parse!({ annotation_type_id: id, value }, context).value);
    } catch (error) {
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }

  /** The records with their versions; undefined if one of them is deleted, or if the actor may not change it. */
  #records(resource: Resource, rids: readonly number[], actor: Actor): Found["records"] | undefined {
    const rights = this.dependencies.reader.rights(resource, actor, rids);
    const found = this.statements.all({
      text:
        `SELECT t.rid AS rid, t.version AS version FROM json_each(?) AS r CROSS JOIN ${resource.table} AS t` +
        " ON t.rid = r.value WHERE t.deleted = 0",
      args: [JSON.stringify(rids)],
    });
    const isAllowed = found.length === rids.length && rids.every((rid) => rights.get(rid)?.change);
    return isAllowed ? found.map(({ rid, version }) => [Number(rid), version]) : undefined;
  }

  /** Values in the order of the records; undefined if a record has several annotations of the type. */
  #writes(
    resource: Resource,
    records: Found["records"],
    type: AnnotationType,
    value: string | null,
    actor: Actor,
  ): Write[] | undefined {
    const of =
      "SELECT rid, object_rid FROM annotation WHERE annotation_type = ? AND object_kind = ? AND deleted = 0";
    const all = this.statements.all({ text: of, args: [type.rid, resource.name] });
    const existing = Map.groupBy(all, (row) => Number(row.object_rid));
    const items = value === null ? [] : listItems({ value }, type);
    const text = storedStatement(annotation);
    const writes: Write[] = [];
    for (const [object_rid] of records) {
      const [first, ...others] = existing.get(object_rid) ?? [];
      if (others.length > 0) return undefined;
      const before = first && this.statements.get({ text, args: [first.rid] })!;
      if (before && value !== null && Bun.deepEquals(items, listItems(before, type))) continue;
      if (before) writes.push(this.#describeChange(before, value, actor));
      else if (value !== null)
        writes.push(
          this.#creation({ object_kind: resource.name, object_rid, annotation_type: type.rid, value }, actor),
        );
    }
    return writes;
  }

  /** The row number is set when it is written, as are the times. */
  #creation(values: StoredRecord, actor: Actor): Write {
    const empty = Object.fromEntries(storedFields(annotation).map(([name]) => [name, null]));
    const id = this.dependencies.clock.newId();
    const by = { created: this.#now(), created_by: actor.user, modified_by: actor.user };
    const after = { ...empty, ...values, ...by, id, deleted: 0, version: 1 };
    return { resource: annotation, rid: -1, op: "create", version: 1, before: undefined, after };
  }

  #describeChange(before: StoredRecord, value: string | null, actor: Actor): Write {
    const version = Number(before.version) + 1;
    const values =
      value === null ? { deleted: 1, deleted_date: this.#now(), deleted_by: actor.user } : { value };
    const after: StoredRecord = { ...before, ...values, version, modified_by: actor.user };
    const op = value === null ? "delete" : "update";
    return { resource: annotation, rid: Number(before.rid), op, version, before, after };
  }

  /** Runs in a transaction. Returns false, and writes nothing, after other changes. */
  #write(all: readonly Found[], actor: Actor): boolean {
    if (!all.every((found) => this.#isUnchanged(found))) return false;
    const modified = this.#now();
    for (const found of all) {
      const created = found.writes.filter(({ before }) => !before);
      const changed = found.writes.filter(({ before }) => before);
      this.#insert(found, created, modified, actor);
      this.#update(changed, modified, actor);
    }
    for (const { writes } of all) recordAll(this.dependencies.journal, writes, modified, actor);
    return true;
  }

  /**
   * Undoes the changes of a batch, within a transaction. Returns false, and writes nothing, if the records have to be
   * checked one after another.
   */
  revert(changes: readonly Change[], actor: Actor): boolean {
    if (changes.length <= FEW_CHANGES) return false;
    const [{ after: first }] = changes;
    const { object_kind, annotation_type } = first;
    const isUniform = changes.every(
      ({ resource, before, after }) =>
        resource.name === annotation.name &&
        after.object_kind === object_kind &&
        after.annotation_type === annotation_type &&
        Object.keys(before ?? {}).every((name) => REVERTED_FIELDS.has(name)),
    );
    const of = [...new Set(changes.map(({ after }) => Number(after.object_rid)))];
    const resource = this.resources.get(String(object_kind));
    if (!isUniform || !resource || of.length < changes.length || !this.#records(resource, of, actor))
      return false;
    const modified = this.#now();
    const writes = this.#reversals(changes, modified, actor);
    const living = changes.filter(({ after }) => after.deleted === 0).length;
    const isUnchanged = writes && this.#countAnnotations(resource, Number(annotation_type), of) === living;
    if (!isUnchanged || (this.#readType(Number(annotation_type)).readonly === 1 && !actor.superuser))
      return false;
    this.#update(writes, modified, actor);
    recordAll(this.dependencies.journal, writes, modified, actor);
    return true;
  }

  /** Undefined if an annotation no longer has the value that the changes left. */
  #reversals(changes: readonly Change[], at: number, actor: Actor): Write[] | undefined {
    const writes: Write[] = [];
    for (const { rid, before: former = { deleted: 1 }, after: left } of changes) {
      const before = this.statements.get({ text: storedStatement(annotation), args: [rid] });
      if (before?.value !== left.value || before?.deleted !== left.deleted) return undefined;
      const { value = left.value, deleted = left.deleted } = former;
      const by = deleted === 1 ? { deleted_date: at, deleted_by: actor.user } : UNDELETED;
      const version = Number(before.version) + 1;
      const after: StoredRecord = { ...before, ...by, value, deleted, version, modified_by: actor.user };
      const op = deleted === left.deleted ? "update" : deleted === 1 ? "delete" : "restore";
      writes.push({ resource: annotation, rid, op, version, before, after });
    }
    return writes;
  }

  /** Sets the values and the deletion of annotations. */
  #update(writes: readonly Write[], at: number, actor: Actor): void {
    for (let from = 0; from < writes.length; from += ROWS) {
      const rows = writes.slice(from, from + ROWS).map(({ rid, after }) => [rid, after.value, after.deleted]);
      this.statements.run({
        text:
          "UPDATE annotation AS a SET value = r.value ->> 1, deleted = r.value ->> 2, deleted_date = iif(r.value ->> 2, ?1, NULL)," +
          " deleted_by = iif(r.value ->> 2, ?2, NULL), modified = ?1, modified_by = ?2, version = version + 1" +
          " FROM json_each(?3) AS r WHERE a.rid = r.value ->> 0",
        args: [at, actor.user, JSON.stringify(rows)],
      });
    }
  }

  #insert({ resource, type, value }: Found, created: readonly Write[], at: number, actor: Actor): void {
    const last = this.statements.get({
      text: "SELECT coalesce(max(rid), 0) AS rid FROM annotation",
      args: [],
    });
    for (const [i, write] of created.entries()) {
      write.rid = Number(last?.rid) + 1 + i;
      Object.assign(write.after, { rid: write.rid, created: at });
    }
    for (let from = 0; from < created.length; from += ROWS) {
      const rows = created
        .slice(from, from + ROWS)
        .map(({ rid, after }) => [rid, after.id, after.object_rid]);
      this.statements.run({
        text:
          "INSERT INTO annotation (rid, id, object_rid, object_kind, annotation_type, value, created, modified, created_by, modified_by)" +
          " SELECT r.value ->> 0, r.value ->> 1, r.value ->> 2, ?1, ?2, ?3, ?4, ?4, ?5, ?5 FROM json_each(?6) AS r",
        args: [resource.name, type.rid, value, at, actor.user, JSON.stringify(rows)],
      });
    }
  }

  #isUnchanged({ resource, type, typeVersion, records, writes }: Found): boolean {
    const changed = writes.flatMap(({ rid, before }) => (before ? [[rid, before.version] as const] : []));
    const created = writes.flatMap(({ before, after }) => (before ? [] : [after.object_rid]));
    return (
      this.#readType(type.rid).version === typeVersion &&
      areUnchanged(this.statements, resource.table, records) &&
      areUnchanged(this.statements, "annotation", changed) &&
      this.#countAnnotations(resource, type.rid, created) === 0
    );
  }

  /** The annotations of a type that the records have. */
  #countAnnotations({ name }: Resource, type: number, rids: readonly Stored[]): number {
    const row = this.statements.get({
      text:
        "SELECT count(*) AS count FROM json_each(?) AS r CROSS JOIN annotation AS a ON a.object_kind = ?" +
        " AND a.object_rid = r.value WHERE +a.annotation_type = ? AND a.deleted = 0",
      args: [JSON.stringify(rids), name, type],
    });
    return Number(row?.count);
  }

  #readType(rid: number): StoredRecord {
    const text = "SELECT version, readonly FROM field_type WHERE rid = ?";
    return this.statements.get({ text, args: [rid] })!;
  }

  #now(): number {
    return readMicroseconds(this.dependencies.clock);
  }
}
