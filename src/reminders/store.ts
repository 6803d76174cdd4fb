import type { Database } from "../platform/sqlite.ts";

/** A person who gets reminders by e-mail. Times are milliseconds since 1970-01-01 UTC. */
export interface Subscription {
  user: number;
  fullName: string;
  email: string;
  /** True if the owner of the account, or its provider, has shown that the address is theirs. */
  isVerified: boolean;
  /** The unverified address to which a link was sent; empty for none. */
  asked: string;
  /** The last reminder that an e-mail contained. */
  seen: number;
  due: number;
  sent: number | null;
  error: string | null;
}

const SELECT = `SELECT d.user_rid AS user, u.full_name AS fullName, u.email, u.email = u.verified_email AS isVerified,
  d.asked, d.seen, d.due, d.sent, d.error FROM reminder_digest AS d JOIN user_account AS u ON u.rid = d.user_rid`;

type Recipient = Pick<Subscription, "fullName" | "email" | "isVerified">;

/** The recipients of reminders by e-mail, and the time of the next one. The caller waits for the write lock. */
export class SubscriptionStore {
  constructor(private readonly database: Database) {}

  find(user: number): Subscription | null {
    return withFlag(this.database.query(`${SELECT} WHERE d.user_rid = ?`).get(user) as Subscription | null);
  }

  /** The subscription of an active account with an address that is due first. @param latest a later time is a clock set back */
  nextDue(now: number, latest: number): Subscription | null {
    const found = this.database
      .query(
        `${SELECT} WHERE (d.due <= ? OR d.due > ?) AND u.is_active AND u.email <> '' ORDER BY d.due, d.user_rid LIMIT 1`,
      )
      .get(now, latest);
    return withFlag(found as Subscription | null);
  }

  recipient(user: number): Recipient {
    return withFlag(
      this.database
        .query(
          "SELECT full_name AS fullName, email, email <> '' AND email = verified_email AS isVerified FROM user_account WHERE rid = ?",
        )
        .get(user) as Recipient,
    );
  }

  enable(user: number, due: number): void {
    this.database
      .query("INSERT INTO reminder_digest (user_rid, due) VALUES (?, ?) ON CONFLICT DO NOTHING")
      .run(user, due);
  }

  disable(user: number): void {
    this.database.query("DELETE FROM reminder_digest WHERE user_rid = ?").run(user);
  }

  /** Waits for the disk, so that a crash does not repeat the next step. */
  postpone(user: number, due: number): void {
    this.database.query("UPDATE reminder_digest SET due = ? WHERE user_rid = ?").run(due, user);
  }

  recordSent(user: number, seen: number, sent: number): void {
    this.database
      .query("UPDATE reminder_digest SET seen = ?, sent = ?, error = NULL WHERE user_rid = ?")
      .run(seen, sent, user);
  }

  /** A link was sent to an unverified address. */
  recordAsked(user: number, email: string): void {
    this.database
      .query("UPDATE reminder_digest SET asked = ?, error = NULL WHERE user_rid = ?")
      .run(email, user);
  }

  recordFailure(user: number, error: string, due: number): void {
    this.database
      .query("UPDATE reminder_digest SET error = ?, due = ? WHERE user_rid = ?")
      .run(error, due, user);
  }
}

/** SQLite has numbers for truth values. */
const withFlag = <Row extends { isVerified: boolean } | null>(row: Row): Row =>
  row && { ...row, isVerified: Boolean(row.isVerified) };
