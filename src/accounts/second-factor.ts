import type { AccountAudit } from "./account-audit.ts";
import type { Clock } from "../platform/clock.ts";
import { Sealing } from "../platform/encryption.ts";
import { sha256 } from "../platform/secret.ts";
import type { Database } from "../platform/sqlite.ts";
import { base32, matchingStep, newTotpSecret, otpauthUri, stepOf } from "./totp.ts";
import { Problem } from "../problem.ts";

/** Whose accounts need a second factor. */
const REQUIRE_TOTP = ["off", "administrators", "all"] as const;
export type RequireTotp = (typeof REQUIRE_TOTP)[number];

/** File of the key in the data directory. */
export const SECOND_FACTOR_KEY = "second-factor.key";

/** A second factor as its owner and administrators may see it. */
export interface SecondFactor {
  username: string;
  /** When it was confirmed: milliseconds since 1970-01-01 UTC. */
  since: number;
  recovery_codes: number;
}

/** What came of a code: by what it was good, or why it was not. */
export type CodeResult =
  "none" | "code" | "recovery" | "missing" | "wrong" | "used" | "locked" | "unreadable";

const RECOVERY_CODES = 10;
/** Wrong codes in a row, each with the right password, after which only recovery codes are taken. */
export const MAX_FAILURES = 20;

/**
 * Steps (ten minutes) by which the last good code may be ahead of the clock. One that is further was taken while the
 * clock was wrong: it must not shut its owner out until that time comes.
 */
const MOST_AHEAD = 20;

/** 80 random bits, in groups that can be typed. */
const newRecoveryCode = (): string =>
  base32(crypto.getRandomValues(new Uint8Array(10)))
    .toLowerCase()
    .replace(/(.{4})(?=.)/g, "$1-");
/** As it is hashed: without what people leave out or add. */
const plainCode = (typed: string): string => typed.toLowerCase().replace(/[\s-]/g, "");

interface Row {
  secret: Uint8Array;
  confirmed: number | null;
  last_step: number;
  failures: number;
}

