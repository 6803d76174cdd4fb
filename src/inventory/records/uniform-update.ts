import type { Actor } from "../model/access.ts";
import type { Json, Stored } from "../model/field.ts";
import { LIMITS } from "../model/limits.ts";
import { parseBody, type ParsedBody, type WriteMode } from "../model/parse-body.ts";
import { isGuarded, type ReadContext, type Resource, type Resources } from "../model/resource.ts";
import { storedStatement, type StoredRecord } from "../model/stored-record.ts";
import type { RecordWrite } from "./batch-audit.ts";
import type { Change } from "./history.ts";
import type { Journal } from "./journal.ts";
import type { RecordReader } from "./record-reader.ts";
import { toColumns } from "./record-writer.ts";
import type { Statements } from "./statements.ts";
import { type Clock, readMicroseconds } from "../../platform/clock.ts";

/** Writes of many records, found and checked, but not written. */
export interface PlannedUpdate {
  /** Row numbers of the records that were to be changed. */
  rids: readonly number[];
  writes: readonly RecordWrite[];
  /** Runs in a transaction. Returns false, and writes nothing, if one of the records has been changed since. */
  write: () => boolean;
}

/** One set of new values for many records. */
interface UniformUpdate {
  resource: Resource;
  /** Values by column, with the folded copies. */
  columns: ReadonlyMap<string, Stored>;
  writes: (RecordWrite & { after: StoredRecord })[];
}

/** Fields that decide who may view a record. */
const RIGHTS = new Set(["public", "owner", "owned_by"]);

/** Changes up to which a batch is undone record by record. */
export const FEW_CHANGES = 100;
/** Rows with different values that are written by one statement. */
export const ROWS = 20_000;

/** True if values of these fields depend on no other record, and no other record depends on them. */
const areIndependent = (resource: Resource, names: readonly string[]): boolean =>
  isGuarded(resource) &&
  "version" in resource.fields &&
  names.every((name) => {
    const { kind, unique, listOf, dependent } = resource.fields[name];
    return kind !== "reference" && !listOf && !unique && !dependent && !RIGHTS.has(name);
  });

const isPlain = (resource: Resource, { values, pending, given, errors }: ParsedBody): boolean =>
  given.size > 0 && errors.size === 0 && pending.length === 0 && areIndependent(resource, [...values.keys()]);

/** True if a record is valid as it is; the rules of some resources also change values. */
function keepsRules(
  { rules }: Resource,
  record: StoredRecord,
  given: ReadonlySet<string>,
  before: StoredRecord,
  context: ReadContext,
): boolean {
  if (!rules) return true;
  const recordByRules = { ...record };
  return (
    Object.keys(rules(recordByRules, given, before, context)).length === 0 &&
    Bun.deepEquals(recordByRules, record)
  );
}

/** The time is added when it is written. */
const makeWrite = (
  { resource, rid, op }: Pick<RecordWrite, "resource" | "rid" | "op">,
  before: StoredRecord,
  values: StoredRecord,
  actor: Actor,
): UniformUpdate["writes"][number] => {
  const version = Number(before.version) + 1;
  return { resource, rid, op, version, before, after: { ...values, version, modified_by: actor.user } };
};

/**
 * Gives many records the same values, or their former ones. Finding, checking and computing take most of the time and
 * need no write lock; the rest is a few statements, so that others wait briefly.
 */
export class UniformUpdates {
  constructor(
    private readonly statements: Statements,
    private readonly resources: Resources,
    private readonly reader: RecordReader,
    private readonly clock: Clock,
    private readonly journal: Journal,
  ) {}

