import { type Actor, changeable, visible } from "../model/access.ts";
import { type Json, printInstant, type Stored, type JsonObject } from "../model/field.ts";
import type { Row, Sql } from "../model/operator.ts";
import { plan } from "../model/plan.ts";
import { columnName, isGuarded, type Resource, type Resources } from "../model/resource.ts";
import { type Clause, clause, compile, join } from "../model/sql.ts";
import {
  changedFields,
  isShown,
  printStored,
  type ReferencePrinter,
  type StoredRecord,
} from "../model/stored-record.ts";
import { isSubResource } from "../resources/sub-resource.ts";
import type { ChangeKind, RecordWrite } from "./batch-audit.ts";
import { type BatchFacts, batchSentence } from "./batch-sentence.ts";
import { batchesOf, findUndo } from "./past-version.ts";
import type { Statements } from "./statements.ts";
import { couldViewThen, type PastState } from "../model/visible-then.ts";

/** One write as it was recorded. */
export interface Change {
  resource: Resource;
  rid: number;
  op: ChangeKind;
  version: number;
  /** The values that changed, before; undefined for a new record. */
  before: StoredRecord | undefined;
  after: StoredRecord;
}

/** One page of a longer list. */
export interface HistoryPage {
  total: number;
  results: Json[];
}

export interface Batch {
  row: number;
  id: string;
  /** True if the batch changed records that the actor may not view. */
  isPartlyVisible: boolean;
  /** The batch that undid this batch, unless its undo was undone. */
  undoneBy: Stored;
  shown: JsonObject;
}

export interface BatchFilter {
  user?: string | undefined;
  kind?: string | undefined;
  /** Microseconds since 1970-01-01 UTC. */
  since?: number | undefined;
  /** Name of a resource whose records or sub-resources the batch changed. */
  resource?: string | undefined;
  /** A record that the batch changed, or a sub-resource of it. */
  record?: { kind: string; rid: number } | undefined;
}

interface BatchPage {
  total: number;
  batches: Batch[];
}

export interface ChangeFeed {
  results: Json[];
  cursor: number;
  more: boolean;
}

const AUTHOR =
  "b.id AS batch_id, b.at AS at, b.kind AS kind, b.user_rid AS user_rid, u.username AS username, k.name AS token_name, k.prefix AS token_prefix, u.full_name AS full_name";
const AUTHORS =
  "JOIN user_account AS u ON u.rid = b.user_rid LEFT JOIN api_token AS k ON k.rid = b.token_rid";
const BATCHES = `record_batch AS b ${AUTHORS}`;
const BATCH = `b.rid AS rid, ${AUTHOR}, (SELECT id FROM record_batch WHERE rid = b.undoes) AS undoes_id`;
/** Changes of a batch from which its sentence is made. */
const MAX_DESCRIBED = 1000;
const CHANGES = `record_change AS c JOIN record_batch AS b ON b.rid = c.batch ${AUTHORS}`;
const CHANGE =
  "c.seq, c.batch, c.object_kind, c.object_rid, c.op, c.version, c.before, c.after, c.host_kind, c.host_rid";
/** The record of the change `c`, which may be one of a sub-resource. */
const RECORD_KIND = "coalesce(c.host_kind, c.object_kind)";
const RECORD_ROW = "coalesce(c.host_rid, c.object_rid)";
const MEMBERSHIP = clause("c.host_kind = 'group'");
const STATE_AFTER: PastState = { rid: RECORD_ROW, upTo: "p.seq <= c.seq" };
const STATE_BEFORE: PastState = { rid: RECORD_ROW, upTo: "p.seq < c.seq" };

/** Recorded changes of records that the actor may view today and could view when they were made. */
export class History {
  readonly #guarded: readonly Resource[];
  /** Resources whose records are known to have changes. */
  readonly #changed = new Set<Resource>();
  /** Names of sub-resources, as a list of SQL, whose history only those who may change the parent may read. */
  readonly #restricted: string;

  constructor(
    private readonly statements: Statements,
    private readonly resources: Resources,
  ) {
    const all = [...resources.values()];
    this.#guarded = all.filter(isGuarded);
    const restricted = all.filter((resource) => isSubResource(resource) && resource.readers === "changers");
    this.#restricted = restricted.map(({ name }) => `'${name}'`).join(", ");
  }