/** Second factors of accounts: enrolling, checking, taking away. Whoever asks has to have the turn to write. */
export class SecondFactors {
  private readonly sealing: Sealing;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly notes: AccountAudit,
    private readonly options: { requireTotp: RequireTotp; keyFile: string | null },
  ) {
    this.sealing = new Sealing(options.keyFile);
  }

  /** Of an account; undefined where it has none. */
  of(user: number): SecondFactor | undefined {
    return this.list().find(({ rid }) => rid === user);
  }

  /** All, by name. */
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

  /** Whether the setting asks a second factor of this account. */
  isRequired(user: number): boolean {
    const { requireTotp } = this.options;
    if (requireTotp !== "administrators") return requireTotp === "all";
    const row = this.database.query("SELECT is_superuser FROM user_account WHERE rid = ?").get(user);
    return (row as { is_superuser: number } | null)?.is_superuser === 1;
  }

  /** Whether the account may do nothing until it has set one up. */
  mustSetUp(user: number): boolean {
    return this.isRequired(user) && !this.isOn(user);
  }

  /**
   * Begins to set one up, in the place of one that was begun before. It counts from `confirm` on.
   * @throws Problem conflict where there is one
   */
  begin(user: number, username: string, issuer: string): { secret: string; uri: string } {
    if (this.isOn(user)) throw alreadyOn();
    const secret = newTotpSecret();
    this.database
      .query("INSERT OR REPLACE INTO second_factor (user_rid, secret) VALUES (?, ?)")
      .run(user, this.sealing.seal(secret, contextOf(user)));
    return { secret: base32(secret), uri: otpauthUri(secret, issuer, username) };
  }

  /**
   * Turns it on by a code that shows that the app has the secret.
   * @returns recovery codes, which cannot be read again; what was wrong with the code else
   * @throws Problem conflict where there is one, or none was begun
   */
  confirm(user: number, code: string): string[] | CodeResult {
    return this.database
      .transaction(() => {
        const row = this.row(user);
        if (row && row.confirmed !== null) throw alreadyOn();
        if (!row) throw new Problem("conflict", "No second factor was begun. Begin anew.");
        const taken = this.take(user, code, row);
        if (taken !== "code") return taken;
        this.database
          .query("UPDATE second_factor SET confirmed = ? WHERE user_rid = ?")
          .run(this.clock.now(), user);
        this.notes.recordUser(user, "second_factor.enable");
        return this.replaceRecoveryCodes(user);
      })
      .immediate();
  }

  /** New recovery codes in the place of those before. */
  renewRecoveryCodes(user: number): string[] {
    return this.database
      .transaction(() => {
        this.notes.recordUser(user, "second_factor.recovery_codes");
        return this.replaceRecoveryCodes(user);
      })
      .immediate();
  }

  /** Takes it away: by its owner, or for somebody who has lost it. @returns whether there was one */
  remove(user: number, action: "second_factor.disable" | "second_factor.reset"): boolean {
    return this.database
      .transaction(() => {
        const wasOn = this.isOn(user);
        this.database.query("DELETE FROM second_factor WHERE user_rid = ?").run(user);
        this.database.query("DELETE FROM recovery_code WHERE user_rid = ?").run(user);
        if (wasOn) this.notes.recordUser(user, action);
        return wasOn;
      })
      .immediate();
  }

  /** Looks at a code for an account, and uses it up. "none": the account has no second factor. */
  use(user: number, code: string): CodeResult {
    return this.database
      .transaction(() => {
        const row = this.row(user);
        if (!row || row.confirmed === null) return "none";
        return code.trim() === "" ? "missing" : this.take(user, code, row);
      })
      .immediate();
  }

  /** Within a transaction: what is good once is good for one of those that come at the same time. */
  private take(user: number, typed: string, row: Row): CodeResult {
    const code = plainCode(typed);
    if (!/^\d{6}$/.test(code)) {
      const used = this.database
        .query("DELETE FROM recovery_code WHERE user_rid = ? AND sha256 = ?")
        .run(user, sha256(code));
      return used.changes === 1 ? this.good(user, row.last_step, "recovery") : this.bad(user, "wrong");
    }
    if (row.failures >= MAX_FAILURES) return "locked";
    const secret = this.sealing.open(row.secret, contextOf(user));
    if (!secret) return "unreadable";
    const now = this.clock.now();
    const step = matchingStep(secret, code, now);
    if (step === undefined) return this.bad(user, "wrong");
    const isUsed = step <= row.last_step && row.last_step - stepOf(now) <= MOST_AHEAD;
    return isUsed ? this.bad(user, "used") : this.good(user, step, "code");
  }

  private good(user: number, step: number, taken: CodeResult): CodeResult {
    this.database
      .query("UPDATE second_factor SET last_step = ?, failures = 0 WHERE user_rid = ?")
      .run(step, user);
    return taken;
  }

  private bad(user: number, taken: CodeResult): CodeResult {
    this.database.query("UPDATE second_factor SET failures = failures + 1 WHERE user_rid = ?").run(user);
    return taken;
  }

  private replaceRecoveryCodes(user: number): string[] {
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    this.database.query("DELETE FROM recovery_code WHERE user_rid = ?").run(user);
    const insert = this.database.query("INSERT INTO recovery_code (sha256, user_rid) VALUES (?, ?)");
    for (const code of codes) insert.run(sha256(plainCode(code)), user);
    return codes;
  }

  private row(user: number): Row | null {
    return this.database
      .query("SELECT secret, confirmed, last_step, failures FROM second_factor WHERE user_rid = ?")
      .get(user) as Row | null;
  }
}

/** How many accounts have a second factor, and whose codes cannot be checked with the key that there is. */
export function countSecondFactors(
  database: Database,
  keyFile: string,
): { all: number; unreadable: string[] } {
  const rows = database
    .query(
      `SELECT f.user_rid AS user, u.username, f.secret FROM second_factor AS f JOIN user_account AS u ON u.rid = f.user_rid
       WHERE f.confirmed IS NOT NULL ORDER BY u.username`,
    )
    .all() as { user: number; username: string; secret: Uint8Array }[];
  const sealing = new Sealing(keyFile);
  const unreadable = rows.filter(({ user, secret }) => sealing.open(secret, contextOf(user)) === undefined);
  return { all: rows.length, unreadable: unreadable.map(({ username }) => username) };
}

const contextOf = (user: number): string => `second factor of ${user}`;
const alreadyOn = (): Problem =>
  new Problem("conflict", "The account has a second factor. Take it away first, by a code of it.");

/** What is wrong with a code, in a sentence that says what to do. */
export const CODE_ERRORS: Partial<Record<CodeResult, string>> = {
  missing:
    "The account has a second factor: send the code that the app shows now, or a recovery code, in the field code.",
  wrong:
    "This is no code that the app shows now, and no recovery code that is left. Is the clock of the phone right?",
  used: "This code was used already. Wait for the next one.",
  locked: `There were ${MAX_FAILURES} wrong codes in a row: only a recovery code is taken, or an administrator resets the second factor.`,
  unreadable: `The server cannot check codes of the app: its file ${SECOND_FACTOR_KEY} is missing or another one, as after a restore elsewhere. Use a recovery code, or an administrator resets the second factor.`,
};
