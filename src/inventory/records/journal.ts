import type { Actor } from "../model/access.ts";
import type { Resource } from "../model/resource.ts";
import { changedFields, type StoredRecord } from "../model/stored-record.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Statements } from "./statements.ts";

/** What one write did to one record. */
export type ChangeKind = "create" | "update" | "delete" | "restore" | "purge";

/** What a batch was asked for as. */
export type BatchKind =
  | "create"
  | "update"
  | "delete"
  | "bulk_create"
  | "bulk_update"
  | "bulk_delete"
  | "restore"
  | "purge"
  | "undo"
  | "import"
  | "sample";

/** One write of one record. */
export interface RecordWrite {
  resource: Resource;
  rid: number;
  op: ChangeKind;
  /** The version that it made. */
  version: number;
  /** The whole record before; undefined for a new one. */
  before: Readonly<StoredRecord> | undefined;
  /** The whole record after; undefined for one that is gone. */
  after: Readonly<StoredRecord> | undefined;
}

/** What is noted of a batch. */
export interface BatchInfo {
  kind: BatchKind;
  /** Row of the batch that this one takes back. */
  undoes?: number;
  /** Whether `written` stays empty: what is written once and never looked at again need not be in memory. */
  unwatched?: boolean;
}

export interface Journal {
  /**
   * Runs work, whose writes become one batch; within a transaction that the caller opens. A batch inside a batch is
   * part of the outer one. `written` grows with every write. Where nothing is written there is no batch.
   */
  batch<T>(
    about: BatchInfo,
    work: (written: readonly RecordWrite[]) => T,
  ): { value: T; batch: string | null; written: readonly RecordWrite[] };
  /** Notes a write in the open batch, in the transaction of the write. */
  record(written: RecordWrite, actor: Actor): void;
}

/** What of one batch concerns the audit log: rights, memberships, what disappears or comes back, and imports. */
export interface BatchAudit {
  /** Called with every write, so it must cost nothing where a write does not concern it. */
  see(written: RecordWrite, actor: Actor): void;
  /** Writes one entry for each kind of thing that was done, in the transaction of the batch. */
  finish(batch: string | null, kind: BatchKind): void;
  /** Lets go of what was seen of a batch that is taken back. */
  forget(): void;
}

interface Open {
  about: BatchInfo;
  written: RecordWrite[];
  row: number | null;
  id: string | null;
}

/** The one place that writes history: every write of a record passes here in its own transaction. */
export function openJournal(statements: Statements, clock: Clock, notes: BatchAudit): Journal {
  let open: Open | undefined;

  const begin = (batch: Open, actor: Actor): number => {
    const last = Number(
      statements.get({ text: "SELECT coalesce(max(at), 0) AS at FROM record_batch", args: [] })?.at,
    );
    batch.id = clock.newId();
    // A clock that was set back must not put a later state before an earlier one.
    const at = Math.max(last, Math.round(clock.now() * 1000));
    return statements.run({
      text: "INSERT INTO record_batch (id, at, kind, user_rid, token_rid, undoes) VALUES (?, ?, ?, ?, ?, ?)",
      args: [batch.id, at, batch.about.kind, actor.user, actor.token ?? null, batch.about.undoes ?? null],
    });
  };

  return {
    batch(about, work) {
      if (open) return { value: work(open.written), batch: open.id, written: open.written };
      const mine: Open = { about, written: [], row: null, id: null };
      open = mine;
      try {
        const value = work(mine.written);
        notes.finish(mine.id, about.kind);
        return { value, batch: mine.id, written: mine.written };
      } finally {
        open = undefined;
        notes.forget();
      }
    },
    record(written, actor) {
      const batch = open ?? { about: { kind: batchKind(written.op) }, written: [], row: null, id: null };
      batch.row ??= begin(batch, actor);
      if (!batch.about.unwatched) batch.written.push(written);
      const { resource, rid, op, version, before, after } = written;
      const gone = after === undefined;
      const host = gone ? undefined : resource.parent?.(after);
      statements.run({
        text: "INSERT INTO record_change (batch, object_kind, object_rid, op, version, before, after, host_kind, host_rid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        args: [
          batch.row,
          resource.name,
          gone ? -rid : rid,
          op,
          version,
          before === undefined
            ? null
            : JSON.stringify(gone ? { id: before.id } : valuesBefore(before, after)),
          gone ? null : JSON.stringify({ ...after, rid: undefined }),
          host?.kind ?? null,
          host?.rid ?? null,
        ],
      });
      notes.see(written, actor);
      if (!open) notes.finish(batch.id, batch.about.kind);
    },
  };
}

const batchKind = (op: ChangeKind): BatchKind => op;

const valuesBefore = (before: Readonly<StoredRecord>, after: Readonly<StoredRecord>): StoredRecord =>
  Object.fromEntries(changedFields(before, after).map((name) => [name, before[name]]));
