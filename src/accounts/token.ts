import type { Clock } from "../platform/clock.ts";
import { withReserve } from "../platform/disk-reserve.ts";
import { currentOrigin } from "../platform/request-context.ts";
import { newSecret, sha256 } from "../platform/secret.ts";
import type { Database } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import { type AuditLog, getAuditLog } from "./audit.ts";

/** `read` allows requests that change nothing, `write` everything that the user may do. */
export const SCOPES = ["read", "write"] as const;
export type Scope = (typeof SCOPES)[number];

/** A token as its owner may see it. Times are milliseconds since 1970-01-01 UTC. */
export interface TokenRecord {
  id: string;
  username: string;
  name: string;
  /** The first characters, which tell tokens apart. */
  prefix: string;
  scope: Scope;
  created: number;
  expires: number | null;
  /** Time of the last use, to the minute. */
  last_used: number | null;
  revoked: number | null;
}

interface NewToken {
  name: string;
  scope?: Scope;
  expires?: number | null;
}

/** The row of the valid token of a request, and the row of its user. */
export interface TokenUse {
  rid: number;
  user: number;
  scope: Scope;
}

const PREFIX_LENGTH = 12;
const MINUTE = 60_000;
const DAY = 86_400_000;
const MAX_RECORDED_USES = 20_000;
const COLUMNS =
  "t.id, u.username, t.name, t.prefix, t.scope, t.created, t.expires, t.last_used, t.revoked" +
  " FROM api_token AS t JOIN user_account AS u ON u.rid = t.user_rid";

const VALID = "(t.revoked IS NULL AND (t.expires IS NULL OR t.expires > $now))";

/** Tokens that responses list: programs that sign in at every run have very many. */
export const TOKENS_LISTED = 1000;

/** API tokens, by which programs sign in. */
export class Tokens {
  private readonly audit: AuditLog;
  /** Pairs of token and address recorded on a day (UTC). */
  private readonly uses = { day: 0, keys: new Set<string>() };

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.audit = getAuditLog(database, clock);
  }

  /** Creates a token. It cannot be read again: only its SHA-256 is stored. @throws Problem invalid_request */
  add(user: number, { name, scope = "write", expires = null }: NewToken): { token: string; id: string } {
    if (name.trim() === "" || name.length > 255 || /\p{Cc}/u.test(name)) {
      const error = "Expected the purpose of the token, in 1 to 255 printable characters.";
      throw new Problem("invalid_request", `name: ${error}`, { fields: { name: [error] } });
    }
    const token = newSecret("labd_");
    const id = this.clock.newId();
    const prefix = token.slice(0, PREFIX_LENGTH);
    const insert = this.database.transaction(() => {
      this.database
        .query(
          "INSERT INTO api_token (id, user_rid, name, prefix, sha256, scope, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .run(id, user, name, prefix, sha256(token), scope, this.clock.now(), expires);
      this.record(id, "token.create");
    });
    withReserve(this.database, () => insert.immediate());
    return { token, id };
  }

  /** Valid tokens, newest first, of one user or of everybody; `all` includes expired and revoked ones. */
  list({
    user,
    all = false,
    limit = -1,
  }: { user?: number; all?: boolean; limit?: number } = {}): TokenRecord[] {
    return this.database
      .query(
        `SELECT ${COLUMNS} WHERE ($user IS NULL OR t.user_rid = $user) AND ($all OR ${VALID})
         ORDER BY t.rid DESC LIMIT $limit`,
      )
      .all({ user: user ?? null, all, now: this.clock.now(), limit }) as TokenRecord[];
  }

  /** A token of this user; `all` as in lists. */
  find(user: number, id: string, { all = false } = {}): TokenRecord | undefined {
    const found = this.database
      .query(`SELECT ${COLUMNS} WHERE t.id = $id AND t.user_rid = $user AND ($all OR ${VALID})`)
      .get({ id, user, all, now: this.clock.now() }) as TokenRecord | null;
    return found ?? undefined;
  }

  revoke(id: string): boolean {
    return this.revokeWhere("id = ?", id) > 0;
  }

  revokeAll(user: number): number {
    return this.revokeWhere("user_rid = ?", user);
  }

  private revokeWhere(condition: string, value: string | number): number {
    return this.database
      .transaction(() => {
        const revoked = this.database
          .query(`UPDATE api_token SET revoked = ? WHERE ${condition} AND revoked IS NULL RETURNING id`)
          .all(this.clock.now(), value) as { id: string }[];
        for (const { id } of revoked) this.record(id, "token.revoke");
        return revoked.length;
      })
      .immediate();
  }

  /** Records the first use of a token on a day (UTC) from an address: recording every use would turn reads into writes. */
  recordUse(rid: number): void {
    const origin = currentOrigin();
    if (!origin) return;
    const day = Math.floor(this.clock.now() / DAY);
    if (day !== this.uses.day || this.uses.keys.size >= MAX_RECORDED_USES) {
      this.uses.day = day;
      this.uses.keys.clear();
    }
    const key = `${rid} ${origin.address ?? ""}`;
    if (this.uses.keys.has(key)) return;
    try {
      const { id } = this.database.query("SELECT id FROM api_token WHERE rid = ?").get(rid) as { id: string };
      this.record(id, "token.use");
      this.uses.keys.add(key);
    } catch {
      // Another process is writing; the next request records it.
    }
  }

  private record(id: string, action: string): void {
    const row = this.database
      .query(
        `SELECT t.name, t.prefix, t.scope, t.expires, u.username FROM api_token AS t
         JOIN user_account AS u ON u.rid = t.user_rid WHERE t.id = ?`,
      )
      .get(id) as Pick<TokenRecord, "name" | "prefix" | "scope" | "expires" | "username">;
    const expires = row.expires === null ? null : new Date(row.expires).toISOString();
    this.audit.record({ action, subject: { kind: "token", id }, detail: { ...row, expires } });
  }

  /** The id of the valid token with this id or prefix. @throws Problem not_found; conflict if several match */
  resolve(typed: string): string {
    const found = this.list().filter(({ id, prefix }) => id === typed || prefix === typed);
    if (found.length === 0) throw new Problem("not_found", "There is no valid token with this id or prefix.");
    if (found.length > 1)
      throw new Problem("conflict", "Several tokens have this prefix. Give the id shown by labd token list.");
    return found[0].id;
  }

  /** The user of a valid token; undefined if it is invalid. Stores when it was last used, to the minute. */
  use(token: string): TokenUse | undefined {
    const now = this.clock.now();
    const row = this.database
      .query(
        // A subquery: a join takes several times as long.
        `SELECT rid, user_rid AS user, scope, last_used FROM api_token
         WHERE sha256 = ? AND revoked IS NULL AND (expires IS NULL OR expires > ?)
         AND (SELECT is_active FROM user_account WHERE rid = user_rid)`,
      )
      .get(sha256(token), now) as (TokenUse & { last_used: number | null }) | null;
    if (!row) return undefined;
    if (row.last_used === null || now - row.last_used >= MINUTE) {
      try {
        this.database.query("UPDATE api_token SET last_used = ? WHERE rid = ?").run(now, row.rid);
      } catch {
        // Another process is writing; the next request stores it.
      }
    }
    return row;
  }
}
