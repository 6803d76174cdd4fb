import type { Clock } from "../platform/clock.ts";
import { isUnsafe } from "../platform/origin.ts";
import { identify, type Via } from "../platform/request-context.ts";
import type { Database } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import { AccountAudit } from "./account-audit.ts";
import { type Actor, ANONYMOUS } from "../platform/actor.ts";
import type { AuditDetail } from "./audit.ts";
import { GROUPS_OF_ACCOUNT, toGroups } from "./group-rights.ts";
import { Confirmations } from "./confirmation.ts";
import { KnownBrowsers } from "./known-browser.ts";
import { OneTimeLinks } from "./one-time-link.ts";
import { Passwords } from "./password.ts";
import { type RequireTotp, SecondFactors } from "./second-factor.ts";
import { type Session, type SessionOptions, Sessions } from "./session.ts";
import { type Credentials, SignIns } from "./sign-in.ts";
import { type Scope, type TokenUse, Tokens } from "./token.ts";
import { unauthenticated } from "../platform/unauthenticated.ts";
import { checkPerson } from "./username.ts";

export interface AccountOptions extends SessionOptions {
  passwordHashes: number;
  requireTotp: RequireTotp;
  /** File of the key that encrypts second factors; null keeps a key in memory. */
  keyFile: string | null;
}

const DEFAULT_OPTIONS: AccountOptions = {
  passwordHashes: 4,
  requireTotp: "off",
  keyFile: null,
  sessionIdleMinutes: 1440,
  publicUrl: "",
  basePath: "",
  trustProxy: false,
};

export interface NewUser {
  username: string;
  password?: string;
  fullName?: string;
  email?: string;
  /** Name of the primary group, created if missing; by default SYSTEM_GROUP. */
  group?: string;
  superuser?: boolean;
}

export interface UserRecord {
  rid: number;
  id: string;
  username: string;
  full_name: string;
  email: string;
  is_active: number;
  is_superuser: number;
  /** Milliseconds since 1970-01-01 UTC. */
  last_login: number | null;
  group_name: string;
}

const DAY = 86_400_000;
/** Days after which tokens created by signing in expire. */
const TOKEN_DAYS = 90;
const DEFAULT_GROUP = "SYSTEM_GROUP";
/** Row of the account that owns built-in records. Nobody can sign in with this account. */
const SYSTEM = 1;

/** True if the database has an active administrator other than `except`. */
export function hasAdministrator(database: Database, except = 0): boolean {
  return (
    database
      .query("SELECT 1 FROM user_account WHERE is_superuser AND is_active AND rid <> ? LIMIT 1")
      .get(except) !== null
  );
}

