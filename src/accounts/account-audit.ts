import { type AuditLog, auditOf, type AuditDetail } from "./audit.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/sqlite.ts";
import { Throttle } from "./throttle.ts";
import { writeLockOf } from "../platform/write-lock.ts";

/**
 * By what somebody signs in. `check`: only asks whether a password is the account's own; `confirm`: the same, or whether
 * it is that of the directory that knows the account.
 */
export type SignInMethod = "token-auth" | "session" | "basic" | "check" | "confirm";

/** What the audit log is told of accounts and groups. */
export class AccountAudit {
  readonly log: AuditLog;
  /** Throttling that was noted: once per window is enough. */
  private readonly told: Throttle;

  /** @param window milliseconds in which sign-ins are counted */
  constructor(
    private readonly database: Database,
    clock: Clock,
    window: number,
  ) {
    this.log = auditOf(database, clock);
    this.told = new Throttle(1, window, clock);
  }

  /** What is done to an account. */
  recordUser(rid: number, action: string, detail: AuditDetail = {}): void {
    const { id, username } = this.database
      .query("SELECT id, username FROM user_account WHERE rid = ?")
      .get(rid) as { id: string; username: string };
    this.log.record({ action, subject: { kind: "user", id }, detail: { username, ...detail } });
  }

  /** What is done to a group. */
  recordGroup(rid: number, action: string, detail: AuditDetail = {}): void {
    const { id, name } = this.database.query("SELECT id, name FROM user_group WHERE rid = ?").get(rid) as {
      id: string;
      name: string;
    };
    this.log.record({ action, subject: { kind: "group", id }, detail: { name, ...detail } });
  }

  /** A sign-in that is refused. A name that is none is not noted: it may be a password typed in the wrong place. */
  async recordFailure(
    username: string,
    outcome: "refused" | "throttled",
    method: SignInMethod,
    more: AuditDetail = {},
  ): Promise<void> {
    const row = this.database
      .query("SELECT id, is_active FROM user_account WHERE username = ?")
      .get(username) as { id: string; is_active: number } | null;
    await writeLockOf(this.database).free();
    this.log.record({
      action: "sign_in",
      outcome,
      subject: { kind: "user", id: row?.id ?? null },
      detail: row
        ? { username, method, active: row.is_active === 1, ...more }
        : { method, known: false, ...more },
    });
  }

  /** The same of one that is throttled, the first time within the window. */
  async recordThrottled(username: string, address: string | undefined, method: SignInMethod): Promise<void> {
    if (this.isFirst(`${username.slice(0, 150)} ${address ?? ""}`))
      await this.recordFailure(username, "throttled", method);
  }

  /**
   * The same of one that has the password and no code of the second factor, the first time within the window: people who
   * sign in step by step are such, and programs that try again and again.
   */
  async recordMissingCode(
    username: string,
    address: string | undefined,
    method: SignInMethod,
    why: AuditDetail,
  ): Promise<void> {
    if (this.isFirst(`code ${username} ${address ?? ""}`))
      await this.recordFailure(username, "refused", method, why);
  }

  private isFirst(key: string): boolean {
    if (this.told.wait(key) > 0) return false;
    this.told.count(key);
    return true;
  }
}
