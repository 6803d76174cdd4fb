import type { Clock } from "../platform/clock.ts";
import { hasSecretForm, newSecret, sha256 } from "../platform/secret.ts";
import type { Database } from "../platform/sqlite.ts";
import { getAuditLog } from "./audit.ts";

const HOUR = 3_600_000;

export interface OneTimeLink {
  /** Row of the account that the link is for; null for creating the first administrator. */
  user: number | null;
  /** The address that the link verifies; null for a link that sets a password. */
  email: string | null;
  /** Milliseconds since 1970-01-01 UTC. */
  expires: number;
}

/** Links for one use: a random key in the URL, whose SHA-256 is stored. */
export class OneTimeLinks {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Makes a link, which replaces earlier ones of the account for the same purpose. */
  make(user: number | null, hours: number, email: string | null = null): { key: string; expires: number } {
    const key = newSecret("");
    const now = this.clock.now();
    const expires = now + hours * HOUR;
    this.database
      .transaction(() => {
        this.database
          .query(
            "DELETE FROM one_time_link WHERE expires <= ?1 OR (user_rid IS ?2 AND (email IS NULL) = (?3 IS NULL))",
          )
          .run(now, user, email);
        this.database
          .query(
            "INSERT INTO one_time_link (sha256, user_rid, created, expires, email) VALUES (?, ?, ?, ?, ?)",
          )
          .run(sha256(key), user, now, expires, email);
        if (email !== null) return;
        const account = this.database
          .query("SELECT id, username FROM user_account WHERE rid = ?")
          .get(user) as { id: string; username: string } | null;
        const purpose = account ? { for: "password", username: account.username } : { for: "set-up" };
        getAuditLog(this.database, this.clock).record({
          action: "link.create",
          subject: { kind: "user", id: account?.id ?? null },
          detail: { ...purpose, expires: new Date(expires).toISOString() },
        });
      })
      .immediate();
    return { key, expires };
  }

  /** The link of a key; undefined if it is unknown, used, expired, or of a disabled account. */
  find(key: string): OneTimeLink | undefined {
    if (!hasSecretForm(key)) return undefined;
    const row = this.database
      .query(
        `SELECT l.user_rid AS user, l.email, l.expires FROM one_time_link AS l LEFT JOIN user_account AS u ON u.rid = l.user_rid
         WHERE l.sha256 = ? AND l.expires > ? AND (l.user_rid IS NULL OR u.is_active)`,
      )
      .get(sha256(key), this.clock.now());
    return (row as OneTimeLink | null) ?? undefined;
  }

  use(key: string): void {
    this.database.query("DELETE FROM one_time_link WHERE sha256 = ?").run(sha256(key));
  }

  removeLinks(user: number): void {
    this.database.query("DELETE FROM one_time_link WHERE user_rid = ?").run(user);
  }
}
