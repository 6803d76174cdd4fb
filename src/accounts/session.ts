import { timingSafeEqual } from "node:crypto";
import { type AuditLog, auditOf, type AuditDetail } from "./audit.ts";
import type { Clock } from "../platform/clock.ts";
import {
  basePathOf,
  csrfFailed,
  fromOwnPage,
  isUnsafe,
  type PublicUrlOptions,
  ownOrigin,
} from "../platform/origin.ts";
import { hasSecretForm, newSecret, sha256 } from "../platform/secret.ts";
import type { Database } from "../platform/sqlite.ts";

const COOKIE = "labd_session";
/**
 * The name by https at the root of a host: browsers take it from that host alone (RFC 6265bis, section 4.1.3.2). By
 * another name any host of the same domain could give a browser the session of somebody else.
 */
const HOST_COOKIE = `__Host-${COOKIE}`;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A browser that is signed in. */
export interface Session {
  /** Row of `user_account`. */
  user: number;
  /** What X-CSRFToken must hold where the Origin says nothing. */
  csrfToken: string;
  /** Milliseconds since 1970-01-01 UTC. */
  expires: number;
  /** Whether another service vouched for the person, by whatever factors it asks for. */
  external: boolean;
  /** When the owner last showed who it is: milliseconds since 1970-01-01 UTC, 0 where that is not known. */
  confirmedAt: number;
}

/** What another service says of somebody for whom it vouches. */
export interface ProviderSession {
  /** Hours after which it is to be asked again. */
  hours: number;
  /** What it calls the session there; null where it does not say. */
  session: string | null;
  /** When the person showed it who it is: milliseconds since 1970-01-01 UTC, 0 where it does not say. */
  confirmed: number;
}

/** A session as its owner may see it. Times are milliseconds since 1970-01-01 UTC. */
export interface SessionRecord {
  id: string;
  created: number;
  /** To the minute. */
  last_used: number;
  expires: number;
  /** What the browser calls itself. */
  agent: string;
  /** Whether the request that asks came with it. */
  current: boolean;
}

export interface SessionOptions extends PublicUrlOptions {
  /** From sign-in to the end, whatever happens in between. */
  sessionHours: number;
  /** Without a request. */
  sessionIdleMinutes: number;
}

