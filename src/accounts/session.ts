import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../platform/clock.ts";
import { readCookie, printCookie } from "../platform/cookie.ts";
import { withReserve } from "../platform/disk-reserve.ts";
import {
  findBasePath,
  isFromOwnPage,
  isUnsafe,
  ownOrigin,
  type PublicUrlOptions,
} from "../platform/origin.ts";
import { hasSecretForm, newSecret, sha256 } from "../platform/secret.ts";
import type { Database } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import { type AuditDetail, type AuditLog, getAuditLog } from "./audit.ts";

const COOKIE = "labd_session";
/** The name with https at the root of a host, which other hosts of the domain cannot set (RFC 6265bis, section 4.1.3.2). */
const HOST_COOKIE = `__Host-${COOKIE}`;
/** Hours from sign-in to the end of a session. */
const SESSION_HOURS = 336;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export interface Session {
  user: number;
  /** Value of X-CSRFToken for requests without an Origin. */
  csrfToken: string;
  /** Milliseconds since 1970-01-01 UTC. */
  expires: number;
  /** True if a provider authenticated the user, with the factors that it requires. */
  external: boolean;
  /** Time of the last authentication: milliseconds since 1970-01-01 UTC; 0 if unknown. */
  confirmedAt: number;
}

/** The session at the provider that authenticated the user. */
export interface ProviderSession {
  /** Hours after which the provider has to authenticate the user again. */
  hours: number;
  /** The provider's identifier of the session, if it has one. */
  session: string | null;
  /** Time of the authentication at the provider: milliseconds since 1970-01-01 UTC; 0 if unknown. */
  confirmed: number;
}

/** A session as its owner may see it. Times are milliseconds since 1970-01-01 UTC. */
export interface SessionRecord {
  id: string;
  created: number;
  /** Time of the last use, to the minute. */
  last_used: number;
  expires: number;
  agent: string;
  current: boolean;
}

export interface SessionOptions extends PublicUrlOptions {
  /** Minutes without a request after which a session ends. */
  sessionIdleMinutes: number;
}

type Row = Record<"user" | "last_used" | "expires" | "vouched" | "confirmed", number>;

