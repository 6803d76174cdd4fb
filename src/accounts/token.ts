import { Problem } from "../problem.ts";
import { type AuditLog, auditOf } from "./audit.ts";
import type { Clock } from "../platform/clock.ts";
import { currentOrigin } from "../platform/request-context.ts";
import { newSecret, sha256 } from "../platform/secret.ts";
import type { Database } from "../platform/sqlite.ts";

/** read: what changes nothing; write: everything that its user may do. */
export const SCOPES = ["read", "write"] as const;
export type Scope = (typeof SCOPES)[number];

/** A token as its owner may see it. Times are milliseconds since 1970-01-01 UTC. */
export interface TokenRecord {
  id: string;
  username: string;
  name: string;
  /** The first characters, by which tokens can be told apart. */
  prefix: string;
  scope: Scope;
  created: number;
  expires: number | null;
  /** To the minute. */
  last_used: number | null;
  revoked: number | null;
}

export interface NewToken {
  name: string;
  scope?: Scope;
  expires?: number | null;
}

/** Whom a token belongs to and what it allows. */
export interface TokenUse {
  rid: number;
  user: number;
  scope: Scope;
}

/** What is wrong with the name of a token, or undefined. */
export const tokenNameRule = (name: string): string | undefined =>
  name.trim() === "" || name.length > 255 || /\p{Cc}/u.test(name)
    ? "Expected what the token is for, in 1 to 255 printable characters."
    : undefined;

const PREFIX_LENGTH = 12;
const MINUTE = 60_000;
const DAY = 86_400_000;
/** Pairs of token and address that are remembered. */
const USES_KEPT = 20_000;
const COLUMNS =
  "t.id, u.username, t.name, t.prefix, t.scope, t.created, t.expires, t.last_used, t.revoked" +
  " FROM api_token AS t JOIN user_account AS u ON u.rid = t.user_rid";

/** The tokens by which programs sign in. */
export class Tokens {
  private readonly audit: AuditLog;
  /** Uses that were noted today, and which day that is. */
  private readonly uses = { day: 0, keys: new Set<string>() };

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.audit = auditOf(database, clock);
  }

  /**
   * Makes a token: the only time that it can be read, for its SHA-256 is what is kept.
   * @throws Problem invalid_request for a name that breaks the rule
   */
  add(user: number, { name, scope = "write", expires = null }: NewToken): { token: string; id: string } {
    const wrong = tokenNameRule(name);
    if (wrong !== undefined)
      throw new Problem("invalid_request", `name: ${wrong}`, { fields: { name: [wrong] } });
    const token = newSecret("labd_");
    const id = this.clock.newId();
    this.database
      .transaction(() => {
        this.database
          .query(
            "INSERT INTO api_token (id, user_rid, name, prefix, sha256, scope, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          )
          .run(
            id,
            user,
            name,
            token.slice(0, PREFIX_LENGTH),
            sha256(token),
            scope,
            this.clock.now(),
            expires,
          );
        this.note(id, "token.create");
      })
      .immediate();
    return { token, id };
  }

  /** Those that can be used, newest first; `all`: also those that cannot any more. Of one user, or of everybody. */
  list({ user, all = false }: { user?: number; all?: boolean } = {}): TokenRecord[] {
    const usable = all ? "" : " AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > $now)";
    return this.database
      .query(
        `SELECT ${COLUMNS} WHERE ($user IS NULL OR t.user_rid = $user)${usable} ORDER BY t.created DESC, t.rid DESC`,
      )
      .all({ user: user ?? null, ...(all ? {} : { now: this.clock.now() }) }) as TokenRecord[];
  }

  /** One of a user's tokens, usable or not. */
  find(user: number, id: string): TokenRecord | undefined {
    const row = this.database.query(`SELECT ${COLUMNS} WHERE t.user_rid = ? AND t.id = ?`).get(user, id);
    return (row as TokenRecord | null) ?? undefined;
  }

  /** Ends a token. Returns whether there was one to end. */
  revoke(id: string): boolean {
    return this.database
      .transaction(() => {
        const done = this.database
          .query("UPDATE api_token SET revoked = ? WHERE id = ? AND revoked IS NULL")
          .run(this.clock.now(), id);
        if (done.changes > 0) this.note(id, "token.revoke");
        return done.changes > 0;
      })
      .immediate();
  }

  /** Ends all tokens of a user. Returns how many. */
  revokeAll(user: number): number {
    return this.database
      .transaction(() => {
        const ended = this.database
          .query("UPDATE api_token SET revoked = ? WHERE user_rid = ? AND revoked IS NULL RETURNING id")
          .all(this.clock.now(), user) as { id: string }[];
        for (const { id } of ended) this.note(id, "token.revoke");
        return ended.length;
      })
      .immediate();
  }

  /**
   * Notes in the audit log the first use of a token on a day (UTC) from an address since the program started: every use
   * would make a write of every read.
   */
  noteUse({ rid }: TokenUse): void {
    const origin = currentOrigin();
    if (!origin) return;
    const day = Math.floor(this.clock.now() / DAY);
    if (day !== this.uses.day || this.uses.keys.size >= USES_KEPT) {
      this.uses.day = day;
      this.uses.keys.clear();
    }
    const key = `${rid} ${origin.address ?? ""}`;
    if (this.uses.keys.has(key)) return;
    try {
      const { id } = this.database.query("SELECT id FROM api_token WHERE rid = ?").get(rid) as { id: string };
      this.note(id, "token.use");
      this.uses.keys.add(key);
    } catch {
      // Another process writes: the next request notes it.
    }
  }

  private note(id: string, action: string): void {
    const row = this.database
      .query(
        `SELECT t.name, t.prefix, t.scope, t.expires, u.username FROM api_token AS t
         JOIN user_account AS u ON u.rid = t.user_rid WHERE t.id = ?`,
      )
      .get(id) as Pick<TokenRecord, "name" | "prefix" | "scope" | "expires" | "username">;
    const expires = row.expires === null ? null : new Date(row.expires).toISOString();
    this.audit.record({ action, subject: { kind: "token", id }, detail: { ...row, expires } });
  }

  /**
   * The ids of the usable tokens that a person means by an id or the beginning that lists show.
   * @throws Problem not_found, conflict where several begin so
   */
  resolve(typed: string): string {
    const found = this.list().filter(({ id, prefix }) => id === typed || prefix === typed);
    if (found.length === 0)
      throw new Problem("not_found", "There is no usable token with this id or prefix.");
    if (found.length > 1)
      throw new Problem(
        "conflict",
        "Several tokens begin so; give the id of one, as labd token list shows it.",
      );
    return found[0].id;
  }

  /** Whose token it is; undefined where it is none, is over, or its user is shut out. Notes its use, to the minute. */
  use(token: string): TokenUse | undefined {
    const now = this.clock.now();
    const row = this.database
      .query(
        `SELECT t.rid, t.user_rid, t.scope, t.last_used FROM api_token AS t JOIN user_account AS u ON u.rid = t.user_rid
         WHERE t.sha256 = ? AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > ?) AND u.is_active`,
      )
      .get(sha256(token), now) as {
      rid: number;
      user_rid: number;
      scope: Scope;
      last_used: number | null;
    } | null;
    if (!row) return undefined;
    if (row.last_used === null || now - row.last_used >= MINUTE) this.touch(row.rid, now);
    return { rid: row.rid, user: row.user_rid, scope: row.scope };
  }

  private touch(rid: number, now: number): void {
    try {
      this.database.query("UPDATE api_token SET last_used = ? WHERE rid = ?").run(now, rid);
    } catch {
      // Another process writes: the next request notes it.
    }
  }
}