/** Sessions of browsers: a cookie with a random value whose SHA-256 is kept. */
export class Sessions {
  private readonly audit: AuditLog;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly options: SessionOptions,
  ) {
    this.audit = auditOf(database, clock);
  }

  /** A new session in the place of the one that the request may have; `cookie` is for Set-Cookie. */
  open(user: number, request: Request, vouched?: ProviderSession): { session: Session; cookie: string } {
    const now = this.clock.now();
    const secret = newSecret("");
    const hours = Math.min(this.options.sessionHours, vouched?.hours ?? Number.POSITIVE_INFINITY);
    const expires = now + hours * HOUR;
    const confirmed = vouched ? Math.min(now, vouched.confirmed) : now;
    this.close(request);
    this.database.transaction(() => {
      this.database.query("DELETE FROM session WHERE expires <= ?").run(now);
      this.database
        .query(
          `INSERT INTO session (sha256, user_rid, created, last_used, expires, agent, vouched, confirmed, provider_session)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          sha256(secret),
          user,
          now,
          now,
          expires,
          agentOf(request),
          vouched ? 1 : 0,
          confirmed,
          vouched?.session ?? null,
        );
    })();
    return {
      session: {
        user,
        csrfToken: csrfTokenOf(secret),
        expires,
        external: vouched !== undefined,
        confirmedAt: confirmed,
      },
      cookie: this.cookie(secret, hours * 3600, request),
    };
  }

  /** The session of a request; undefined where it has none, or one that is over. */
  find(request: Request): Session | undefined {
    const secret = this.secretOf(request);
    if (secret === undefined) return undefined;
    const now = this.clock.now();
    const hash = sha256(secret);
    const row = this.database
      .query(
        `SELECT s.user_rid, s.last_used, s.expires, s.vouched, s.confirmed FROM session AS s JOIN user_account AS u ON u.rid = s.user_rid
         WHERE s.sha256 = ? AND s.expires > ? AND s.last_used > ? AND u.is_active`,
      )
      .get(hash, now, now - this.options.sessionIdleMinutes * MINUTE) as {
      user_rid: number;
      last_used: number;
      expires: number;
      vouched: number;
      confirmed: number;
    } | null;
    if (!row) return undefined;
    if (now - row.last_used >= MINUTE) this.touch(hash, now);
    const { user_rid: user, expires, vouched, confirmed } = row;
    return { user, csrfToken: csrfTokenOf(secret), expires, external: vouched === 1, confirmedAt: confirmed };
  }

  /** Notes that the owner of the session of a request has just shown who it is. */
  confirm(request: Request): void {
    const secret = this.secretOf(request);
    if (secret === undefined) return;
    this.database
      .query("UPDATE session SET confirmed = ? WHERE sha256 = ?")
      .run(this.clock.now(), sha256(secret));
  }

  /** Ends the session of a request; returns the cookie that removes its own. */
  close(request: Request): string {
    const secret = this.secretOf(request);
    if (secret !== undefined)
      this.database
        .transaction(() => {
          const row = this.database
            .query(
              `DELETE FROM session WHERE sha256 = ? RETURNING (SELECT id FROM user_account WHERE rid = user_rid) AS id,
                 (SELECT username FROM user_account WHERE rid = user_rid) AS username`,
            )
            .get(sha256(secret)) as { id: string; username: string } | null;
          if (!row) return;
          const { id, username } = row;
          const subject = { kind: "user", id };
          this.audit.record(
            { action: "sign_out", subject, detail: { username } },
            { actor: username, via: "session" },
          );
        })
        .immediate();
    return this.cookie("", 0, request);
  }

  /** The sessions of an account that can still be used, the latest first. */
  list(user: number, request: Request): SessionRecord[] {
    const own = this.secretOf(request);
    const now = this.clock.now();
    const rows = this.database
      .query(
        `SELECT sha256, created, last_used, expires, agent FROM session
         WHERE user_rid = ? AND expires > ? AND last_used > ? ORDER BY last_used DESC, created DESC`,
      )
      .all(user, now, now - this.options.sessionIdleMinutes * MINUTE) as (Omit<
      SessionRecord,
      "id" | "current"
    > & { sha256: string })[];
    return rows.map(({ sha256: hash, created, last_used, expires, agent }) => ({
      id: publicId(hash),
      created,
      last_used,
      expires,
      agent,
      current: own !== undefined && hash === sha256(own),
    }));
  }

  /** Ends one session of an account. @returns whether there was one */
  end(user: number, id: string): boolean {
    const rows = this.database.query("SELECT sha256 FROM session WHERE user_rid = ?").all(user) as {
      sha256: string;
    }[];
    const found = rows.find((row) => publicId(row.sha256) === id);
    return found !== undefined && this.endNoting(user, "sha256 = ?", found.sha256) > 0;
  }

  /** Ends all sessions of an account but that of the request. @returns how many */
  endOthers(user: number, request: Request): number {
    const own = this.secretOf(request);
    return this.endNoting(user, "sha256 <> ?", own === undefined ? "" : sha256(own));
  }

  /**
   * Ends the sessions for which another service vouched: of an account, of what that service calls a session, or both.
   * `why` is for the audit log. @returns how many
   */
  endProviderSessions(of: { user?: number; session?: string }, why: AuditDetail): number {
    const users = this.database
      .query(
        `SELECT DISTINCT user_rid AS user FROM session WHERE vouched AND ($user IS NULL OR user_rid = $user)
         AND ($session IS NULL OR provider_session = $session)`,
      )
      .all({ user: of.user ?? null, session: of.session ?? null }) as { user: number }[];
    return users.reduce(
      (count, { user }) =>
        count +
        this.endNoting(
          user,
          "vouched AND provider_session IS coalesce(?, provider_session)",
          of.session ?? null,
          why,
        ),
      0,
    );
  }

  /** Ends the sessions of an account for which a condition holds. @returns how many */
  private endNoting(user: number, where: string, value: string | null, why: AuditDetail = {}): number {
    return this.database
      .transaction(() => {
        const { changes } = this.database
          .query(`DELETE FROM session WHERE user_rid = ? AND ${where}`)
          .run(user, value);
        const { id, username } = this.database
          .query("SELECT id, username FROM user_account WHERE rid = ?")
          .get(user) as { id: string; username: string };
        if (changes > 0)
          this.audit.record({
            action: "session.end",
            subject: { kind: "user", id },
            detail: { username, count: changes, ...why },
          });
        return changes;
      })
      .immediate();
  }

  /** Ends all sessions of an account. */
  closeAll(user: number): void {
    this.database.query("DELETE FROM session WHERE user_rid = ?").run(user);
  }

  /**
   * A browser sends its cookie whoever made the page that asks, so that what changes something needs the session's
   * token, or to come from a page of ours.
   * @throws Problem forbidden
   */
  checkCsrf(request: Request, session: Session): void {
    if (!isUnsafe(request.method)) return;
    const given = request.headers.get("x-csrftoken");
    if (given !== null) {
      if (!same(given, session.csrfToken)) throw csrfFailed("CSRF token incorrect.");
      return;
    }
    const own = fromOwnPage(request, this.options);
    if (own === undefined) throw csrfFailed("CSRF token missing. Send it as X-CSRFToken.");
    if (!own) throw csrfFailed("Origin checking failed.");
  }

  private cookie(value: string, seconds: number, request: Request): string {
    const secure = ownOrigin(request, this.options).startsWith("https:") ? "; Secure" : "";
    const path = basePathOf(request, this.options) || "/";
    return `${this.nameFor(request)}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  }

  private nameFor(request: Request): string {
    const isSecure = ownOrigin(request, this.options).startsWith("https:");
    return isSecure && basePathOf(request, this.options) === "" ? HOST_COOKIE : COOKIE;
  }

  private secretOf(request: Request): string | undefined {
    return secretIn(request, this.nameFor(request));
  }

  private touch(hash: string, now: number): void {
    try {
      this.database.query("UPDATE session SET last_used = ? WHERE sha256 = ?").run(now, hash);
    } catch {
      // Another process writes: the next request notes it.
    }
  }
}

/** By which a session is named to its owner: nothing that would open it, nor what is kept of that. */
const publicId = (hash: string): string => sha256(`session ${hash}`).slice(0, 32);

const agentOf = (request: Request): string => (request.headers.get("user-agent") ?? "").slice(0, 300);

/** Whether a browser comes with a session, be it over or not, or none of this address. */
export const hasSessionCookie = (request: Request): boolean =>
  [HOST_COOKIE, COOKIE].some((name) => secretIn(request, name) !== undefined);

function secretIn(request: Request, name: string): string | undefined {
  const cookies = request.headers.get("cookie");
  if (cookies === null || !cookies.includes(name)) return undefined;
  for (const pair of cookies.split(";")) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at).trim() !== name) continue;
    const value = pair.slice(at + 1).trim();
    return hasSecretForm(value) ? value : undefined;
  }
  return undefined;
}

/** Made from the cookie's value, which cannot be found from it. */
const csrfTokenOf = (secret: string): string => sha256(`csrf ${secret}`);

function same(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
