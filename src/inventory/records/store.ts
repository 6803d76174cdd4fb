import { type Bulk, openBulk } from "./bulk.ts";
import { type Actor, changeable, deletable } from "../model/access.ts";
import { and, type Condition, not } from "../model/condition.ts";
import { type Json, KINDS, parseUuid } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import type { Resource, Resources } from "../model/resource.ts";
import { type Past, pastAsOf } from "./as-of.ts";
import { History } from "./history.ts";
import { type BatchInfo, openJournal, type RecordWrite } from "./journal.ts";
import { openBatchAudit } from "./batch-audit.ts";
import { digestOf } from "../api/preview.ts";
import { RecordReader } from "./record-reader.ts";
import { DECLARED, SUB_RESOURCES } from "../resources/index.ts";
import type { SubResource } from "../resources/sub-resource.ts";
import { WriteQueue } from "./write-queue.ts";
import { RecordWriter } from "./record-writer.ts";
import { Statements } from "./statements.ts";
import { openUndo, type Undo } from "./undo.ts";
import { Problem } from "../../problem.ts";
import { auditOf } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import { closeSnapshot, type Database, openSnapshot } from "../../platform/sqlite.ts";
import { writeLockOf } from "../../platform/write-lock.ts";

/** How a batch is to be run. */
export interface WriteOptions extends BatchInfo {
  actor: Actor;
  /** Change nothing, and tell what would change. */
  dryRun: boolean;
  /** How many changes a dry run tells, where not all; it counts them all. */
  previewLimit?: number;
  /** What a dry run gave: do exactly that. */
  confirm: string | null;
}

/** What became of a batch: its value and id (null where nothing was written), or what would change. */
export type Outcome<T> = { value: T; batch: string | null } | { preview: Json };

/** What a store was at one time, whatever is written meanwhile; to be closed soon. */
export interface Snapshot {
  store: Store;
  close(): void;
}

/** The records of one database. */
export interface Store {
  resources: Resources;
  subResources: readonly SubResource[];
  reader: RecordReader;
  bulk: Bulk;
  history: History;
  undo: Undo;
  /** Runs writes in one transaction, as one batch of the history, and lets go of what was kept. */
  write<T>(work: (writing: RecordWriter) => T, about?: BatchInfo): T;
  /**
   * Runs work that writes, and what is to be told of it, in its turn: together with what else arrives meanwhile, and
   * waited for until it is on the disk. @throws Problem busy, and what the work throws
   */
  enqueue<T>(work: () => T): Promise<T>;
  /** As `write`, with the id of the batch; or as a dry run. @throws Problem conflict where `confirm` no longer holds */
  run<T>(manner: WriteOptions, work: (writing: RecordWriter) => T): Outcome<T>;
  /**
   * What the parameter `as_of` asks for: a reading of that time, the other parameters without those that speak of
   * today's rights, and what these ask of a record today. @throws Problem invalid_request
   */
  past(
    resource: Resource,
    parameters: URLSearchParams,
    actor: Actor,
  ): Past & { parameters: URLSearchParams; today: Condition };
  /** The store as it is now, for as long as it is open, to read from; undefined where the database is in memory. */
  snapshot(): Snapshot | undefined;
  /** Of a record of a resource that has versions. */
  version(resource: Resource, rid: number): number;
  statements: Statements;
  clock: Clock;
}

/** The store of this connection; the same one for whoever asks, because it keeps what it has read. */
export function openStore(
  database: Database,
  clock: Clock,
  subResources: readonly SubResource[] = Object.values(SUB_RESOURCES),
): Store {
  const known = stores.get(database);
  if (known) return known;
  const store = makeStore(database, clock, subResources);
  stores.set(database, store);
  return store;
}

const stores = new WeakMap<Database, Store>();

const CHANGED_SINCE =
  "The records are no longer as they were when this was tried out. Nothing was changed; try it out again.";

