import type { Clock } from "../platform/clock.ts";
import { withReserve } from "../platform/disk-reserve.ts";
import { currentRequest, identify } from "../platform/request-context.ts";
import type { Database } from "../platform/sqlite.ts";
import { getWriteLock } from "../platform/write-lock.ts";
import { Problem } from "../problem.ts";
import type { AccountAudit, SignInMethod } from "./account-audit.ts";
import type { ExternalPasswords, ExternalRejection } from "./external-password.ts";
import type { Passwords } from "./password.ts";
import { type CodeResult, CODE_ERRORS, type SecondFactors } from "./second-factor.ts";
import type { KnownBrowsers } from "./known-browser.ts";
import {
  ACCOUNT_WINDOW,
  Attempt,
  type AttemptCounter,
  GrowingDelay,
  LOGIN_FAILURES_ACCOUNT,
  LOGIN_FAILURES_ADDRESS,
  LOGIN_WINDOW,
  Throttle,
  throttled,
} from "./throttle.ts";
import { unauthenticated } from "../platform/unauthenticated.ts";

export interface Credentials {
  username: string;
  password: string;
  /** Code of the second factor, if the account has one. */
  code?: string;
}

interface SignInParts {
  database: Database;
  clock: Clock;
  passwords: Passwords;
  secondFactors: SecondFactors;
  audit: AccountAudit;
  browsers: KnownBrowsers;
}

/** Whose password was verified; `by`: the external service that verified it, if any. */
interface VerifiedPerson {
  user: number;
  by?: string;
}

/** Milliseconds for which a verified Basic password is not hashed again, and how many are remembered. */
const CACHE_MILLISECONDS = 300_000;
const MAX_REMEMBERED = 1000;

/** Signing in by password. Every way to do so passes here, and with it throttling and the second factor. */
export class SignIns {
  /** Attempts by account and known browser or address. */
  private readonly originDelay: GrowingDelay;
  private readonly accountThrottle: Throttle;
  private readonly addressThrottle: Throttle;
  /** Basic passwords verified recently, by keyed hash. `hash`: that of a local password; null for an external one. */
  private readonly remembered = new Map<string, { user: number; hash: string | null; until: number }>();
  private readonly hashKey = crypto.getRandomValues(new Uint8Array(32));
  /** Asked if no local account has the name and password. */
  externalPasswords: ExternalPasswords | undefined;

  constructor(private readonly parts: SignInParts) {
    this.originDelay = new GrowingDelay(parts.clock);
    this.accountThrottle = new Throttle(LOGIN_FAILURES_ACCOUNT, ACCOUNT_WINDOW, parts.clock);
    this.addressThrottle = new Throttle(LOGIN_FAILURES_ADDRESS, LOGIN_WINDOW, parts.clock);
  }

  /**
   * The row of the account with these credentials. Neither the answer nor, without a directory, its time tells whether the
   * account or the password is wrong; only somebody with the password learns that the code is missing or wrong.
   * @throws Problem unauthenticated, second_factor_required, second_factor_wrong, second_factor_missing, throttled, busy;
   * identity_unavailable, forbidden from `externalPasswords`
   */
  async verify(credentials: Credentials, method: SignInMethod): Promise<number> {
    return (await this.verifyCredentials(credentials, method)).user;
  }

  private verifyCredentials(credentials: Credentials, method: SignInMethod): Promise<VerifiedPerson> {
    const { username, code = "" } = credentials;
    return this.attempt(username, method, async (address, browser) => {
      const verified = await this.verifyPassword(credentials, method, browser);
      if (!verified || "reason" in verified) {
        await this.parts.audit.recordFailure(username, "refused", method, { ...verified });
        throw unauthenticated("Unable to log in with provided credentials.");
      }
      await this.finish(verified, code, method, address);
      return verified;
    });
  }

  /**
   * Checks a code of a signed-in user with `use`, which returns the result of the check or something better.
   * @throws Problem invalid_request for a wrong code; throttled
   */
  async checkCode<T>(username: string, use: () => T | CodeResult): Promise<T> {
    return this.attempt(username, "check", async () => {
      await getWriteLock(this.parts.database).free();
      const result = use();
      const error = typeof result === "string" ? CODE_ERRORS[result as CodeResult] : undefined;
      if (error === undefined) return result as T;
      await this.parts.audit.recordFailure(username, "refused", "check", {
        second_factor: result as CodeResult,
      });
      throw new Problem("invalid_request", `code: ${error}`, { more: { field: "code" } });
    });
  }

