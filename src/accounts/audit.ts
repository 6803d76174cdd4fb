import { type Origin, type Via, currentOrigin } from "../platform/request-context.ts";
import { sha256 } from "../platform/secret.ts";
import type { Database } from "../platform/sqlite.ts";

/** Values of an entry: whole numbers, so that every program prints them alike. */
export type AuditDetail = {
  [name: string]: string | number | boolean | null | AuditDetail | (string | number | AuditDetail)[];
};

export type AuditOutcome = "done" | "refused" | "throttled";

/** What is to be noted. Never a secret: no password, token, cookie, nor what was typed where a password may have been. */
export interface AuditEvent {
  /** What was done, such as `token.revoke`; what it is done to comes first. */
  action: string;
  subject?: { kind: string; id: string | null };
  outcome?: AuditOutcome;
  detail?: AuditDetail;
}

/** One entry, as it is shown and exported. */
export interface AuditEntry {
  /** From 1, without gaps. */
  seq: number;
  /** RFC 3339, UTC, milliseconds. */
  time: string;
  actor: string | null;
  via: Via;
  token: string | null;
  address: string | null;
  request: string | null;
  action: string;
  subject: { kind: string; id: string | null } | null;
  outcome: AuditOutcome;
  detail: AuditDetail;
  /** SHA-256, in hexadecimal, of the hash before followed by the canonical JSON of all the rest. */
  hash: string;
}

/** The end of the chain: whoever has noted it elsewhere sees later whether anything up to there was changed or is gone. */
export interface AuditHead {
  seq: number;
  hash: string;
}

export interface AuditFilter {
  /** Milliseconds since 1970-01-01 UTC; from this on, and before that. */
  since?: number | undefined;
  until?: number | undefined;
  /** Whoever it is, and whoever acts on behalf of that account. */
  actor?: string | undefined;
  /** Whole, or what is before its dot. */
  action?: string | undefined;
  /** Only entries before, or after, this one. */
  before?: number | undefined;
  after?: number | undefined;
}

/** What the first entry takes for the hash before it. */
export const GENESIS_HASH = "0".repeat(64);

/** A row of the table. */
interface Row {
  seq: number;
  time: number;
  actor: string | null;
  via: Via;
  token: string | null;
  address: string | null;
  request: string | null;
  action: string;
  subject_kind: string | null;
  subject_id: string | null;
  outcome: AuditOutcome;
  detail: string;
  hash: string;
}

/** Before the name of the account that somebody acts for, in the actor. No name of an account has a space. */
export const ON_BEHALF = "on behalf of ";
/** That name. */
const BEHIND = `substr(actor, nullif(instr(actor, '${ON_BEHALF}'), 0) + ${ON_BEHALF.length})`;

const UNKNOWN: Origin = { actor: null, via: "service", token: null, address: null, request: null };

/** The audit log of one database. What is noted within a transaction is noted with it or not at all. */
export class AuditLog {
  /** Who acts outside of requests. */
  defaultOrigin: Origin = UNKNOWN;

  constructor(
    private readonly database: Database,
    private readonly now: () => number,
  ) {}

  /** Notes what was done. The end of the chain is read each time: other processes write too, and writes are taken back. */
  record(note: AuditEvent, by: Partial<Origin> = {}): void {
    // Not within another one, where it would be a savepoint.
    if (this.database.inTransaction) this.#append(note, by);
    else this.database.transaction(() => this.#append(note, by)).immediate();
  }

  /** Who began a task of the administration; null where there is none. */
  taskStarter(task: string): string | null {
    const row = this.database
      .query(
        "SELECT actor FROM audit WHERE action = 'task.start' AND subject_kind = 'task' AND subject_id = ?",
      )
      .get(task) as { actor: string | null } | null;
    return row?.actor ?? null;
  }

  /** Of the last entry; null where there is none. */
  head(): AuditHead | null {
    return auditHead(this.database);
  }

  /** At most `count` entries, the newest first. */
  latest(filter: AuditFilter, count: number): AuditEntry[] {
    return this.#select(filter, "DESC", count);
  }

  /** All entries, oldest first, read in pages: what is noted meanwhile is among them. */
  *entries(filter: AuditFilter): Generator<AuditEntry> {
    let after = filter.after ?? 0;
    for (;;) {
      const page = this.#select({ ...filter, after }, "ASC", 1000);
      yield* page;
      if (page.length < 1000) return;
      after = page[page.length - 1].seq;
    }
  }