/** Accounts and all ways to sign in to them, in one database. */
export class Accounts {
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly links: OneTimeLinks;
  readonly audit: AccountAudit;
  readonly secondFactors: SecondFactors;
  readonly signIns: SignIns;
  readonly confirmations: Confirmations;
  readonly passwords: Passwords;
  readonly browsers: KnownBrowsers;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    options: Partial<AccountOptions> = {},
  ) {
    const all: AccountOptions = { ...DEFAULT_OPTIONS, ...options };
    this.tokens = new Tokens(database, clock);
    this.sessions = new Sessions(database, clock, all);
    this.links = new OneTimeLinks(database, clock);
    this.passwords = new Passwords(all.passwordHashes);
    this.audit = new AccountAudit(database, clock);
    this.secondFactors = new SecondFactors(database, clock, this.audit, all);
    this.browsers = new KnownBrowsers(all.keyFile, all, clock);
    const { passwords, secondFactors, audit, browsers } = this;
    this.signIns = new SignIns({ database, clock, passwords, secondFactors, audit, browsers });
    this.confirmations = new Confirmations(clock, this.sessions, this.signIns, audit);
  }

  exists(username: string): boolean {
    return this.database.query("SELECT 1 FROM user_account WHERE username = ?").get(username) !== null;
  }

  list(): UserRecord[] {
    return this.database
      .query(
        `SELECT u.rid, u.id, u.username, u.full_name, u.email, u.is_active, u.is_superuser, u.last_login, g.name AS group_name
         FROM user_account AS u JOIN user_group AS g ON g.rid = u.primary_group ORDER BY u.username`,
      )
      .all() as UserRecord[];
  }

  /** True if there is an active administrator, besides the account `except` if given. */
  hasAdministrator(except = 0): boolean {
    return hasAdministrator(this.database, except);
  }

  /**
   * Creates the first administrator with the key of a set-up link, which is used up.
   * @throws Problem not_found for an invalid key; invalid_request, conflict, busy
   */
  async setUp(key: string, user: NewUser & { password: string }): Promise<number> {
    checkPerson(user);
    const requireValidKey = (): void => {
      if (this.hasAdministrator() || this.links.find(key)?.user !== null) throw invalidLink();
    };
    requireValidKey();
    const hash = await this.passwords.hash(user.password);
    return this.database
      .transaction(() => {
        requireValidKey();
        this.links.use(key);
        const rid = this.insertUser({ ...user, superuser: true }, hash);
        this.audit.recordUser(rid, "link.use", { for: "set-up" });
        return rid;
      })
      .immediate();
  }

  /**
   * Sets the password of the account of a link, and ends its sessions. @returns the row of the account @throws Problem
   * not_found for an invalid key; invalid_request, busy
   */
  async setPasswordByLink(key: string, password: string): Promise<number> {
    const findLinkUser = (): number => {
      const { user, email } = this.links.find(key) ?? {};
      if (typeof user !== "number" || email !== null) throw invalidLink();
      return user;
    };
    findLinkUser();
    const hash = await this.passwords.hash(password);
    return this.database
      .transaction(() => {
        const user = findLinkUser();
        this.audit.recordUser(user, "link.use", { for: "password" });
        this.setPasswordHash(user, hash);
        return user;
      })
      .immediate();
  }

  /**
   * Verifies the address that a link was sent to, if it is still that of the account.
   * @returns the account and its address @throws Problem not_found for an invalid key
   */
  verifyEmail(key: string): { user: number; email: string } {
    return this.database
      .transaction(() => {
        const { user, email } = this.links.find(key) ?? {};
        if (typeof user !== "number" || typeof email !== "string") throw invalidLink();
        const { changes } = this.database
          .query("UPDATE user_account SET verified_email = email WHERE rid = ? AND email = ?")
          .run(user, email);
        if (changes === 0) throw invalidLink();
        this.links.use(key);
        this.audit.recordUser(user, "account.verify_email");
        return { user, email };
      })
      .immediate();
  }

  /** Adds a user and returns its row. @throws Problem invalid_request, conflict, busy */
  async addUser(user: NewUser): Promise<number> {
    checkPerson(user);
    return this.insertUser(
      user,
      user.password === undefined ? null : await this.passwords.hash(user.password),
    );
  }

  /**
   * Adds a user with the hash of a password, or none. @param join whether to add the membership in the group; callers that
   * keep a history of memberships do that themselves. @throws Problem invalid_request, conflict
   */
  insertUser(user: Omit<NewUser, "password">, hash: string | null, join = true): number {
    const { username, fullName = "", email = "", group = DEFAULT_GROUP, superuser = false } = user;
    checkPerson({ username, fullName, email });
    const { now, newId } = this.clock;
    const insert = this.database.transaction(() => {
      if (this.exists(username))
        throw new Problem("conflict", `username: the user ${username} already exists.`);
      const groupId = this.addGroup(group);
      const { rid } = this.database
        .query(
          `INSERT INTO user_account (id, username, full_name, email, password_hash, is_staff, is_superuser, date_joined, primary_group)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8) RETURNING rid`,
        )
        .get(newId(), username, fullName, email, hash, superuser, now(), groupId) as { rid: number };
      if (join)
        this.database.query("INSERT INTO membership (user_rid, group_rid) VALUES (?, ?)").run(rid, groupId);
      this.audit.recordUser(rid, "account.create", { administrator: superuser, group });
      return rid;
    });
    // Locks at once: SQLite refuses to upgrade a read lock while another process writes.
    return insert.immediate();
  }

  /** The row of the group of this name, created if missing. */
  addGroup(name: string): number {
    const found = this.database.query("SELECT rid FROM user_group WHERE name = ?").get(name) as {
      rid: number;
    } | null;
    if (found) return found.rid;
    const { rid } = this.database
      .query(
        "INSERT INTO user_group (id, name, members_may, due_back_days) SELECT ?, ?, members_may, due_back_days FROM user_group WHERE rid = 1 RETURNING rid",
      )
      .get(this.clock.newId(), name) as { rid: number };
    this.audit.recordGroup(rid, "group.create");
    return rid;
  }

  userId(username: string, { active = false } = {}): number {
    const row = this.database
      .query(`SELECT rid FROM user_account WHERE username = ?${active ? " AND is_active" : ""}`)
      .get(username) as { rid: number } | null;
    if (!row) throw new Problem("not_found", `There is no ${active ? "active " : ""}user ${username}.`);
    return row.rid;
  }

  /**
   * Enables or disables an account. Disabling ends its sessions and suspends its tokens.
   * @throws Problem conflict for the system account and for the last administrator
   */
  setActive(user: number, active: boolean, reason: AuditDetail = {}): void {
    this.database
      .transaction(() => {
        requirePerson(user);
        if (!active) this.requireOtherAdministrator(user);
        this.database.query("UPDATE user_account SET is_active = ? WHERE rid = ?").run(active ? 1 : 0, user);
        this.database.query("UPDATE external_identity SET suspended = NULL WHERE user_rid = ?").run(user);
        this.audit.recordUser(user, active ? "account.enable" : "account.disable", reason);
        if (active) return;
        this.sessions.closeAll(user);
        this.links.removeLinks(user);
      })
      .immediate();
  }

  /** @throws Problem conflict if this account is the only active administrator */
  requireOtherAdministrator(user: number): void {
    if (this.hasAdministrator() && !this.hasAdministrator(user))
      throw new Problem("conflict", "This is the only active administrator.");
  }

  /** Sets a password and ends all sessions of the account; tokens stay valid. @throws Problem invalid_request, conflict, busy */
  async setPassword(user: number, password: string): Promise<void> {
    this.setPasswordHash(user, await this.passwords.hash(password));
  }

  setPasswordHash(user: number, hash: string): void {
    requirePerson(user);
    this.database
      .transaction(() => {
        this.database.query("UPDATE user_account SET password_hash = ? WHERE rid = ?").run(hash, user);
        this.sessions.closeAll(user);
        this.links.removeLinks(user);
        this.audit.recordUser(user, "account.password");
      })
      .immediate();
  }

  addToken(username: string, name: string, expires: number | null = null, scope: Scope = "write"): string {
    return this.tokens.add(this.userId(username, { active: true }), { name, expires, scope }).token;
  }

  /** Signs in and creates a token. @throws Problem as SignIns.verify */
  async signIn(credentials: Credentials): Promise<string> {
    const user = await this.signIns.verify(credentials, "token-auth");
    const expires = this.clock.now() + TOKEN_DAYS * DAY;
    return this.tokens.add(user, { name: "token-auth", expires }).token;
  }

  /**
   * Signs in and opens a session, replacing that of the request. `browserCookie` makes the browser known.
   * @throws Problem as SignIns.verify; forbidden
   */
  async openSession(
    credentials: Credentials,
    request: Request,
  ): Promise<{ session: Session; cookie: string; browserCookie: string | undefined }> {
    this.sessions.requireSameOrigin(request);
    const user = await this.signIns.verify(credentials, "session");
    const { id } = this.database.query("SELECT id FROM user_account WHERE rid = ?").get(user) as {
      id: string;
    };
    return { ...this.sessions.open(user, request), browserCookie: this.browsers.mark(id, request) };
  }

  /** Id of the account whose session a browser has; empty for none. */
  findPerson(request: Request): string {
    const user = this.sessions.find(request)?.user ?? null;
    const row = this.database.query("SELECT id FROM user_account WHERE rid = ?").get(user);
    return (row as { id: string } | null)?.id ?? "";
  }

  /** True if the account of a session must set up a second factor before it may do anything else. */
  mustSetUpSecondFactor({ user, external }: Session): boolean {
    return !external && this.secondFactors.mustSetUp(user);
  }

  /** Removes a second factor that its owner has lost, and ends the sessions. @returns whether there was one */
  resetSecondFactor(user: number): boolean {
    return this.database
      .transaction(() => {
        this.sessions.closeAll(user);
        return this.secondFactors.remove(user, "second_factor.reset");
      })
      .immediate();
  }

  /** Checks the current password before it is changed. @returns the error, if any @throws Problem throttled, busy */
  async passwordError(username: string, password: string): Promise<string | undefined> {
    try {
      await this.signIns.verify({ username, password }, "check");
      return undefined;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "unauthenticated") throw error;
      const hasPassword = this.database
        .query("SELECT 1 FROM user_account WHERE username = ? AND password_hash IS NOT NULL")
        .get(username);
      return hasPassword
        ? "This is not the password of the account."
        : "The account has no local password: it uses a directory, an identity provider or tokens. An administrator can set one.";
    }
  }

  /**
   * Verifies the Authorization header of a request, whatever its route, before it is answered: invalid credentials are
   * never treated as absent. Only a Basic password has to be waited for.
   * @throws Problem unauthenticated; second_factor_required, second_factor_missing, throttled, busy for Basic
   */
  verifyHeader(request: Request): void | Promise<void> {
    const given = parseAuthorization(request);
    if (given === undefined) return;
    if (given.isBasic) return this.signIns.verifyBasic(given.value);
    this.tokenUse(given.value);
  }

  /** @throws Problem unauthenticated */
  private tokenUse(token: string): TokenUse {
    const use = this.tokens.use(token);
    if (!use) throw unauthenticated("Invalid token.");
    return use;
  }

  /**
   * The caller of a request, by its Authorization header (`Token …`, `Bearer …`, or `Basic …` once verified) or its
   * session cookie; anonymous without either, and for reading with the cookie of a session that has ended. @param enrolling whether to accept a session that must set up a second factor
   * @throws Problem unauthenticated; forbidden for a read-only token and for cross-site requests; second_factor_missing
   */
  authenticate(request: Request, { enrolling = false } = {}): Actor {
    const given = parseAuthorization(request);
    if (given === undefined) return this.authenticateSession(request, enrolling);
    if (given.isBasic) {
      const user = this.signIns.basicUser();
      // Browsers attach a known Basic password to cross-site requests too.
      if (isUnsafe(request.method)) this.sessions.requireSameOrigin(request);
      return this.identified(user, null, "basic");
    }
    const use = this.tokenUse(given.value);
    if (use.scope === "read" && isUnsafe(request.method))
      throw new Problem("forbidden", "This token is read-only (scope read).");
    const actor = this.identified(use.user, use.rid, "token");
    this.tokens.recordUse(use.rid);
    return actor;
  }

  private authenticateSession(request: Request, enrolling: boolean): Actor {
    const session = this.sessions.find(request);
    if (!session) {
      // Public records remain readable; a write would be without the owner that the caller expects.
      const cookie = isUnsafe(request.method) ? this.sessions.endedCookie(request) : undefined;
      if (cookie === undefined) return ANONYMOUS;
      throw sessionEnded(cookie);
    }
    this.sessions.checkCsrf(request, session);
    if (!enrolling && this.mustSetUpSecondFactor(session))
      throw new Problem(
        "second_factor_missing",
        "This account needs a second factor. Set one up at /second-factor first.",
      );
    return this.identified(session.user, null, "session");
  }

  private identified(user: number, token: number | null, via: Via): Actor {
    const actor = { ...this.readActor(user), token, via };
    identify(actor);
    return actor;
  }

  /** Those who used a session or a token last, the latest first. */
  recentActors(maximum: number): Actor[] {
    const rows = this.database
      .query(
        `SELECT u.rid FROM user_account AS u JOIN (
           SELECT user_rid, last_used FROM session UNION ALL SELECT user_rid, last_used FROM api_token WHERE revoked IS NULL
         ) AS used ON used.user_rid = u.rid WHERE u.is_active GROUP BY u.rid ORDER BY max(used.last_used) DESC LIMIT ?`,
      )
      .all(maximum) as { rid: number }[];
    return rows.map(({ rid }) => this.readActor(rid));
  }

  /** An account as an actor, with its present groups and rights. */
  readActor(user: number): Actor {
    const row = this.database
      .query("SELECT username, is_superuser, primary_group FROM user_account WHERE rid = ?")
      .get(user) as { username: string; is_superuser: number; primary_group: number };
    const groups = this.database.query(GROUPS_OF_ACCOUNT).all(user) as Record<string, unknown>[];
    return {
      user,
      username: row.username,
      superuser: row.is_superuser === 1,
      ...toGroups(groups),
      primaryGroup: row.primary_group,
      token: null,
    };
  }
}

