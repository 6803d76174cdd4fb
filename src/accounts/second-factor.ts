import type { Clock } from "../platform/clock.ts";
import { Sealing } from "../platform/encryption.ts";
import { sha256 } from "../platform/secret.ts";
import type { Database } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import type { AccountAudit } from "./account-audit.ts";
import { base32, matchingStep, newTotpSecret, otpauthUri, toTimeStep } from "./totp.ts";

/** Accounts that need a second factor. */
export type RequireTotp = "off" | "administrators" | "all";

/** File of the key in the data directory. */
export const SECOND_FACTOR_KEY = "second-factor.key";

export interface SecondFactor {
  username: string;
  /** Time when the second factor was turned on: milliseconds since 1970-01-01 UTC. */
  since: number;
  recovery_codes: number;
}

/** The result of checking a code. "none": the account has no second factor. */
export type CodeResult =
  "none" | "code" | "recovery" | "missing" | "wrong" | "used" | "locked" | "unreadable";

const RECOVERY_CODES = 10;
/** Wrong codes in a row after which only recovery codes are accepted. */
export const MAX_FAILURES = 20;
/** Steps that the last code may be ahead of the clock; one further ahead was accepted while the clock was wrong. */
const MAX_STEPS_AHEAD = 20;

/** Messages for codes that are not accepted. */
export const CODE_ERRORS: Partial<Record<CodeResult, string>> = {
  missing:
    "The account has a second factor. Send the code that the app shows now, or a recovery code, in the field code.",
  wrong: "This is neither the app's current code nor a recovery code. Check the phone's clock.",
  used: "This code has already been used. Wait for the next one.",
  locked: `There were ${MAX_FAILURES} wrong codes in a row. Use a recovery code, or ask an administrator to reset the second factor.`,
  unreadable: `The server cannot check codes: its file ${SECOND_FACTOR_KEY} is missing or belongs to another database. Use a recovery code, or ask an administrator to reset the second factor.`,
};

/** 80 random bits in groups that can be typed. */
const newRecoveryCode = (): string =>
  base32(crypto.getRandomValues(new Uint8Array(10)))
    .toLowerCase()
    .replace(/(.{4})(?=.)/g, "$1-");
const normalizeCode = (typed: string): string => typed.toLowerCase().replace(/[\s-]/g, "");

interface Row {
  secret: Uint8Array;
  confirmed: number | null;
  last_step: number;
  failures: number;
}