  #append({ action, subject, outcome = "done", detail = {} }: AuditEvent, by: Partial<Origin>): void {
    const { token: row, ...origin } = { ...(currentOrigin() ?? this.defaultOrigin), ...by };
    const token =
      row === null
        ? null
        : ((this.database.query("SELECT id FROM api_token WHERE rid = ?").get(row) as { id: string } | null)
            ?.id ?? null);
    const last = this.head();
    const entry = {
      seq: (last?.seq ?? 0) + 1,
      time: new Date(this.now()).toISOString(),
      ...origin,
      token,
      action,
      subject: subject ?? null,
      outcome,
      detail,
    };
    this.database
      .query(
        `INSERT INTO audit (seq, time, actor, via, token, address, request, action, subject_kind, subject_id, outcome, detail, hash)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        entry.seq,
        Date.parse(entry.time),
        entry.actor,
        entry.via,
        token,
        entry.address,
        entry.request,
        action,
        subject?.kind ?? null,
        subject?.id ?? null,
        outcome,
        canonical(detail),
        hashOf(last?.hash ?? GENESIS_HASH, entry),
      );
  }

  #select(filter: AuditFilter, order: "ASC" | "DESC", count: number): AuditEntry[] {
    const { since, until, actor, action, before, after } = filter;
    const conditions = [
      ["time >= ?", since],
      ["time < ?", until],
      [`(actor = ? OR ${BEHIND} = ?)`, actor],
      ["(action = ? OR substr(action, 1, instr(action, '.') - 1) = ?)", action],
      ["seq < ?", before],
      ["seq > ?", after],
    ].filter(([, value]) => value !== undefined) as [string, string | number][];
    const where = conditions.map(([text]) => ` AND ${text}`).join("");
    const values = conditions.flatMap(([text, value]) => (text.startsWith("(") ? [value, value] : [value]));
    return (
      this.database
        .query(`SELECT * FROM audit WHERE TRUE${where} ORDER BY seq ${order} LIMIT ?`)
        .all(...values, count) as Row[]
    ).map(entryOf);
  }
}

/** The audit log of a database; the same one for whoever asks. */
export function auditOf(database: Database, clock: { now(): number }): AuditLog {
  let audit = audits.get(database);
  if (!audit) audits.set(database, (audit = new AuditLog(database, () => clock.now())));
  return audit;
}

const audits = new WeakMap<Database, AuditLog>();

/** The end of the chain in a database; null where it is empty, or older than the audit log. */
export function auditHead(database: Database): AuditHead | null {
  if (!hasAudit(database)) return null;
  return database.query("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").get() as AuditHead | null;
}

/** Whether a database is new enough to have an audit log. */
export const hasAudit = (database: Database): boolean =>
  database.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'audit'").get() !== null;

/** What was found of a chain: its length and end, and the first thing that is wrong with it. */
export interface ChainVerification {
  entries: number;
  head: AuditHead | null;
  broken: { seq: number; why: string } | null;
}

/**
 * Computes the chain again. `heads`: ends that were noted elsewhere, which must still be in it. What was cut off at the
 * end, or written anew from some entry on with all hashes, is seen by these only.
 */
export function verifyChain(database: Database, heads: readonly AuditHead[] = []): ChainVerification {
  const noted = new Map(heads.map(({ seq, hash }) => [seq, hash]));
  const statement = database.prepare("SELECT * FROM audit ORDER BY seq");
  let last: AuditHead | null = null;
  let broken: ChainVerification["broken"] = null;
  try {
    for (const row of statement.iterate() as Iterable<Row>) {
      const why = checkEntry(row, last, noted);
      if (why !== undefined) broken ??= { seq: row.seq, why };
      noted.delete(row.seq);
      last = { seq: row.seq, hash: row.hash };
      if (broken) break;
    }
  } finally {
    statement.finalize();
  }
  const [missing] = [...noted.keys()].sort((a, b) => a - b);
  if (!broken && missing !== undefined)
    broken = {
      seq: missing,
      why: `it was noted, and is gone: the log ends with entry ${last?.seq ?? 0}`,
    };
  const { n } = database.query("SELECT count(*) AS n FROM audit").get() as { n: number };
  return { entries: n, head: auditHead(database), broken };
}

function checkEntry(
  row: Row,
  last: AuditHead | null,
  noted: ReadonlyMap<number, string>,
): string | undefined {
  const expected = (last?.seq ?? 0) + 1;
  if (row.seq !== expected) return `it follows entry ${last?.seq ?? 0}: what was between is gone`;
  let hash: string;
  try {
    hash = hashOf(last?.hash ?? GENESIS_HASH, entryOf(row));
  } catch (error) {
    return `it cannot be read: ${(error as Error).message}`;
  }
  if (hash !== row.hash) return "its hash is not that of its content after the entry before";
  const known = noted.get(row.seq);
  if (known !== undefined && known !== row.hash) return `its hash was ${known} when it was noted`;
  return undefined;
}

function entryOf(row: Row): AuditEntry {
  const { subject_kind: kind, subject_id: id, detail, time, ...rest } = row;
  return {
    ...rest,
    time: new Date(time).toISOString(),
    subject: kind === null ? null : { kind, id },
    detail: JSON.parse(detail) as AuditDetail,
  };
}

/** @param entry with or without its own hash, which does not count */
export function hashOf(previous: string, entry: object): string {
  return sha256(previous + canonical({ ...entry, hash: undefined }));
}

/**
 * JSON with the names of every object in order and no spaces: for strings, whole numbers, true, false and null the
 * canonical form of RFC 8785, so that others can compute the hashes too.
 */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
