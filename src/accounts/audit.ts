import { withReserve } from "../platform/disk-reserve.ts";
import { currentOrigin, type Origin } from "../platform/request-context.ts";
import { sha256 } from "../platform/secret.ts";
import type { Database } from "../platform/sqlite.ts";

/** Details of an entry. Numbers are integers, so that every program prints them alike. */
export type AuditDetail = {
  [name: string]: string | number | boolean | null | AuditDetail | (string | number | AuditDetail)[];
};

/** An event to record. Never contains secrets: no password, token or cookie, nor text typed where one is expected. */
export interface AuditEvent {
  /** Action such as `token.revoke`; the object comes first. */
  action: string;
  subject?: { kind: string; id: string | null };
  outcome?: "done" | "refused" | "throttled";
  detail?: AuditDetail;
}

/** An entry in lists and exports. */
export interface AuditEntry extends Omit<Origin, "token"> {
  /** Sequence number from 1, without gaps. */
  seq: number;
  /** RFC 3339, UTC, with milliseconds. */
  time: string;
  token: string | null;
  action: string;
  subject: { kind: string; id: string | null } | null;
  outcome: NonNullable<AuditEvent["outcome"]>;
  detail: AuditDetail;
  /** SHA-256, in hexadecimal, of the previous hash followed by the canonical JSON of the other fields. */
  hash: string;
}

/** The end of the hash chain. A copy in another place can later prove that earlier entries are unchanged. */
export type AuditHead = Pick<AuditEntry, "seq" | "hash">;

export interface AuditFilter {
  /** Milliseconds since 1970-01-01 UTC; from this on, and before that. */
  since?: number | undefined;
  until?: number | undefined;
  /** Username; the filter also finds other actors on the user's behalf. */
  actor?: string | undefined;
  /** An action, or the part of it before the dot. */
  action?: string | undefined;
  /** Only entries before, or after, this number. */
  before?: number | undefined;
  after?: number | undefined;
}

const GENESIS_HASH = "0".repeat(64);

type Row = Omit<AuditEntry, "time" | "subject" | "detail"> & {
  time: number;
  subject_kind: string | null;
  subject_id: string | null;
  detail: string;
};

/** Precedes the username that somebody acts for, in the actor. Usernames have no spaces. */
export const ON_BEHALF = "on behalf of ";
const PRINCIPAL = `substr(actor, nullif(instr(actor, '${ON_BEHALF}'), 0) + ${ON_BEHALF.length})`;

const UNKNOWN: Origin = { actor: null, via: "service", token: null, address: null, request: null };
/** Entries that are read at a time. */
const PAGE = 250;
/** Entries examined at a time, because a filter may match few; this takes some 5 ms. */
const WINDOW = 20_000;

/** The audit log of a database. An event recorded in a transaction is committed or rolled back with it. */
export class AuditLog {
  defaultOrigin: Origin = UNKNOWN;

  constructor(
    private readonly database: Database,
    private readonly now: () => number,
  ) {}

  record(event: AuditEvent, origin: Partial<Origin> = {}): void {
    // A nested transaction would be a savepoint.
    if (this.database.inTransaction) this.#append(event, origin);
    else
      withReserve(this.database, () =>
        this.database.transaction(() => this.#append(event, origin)).immediate(),
      );
  }

  taskStarter(task: string): string | null {
    const row = this.database
      .query(
        "SELECT actor FROM audit WHERE action = 'task.start' AND subject_kind = 'task' AND subject_id = ?",
      )
      .get(task) as { actor: string | null } | null;
    return row?.actor ?? null;
  }

  head(): AuditHead | null {
    return auditHead(this.database);
  }

  /** The last entry about a subject. */
  findLastEntry(kind: string, id: string): Pick<AuditEntry, "action" | "detail"> | undefined {
    const row = this.database
      .query("SELECT * FROM audit WHERE subject_kind = ? AND subject_id = ? ORDER BY seq DESC LIMIT 1")
      .get(kind, id) as Row | null;
    return row ? parseEntry(row) : undefined;
  }

  latest(filter: AuditFilter, count: number): AuditEntry[] {
    const found: AuditEntry[] = [];
    for (const page of this.latestPages(filter, count)) found.push(...page);
    return found;
  }

  /** The newest entries in pages, some of them empty, between which other work can be done. */
  *latestPages(filter: AuditFilter, count: number): Generator<AuditEntry[]> {
    const end = (this.head()?.seq ?? 0) + 1;
    let left = count;
    for (let before = Math.min(filter.before ?? end, end); before > 1 && left > 0; before -= WINDOW) {
      const after = Math.max(filter.after ?? 0, before - WINDOW - 1);
      const page = this.#select({ ...filter, before, after }, "DESC", left);
      yield page;
      left -= page.length;
    }
  }

  /** All entries, oldest first, in pieces as well; includes those recorded meanwhile. */
  *pages(filter: AuditFilter): Generator<AuditEntry[]> {
    for (let after = filter.after ?? 0; after < (this.head()?.seq ?? 0);) {
      const before = Math.min(filter.before ?? Number.POSITIVE_INFINITY, after + WINDOW + 1);
      const page = this.#select({ ...filter, before, after }, "ASC", PAGE);
      yield page;
      after = page.length < PAGE ? after + WINDOW : page[PAGE - 1].seq;
    }
  }

