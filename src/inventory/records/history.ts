import { isSubResource } from "../resources/sub-resource.ts";
import { type Actor, changeable, visible } from "../model/access.ts";
import { type Json, printInstant, type Stored } from "../model/field.ts";
import type { Sql } from "../model/operator.ts";
import { plan } from "../model/plan.ts";
import { columnOf, isGuarded, type Resource, type Resources } from "../model/resource.ts";
import { compile } from "../model/sql.ts";
import {
  changedFields,
  isShown,
  type ReferencePrinter,
  printStored,
  type StoredRecord,
} from "../model/stored-record.ts";
import type { ChangeKind, RecordWrite } from "./journal.ts";
import type { Statements } from "./statements.ts";

/** One write as it was noted. */
export interface Change {
  seq: number;
  batch: number;
  resource: Resource;
  rid: number;
  op: ChangeKind;
  version: number;
  /** Of the values before, those that changed; undefined for a new record. */
  before: StoredRecord | undefined;
  after: StoredRecord;
  /** Of a part of a record: resource and row of that record. */
  host: { kind: string; rid: number } | undefined;
}

/** Some of a longer list. */
export interface HistoryPage {
  total: number;
  results: Json[];
}

export interface Batch {
  row: number;
  id: string;
  /** Whether it changed records that the actor may not view. */
  partly: boolean;
  shown: { [name: string]: Json };
}

/** What was done, as far as the actor may view the records that it was done to. */
export interface History {
  /** The changes of one record that the actor may view, and of what belongs to it, the last first. */
  ofRecord(resource: Resource, rid: number, actor: Actor, limit: number, offset: number): HistoryPage;
  /** When an account joined and left groups. */
  ofMember(user: number, actor: Actor, limit: number, offset: number): HistoryPage;
  /** The record as it was in a version; undefined where there is none. */
  version(resource: Resource, rid: number, version: number): StoredRecord | undefined;
  /** Batches with a change that the actor may view, the last first. */
  batches(actor: Actor, filter: BatchFilter, limit: number, offset: number): HistoryPage;
  /** undefined also where the actor may view no change of it. */
  batch(id: string, actor: Actor): Batch | undefined;
  /** The changes of a batch in the order in which they were made. */
  ofBatch(row: number, actor: Actor, limit: number, offset: number): HistoryPage;
  /** The same for undoing: all of them, whoever asks. */
  changes(row: number): Change[];
  /** Changes of a record after a batch. */
  later(resource: Resource, rid: number, row: number): Change[];
  /** Changes after a cursor in the order of commits. `cursor` is that of the last one looked at. */
  since(cursor: number, actor: Actor, kind: string | undefined, limit: number): ChangeFeed;
  /** One change by its cursor; undefined where the actor may not view it, or not any more. */
  change(cursor: number, actor: Actor): { [name: string]: Json } | undefined;
  /** What writes did, as answers show it; for dry runs, within their transaction. */
  preview(written: readonly RecordWrite[], actor: Actor): Json;
  /** Row number of the last batch at or before an instant (microseconds); 0 where there is none. */
  batchAt(at: number): number;
}

export interface BatchFilter {
  user?: string;
  kind?: string;
}

export interface ChangeFeed {
  results: Json[];
  cursor: number;
  more: boolean;
}

type Row = Record<string, string | number | null>;

const WHO =
  "b.id AS batch_id, b.at AS at, b.kind AS kind, b.user_rid AS user_rid, u.username AS username, k.name AS token_name, k.prefix AS token_prefix";
const PEOPLE = "JOIN user_account AS u ON u.rid = b.user_rid LEFT JOIN api_token AS k ON k.rid = b.token_rid";
const BATCHES = `record_batch AS b ${PEOPLE}`;
const CHANGES = `record_change AS c JOIN record_batch AS b ON b.rid = c.batch ${PEOPLE}`;
const CHANGE =
  "c.seq, c.batch, c.object_kind, c.object_rid, c.op, c.version, c.before, c.after, c.host_kind, c.host_rid";

