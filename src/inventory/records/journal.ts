import type { Actor } from "../model/access.ts";
import { changedFields, type StoredRecord } from "../model/stored-record.ts";
import { type Clock, newRowId, readMicroseconds } from "../../platform/clock.ts";
import type { BatchAudit, BatchKind, RecordWrite } from "./batch-audit.ts";
import { type ExposedRecord, findExposure } from "./exposure.ts";
import type { Resource } from "../model/resource.ts";
import type { RecordText } from "./record-text.ts";
import type { Statements } from "./statements.ts";

/** The record of a batch. */
export interface BatchInfo {
  kind: BatchKind;
  /** Row of the batch that this batch undoes. */
  undoes?: number;
  /** True if `written` stays empty, to save memory if nobody reads it. */
  skipsEvents?: boolean;
}

interface OpenBatch {
  info: BatchInfo;
  written: RecordWrite[];
  /** Records that the writes show to more people. */
  exposed: ExposedRecord[];
  row: number | null;
  id: string | null;
}

type Parent = { kind: string; rid: number };

/** Writes history and text index: every write of a record is recorded here, in its own transaction. */
export class Journal {
  #open: OpenBatch | undefined;

  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
    private readonly audit: BatchAudit,
    private readonly texts: RecordText,
    /** Called after every write of a record. */
    private readonly noted: (resource: Resource, rid: number, parent: Parent | undefined) => void,
  ) {}

  get openBatch(): string | null {
    return this.#open?.id ?? null;
  }

  /**
   * Runs work, whose writes become one batch; within a transaction that the caller opens. A batch inside a batch is
   * part of the outer one. `written` grows with every write. Without writes there is no batch.
   */
  batch<T>(
    info: BatchInfo,
    work: (written: readonly RecordWrite[], exposed: readonly ExposedRecord[]) => T,
  ): { value: T; batch: string | null } {
    if (this.#open) return { value: work(this.#open.written, this.#open.exposed), batch: this.#open.id };
    const batch: OpenBatch = { info, written: [], exposed: [], row: null, id: null };
    this.#open = batch;
    try {
      const value = work(batch.written, batch.exposed);
      this.texts.flush();
      this.audit.finish(batch.id, info.kind);
      return { value, batch: batch.id };
    } finally {
      this.#open = undefined;
      this.audit.forget();
      this.texts.forget();
    }
  }

  /** Records a write in the open batch, in the transaction of the write. */
  record(written: RecordWrite, actor: Actor): void {
    const { resource, rid, op, version, before, after } = written;
    const parent = resource.parent?.(after ?? before!);
    this.noted(resource, rid, parent);
    this.texts.note(written);
    const batch = this.#open ?? { info: { kind: op }, written: [], exposed: [], row: null, id: null };
    batch.row ??= this.#begin(batch, actor);
    if (!batch.info.skipsEvents) batch.written.push(written);
    const exposed = findExposure(written, this.statements);
    if (exposed) batch.exposed.push(exposed);
    this.statements.run({
      text: "INSERT INTO record_change (batch, object_kind, object_rid, op, version, before, after, host_kind, host_rid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      args: [
        batch.row,
        resource.name,
        after ? rid : -rid,
        op,
        version,
        before ? JSON.stringify(valuesBefore(before, after)) : null,
        after ? JSON.stringify({ ...after, rid: undefined }) : null,
        ...(after && parent ? [parent.kind, parent.rid] : [null, null]),
      ],
    });
    this.audit.add(written, actor);
    if (this.#open) return;
    this.texts.flush();
    this.audit.finish(batch.id, batch.info.kind);
  }

  #begin(batch: OpenBatch, actor: Actor): number {
    const text = "SELECT coalesce(max(at), 0) AS at FROM record_batch";
    const last = Number(this.statements.get({ text, args: [] })?.at);
    batch.id = newRowId(this.clock);
    // A clock that was set back must not put a later state before an earlier one.
    const at = Math.max(last, readMicroseconds(this.clock));
    const { kind, undoes = null } = batch.info;
    return this.statements.run({
      text: "INSERT INTO record_batch (id, at, kind, user_rid, token_rid, undoes) VALUES (?, ?, ?, ?, ?, ?)",
      args: [batch.id, at, kind, actor.user, actor.token ?? null, undoes],
    });
  }
}

/** The earlier values of changed fields; of a purged record, only its id. */
function valuesBefore(before: StoredRecord, after: StoredRecord | undefined): StoredRecord {
  const changed = after ? changedFields(before, after) : ["id"];
  return Object.fromEntries(changed.map((name) => [name, before[name]]));
}