  /**
   * Counts an attempt for the account from this browser or address; a successful one resets the count. Attempts from
   * unknown browsers also count for the account and the address as a whole, so that nobody guesses with many addresses
   * or accounts. Known browsers do not wait for those.
   */
  private async attempt<T>(
    username: string,
    method: SignInMethod,
    work: (address: string | undefined, browser: string | undefined) => Promise<T>,
  ): Promise<T> {
    const { audit } = this.parts;
    const address = currentRequest()?.network || undefined;
    const account = throttleKey(username);
    const browser = this.knownBrowser(username);
    const origin = `${account} ${browser ?? address ?? ""}`;
    const counters: [AttemptCounter, string][] = [[this.originDelay, origin]];
    if (browser === undefined) counters.push([this.accountThrottle, account]);
    if (browser === undefined && address !== undefined) counters.push([this.addressThrottle, address]);
    const attempt = new Attempt(counters);
    const wait = attempt.wait();
    if (wait > 0) {
      await audit.recordThrottled(username, address, method);
      throw throttled(wait);
    }
    attempt.count();
    try {
      const result = await work(address, browser);
      attempt.forgive();
      this.originDelay.forget(origin);
      return result;
    } catch (error) {
      const code = error instanceof Problem ? error.code : "";
      if (!FAILURES.has(code)) attempt.forgive();
      if (code === "throttled") await audit.recordThrottled(username, address, method);
      throw error;
    }
  }

  /** The id of the request's browser, if the account has signed in with it. */
  private knownBrowser(username: string): string | undefined {
    const request = currentRequest()?.request;
    const user = request?.headers.has("cookie") ? this.userId(username) : undefined;
    return request && user !== undefined ? this.parts.browsers.find(user, request) : undefined;
  }

  private userId(username: string): string | undefined {
    const row = this.parts.database
      .query("SELECT id FROM user_account WHERE username = ? COLLATE NOCASE")
      .get(username) as { id: string } | null;
    return row?.id;
  }

  private async verifyPassword(
    { username, password }: Credentials,
    method: SignInMethod,
    browser: string | undefined,
  ): Promise<VerifiedPerson | (ExternalRejection & { by: string }) | undefined> {
    const { externalPasswords: external } = this;
    const account = this.parts.database
      .query("SELECT rid, password_hash FROM user_account WHERE username = ? AND is_active")
      .get(username) as { rid: number; password_hash: string | null } | null;
    const isRight = await this.parts.passwords.verify(password, account?.password_hash ?? null);
    if (isRight && account) return { user: account.rid };
    if (method === "check" || !external) return undefined;
    const by = external.name;
    if (method === "confirm") {
      const isExternal = account && (await external.checkPassword(account.rid, username, password, browser));
      return isExternal ? { user: account.rid, by } : undefined;
    }
    const found = await external.verify(username, password, browser);
    if (typeof found === "object") return { ...found, by };
    return found === undefined ? undefined : { user: found, by };
  }

  /** Checks the second factor after the password, and records the sign-in. */
  private async finish(
    { user, by }: VerifiedPerson,
    code: string,
    method: SignInMethod,
    address: string | undefined,
  ): Promise<void> {
    const { database, secondFactors, audit } = this.parts;
    await getWriteLock(database).free();
    if (method === "check" || method === "confirm") return this.setLastLogin(user);
    const { username } = database.query("SELECT username FROM user_account WHERE rid = ?").get(user) as {
      username: string;
    };
    const record = database.transaction((): CodeResult | "due" => {
      // Basic has no field for a code, and only a session can set up a second factor.
      if (method === "basic" && secondFactors.isOn(user)) return "missing";
      if (method !== "session" && secondFactors.mustSetUp(user)) return "due";
      const result = secondFactors.use(user, code);
      if (result in CODE_ERRORS) return result;
      identify({ user, username, via: "password" });
      this.setLastLogin(user);
      audit.recordUser(user, "sign_in", {
        method,
        ...(by === undefined ? {} : { by }),
        ...(result === "none" ? {} : { second_factor: result }),
      });
      return result;
    });
    const result = withReserve(database, () => record.immediate());
    const problem = codeProblem(result, method);
    if (!problem) return;
    const reason = { second_factor: result };
    if (problem.code === "second_factor_wrong")
      await audit.recordFailure(username, "refused", method, reason);
    else await audit.recordMissingCode(username, address, method, reason);
    throw problem;
  }