function requirePerson(user: number): void {
  if (user === SYSTEM) throw new Problem("conflict", "The system account cannot sign in.");
}

const invalidLink = (): Problem =>
  new Problem("not_found", "This link has been used or has expired. Ask for a new one.");

/** The Authorization header of a request, undefined without one. @throws Problem unauthenticated if it has another form */
function parseAuthorization({ headers }: Request): { isBasic: boolean; value: string } | undefined {
  const header = headers.get("authorization");
  if (header === null) return undefined;
  const [scheme, value, ...rest] = header.trim().split(/\s+/);
  if (!/^(token|bearer|basic)$/i.test(scheme))
    throw unauthenticated("Authorization: expected Token or Bearer followed by a token, or Basic.");
  const isBasic = /^basic$/i.test(scheme);
  const kind = isBasic ? "basic" : "token";
  if (value === undefined) throw unauthenticated(`Invalid ${kind} header. No credentials provided.`);
  if (rest.length > 0)
    throw unauthenticated(
      `Invalid ${kind} header. ${isBasic ? "Credentials" : "Token"} string should not contain spaces.`,
    );
  return { isBasic, value };
}

/** @param cookie removes that of the session, so that callers who need no account can repeat the request */
function sessionEnded(cookie: string): Problem {
  const problem = unauthenticated(
    "Your session has ended. Sign in again, or repeat the request without an account.",
  );
  Object.assign(problem.headers, { "Set-Cookie": cookie });
  return problem;
}