  /** Undefined if a record is refused, or if the records have to be checked one after another, while they are written. */
  plan(
    resource: Resource,
    rids: readonly number[],
    body: Json,
    mode: WriteMode,
    actor: Actor,
  ): PlannedUpdate | undefined {
    const parsed = parseBody(this.resources, resource, body, mode);
    if (rids.length > LIMITS.records.max || !isPlain(resource, parsed)) return undefined;
    const values = Object.fromEntries(parsed.values);
    const context = { query: this.statements, resources: this.resources, actor };
    const writes = this.#writes({ resource, op: "update" }, rids, actor, (before) => {
      const after = { ...before, ...values };
      return keepsRules(resource, after, parsed.given, before, context) ? after : undefined;
    });
    const columns = toColumns(resource, values, parsed.values.keys());
    return writes && { rids, writes, write: () => this.#write({ resource, columns, writes }, actor) };
  }

  /** Plans a deletion; once it is written, nothing may refer to the records. */
  planDeletion(resource: Resource, rids: readonly number[], actor: Actor): PlannedUpdate | undefined {
    const isFew = rids.length > 0 && rids.length <= LIMITS.records.max;
    if (!isFew || !areIndependent(resource, [])) return undefined;
    const columns = new Map<string, Stored>([
      ["deleted", 1],
      ["deleted_by", actor.user],
    ]);
    const values = Object.fromEntries(columns);
    const writes = this.#writes({ resource, op: "delete" }, rids, actor, (before) => ({
      ...before,
      ...values,
    }));
    return writes && { rids, writes, write: () => this.#write({ resource, columns, writes }, actor) };
  }

  /** Undefined if a record is deleted, if the actor may not write it, or if `parseValues` finds no values for it. */
  #writes(
    { resource, op }: { resource: Resource; op: "update" | "delete" },
    rids: readonly number[],
    actor: Actor,
    findValues: (before: StoredRecord, i: number) => StoredRecord | undefined,
  ): UniformUpdate["writes"] | undefined {
    const rights = this.reader.rights(resource, actor, rids);
    const right = op === "delete" ? "delete" : "change";
    const text = storedStatement(resource);
    const writes: UniformUpdate["writes"] = [];
    for (const [i, rid] of rids.entries()) {
      const before = this.statements.get({ text, args: [rid] });
      if (before?.deleted !== 0 || !rights.get(rid)?.[right]) return undefined;
      const values = findValues(before, i);
      if (!values) return undefined;
      writes.push(makeWrite({ resource, rid, op }, before, values, actor));
    }
    return writes;
  }

  #write({ resource, columns, writes }: UniformUpdate, actor: Actor): boolean {
    const { table } = resource;
    const versions = writes.map(({ rid, before }) => [rid, before!.version] as const);
    if (!areUnchanged(this.statements, table, versions)) return false;
    const modified = readMicroseconds(this.clock);
    const all = new Map(columns).set("modified", modified).set("modified_by", actor.user);
    if (columns.has("deleted")) all.set("deleted_date", modified);
    const sets = [...all.keys()].map((column) => `${column} = ?`).join(", ");
    this.statements.run({
      text: `UPDATE ${table} SET ${sets}, version = version + 1 WHERE rid IN (SELECT value FROM json_each(?))`,
      args: [...all.values(), JSON.stringify(writes.map(({ rid }) => rid))],
    });
    recordAll(this.journal, writes, modified, actor);
    return true;
  }

  /**
   * Undoes the changes of a batch by giving many records their former values, within a transaction. Returns false, and
   * writes nothing, if the records have to be checked one after another.
   */
  revert(changes: readonly Change[], actor: Actor): boolean {
    if (changes.length <= FEW_CHANGES) return false;
    const [{ resource }] = changes;
    const names = [...new Set(changes.flatMap(({ before }) => Object.keys(before ?? {})))];
    const isUniform = changes.every((change) => change.op === "update" && change.resource === resource);
    // SQLite might read a number from JSON as its neighbour.
    const isSettable = names.every((name) => {
      const field = resource.fields[name];
      return field && field.write !== "never" && field.kind !== "number";
    });
    if (!isUniform || !isSettable || !areIndependent(resource, names)) return false;
    const writes = this.#formerValues(changes, actor);
    if (!writes) return false;
    const columns = [...toColumns(resource, writes[0].after, names).keys()];
    const sets = columns.map((column, i) => `${column} = v.value ->> ${i + 1}`).join(", ");
    const modified = readMicroseconds(this.clock);
    for (let from = 0; from < writes.length; from += ROWS) {
      const rows = writes
        .slice(from, from + ROWS)
        .map(({ rid, after }) =>
          [rid as Stored].concat(Array.from(toColumns(resource, after, names).values())),
        );
      this.statements.run({
        text:
          `UPDATE ${resource.table} AS t SET ${sets}, modified = ?, modified_by = ?, version = version + 1` +
          " FROM json_each(?) AS v WHERE t.rid = v.value ->> 0",
        args: [modified, actor.user, JSON.stringify(rows)],
      });
    }
    recordAll(this.journal, writes, modified, actor);
    return true;
  }

  /** Undefined if a record no longer has the values that the changes left, or may not be changed. */
  #formerValues(changes: readonly Change[], actor: Actor): UniformUpdate["writes"] | undefined {
    const [{ resource }] = changes;
    const rids = [...new Set(changes.map(({ rid }) => rid))];
    if (rids.length < changes.length) return undefined;
    return this.#writes({ resource, op: "update" }, rids, actor, (before, i) => {
      const { before: former, after: left } = changes[i];
      const isUnchanged = Object.keys(former!).every((name) => before[name] === left[name]);
      return isUnchanged ? { ...before, ...former } : undefined;
    });
  }
}

/** Adds writes to the history, with the time at which they were written. */
export function recordAll(
  journal: Journal,
  writes: readonly (RecordWrite & { after: StoredRecord })[],
  modified: number,
  actor: Actor,
): void {
  for (const write of writes) {
    write.after.modified = modified;
    if (write.op === "delete") write.after.deleted_date = modified;
    journal.record(write, actor);
  }
}

/** True if all of the rows still have these versions. */
export function areUnchanged(
  statements: Statements,
  table: string,
  versions: readonly (readonly [rid: number, version: Stored])[],
): boolean {
  const row = statements.get({
    text:
      `SELECT count(*) AS count FROM json_each(?) AS p CROSS JOIN ${table} AS t ON t.rid = p.value ->> 0` +
      " WHERE t.version = p.value ->> 1",
    args: [JSON.stringify(versions)],
  });
  return row?.count === versions.length;
}