  /** Reads the end of the chain each time: other processes write too. */
  #append({ action, subject, outcome = "done", detail = {} }: AuditEvent, by: Partial<Origin>): void {
    const origin = { ...(currentOrigin() ?? this.defaultOrigin), ...by };
    const last = this.head();
    const now = this.now();
    const values = { seq: (last?.seq ?? 0) + 1, action, outcome };
    const token = this.#tokenId(origin.token);
    const time = new Date(now).toISOString();
    const entry = { ...values, ...origin, token, time, subject: subject ?? null, detail };
    this.database
      .query(
        `INSERT INTO audit (seq, time, actor, via, token, address, request, action, subject_kind, subject_id, outcome, detail, hash)
         VALUES ($seq, $time, $actor, $via, $token, $address, $request, $action, $kind, $id, $outcome, $detail, $hash)`,
      )
      .run({
        ...values,
        ...origin,
        token,
        time: now,
        kind: subject?.kind ?? null,
        id: subject?.id ?? null,
        detail: canonical(detail),
        hash: hashEntry(last?.hash ?? GENESIS_HASH, entry),
      });
  }

  #tokenId(row: number | null): string | null {
    if (row === null) return null;
    const found = this.database.query("SELECT id FROM api_token WHERE rid = ?").get(row);
    return (found as { id: string } | null)?.id ?? null;
  }

  #select(filter: AuditFilter, order: "ASC" | "DESC", count: number): AuditEntry[] {
    const conditions = [
      ["time >= ?", filter.since],
      ["time < ?", filter.until],
      [`? IN (actor, ${PRINCIPAL})`, filter.actor],
      ["? IN (action, substr(action, 1, instr(action, '.') - 1))", filter.action],
      ["seq < ?", filter.before],
      ["seq > ?", filter.after],
    ].filter(([, value]) => value !== undefined) as [string, string | number][];
    const where = conditions.map(([text]) => ` AND ${text}`).join("");
    const rows = this.database
      .query(`SELECT * FROM audit WHERE TRUE${where} ORDER BY seq ${order} LIMIT ?`)
      .all(...conditions.map(([, value]) => value), count) as Row[];
    return rows.map(parseEntry);
  }
}

const audits = new WeakMap<Database, AuditLog>();

/** The only audit log of a database. */
export function getAuditLog(database: Database, clock: { now(): number }): AuditLog {
  let audit = audits.get(database);
  if (!audit) audits.set(database, (audit = new AuditLog(database, () => clock.now())));
  return audit;
}

/** The end of the chain; null if it is empty, or the database is older than the audit log. */
export function auditHead(database: Database): AuditHead | null {
  if (!hasAudit(database)) return null;
  return database.query("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").get() as AuditHead | null;
}

/** True if a database is new enough to have an audit log. */
export const hasAudit = (database: Database): boolean =>
  database.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'audit'").get() !== null;

/** The length and end of a chain, and the first error in it. */
interface ChainVerification {
  entries: number;
  head: AuditHead | null;
  broken: { seq: number; why: string } | null;
}

/**
 * Recomputes the chain. Only `heads`, noted elsewhere, reveal that entries at the end were removed, or rewritten with
 * all their hashes.
 */
export function verifyChain(database: Database, heads: readonly AuditHead[] = []): ChainVerification {
  const expected = new Map(heads.map(({ seq, hash }) => [seq, hash]));
  const statement = database.prepare("SELECT * FROM audit ORDER BY seq");
  let last: AuditHead = { seq: 0, hash: GENESIS_HASH };
  let broken: ChainVerification["broken"] = null;
  try {
    for (const row of statement.iterate() as Iterable<Row>) {
      const why = checkEntry(row, last, expected.get(row.seq));
      expected.delete(row.seq);
      last = { seq: row.seq, hash: row.hash };
      if (why === undefined) continue;
      broken = { seq: row.seq, why };
      break;
    }
  } finally {
    statement.finalize();
  }
  const [missing] = [...expected.keys()].sort((a, b) => a - b);
  if (!broken && missing !== undefined)
    broken = { seq: missing, why: `it was recorded, but the log ends with entry ${last.seq}` };
  const { n } = database.query("SELECT count(*) AS n FROM audit").get() as { n: number };
  return { entries: n, head: auditHead(database), broken };
}

/** The problem of an entry, given the previous one and the hash that was noted for it. */
function checkEntry(row: Row, previous: AuditHead, noted: string | undefined): string | undefined {
  if (row.seq !== previous.seq + 1)
    return `it follows entry ${previous.seq}: the entries between them are missing`;
  let hash: string;
  try {
    hash = hashEntry(previous.hash, parseEntry(row));
  } catch (error) {
    return `it cannot be read: ${(error as Error).message}`;
  }
  if (hash !== row.hash) return "its hash does not match its content and the previous entry";
  if (noted !== undefined && noted !== row.hash) return `its recorded hash is ${noted}`;
  return undefined;
}

function parseEntry(row: Row): AuditEntry {
  const { subject_kind: kind, subject_id: id, detail, time, ...rest } = row;
  return {
    ...rest,
    time: new Date(time).toISOString(),
    subject: kind === null ? null : { kind, id },
    detail: JSON.parse(detail) as AuditDetail,
  };
}

/** The hash of an entry, whose own hash does not count. */
const hashEntry = (previous: string, entry: object): string =>
  sha256(previous + canonical({ ...entry, hash: undefined }));

/** JSON with sorted keys and no spaces: RFC 8785 for strings, integers, booleans and null. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
