import type { Actor } from "../model/access.ts";
import type { Resource } from "../model/resource.ts";
import { columnName } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import type { Statements } from "./statements.ts";
import type { AuditDetail, AuditLog } from "../../accounts/audit.ts";
import { currentOrigin } from "../../platform/request-context.ts";
import { DECLARED } from "../resources/index.ts";

/** The effect of one write on one record. */
export type ChangeKind = "create" | "update" | "delete" | "restore" | "purge";

/** The kind of request that a batch came from. */
export type BatchKind =
  | ChangeKind
  | "consume"
  | "bulk_create"
  | "bulk_update"
  | "bulk_delete"
  | "undo"
  | "import"
  | "sample"
  | "evict";

/** One write of one record. */
export interface RecordWrite {
  resource: Resource;
  rid: number;
  op: ChangeKind;
  /** The version that it made. */
  version: number;
  /** The whole record before; undefined for a new one. */
  before: Readonly<StoredRecord> | undefined;
  /** The whole record after; undefined for a purged one. */
  after: Readonly<StoredRecord> | undefined;
  /** The field of a new record whose value no body gave. */
  generated?: string;
}

/** Changes that an entry lists; the history of the batch has them all. */
const MAX_CHANGES = 20;

/** The future entry of the audit log about one action in a batch. */
interface Entry {
  count: number;
  /** Number of records, by the name of their resource. */
  records: Record<string, number>;
  changes: AuditDetail[];
  first: { kind: string; id: string | null };
}

/**
 * Adds rights, memberships, deletions and imports to the audit log, in the transaction of the batch; and all changes that
 * an assistant makes.
 */
export class BatchAudit {
  readonly #entries = new Map<string, Entry>();
  #actor: Actor | undefined;
  #writes = 0;

  constructor(
    private readonly statements: Statements,
    private readonly audit: AuditLog,
  ) {}

  /** Called with every write; costs nothing if the write does not concern the audit log. */
  add({ resource, op, before, after }: RecordWrite, actor: Actor): void {
    this.#writes++;
    this.#actor = actor;
    const now = after ?? before!;
    if (resource.name === "membership") this.#addMembership(now, after);
    else if (resource.name === "grant") this.#addGrant(now, before, after);
    else if (op !== "create" && op !== "update") this.#addRecord(op, resource.name, now);
    else {
      if (op === "update") this.#addOwners(resource.name, before!, after!);
      if (currentOrigin()?.via === "assistant") this.#addRecord(op, resource.name, now);
    }
  }

  /** Writes one entry for each kind of action. */
  finish(batch: string | null, kind: BatchKind): void {
    try {
      if (!this.#actor) return;
      const by = { actor: this.#actor.username, token: this.#actor.token ?? null };
      const subject = { kind: "batch", id: batch };
      if (kind === "import" || kind === "evict")
        this.audit.record({ action: `record.${kind}`, subject, detail: { writes: this.#writes } }, by);
      for (const [action, { count, records, changes, first }] of this.#entries) {
        const detail: AuditDetail = { batch, asked: kind, count };
        if (count > 1) detail.records = records;
        if (changes.length > 0) detail.changes = changes;
        this.audit.record({ action, subject: count === 1 ? first : subject, detail }, by);
      }
    } finally {
      this.forget();
    }
  }

  /** Drops the entries of a batch that is rolled back. */
  forget(): void {
    this.#entries.clear();
    this.#actor = undefined;
    this.#writes = 0;
  }

  #add(action: string, kind: string, readId: () => string | null, change?: () => AuditDetail): void {
    let entry = this.#entries.get(action);
    if (!entry) {
      entry = { count: 0, records: {}, changes: [], first: { kind, id: readId() } };
      this.#entries.set(action, entry);
    }
    entry.count++;
    entry.records[kind] = (entry.records[kind] ?? 0) + 1;
    if (change && entry.changes.length < MAX_CHANGES) entry.changes.push(change());
  }

  #addRecord(op: ChangeKind, kind: string, { id }: StoredRecord): void {
    this.#add(`record.${op}`, kind, () => String(id));
  }

  #addMembership({ user, group }: StoredRecord, after: StoredRecord | undefined): void {
    const readId = () => this.#text("user_group", "id", group);
    this.#add("membership.change", "group", readId, () => ({
      group: this.#groupName(group),
      user: this.#username(user),
      member: after?.deleted === 0,
    }));
  }

  #addGrant(now: StoredRecord, before: StoredRecord | undefined, after: StoredRecord | undefined): void {
    const kind = String(now.object_kind);
    const object = DECLARED.get(kind);
    const readId = () => (object ? this.#text(object.table, columnName(object, "id"), now.object_rid) : null);
    const rights = (grant: StoredRecord | undefined): string[] =>
      grant?.deleted === 0 ? ["view", "change", "delete"].filter((right) => grant[right] === 1) : [];
    this.#add("permission.change", kind, readId, () => ({
      id: readId(),
      ...(now.user === null ? { group: this.#groupName(now.group) } : { user: this.#username(now.user) }),
      before: rights(before),
      after: rights(after),
    }));
  }

  /** The owners of a record, and whether it is public, are rights too. */
  #addOwners(kind: string, before: StoredRecord, after: StoredRecord): void {
    const changed = ["public", "owner", "owned_by"].filter((name) => before[name] !== after[name]);
    if (changed.length === 0) return;
    const shown: Record<string, () => string | boolean | null> = {
      public: () => after.public === 1,
      owner: () => this.#username(after.owner),
      owned_by: () => this.#groupName(after.owned_by),
    };
    const values = () => Object.fromEntries(changed.map((name) => [name, shown[name]()]));
    this.#add(
      "permission.change",
      kind,
      () => String(after.id),
      () => ({ id: String(after.id), ...values() }),
    );
  }

  #groupName(rid: unknown): string | null {
    return this.#text("user_group", "name", rid);
  }

  #username(rid: unknown): string | null {
    return this.#text("user_account", "username", rid);
  }

  #text(table: string, column: string, rid: unknown): string | null {
    if (typeof rid !== "number") return null;
    const text = `SELECT ${column} AS text FROM ${table} WHERE rid = ?`;
    const row = this.statements.get({ text, args: [rid] });
    return row === null ? null : String(row.text);
  }
}
