import { Problem } from "../problem.ts";
import type { AccountAudit, SignInMethod } from "./account-audit.ts";
import type { Clock } from "../platform/clock.ts";
import type { ExternalPasswords, ExternalRejection } from "./external-password.ts";
import type { PublicUrlOptions } from "../platform/origin.ts";
import type { Passwords } from "./password.ts";
import { RememberedPasswords } from "./remembered-password.ts";
import { currentRequest, identify } from "../platform/request-context.ts";
import { type SecondFactors, type CodeResult, CODE_ERRORS } from "./second-factor.ts";
import type { Database } from "../platform/sqlite.ts";
import { Throttle, throttled } from "./throttle.ts";
import { unauthenticated } from "./unauthenticated.ts";
import { writeLockOf } from "../platform/write-lock.ts";

/** What somebody signs in with. */
export interface Credentials {
  username: string;
  password: string;
  /** Of the second factor, where the account has one. */
  code?: string;
}

export interface SignInOptions extends PublicUrlOptions {
  /** Failed sign-ins for one account, and from one address, within loginWindow seconds. */
  loginFailures: number;
  loginFailuresAddress: number;
  loginWindow: number;
}

/** Signing in by a password: every way to do so passes here, and with it the second factor and the throttling. */
export class SignIns {
  private readonly byAccount: Throttle;
  private readonly byAddress: Throttle;
  /** What Basic said of requests, found out before they are answered. */
  private readonly remembered: RememberedPasswords;
  /** Asked where a name and a password are not those of an account here. */
  externalPasswords: ExternalPasswords | undefined;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly passwords: Passwords,
    private readonly factors: SecondFactors,
    private readonly notes: AccountAudit,
    private readonly options: SignInOptions,
  ) {
    const { loginFailures, loginFailuresAddress, loginWindow } = options;
    this.byAccount = new Throttle(loginFailures, loginWindow * 1000, clock);
    this.byAddress = new Throttle(loginFailuresAddress, loginWindow * 1000, clock);
    this.remembered = new RememberedPasswords(clock);
  }

  /**
   * The row of the account of this name and password, and of this code where it has a second factor. Whether the account
   * or the password is wrong can be told neither by the answer nor, without a directory, by the time it takes; that a
   * code is missing or wrong is told to whoever has the password only. `check` asks for the account's own password alone,
   * of somebody who is signed in.
   * @throws Problem unauthenticated, second_factor_required, second_factor_wrong, second_factor_missing, throttled, busy;
   * identity_unavailable, forbidden by what `elsewhere` says
   */
  async verify(credentials: Credentials, method: SignInMethod, request?: Request): Promise<number> {
    return (await this.find(credentials, method, request)).user;
  }

  private find(credentials: Credentials, method: SignInMethod, request?: Request): Promise<Found> {
    const { username } = credentials;
    return this.attempt(username, method, request, async (address) => {
      const basicUser = await this.passwordFits(credentials, method);
      if (!basicUser || "reason" in basicUser) {
        await this.notes.recordFailure(username, "refused", method, basicUser && { ...basicUser });
        throw unauthenticated("Unable to log in with provided credentials.");
      }
      await this.finish(basicUser, credentials.code ?? "", method, address);
      return basicUser;
    });
  }

  /**
   * Looks at a code of somebody who is signed in, by `take`, which gives what came of it, or something better.
   * @throws Problem invalid_request where it is not good, throttled
   */
  async checkCode<T>(username: string, request: Request, take: () => T | CodeResult): Promise<T> {
    return this.attempt(username, "check", request, async () => {
      await writeLockOf(this.database).free();
      const taken = take();
      const why = typeof taken === "string" ? (CODE_ERRORS[taken as CodeResult] ?? null) : null;
      if (why === null) return taken as T;
      await this.notes.recordFailure(username, "refused", "check", { second_factor: taken as CodeResult });
      throw new Problem("invalid_request", `code: ${why}`, { more: { field: "code" } });
    });
  }

  /** Counts an attempt for the account and the address, and forgets the account's where it is a good one. */
  private async attempt<T>(
    username: string,
    method: SignInMethod,
    request: Request | undefined,
    work: (address: string | undefined) => Promise<T>,
  ): Promise<T> {
    const address = (request && currentRequest()?.network) || undefined;
    const account = throttleKey(username);
    const wait = Math.max(
      this.byAccount.wait(account),
      address === undefined ? 0 : this.byAddress.wait(address),
    );
    if (wait > 0) {
      await this.notes.recordThrottled(username, address, method);
      throw throttled(wait);
    }
    this.byAccount.count(account);
    if (address !== undefined) this.byAddress.count(address);
    try {
      const result = await work(address);
      this.byAccount.forget(account);
      if (address !== undefined) this.byAddress.forgive(address);
      return result;
    } catch (error) {
      if (!(error instanceof Problem) || !FAILURES.has(error.code)) {
        this.byAccount.forgive(account);
        if (address !== undefined) this.byAddress.forgive(address);
      }
      if (error instanceof Problem && error.code === "throttled")
        await this.notes.recordThrottled(username, address, method);
      throw error;
    }
  }

  /** Whose name and password these are; `by`: who said so, where it was not this database. */
  private async passwordFits(
    { username, password }: Credentials,
    method: SignInMethod,
  ): Promise<Found | (ExternalRejection & { by: string }) | undefined> {
    const user = this.database
      .query("SELECT rid, password_hash FROM user_account WHERE username = ? AND is_active")
      .get(username) as { rid: number; password_hash: string | null } | null;
    if ((await this.passwords.verify(password, user?.password_hash ?? null)) && user)
      return { user: user.rid };
    if (method === "check" || !this.externalPasswords) return undefined;
    if (method === "confirm") {
      const fits = user && (await this.externalPasswords.checkPassword(user.rid, username, password));
      return fits ? { user: user.rid, by: this.externalPasswords.name } : undefined;
    }
    const found = await this.externalPasswords.verify(username, password);
    const by = this.externalPasswords.name;
    return typeof found === "object"
      ? { ...found, by }
      : found === undefined
        ? undefined
        : { user: found, by };
  }

  /** Once the password was right, by whoever it was known: the second factor, and the note that somebody signed in. */
  private async finish(
    { user, by }: Found,
    code: string,
    method: SignInMethod,
    address: string | undefined,
  ): Promise<void> {
    await writeLockOf(this.database).free();
    if (method === "check" || method === "confirm") return this.noteSignIn(user);
    const { username } = this.database.query("SELECT username FROM user_account WHERE rid = ?").get(user) as {
      username: string;
    };
    const taken = this.database
      .transaction((): CodeResult | "due" => {
        // Neither can ask for a code, nor lead to setting one up.
        if (method === "basic" && this.factors.isOn(user)) return "missing";
        if (method !== "session" && this.factors.mustSetUp(user)) return "due";
        const taken = this.factors.use(user, code);
        if (taken === "none" || taken === "code" || taken === "recovery") {
          identify({ username, via: "password" });
          this.noteSignIn(user);
          const second = taken === "none" ? {} : { second_factor: taken };
          this.notes.recordUser(user, "sign_in", { method, ...(by === undefined ? {} : { by }), ...second });
        }
        return taken;
      })
      .immediate();
    const problem = refusalFor(taken, method);
    if (!problem) return;
    const why = { second_factor: taken };
    if (problem.code === "second_factor_wrong")
      await this.notes.recordFailure(username, "refused", method, why);
    else await this.notes.recordMissingCode(username, address, method, why);
    throw problem;
  }

  private noteSignIn(user: number): void {
    this.database.query("UPDATE user_account SET last_login = ? WHERE rid = ?").run(this.clock.now(), user);
  }

  /** Finds out who asks by Basic, for `found`. Never rejects. */
  verifyBasic(request: Request): void | Promise<void> {
    const header = request.headers.get("authorization");
    if (header === null || !/^\s*basic\s/i.test(header)) return;
    const context = currentRequest();
    if (!context) return;
    return this.admitBasic(request, header).then(
      (user) => void (context.basicUser = user),
      (error: unknown) => void (context.basicUser = Problem.from(error)),
    );
  }

  /** The row of the account that asks by Basic, once admitted. @throws Problem */
  found(): number {
    const found = currentRequest()?.basicUser ?? unauthenticated("Invalid username/password.");
    if (found instanceof Problem) throw found;
    return found;
  }

  /** Basic (RFC 7617). The same name and password again need not be hashed again for a while. */
  private async admitBasic(request: Request, header: string): Promise<number> {
    const bytes = Buffer.from(header.trim().split(/\s+/)[1] ?? "", "base64");
    const pair = bytes.toString("utf8");
    const colon = pair.indexOf(":");
    if (colon < 1 || !pair.isWellFormed() || pair.includes("\0") || pair.includes("\ufffd"))
      throw unauthenticated("Invalid basic header. Credentials not correctly base64 encoded.");
    const key = this.remembered.keyOf(bytes);
    const known = this.remembered.find(
      key,
      ({ user, hash }) =>
        (hash === null
          ? this.externalPasswords?.canSignIn(user) === true
          : this.passwordHash(user) === hash) &&
        !this.factors.isOn(user) &&
        !this.factors.mustSetUp(user),
    );
    if (known !== undefined) return known;
    const credentials = { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
    const { user, by } = await this.find(credentials, "basic", request).catch((error: unknown) => {
      const wrong = error instanceof Problem && error.code === "unauthenticated";
      throw wrong ? unauthenticated("Invalid username/password.") : error;
    });
    this.remembered.keep(key, { user, hash: by === undefined ? (this.passwordHash(user) ?? null) : null });
    return user;
  }

  /** Whether there is a password by which the owner of an account can show who it is. */
  hasPassword(user: number): boolean {
    return this.passwordHash(user) !== undefined || this.externalPasswords?.canSignIn(user) === true;
  }

  private passwordHash(user: number): string | undefined {
    const row = this.database
      .query("SELECT password_hash FROM user_account WHERE rid = ? AND is_active")
      .get(user) as { password_hash: string | null } | null;
    return row?.password_hash ?? undefined;
  }
}

/** Who was found to sign in, and by whom, where it was not this database. */
interface Found {
  user: number;
  by?: string;
}

/** Directories take names that differ in case alone for the same: so does what counts attempts. */
const throttleKey = (username: string): string => username.slice(0, 150).normalize("NFKC").toLowerCase();

/** Problems that are failed attempts: of others, such as a missing code, nobody learns more by trying again. */
const FAILURES: ReadonlySet<string> = new Set(["unauthenticated", "second_factor_wrong", "invalid_request"]);

function refusalFor(taken: CodeResult | "due", method: SignInMethod): Problem | undefined {
  if (taken === "due")
    return new Problem(
      "second_factor_missing",
      "The account has to have a second factor: sign in at /sign-in in a browser to set it up. Programs use a token.",
    );
  if (method === "basic" && taken === "missing")
    return unauthenticated(
      "The account has a second factor, which Basic has no room for: use a token (Authorization: Token …).",
      "second_factor_required",
    );
  const why = CODE_ERRORS[taken];
  if (why === undefined) return undefined;
  const code = taken === "missing" ? "second_factor_required" : "second_factor_wrong";
  return unauthenticated(`code: ${why}`, code, { field: "code" });
}