export function openHistory(statements: Statements, resources: Resources): History {
  const forChangers = [...resources.values()]
    .filter((resource) => isSubResource(resource) && resource.readers === "changers")
    .map(({ name }) => `'${name}'`)
    .join(", ");
  const guarded = [...resources.values()].filter(isGuarded);

  /**
   * Whether the record of the change `c`, or the one that it is a part of, may be viewed today. Who has rights is told
   * to those who may change the record, who is a member of a group to everybody with an account.
   */
  const seen = (actor: Actor): Sql => {
    const parts = guarded.map((resource): Sql => {
      const joined = plan(resources, resource, actor);
      const where = compile(visible(resource, actor), joined);
      const may = compile(changeable(resource, actor), joined);
      const text =
        `coalesce(c.host_kind, c.object_kind) = '${resource.name}' AND EXISTS (SELECT 1 FROM ${resource.table} AS t WHERE` +
        ` t.rid = coalesce(c.host_rid, c.object_rid) AND (${where.text}) AND (c.object_kind NOT IN (${forChangers}) OR (${may.text})))`;
      return { text: `(${text})`, args: [...where.args, ...may.args] };
    });
    if (actor.user !== null) parts.push({ text: "c.host_kind = 'group'", args: [] });
    return {
      text: `(${parts.map(({ text }) => text).join(" OR ")})`,
      args: parts.flatMap(({ args }) => args),
    };
  };

  /** Looks names up once per answer. */
  const namer = (): ReferencePrinter => {
    const known = new Map<string, Stored | undefined>();
    return (far, column, rid) => {
      const key = `${far.name} ${column} ${rid}`;
      if (!known.has(key)) {
        const text = `SELECT ${column} AS value FROM ${far.table} WHERE rid = ?`;
        known.set(key, statements.get({ text, args: [rid] })?.value);
      }
      return known.get(key);
    };
  };

  const printAll = (
    resource: Resource,
    values: StoredRecord,
    names: readonly string[],
    named: ReferencePrinter,
    actor: Actor,
  ): Json =>
    Object.fromEntries(
      names
        .filter((name) => isShown(resource, name))
        .map((name) => {
          const printed = printStored(resources, resource, name, values[name], named);
          const shown = isSubResource(resource)
            ? resource.printValue?.(name, printed, { query: statements, resources, actor })
            : undefined;
          return [name, shown ?? printed];
        }),
    );

  const changeOf = (row: Row): Change => ({
    seq: Number(row.seq),
    batch: Number(row.batch),
    resource: resources.get(String(row.object_kind))!,
    rid: Number(row.object_rid),
    op: row.op as ChangeKind,
    version: Number(row.version),
    before: row.before === null ? undefined : (JSON.parse(String(row.before)) as StoredRecord),
    after: JSON.parse(String(row.after)) as StoredRecord,
    host: row.host_kind === null ? undefined : { kind: String(row.host_kind), rid: Number(row.host_rid) },
  });

  /** The record that a part belongs to. */
  const printHost = (host: Change["host"], named: ReferencePrinter): Json => {
    const resource = host && resources.get(host.kind);
    if (!resource) return null;
    const id = named(resource, columnOf(resource, "id"), host.rid) ?? null;
    return { resource: segmentOf(resource), id };
  };

  /** Names of a token are for its owner and administrators. */
  const who = (row: Row, actor: Actor): { [name: string]: Json } => {
    const mine = actor.superuser || actor.user === row.user_rid;
    return {
      at: printInstant(Number(row.at)),
      user: row.username,
      token: mine && row.token_prefix !== null ? { name: row.token_name, prefix: row.token_prefix } : null,
    };
  };

  const printChange = (row: Row, actor: Actor, named: ReferencePrinter): { [name: string]: Json } => {
    const change = changeOf(row);
    const { resource, before, after } = change;
    const names = before ? Object.keys(before) : Object.keys(after);
    return {
      cursor: String(change.seq),
      resource: segmentOf(resource),
      id: after.id,
      of: printHost(change.host, named),
      op: change.op,
      version: change.version,
      ...who(row, actor),
      batch: row.batch_id,
      before: before ? printAll(resource, before, names, named, actor) : null,
      after: printAll(resource, after, names, named, actor),
    };
  };

  const part = (from: Sql, order: string, actor: Actor, limit: number, offset: number): HistoryPage => {
    const named = namer();
    const total = Number(
      statements.get({ text: `SELECT count(*) AS total FROM ${from.text}`, args: from.args })?.total,
    );
    const found = statements.all({
      text: `SELECT ${CHANGE}, ${WHO} FROM ${from.text} ORDER BY ${order} LIMIT ? OFFSET ?`,
      args: [...from.args, limit, offset],
    });
    return { total, results: found.map((row) => printChange(row, actor, named)) };
  };

  const printBatch = (row: Row, actor: Actor): { [name: string]: Json } => {
    const visibleChanges = seen(actor);
    const counted = statements.all({
      text: `SELECT c.object_kind AS kind, count(*) AS records FROM record_change AS c WHERE c.batch = ? AND ${visibleChanges.text} GROUP BY c.object_kind`,
      args: [row.rid, ...visibleChanges.args],
    });
    return {
      id: row.batch_id,
      kind: row.kind,
      ...who(row, actor),
      changes: Object.fromEntries(
        counted.map(({ kind, records }) => [segmentOf(resources.get(String(kind))!), records]),
      ),
      undoes: row.undoes_id,
      undone_by: row.undone_by,
    };
  };
  const BATCH = `b.rid AS rid, ${WHO}, (SELECT id FROM record_batch WHERE rid = b.undoes) AS undoes_id, (SELECT id FROM record_batch WHERE undoes = b.rid ORDER BY rid DESC LIMIT 1) AS undone_by`;

  return {
    ofRecord(resource, rid, actor, limit, offset) {
      const visibleChanges = seen(actor);
      const text =
        `${CHANGES} WHERE (c.object_kind = ?1 AND c.object_rid = ?2 OR c.host_kind = ?1 AND c.host_rid = ?2)` +
        ` AND ${visibleChanges.text}`;
      const args = [resource.name, rid, ...visibleChanges.args];
      return part({ text, args }, "c.seq DESC", actor, limit, offset);
    },
    ofMember(user, actor, limit, offset) {
      const visibleChanges = seen(actor);
      const text = `${CHANGES} WHERE c.object_kind = 'membership' AND c.after ->> 'user' = ? AND ${visibleChanges.text}`;
      return part({ text, args: [user, ...visibleChanges.args] }, "c.seq DESC", actor, limit, offset);
    },
    version(resource, rid, version) {
      const row = statements.get({
        text: `SELECT ${CHANGE} FROM record_change AS c WHERE c.object_kind = ? AND c.object_rid = ? AND c.version = ? ORDER BY c.seq DESC`,
        args: [resource.name, rid, version],
      });
      return row ? changeOf(row).after : undefined;
    },
    batches(actor, { user, kind }, limit, offset) {
      const visibleChanges = seen(actor);
      const conditions = [
        ...(user === undefined ? [] : [{ text: "u.username = ?", args: [user] }]),
        ...(kind === undefined ? [] : [{ text: "b.kind = ?", args: [kind] }]),
        // Administrators are told of batches whose records are gone, too.
        actor.superuser
          ? { text: "1", args: [] }
          : {
              text: `EXISTS (SELECT 1 FROM record_change AS c WHERE c.batch = b.rid AND ${visibleChanges.text})`,
              args: visibleChanges.args,
            },
      ];
      const where = `${BATCHES} WHERE ${conditions.map(({ text }) => text).join(" AND ")}`;
      const args = conditions.flatMap((condition) => condition.args);
      const total = Number(statements.get({ text: `SELECT count(*) AS total FROM ${where}`, args })?.total);
      const found = statements.all({
        text: `SELECT ${BATCH} FROM ${where} ORDER BY b.rid DESC LIMIT ? OFFSET ?`,
        args: [...args, limit, offset],
      });
      return { total, results: found.map((row) => printBatch(row, actor)) };
    },
    batch(id, actor) {
      const row = statements.get({ text: `SELECT ${BATCH} FROM ${BATCHES} WHERE b.id = ?`, args: [id] });
      if (!row) return undefined;
      const shown = printBatch(row, actor);
      const visibleOnes = Object.values(shown.changes as Record<string, number>).reduce((a, b) => a + b, 0);
      const all = Number(
        statements.get({
          text: "SELECT count(*) AS total FROM record_change WHERE batch = ?",
          args: [row.rid],
        })?.total,
      );
      if (visibleOnes === 0 && !actor.superuser) return undefined;
      return { row: Number(row.rid), id: String(row.batch_id), partly: visibleOnes < all, shown };
    },
    ofBatch(row, actor, limit, offset) {
      const visibleChanges = seen(actor);
      const text = `${CHANGES} WHERE c.batch = ? AND ${visibleChanges.text}`;
      return part({ text, args: [row, ...visibleChanges.args] }, "c.seq", actor, limit, offset);
    },
    changes: (row) =>
      statements
        .all({
          text: `SELECT ${CHANGE} FROM record_change AS c WHERE c.batch = ? AND c.after IS NOT NULL ORDER BY c.seq`,
          args: [row],
        })
        .map(changeOf),
    later: (resource, rid, row) =>
      statements
        .all({
          text: `SELECT ${CHANGE} FROM record_change AS c WHERE c.object_kind = ? AND c.object_rid = ? AND c.batch > ? ORDER BY c.seq`,
          args: [resource.name, rid, row],
        })
        .map(changeOf),
    since(cursor, actor, kind, limit) {
      const visibleChanges = seen(actor);
      const named = namer();
      const found = statements.all({
        text: `SELECT ${CHANGE}, ${WHO} FROM ${CHANGES} WHERE c.seq > ?${kind === undefined ? "" : " AND c.object_kind = ?"} AND ${visibleChanges.text} ORDER BY c.seq LIMIT ?`,
        args: [cursor, ...(kind === undefined ? [] : [kind]), ...visibleChanges.args, limit + 1],
      });
      const results = found.slice(0, limit).map((row) => printChange(row, actor, named));
      const more = found.length > limit;
      const last = Number(
        statements.get({ text: "SELECT coalesce(max(seq), 0) AS seq FROM record_change", args: [] })?.seq,
      );
      // At the end of what there is, the cursor passes what the caller may not view.
      return { results, cursor: more ? Number(found[limit - 1].seq) : Math.max(cursor, last), more };
    },
    change(cursor, actor) {
      const visibleChanges = seen(actor);
      const row = statements.get({
        text: `SELECT ${CHANGE}, ${WHO} FROM ${CHANGES} WHERE c.seq = ? AND ${visibleChanges.text}`,
        args: [cursor, ...visibleChanges.args],
      });
      return row ? printChange(row, actor, namer()) : undefined;
    },
    preview(written, actor) {
      const named = namer();
      return written.map(({ resource, op, version, before, after }) => {
        const names = after ? changedFields(before, after) : [];
        return {
          resource: segmentOf(resource),
          id: before ? before.id : null,
          of: printHost(resource.parent?.(after ?? before!), named),
          op,
          version,
          before: before ? printAll(resource, before, names, named, actor) : null,
          after: after ? printAll(resource, after, names, named, actor) : null,
        };
      });
    },
    batchAt: (at) =>
      Number(
        statements.get({
          text: "SELECT coalesce(max(rid), 0) AS row FROM record_batch WHERE at <= ?",
          args: [at],
        })?.row,
      ),
  };
}

/** How answers name a resource. */
const segmentOf = (resource: Resource): string => resource.segment ?? `${resource.name}s`;