/** Sessions of browsers: a cookie with a random value, whose SHA-256 is stored. */
export class Sessions {
  private readonly audit: AuditLog;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly options: SessionOptions,
  ) {
    this.audit = getAuditLog(database, clock);
  }

  /** Opens a session, which replaces that of the request. `cookie` is for Set-Cookie. */
  open(user: number, request: Request, provider?: ProviderSession): { session: Session; cookie: string } {
    const now = this.clock.now();
    const secret = newSecret("");
    const external = provider !== undefined;
    const hours = Math.min(SESSION_HOURS, provider?.hours ?? SESSION_HOURS);
    const expires = now + hours * HOUR;
    const confirmedAt = provider ? Math.min(now, provider.confirmed) : now;
    const agent = (request.headers.get("user-agent") ?? "").slice(0, 300);
    this.close(request);
    const insert = this.database.transaction(() => {
      this.database.query("DELETE FROM session WHERE expires <= ?").run(now);
      this.database
        .query(
          `INSERT INTO session (sha256, user_rid, created, last_used, expires, agent, vouched, confirmed, provider_session)
           VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8)`,
        )
        .run(sha256(secret), user, now, expires, agent, external, confirmedAt, provider?.session ?? null);
    });
    withReserve(this.database, () => insert.immediate());
    return {
      session: { user, csrfToken: deriveCsrfToken(secret), expires, external, confirmedAt },
      cookie: this.cookie(secret, hours * 3600, request),
    };
  }

  /** The session of a request; undefined without a session or after its end. */
  find(request: Request): Session | undefined {
    const secret = this.readSecret(request);
    if (secret === undefined) return undefined;
    const now = this.clock.now();
    const hash = sha256(secret);
    const row = this.database
      .query(
        `SELECT s.user_rid AS user, s.last_used, s.expires, s.vouched, s.confirmed FROM session AS s
         JOIN user_account AS u ON u.rid = s.user_rid
         WHERE s.sha256 = ? AND s.expires > ? AND s.last_used > ? AND u.is_active`,
      )
      .get(hash, now, this.idleLimit()) as Row | null;
    if (!row) return undefined;
    if (now - row.last_used >= MINUTE) this.touch(hash, now);
    const { user, expires, vouched, confirmed: confirmedAt } = row;
    return { user, csrfToken: deriveCsrfToken(secret), expires, external: vouched === 1, confirmedAt };
  }

  private idleLimit(): number {
    return this.clock.now() - this.options.sessionIdleMinutes * MINUTE;
  }

  private touch(hash: string, now: number): void {
    try {
      this.database.query("UPDATE session SET last_used = ? WHERE sha256 = ?").run(now, hash);
    } catch {
      // Another process is writing; the next request stores it.
    }
  }

  confirm(request: Request): void {
    const secret = this.readSecret(request);
    if (secret !== undefined)
      withReserve(this.database, () =>
        this.database
          .query("UPDATE session SET confirmed = ? WHERE sha256 = ?")
          .run(this.clock.now(), sha256(secret)),
      );
  }

  /** Ends the session of a request. @returns the cookie that deletes the session cookie */
  close(request: Request): string {
    const secret = this.readSecret(request);
    const end = this.database.transaction((hash: string) => {
      const row = this.database
        .query("DELETE FROM session WHERE sha256 = ? RETURNING user_rid AS user")
        .get(hash) as { user: number } | null;
      if (!row) return;
      const { id, username } = this.account(row.user);
      const event = { action: "sign_out", subject: { kind: "user", id }, detail: { username } };
      this.audit.record(event, { actor: username, via: "session" });
    });
    if (secret !== undefined) withReserve(this.database, () => end.immediate(sha256(secret)));
    return this.cookie("", 0, request);
  }

  private account(user: number): { id: string; username: string } {
    return this.database.query("SELECT id, username FROM user_account WHERE rid = ?").get(user) as {
      id: string;
      username: string;
    };
  }

  /** The sessions of an account that have not ended, the latest first. */
  list(user: number, request: Request): SessionRecord[] {
    const secret = this.readSecret(request);
    const ownHash = secret === undefined ? undefined : sha256(secret);
    const rows = this.database
      .query(
        `SELECT sha256 AS hash, created, last_used, expires, agent FROM session
         WHERE user_rid = ? AND expires > ? AND last_used > ? ORDER BY last_used DESC, created DESC`,
      )
      .all(user, this.clock.now(), this.idleLimit()) as (SessionRecord & { hash: string })[];
    return rows.map(({ hash, ...rest }) =>
      Object.assign({ id: publicId(hash) }, rest, { current: hash === ownHash }),
    );
  }

  end(user: number, id: string): boolean {
    const rows = this.database.query("SELECT sha256 AS hash FROM session WHERE user_rid = ?").all(user) as {
      hash: string;
    }[];
    const found = rows.find(({ hash }) => publicId(hash) === id);
    return found !== undefined && this.endWhere(user, "sha256 = ?", found.hash) > 0;
  }

  /** Ends all sessions of an account except the session of the request. @returns the number of ended sessions */
  endOthers(user: number, request: Request): number {
    const ownHash = this.readSecret(request);
    return this.endWhere(user, "sha256 <> ?", ownHash === undefined ? "" : sha256(ownHash));
  }

  /**
   * Ends sessions that a provider authenticated: of an account, of one session at the provider, or both. @returns their
   * number
   */
  endProviderSessions(of: { user?: number; session?: string }, reason: AuditDetail): number {
    const session = of.session ?? null;
    const users = this.database
      .query(
        `SELECT DISTINCT user_rid AS user FROM session WHERE vouched AND ($user IS NULL OR user_rid = $user)
         AND ($session IS NULL OR provider_session = $session)`,
      )
      .all({ user: of.user ?? null, session }) as { user: number }[];
    const condition = "vouched AND provider_session IS coalesce(?, provider_session)";
    const ended = users.map(({ user }) => this.endWhere(user, condition, session, reason));
    return ended.reduce((sum, count) => sum + count, 0);
  }

  private endWhere(user: number, where: string, value: string | null, reason: AuditDetail = {}): number {
    const end = this.database.transaction(() => {
      const { changes: count } = this.database
        .query(`DELETE FROM session WHERE user_rid = ? AND ${where}`)
        .run(user, value);
      const { id, username } = this.account(user);
      const subject = { kind: "user", id };
      if (count > 0)
        this.audit.record({ action: "session.end", subject, detail: { username, count, ...reason } });
      return count;
    });
    return withReserve(this.database, () => end.immediate());
  }

  closeAll(user: number): void {
    this.database.query("DELETE FROM session WHERE user_rid = ?").run(user);
  }

  /** Refuses a request made by another site's page. @throws Problem forbidden */
  requireSameOrigin(request: Request): void {
    if (isFromOwnPage(request, this.options) === false) throw csrfFailed("Origin checking failed.");
  }

  /**
   * Checks that an unsafe request with a session cookie was made by this site, by X-CSRFToken or by its Origin.
   * @throws Problem forbidden
   */
  checkCsrf(request: Request, session: Session): void {
    if (!isUnsafe(request.method)) return;
    const token = request.headers.get("x-csrftoken");
    if (token !== null) {
      const [given, expected] = [Buffer.from(token), Buffer.from(session.csrfToken)];
      if (given.length === expected.length && timingSafeEqual(given, expected)) return;
      throw csrfFailed("CSRF token incorrect.");
    }
    const isOwn = isFromOwnPage(request, this.options);
    if (isOwn === undefined) throw csrfFailed("CSRF token missing. Send it as X-CSRFToken.");
    if (!isOwn) throw csrfFailed("Origin checking failed.");
  }

  private isSecure(request: Request): boolean {
    return ownOrigin(request, this.options).startsWith("https:");
  }

  /** The cookie that removes the cookie of an ended session; undefined if the request has no session cookie. */
  endedCookie(request: Request): string | undefined {
    const given = readCookie(request, this.cookieName(request));
    return given ? this.cookie("", 0, request) : undefined;
  }

  private cookie(value: string, seconds: number, request: Request): string {
    const path = findBasePath(request, this.options) || "/";
    const isSecure = this.isSecure(request);
    return printCookie(this.cookieName(request), value, { path, seconds, site: "Lax", isSecure });
  }

  private cookieName(request: Request): string {
    return this.isSecure(request) && findBasePath(request, this.options) === "" ? HOST_COOKIE : COOKIE;
  }

  private readSecret(request: Request): string | undefined {
    return readCookieSecret(request, this.cookieName(request));
  }
}

/** 403 worded as in Django REST framework. */
const csrfFailed = (reason: string): Problem => new Problem("forbidden", `CSRF Failed: ${reason}`);

/** Identifies a session to its owner without revealing the stored hash. */
const publicId = (hash: string): string => sha256(`session ${hash}`).slice(0, 32);

/** Derived from the cookie's value, which cannot be recovered from it. */
const deriveCsrfToken = (secret: string): string => sha256(`csrf ${secret}`);

/** True if a browser sends a session cookie, valid or not. */
export const hasSessionCookie = (request: Request): boolean =>
  [HOST_COOKIE, COOKIE].some((name) => readCookieSecret(request, name) !== undefined);

function readCookieSecret(request: Request, name: string): string | undefined {
  const value = readCookie(request, name);
  return value !== null && hasSecretForm(value) ? value : undefined;
}