  private setLastLogin(user: number): void {
    const { database, clock } = this.parts;
    withReserve(database, () =>
      database.query("UPDATE user_account SET last_login = ? WHERE rid = ?").run(clock.now(), user),
    );
  }

  /** Verifies the Basic credentials of the current request, for `basicUser`. @throws Problem as `verify` */
  async verifyBasic(encoded: string): Promise<void> {
    const user = await this.basicAccount(encoded);
    const context = currentRequest();
    if (context) context.basicUser = user;
  }

  /** The row of the account whose Basic password was verified. @throws Problem unauthenticated if none was */
  basicUser(): number {
    const user = currentRequest()?.basicUser;
    if (user === undefined) throw unauthenticated("Invalid username/password.");
    return user;
  }

  /** Basic (RFC 7617). A password verified recently is not hashed again: that takes 30 ms. */
  private async basicAccount(encoded: string): Promise<number> {
    const bytes = Buffer.from(encoded, "base64");
    const pair = bytes.toString("utf8");
    const colon = pair.indexOf(":");
    if (colon < 1 || !pair.isWellFormed() || pair.includes("\0") || pair.includes("\ufffd"))
      throw unauthenticated("Invalid basic header. Credentials not correctly base64 encoded.");
    const key = new Bun.CryptoHasher("sha256", this.hashKey).update(bytes).digest("hex");
    const known = this.findRemembered(key);
    if (known !== undefined) return known;
    const credentials = { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
    const verified = this.verifyCredentials(credentials, "basic");
    const { user, by } = await verified.catch((error: unknown) => {
      const isWrong = error instanceof Problem && error.code === "unauthenticated";
      throw isWrong ? unauthenticated("Invalid username/password.") : error;
    });
    if (this.remembered.size >= MAX_REMEMBERED) this.remembered.clear();
    const hash = by === undefined ? this.passwordHash(user) : null;
    this.remembered.set(key, { user, hash, until: this.parts.clock.now() + CACHE_MILLISECONDS });
    return user;
  }

  /** The account of a remembered password that still counts. */
  private findRemembered(key: string): number | undefined {
    const { clock, secondFactors } = this.parts;
    const { user, hash, until } = this.remembered.get(key) ?? { user: 0, hash: null, until: 0 };
    const counts =
      until > clock.now() &&
      (hash === null ? this.externalPasswords?.canSignIn(user) === true : this.passwordHash(user) === hash) &&
      !secondFactors.isOn(user) &&
      !secondFactors.mustSetUp(user);
    if (counts) return user;
    this.remembered.delete(key);
    return undefined;
  }

  /** True if the account has a password, here or externally, to confirm a session with. */
  hasPassword(user: number): boolean {
    return this.passwordHash(user) !== null || this.externalPasswords?.canSignIn(user) === true;
  }

  private passwordHash(user: number): string | null {
    const row = this.parts.database
      .query("SELECT password_hash FROM user_account WHERE rid = ? AND is_active")
      .get(user) as { password_hash: string | null } | null;
    return row?.password_hash ?? null;
  }
}

/** Directories ignore case in names, so the throttle does too. */
const throttleKey = (username: string): string => username.slice(0, 150).normalize("NFKC").toLowerCase();

/** Problems that count as failed attempts. Repeating others, such as a missing code, reveals nothing. */
const FAILURES: ReadonlySet<string> = new Set(["unauthenticated", "second_factor_wrong", "invalid_request"]);

function codeProblem(result: CodeResult | "due", method: SignInMethod): Problem | undefined {
  if (result === "due")
    return new Problem(
      "second_factor_missing",
      "This account needs a second factor. Sign in at /sign-in in a browser to set one up; programs use a token.",
    );
  if (method === "basic" && result === "missing")
    return unauthenticated(
      "The account has a second factor, which Basic authentication does not support. Use a token (Authorization: Token …).",
      "second_factor_required",
    );
  const error = CODE_ERRORS[result];
  if (error === undefined) return undefined;
  const code = result === "missing" ? "second_factor_required" : "second_factor_wrong";
  return unauthenticated(`code: ${error}`, code, { field: "code" });
}
