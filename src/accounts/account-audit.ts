import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/sqlite.ts";
import { getWriteLock } from "../platform/write-lock.ts";
import { type AuditDetail, type AuditLog, getAuditLog } from "./audit.ts";
import { LOGIN_WINDOW, Throttle } from "./throttle.ts";

/**
 * The methods of signing in. `check` only verifies the local password of a signed-in user; `confirm` accepts the
 * password of the directory too.
 */
export type SignInMethod = "token-auth" | "session" | "basic" | "check" | "confirm";

export class AccountAudit {
  readonly log: AuditLog;
  /** Called for a throttled sign-in, once per window for each account and address; null for an unknown account. */
  onThrottled: ((username: string | null, address: string) => void) | undefined;
  /** Repeated refusals are recorded once per window. */
  private readonly recorded: Throttle;

  constructor(
    private readonly database: Database,
    clock: Clock,
  ) {
    this.log = getAuditLog(database, clock);
    this.recorded = new Throttle(1, LOGIN_WINDOW, clock);
  }

  recordUser(rid: number, action: string, detail: AuditDetail = {}): void {
    const { id, username } = this.database
      .query("SELECT id, username FROM user_account WHERE rid = ?")
      .get(rid) as { id: string; username: string };
    this.log.record({ action, subject: { kind: "user", id }, detail: { username, ...detail } });
  }

  recordGroup(rid: number, action: string, detail: AuditDetail = {}): void {
    const row = this.database.query("SELECT id, name FROM user_group WHERE rid = ?").get(rid);
    const { id, name } = row as { id: string; name: string };
    this.log.record({ action, subject: { kind: "group", id }, detail: { name, ...detail } });
  }

  /** Records a failed sign-in. An unknown username is left out: it may be a password typed into the wrong field. */
  async recordFailure(
    username: string,
    outcome: "refused" | "throttled",
    method: SignInMethod,
    detail: AuditDetail = {},
  ): Promise<void> {
    const row = this.database
      .query("SELECT id, is_active FROM user_account WHERE username = ?")
      .get(username) as { id: string; is_active: number } | null;
    await getWriteLock(this.database).free();
    const known = row ? { username, method, active: row.is_active === 1 } : { method, known: false };
    this.log.record({
      action: "sign_in",
      outcome,
      subject: { kind: "user", id: row?.id ?? null },
      detail: { ...known, ...detail },
    });
  }

  /** Records a throttled sign-in, once per window. */
  async recordThrottled(username: string, address = "", method: SignInMethod): Promise<void> {
    if (!this.isFirst(`${username.slice(0, 150)} ${address}`)) return;
    const isKnown = this.database.query("SELECT 1 FROM user_account WHERE username = ?").get(username);
    this.onThrottled?.(isKnown === null ? null : username, address);
    await this.recordFailure(username, "throttled", method);
  }

  /** Records a sign-in with the right password but no code, once per window: people sign in in two steps. */
  async recordMissingCode(
    username: string,
    address = "",
    method: SignInMethod,
    reason: AuditDetail,
  ): Promise<void> {
    if (this.isFirst(`code ${username} ${address}`))
      await this.recordFailure(username, "refused", method, reason);
  }

  private isFirst(key: string): boolean {
    if (this.recorded.wait(key) > 0) return false;
    this.recorded.count(key);
    return true;
  }
}