  /** The changes of one record and of its sub-resources, the last first. */
  readRecord(resource: Resource, rid: number, actor: Actor, limit: number, offset: number): HistoryPage {
    const { name } = resource;
    const condition = join("or", [
      clause("c.object_kind = ? AND c.object_rid = ?", [name, rid]),
      clause("c.host_kind = ? AND c.host_rid = ?", [name, rid]),
    ]);
    return this.#page(condition, "c.seq DESC", actor, limit, offset);
  }

  /** The changes of one field of a record, the last first. */
  readField(
    { resource, rid, field }: { resource: Resource; rid: number; field: string },
    actor: Actor,
    limit: number,
    offset: number,
  ): HistoryPage {
    const own = clause("c.object_kind = ? AND c.object_rid = ?", [resource.name, rid]);
    // Records in a write that are new to the actor stay hidden, as in answers.
    const seen = this.#couldViewBefore(actor);
    const changed = clause(`c.before IS NULL OR json_type(c.before, ?) IS NOT NULL OR NOT ${seen.text}`, [
      `$.${field}`,
      ...seen.args,
    ]);
    return this.#page(join("and", [own, changed]), "c.seq DESC", actor, limit, offset);
  }

  /** The memberships of an account over time. */
  readMember(user: number, actor: Actor, limit: number, offset: number): HistoryPage {
    const condition = clause("c.object_kind = 'membership' AND c.after ->> 'user' = ?", [user]);
    return this.#page(condition, "c.seq DESC", actor, limit, offset);
  }

  /** The changes of a batch in the order in which they were made. */
  readBatchPage(row: number, actor: Actor, limit: number, offset: number): HistoryPage {
    return this.#page(clause("c.batch = ?", [row]), "c.seq", actor, limit, offset);
  }

  /** The record as a change left it; undefined if the actor could not view it then. */
  after(seq: number, resource: Resource, rid: number, actor: Actor): StoredRecord | undefined {
    const last = clause(
      "c.seq = (SELECT max(seq) FROM record_change WHERE object_kind = ? AND object_rid = ? AND seq <= ?)",
      [resource.name, rid, seq],
    );
    const [row] = this.#visibleRows(last, actor);
    return row && this.#parseChange(row).after;
  }

  /** Row numbers of deleted sub-resources that were deleted before the actor could view their record. */
  deletedBeforeVisible(sub: Resource, parent: { resource: Resource; rid: number }, actor: Actor): number[] {
    if (actor.superuser) return [];
    const { resource, rid } = parent;
    const seen = couldViewThen(resource, actor, STATE_BEFORE);
    const found = this.statements.all({
      text:
        "SELECT c.object_rid AS rid FROM record_change AS c WHERE c.object_kind = ? AND c.host_kind = ? AND c.host_rid = ?" +
        " AND c.op = 'delete' AND c.seq = (SELECT max(seq) FROM record_change WHERE object_kind = c.object_kind AND object_rid = c.object_rid)" +
        ` AND NOT ${seen.text}`,
      args: [sub.name, resource.name, rid, ...seen.args],
    });
    return found.map((row) => Number(row.rid));
  }