function makeStore(database: Database, clock: Clock, subResources: readonly SubResource[]): Store {
  const statements = new Statements(database);
  const reading = new RecordReader(statements, DECLARED);
  const journal = openJournal(statements, clock, openBatchAudit(statements, auditOf(database, clock)));
  const writing = new RecordWriter(statements, DECLARED, subResources, clock, journal);
  const versioned = new Map([...DECLARED, ...subResources.map((sub) => [sub.name, sub] as const)]);
  const history = new History(statements, versioned);

  const afterwards = <T>(work: () => T): T => {
    try {
      return work();
    } finally {
      reading.forget();
    }
  };
  const batch = <T>(about: BatchInfo, work: (written: readonly RecordWrite[]) => T) =>
    afterwards(() => statements.writing(() => journal.batch(about, work)));

  /** Row number of the last batch up to a time, or of the batch with this id. */
  const batchOf = (typed: string): number => {
    const at = KINDS.instant.parse(typed);
    if (at !== undefined) return history.batchAt(Number(at));
    const id = parseUuid(typed);
    const row =
      id === undefined
        ? null
        : statements.get({ text: "SELECT rid FROM record_batch WHERE id = ?", args: [id] });
    if (!row) throw parameterProblem("as_of", `Expected ${KINDS.instant.expected} or the id of a batch.`);
    return Number(row.rid);
  };

  const raw = openBulk(statements, reading, writing);
  const queue = new WriteQueue(statements, writeLockOf(database), () => reading.forget());
  return {
    resources: DECLARED,
    subResources,
    statements,
    clock,
    reader: reading,
    history,
    undo: openUndo(writing, history),
    bulk: {
      create: (resource, body, actor) =>
        batch({ kind: "bulk_create" }, () => raw.create(resource, body, actor)).value,
      update: (resource, rows, mode, actor) =>
        batch({ kind: "bulk_update" }, () => raw.update(resource, rows, mode, actor)).value,
      remove: (resource, ids, actor) =>
        batch({ kind: "bulk_delete" }, () => raw.remove(resource, ids, actor)).value,
    },
    past(resource, parameters, actor) {
      const rest = new URLSearchParams(parameters);
      const conditions: Condition[] = [];
      for (const [name, right] of [
        ["can_change", changeable],
        ["can_delete", deletable],
      ] as const) {
        const wanted = KINDS.flag.parse(parameters.get(name) ?? "");
        if (wanted === undefined) continue;
        rest.delete(name);
        const may = right(resource, actor);
        conditions.push(wanted === 1 ? may : not(may));
      }
      const batch = batchOf(parameters.get("as_of") ?? "");
      const today = { resource, condition: and(...conditions) };
      const past = pastAsOf(statements, batch, {
        declared: DECLARED,
        subResources,
        reader: reading,
        actor,
        today,
      });
      return { ...past, parameters: rest, today: today.condition };
    },
    snapshot() {
      const reader = openSnapshot(database);
      if (!reader) return undefined;
      const store = makeStore(reader, clock, subResources);
      return {
        store,
        close() {
          store.statements.release();
          closeSnapshot(reader);
        },
      };
    },
    version: (resource, rid) =>
      Number(
        statements.get({ text: `SELECT version FROM ${resource.table} WHERE rid = ?`, args: [rid] })?.version,
      ),
    enqueue: (work) => queue.add(work),
    write: (work, about = { kind: "import" }) => batch(about, () => work(writing)).value,
    run<T>(manner: WriteOptions, work: (writing: RecordWriter) => T): Outcome<T> {
      let preview: Json;
      // Thrown to have the transaction taken back.
      const enough = new Error("dry run");
      // Whole records of a large batch are remembered only where somebody looks at them.
      const watched = manner.dryRun || manner.confirm !== null;
      try {
        const { value, batch: id } = batch({ ...manner, unwatched: !watched }, (written) => {
          const value = work(writing);
          const digest = watched ? digestOf(manner, written) : "";
          if (manner.confirm !== null && manner.confirm !== digest)
            throw new Problem("conflict", CHANGED_SINCE);
          if (manner.dryRun) {
            preview = {
              dry_run: true,
              count: written.length,
              confirm: digest,
              changes: history.preview(written.slice(0, manner.previewLimit), manner.actor),
            };
            throw enough;
          }
          return value;
        });
        return { value, batch: id };
      } catch (error) {
        if (error !== enough) throw error;
        return { preview: preview! };
      }
    },
  };
}