/** Second factors of accounts. Callers hold the write lock. */
export class SecondFactors {
  private readonly sealing: Sealing;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly audit: AccountAudit,
    private readonly options: { requireTotp: RequireTotp; keyFile: string | null },
  ) {
    this.sealing = new Sealing(options.keyFile);
  }

  of(user: number): SecondFactor | undefined {
    return this.list().find(({ rid }) => rid === user);
  }

  list(): (SecondFactor & { rid: number })[] {
    return this.database
      .query(
        `SELECT u.rid, u.username, f.confirmed AS since,
           (SELECT count(*) FROM recovery_code AS r WHERE r.user_rid = u.rid) AS recovery_codes
         FROM second_factor AS f JOIN user_account AS u ON u.rid = f.user_rid
         WHERE f.confirmed IS NOT NULL ORDER BY u.username`,
      )
      .all() as (SecondFactor & { rid: number })[];
  }

  isOn(user: number): boolean {
    return this.row(user)?.confirmed != null;
  }

  /** True if the settings require a second factor of this account. */
  isRequired(user: number): boolean {
    const { requireTotp } = this.options;
    if (requireTotp !== "administrators") return requireTotp === "all";
    const row = this.database.query("SELECT is_superuser FROM user_account WHERE rid = ?").get(user);
    return (row as { is_superuser: number } | null)?.is_superuser === 1;
  }

  /** True if the account must set up a second factor before it may do anything else. */
  mustSetUp(user: number): boolean {
    return this.isRequired(user) && !this.isOn(user);
  }

  /** Begins the set-up with a new secret, which counts from `confirm` on. @throws Problem conflict */
  begin(user: number, username: string, issuer: string): { secret: string; uri: string } {
    if (this.isOn(user)) throw alreadyEnabledProblem();
    const secret = newTotpSecret();
    this.database
      .query("INSERT OR REPLACE INTO second_factor (user_rid, secret) VALUES (?, ?)")
      .run(user, this.sealing.seal(secret, encryptionContext(user)));
    return { secret: base32(secret), uri: otpauthUri(secret, issuer, username) };
  }

  /**
   * Turns it on with a code, which shows that the app has the secret.
   * @returns recovery codes, or the error in the code @throws Problem conflict
   */
  confirm(user: number, code: string): string[] | CodeResult {
    return this.database
      .transaction(() => {
        const row = this.row(user);
        if (!row) throw new Problem("conflict", "No set-up is in progress. Start again.");
        if (row.confirmed !== null) throw alreadyEnabledProblem();
        const result = this.check(user, code, row);
        if (result !== "code") return result;
        this.database
          .query("UPDATE second_factor SET confirmed = ? WHERE user_rid = ?")
          .run(this.clock.now(), user);
        this.audit.recordUser(user, "second_factor.enable");
        return this.replaceRecoveryCodes(user);
      })
      .immediate();
  }

  renewRecoveryCodes(user: number): string[] {
    return this.database
      .transaction(() => {
        this.audit.recordUser(user, "second_factor.recovery_codes");
        return this.replaceRecoveryCodes(user);
      })
      .immediate();
  }

  remove(user: number, action: "second_factor.disable" | "second_factor.reset"): boolean {
    return this.database
      .transaction(() => {
        const wasEnabled = this.isOn(user);
        this.database.query("DELETE FROM second_factor WHERE user_rid = ?").run(user);
        this.database.query("DELETE FROM recovery_code WHERE user_rid = ?").run(user);
        if (wasEnabled) this.audit.recordUser(user, action);
        return wasEnabled;
      })
      .immediate();
  }

  /** Checks a code and uses it up. */
  use(user: number, code: string): CodeResult {
    return this.database
      .transaction(() => {
        const row = this.row(user);
        if (!row || row.confirmed === null) return "none";
        return code.trim() === "" ? "missing" : this.check(user, code, row);
      })
      .immediate();
  }

  /** Runs in a transaction, so that a code counts once even if it is sent twice at the same time. */
  private check(user: number, typed: string, row: Row): CodeResult {
    const code = normalizeCode(typed);
    if (!/^\d{6}$/.test(code)) {
      const { changes } = this.database
        .query("DELETE FROM recovery_code WHERE user_rid = ? AND sha256 = ?")
        .run(user, sha256(code));
      return changes === 1 ? this.accept(user, row.last_step, "recovery") : this.reject(user, "wrong");
    }
    if (row.failures >= MAX_FAILURES) return "locked";
    const secret = this.sealing.open(row.secret, encryptionContext(user));
    if (!secret) return "unreadable";
    const now = this.clock.now();
    const step = matchingStep(secret, code, now);
    if (step === undefined) return this.reject(user, "wrong");
    const isUsed = step <= row.last_step && row.last_step - toTimeStep(now) <= MAX_STEPS_AHEAD;
    return isUsed ? this.reject(user, "used") : this.accept(user, step, "code");
  }

  private accept(user: number, step: number, result: CodeResult): CodeResult {
    this.database
      .query("UPDATE second_factor SET last_step = ?, failures = 0 WHERE user_rid = ?")
      .run(step, user);
    return result;
  }

  private reject(user: number, result: CodeResult): CodeResult {
    this.database.query("UPDATE second_factor SET failures = failures + 1 WHERE user_rid = ?").run(user);
    return result;
  }

  private replaceRecoveryCodes(user: number): string[] {
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    this.database.query("DELETE FROM recovery_code WHERE user_rid = ?").run(user);
    const insert = this.database.query("INSERT INTO recovery_code (sha256, user_rid) VALUES (?, ?)");
    for (const code of codes) insert.run(sha256(normalizeCode(code)), user);
    return codes;
  }

  private row(user: number): Row | null {
    return this.database
      .query("SELECT secret, confirmed, last_step, failures FROM second_factor WHERE user_rid = ?")
      .get(user) as Row | null;
  }
}

/** The number of second factors, and the accounts whose secret the key does not decrypt. */
export function countSecondFactors(
  database: Database,
  keyFile: string,
): { all: number; unreadable: string[] } {
  const rows = database
    .query(
      `SELECT f.user_rid AS user, u.username, f.secret FROM second_factor AS f
       JOIN user_account AS u ON u.rid = f.user_rid WHERE f.confirmed IS NOT NULL ORDER BY u.username`,
    )
    .all() as { user: number; username: string; secret: Uint8Array }[];
  const sealing = new Sealing(keyFile);
  const unreadable = rows.filter(
    ({ user, secret }) => sealing.open(secret, encryptionContext(user)) === undefined,
  );
  return { all: rows.length, unreadable: unreadable.map(({ username }) => username) };
}

const encryptionContext = (user: number): string => `second factor of ${user}`;
const alreadyEnabledProblem = (): Problem =>
  new Problem("conflict", "The account already has a second factor. Remove it first, with a code.");