  /** The changes of a batch, regardless of rights: for undoing it. */
  changes(row: number, limit = -1): Change[] {
    const text = `SELECT ${CHANGE} FROM record_change AS c WHERE c.batch = ? AND c.after IS NOT NULL ORDER BY c.seq LIMIT ?`;
    return this.statements.all({ text, args: [row, limit] }).map((change) => this.#parseChange(change));
  }

  /** Batches with a change that the actor may view, the last first; for administrators, all of them. */
  batches(actor: Actor, filter: BatchFilter, limit: number, offset: number): BatchPage {
    const { user, kind, since, resource, record } = filter;
    const of = clause("? IN (c.object_kind, c.host_kind)", [resource ?? null]);
    const seen = join("and", [
      clause("c.batch = b.rid"),
      ...(resource === undefined ? [] : [of]),
      ...(actor.superuser ? [] : [this.#visibleChanges(actor)]),
    ]);
    const where = join("and", [
      // The migrations' own records have no time.
      clause("b.at > 0"),
      ...(user === undefined ? [] : [clause("u.username = ?", [user])]),
      ...(kind === undefined ? [] : [clause("b.kind = ?", [kind])]),
      ...(since === undefined ? [] : [clause("b.at >= ?", [since])]),
      ...(record === undefined ? [] : [batchesOf(record)]),
      actor.superuser && resource === undefined
        ? clause("1")
        : clause(`EXISTS (SELECT 1 FROM record_change AS c WHERE ${seen.text})`, seen.args),
    ]);
    const from = `${BATCHES} WHERE ${where.text}`;
    const { args } = where;
    const found = this.statements.all({
      text: `SELECT ${BATCH} FROM ${from} ORDER BY b.rid DESC LIMIT ? OFFSET ?`,
      args: [...args, limit, offset],
    });
    return { total: this.#count(from, args), batches: found.map((row) => this.#toBatch(row, actor)) };
  }

  /** Undefined if the actor may view no change of the record. */
  batch(id: string, actor: Actor): Batch | undefined {
    const row = this.statements.get({ text: `SELECT ${BATCH} FROM ${BATCHES} WHERE b.id = ?`, args: [id] });
    const batch = row && this.#toBatch(row, actor);
    const isSeen = batch && (actor.superuser || Object.keys(batch.shown.changes!).length > 0);
    return isSeen ? batch : undefined;
  }

  /** Changes after a cursor in the order of commits, with the cursor of the last one examined. */
  since(cursor: number, actor: Actor, kind: string | undefined, limit: number): ChangeFeed {
    const condition = join("and", [
      clause("c.seq > ?", [cursor]),
      ...(kind === undefined ? [] : [clause("c.object_kind = ?", [kind])]),
    ]);
    const found = this.#visibleRows(condition, actor, {
      text: " ORDER BY c.seq LIMIT ?",
      args: [limit + 1],
    });
    const more = found.length > limit;
    const results = this.#printChanges(found.slice(0, limit), actor);
    // At the end, the cursor passes changes that the actor may not view.
    return { results, cursor: more ? Number(found[limit - 1].seq) : Math.max(cursor, this.last()), more };
  }

  /** The last cursor. */
  last(): number {
    const text = "SELECT coalesce(max(seq), 0) AS seq FROM record_change";
    return Number(this.statements.get({ text, args: [] })?.seq);
  }

  /** One change by its cursor; undefined if the actor may not view it today. */
  change(cursor: number, actor: Actor): JsonObject | undefined {
    const found = this.#visibleRows(clause("c.seq = ?", [cursor]), actor);
    return this.#printChanges(found, actor)[0];
  }

  /** Effects of writes, as answers show them; for dry runs, within their transaction. */
  preview(written: readonly RecordWrite[], actor: Actor): Json {
    const names = this.#referencePrinter();
    return written.map(({ resource, op, version, before, after }) => {
      const changed = after ? changedFields(before, after) : [];
      const parent = resource.parent?.(after ?? before!);
      return {
        resource: listSegment(resource),
        id: before ? before.id : null,
        of: parent ? this.#printParent(parent, names) : null,
        op,
        version,
        before: before ? this.#printValues(resource, before, changed, names, actor) : null,
        after: after ? this.#printValues(resource, after, changed, names, actor) : null,
      };
    });
  }

  /** Row number of the last batch at or before an instant (microseconds); 0 if there is none. */
  batchAt(at: number): number {
    const text = "SELECT coalesce(max(rid), 0) AS row FROM record_batch WHERE at <= ?";
    return Number(this.statements.get({ text, args: [at] })?.row);
  }

  /** The condition that the record of the change `c`, or its parent, may be viewed today. */
  #visibleChanges(actor: Actor): Clause {
    const parts = this.#recorded().map((resource) => {
      const joined = plan(this.resources, resource, actor);
      const { text, args } = join("and", [
        clause(`t.rid = ${RECORD_ROW}`),
        compile(visible(resource, actor), joined),
        join("or", [
          clause(`c.object_kind NOT IN (${this.#restricted})`),
          compile(changeable(resource, actor), joined),
        ]),
      ]);
      return join("and", [
        clause(`${RECORD_KIND} = '${resource.name}'`),
        clause(`EXISTS (SELECT 1 FROM ${resource.table} AS t WHERE ${text})`, args),
        couldViewThen(resource, actor, STATE_AFTER),
      ]);
    });
    // Everybody with an account may view memberships.
    if (actor.user !== null) parts.push(MEMBERSHIP);
    return parts.length === 0 ? clause("0") : join("or", parts);
  }

  /** The resources whose records have changes: conditions on the others would only take time. */
  #recorded(): readonly Resource[] {
    const text = "SELECT 1 FROM record_change WHERE object_kind = ? LIMIT 1";
    for (const resource of this.#guarded)
      if (!this.#changed.has(resource) && this.statements.get({ text, args: [resource.name] }) !== null)
        this.#changed.add(resource);
    return this.#guarded.filter((resource) => this.#changed.has(resource));
  }

  /** The condition that the actor could view the record before the change `c`. */
  #couldViewBefore(actor: Actor): Clause {
    const parts = this.#recorded().map((resource) =>
      join("and", [
        clause(`${RECORD_KIND} = '${resource.name}'`),
        couldViewThen(resource, actor, STATE_BEFORE),
      ]),
    );
    return actor.superuser ? clause("1") : join("or", [...parts, MEMBERSHIP]);
  }

  #visibleRows(condition: Clause, actor: Actor, tail: Sql = { text: "", args: [] }): Row[] {
    const where = join("and", [condition, this.#visibleChanges(actor)]);
    const before = this.#couldViewBefore(actor);
    const text = `SELECT ${CHANGE}, ${AUTHOR}, ${before.text} AS saw_before FROM ${CHANGES} WHERE ${where.text}${tail.text}`;
    return this.statements.all({ text, args: [...before.args, ...where.args, ...tail.args] });
  }

  #page(condition: Clause, order: string, actor: Actor, limit: number, offset: number): HistoryPage {
    const where = join("and", [condition, this.#visibleChanges(actor)]);
    const total = this.#count(`${CHANGES} WHERE ${where.text}`, where.args);
    const tail = { text: ` ORDER BY ${order} LIMIT ? OFFSET ?`, args: [limit, offset] };
    return { total, results: this.#printChanges(this.#visibleRows(condition, actor, tail), actor) };
  }

  #count(from: string, args: Sql["args"]): number {
    return Number(this.statements.get({ text: `SELECT count(*) AS total FROM ${from}`, args })?.total);
  }

  #parseChange(row: Row): Change {
    return {
      resource: this.resources.get(String(row.object_kind))!,
      rid: Number(row.object_rid),
      op: row.op as ChangeKind,
      version: Number(row.version),
      before: row.before === null ? undefined : (JSON.parse(String(row.before)) as StoredRecord),
      after: JSON.parse(String(row.after)) as StoredRecord,
    };
  }

  /** Looks up each name once per answer. */
  #referencePrinter(): ReferencePrinter {
    const known = new Map<string, Stored | undefined>();
    return (far, column, rid) => {
      const key = `${far.name} ${column} ${rid}`;
      if (!known.has(key)) {
        const text = `SELECT ${column} AS value FROM ${far.table} WHERE rid = ?`;
        known.set(key, this.statements.get({ text, args: [rid] })?.value);
      }
      return known.get(key);
    };
  }

  #printChanges(found: readonly Row[], actor: Actor): JsonObject[] {
    const references = this.#referencePrinter();
    return found.map((row) => {
      const { resource, op, version, after, ...change } = this.#parseChange(row);
      // Values written before the reader could view the record stay hidden, so that all is new to the reader.
      const before = row.saw_before === 1 ? change.before : undefined;
      const names = Object.keys(before ?? after);
      const print = (values: StoredRecord) => this.#printValues(resource, values, names, references, actor);
      const parent =
        row.host_kind === null ? null : { kind: String(row.host_kind), rid: Number(row.host_rid) };
      return Object.assign(
        {
          cursor: String(row.seq),
          resource: listSegment(resource),
          id: after.id,
          of: parent && this.#printParent(parent, references),
          op,
          version,
        },
        author(row, actor),
        { batch: row.batch_id, before: before ? print(before) : null, after: print(after) },
      );
    });
  }

  #printValues(
    resource: Resource,
    values: StoredRecord,
    names: readonly string[],
    references: ReferencePrinter,
    actor: Actor,
  ): Json {
    const reader = { query: this.statements, resources: this.resources, actor };
    const shown = names.filter((name) => isShown(resource, name));
    return Object.fromEntries(
      shown.map((name) => [name, printStored(resource, name, values[name], references, reader)]),
    );
  }

  #printParent({ kind, rid }: { kind: string; rid: number }, references: ReferencePrinter): Json {
    const resource = this.resources.get(kind);
    if (!resource) return null;
    return {
      resource: listSegment(resource),
      id: references(resource, columnName(resource, "id"), rid) ?? null,
    };
  }

  #toBatch(row: Row, actor: Actor): Batch {
    const { counted, facts } = this.#batchFacts(row, actor);
    const changes: Record<string, number> = {};
    for (const { kind, changed } of counted) {
      const segment = listSegment(this.resources.get(String(kind))!);
      changes[segment] = (changes[segment] ?? 0) + Number(changed);
    }
    const visibleCount = Object.values(changes).reduce((a, b) => a + b, 0);
    const undoneBy = findUndo(this.statements, row.rid);
    const by = row.full_name === "" ? row.username : row.full_name;
    const shown = {
      id: row.batch_id,
      kind: row.kind,
      ...author(row, actor),
      sentence: `${by} ${this.#did(row, facts, actor)}`,
      changes,
      undoes: row.undoes_id,
      undone_by: undoneBy,
    };
    const isPartlyVisible = visibleCount < this.#count("record_change WHERE batch = ?", [row.rid]);
    return { row: Number(row.rid), id: String(row.batch_id), isPartlyVisible, undoneBy, shown };
  }

  /** The part of a batch that the actor may view. */
  #batchFacts({ rid, kind }: Row, actor: Actor) {
    const readBatchPage = clause("c.batch = ?", [rid]);
    const where = join("and", [readBatchPage, this.#visibleChanges(actor)]);
    const counted = this.statements.all({
      text:
        "SELECT c.object_kind AS kind, c.op AS op, c.host_kind AS host, count(*) AS changed, count(DISTINCT c.object_rid) AS records," +
        ` count(DISTINCT c.host_rid) AS hosts FROM record_change AS c WHERE ${where.text} GROUP BY 1, 2, 3`,
      args: where.args,
    });
    const counts = counted.map(({ kind, op, host, records, hosts }) => ({
      resource: this.resources.get(String(kind))!,
      op: op as ChangeKind,
      records: Number(records),
      parent: host as string | null,
      parents: Number(hosts),
    }));
    const found = this.#visibleRows(readBatchPage, actor, {
      text: " ORDER BY c.seq LIMIT ?",
      args: [MAX_DESCRIBED],
    });
    const first = found.map((row) => {
      const change = this.#parseChange(row);
      return row.saw_before === 1 ? change : Object.assign(change, { before: undefined });
    });
    return { counted, facts: { kind: String(kind), counts, first } };
  }

  /** Describes the changes of a batch in words; for one that undid others, those of the first of these. */
  #did(row: Row, facts: BatchFacts, actor: Actor): string {
    const viewer = { resources: this.resources, actor };
    const { root, kind, undos } = this.statements.get({
      text:
        "WITH RECURSIVE up (rid, kind, undoes, undos) AS (SELECT rid, kind, undoes, 0 FROM record_batch WHERE rid = ? UNION ALL" +
        " SELECT b.rid, b.kind, b.undoes, undos + 1 FROM up JOIN record_batch AS b ON b.rid = up.undoes)" +
        " SELECT rid AS root, kind, undos FROM up ORDER BY undos DESC LIMIT 1",
      args: [row.rid],
    })!;
    if (undos === 0) return batchSentence(facts, this.statements, viewer);
    const { facts: undone } = this.#batchFacts({ rid: root, kind }, actor);
    const did = batchSentence(undone, this.statements, viewer);
    return `${Number(undos) % 2 === 1 ? "undid" : "repeated"}: ${did}`;
  }
}

/** Author and time of a write. The token is named only to its owner and to administrators. */
function author(row: Row, actor: Actor): JsonObject {
  const mine = actor.superuser || actor.user === row.user_rid;
  return {
    at: printInstant(Number(row.at)),
    user: row.username,
    // As in lists of people, only for signed-in callers.
    full_name: actor.user === null ? "" : row.full_name,
    token: mine && row.token_prefix !== null ? { name: row.token_name, prefix: row.token_prefix } : null,
  };
}

/** The name of a resource in answers. */
const listSegment = (resource: Resource): string => resource.segment ?? `${resource.name}s`;
