import { Problem } from "../problem.ts";
import { type Actor, ANONYMOUS } from "./actor.ts";
import { type AccountOptions, DEFAULT_ACCOUNT_OPTIONS } from "./account-options.ts";
import type { AuditDetail } from "./audit.ts";
import { Confirmations } from "./confirmation.ts";
import { AccountAudit } from "./account-audit.ts";
import type { ExternalPasswords } from "./external-password.ts";
import { identify, type Via } from "../platform/request-context.ts";
import type { Clock } from "../platform/clock.ts";
import { isUnsafe, refuseForeignPage } from "../platform/origin.ts";
import { OneTimeLinks } from "./one-time-link.ts";
import { Passwords } from "./password.ts";
import { SecondFactors } from "./second-factor.ts";
import { type Session, Sessions } from "./session.ts";
import { type Credentials, SignIns } from "./sign-in.ts";
import type { Database } from "../platform/sqlite.ts";
import { type Scope, Tokens } from "./token.ts";
import { unauthenticated } from "./unauthenticated.ts";
import { checkPerson, checkUsername } from "./username.ts";

export interface NewUser {
  username: string;
  password?: string;
  fullName?: string;
  email?: string;
  /** Name of the primary group, made where it is missing; by default SYSTEM_GROUP. */
  group?: string;
  superuser?: boolean;
}

/** An account as administrators see it. */
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
/** The account that owns what the program brings along. Nobody signs in as it. */
const SYSTEM = 1;

/** Accounts and all ways to sign in to them, in one database. */
export class Accounts {
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly links: OneTimeLinks;
  readonly audit: AccountAudit;
  readonly secondFactors: SecondFactors;
  readonly signIns: SignIns;
  readonly confirmations: Confirmations;
  private readonly passwords: Passwords;
  private readonly options: AccountOptions;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    options: Partial<AccountOptions> = {},
  ) {
    this.options = { ...DEFAULT_ACCOUNT_OPTIONS, ...options };
    this.tokens = new Tokens(database, clock);
    this.sessions = new Sessions(database, clock, this.options);
    this.links = new OneTimeLinks(database, clock);
    this.passwords = new Passwords(this.options.passwordHashes);
    this.audit = new AccountAudit(database, clock, this.options.loginWindow * 1000);
    this.secondFactors = new SecondFactors(database, clock, this.audit, this.options);
    this.signIns = new SignIns(database, clock, this.passwords, this.secondFactors, this.audit, this.options);
    this.confirmations = new Confirmations(
      clock,
      this.sessions,
      this.signIns,
      this.audit,
      this.options.confirmMinutes,
    );
  }

  /** Asked where a name and a password are not those of an account here. */
  set externalPasswords(passwords: ExternalPasswords | undefined) {
    this.signIns.externalPasswords = passwords;
  }

  /** Whether there is an account of this name, active or not. */
  exists(username: string): boolean {
    return this.database.query("SELECT 1 FROM user_account WHERE username = ?").get(username) !== null;
  }

  /** All accounts by name. */
  list(): UserRecord[] {
    return this.database
      .query(
        `SELECT u.rid, u.id, u.username, u.full_name, u.email, u.is_active, u.is_superuser, u.last_login, g.name AS group_name
         FROM user_account AS u JOIN user_group AS g ON g.rid = u.primary_group ORDER BY u.username`,
      )
      .all() as UserRecord[];
  }

  /** Whether somebody can sign in who may do everything. */
  hasAdministrator(): boolean {
    return (
      this.database.query("SELECT 1 FROM user_account WHERE is_superuser AND is_active LIMIT 1").get() !==
      null
    );
  }

  /**
   * Makes the first administrator by the key of a set-up link, which is used up by it.
   * @throws Problem not_found where the key is good for nothing (any more), invalid_request, conflict, busy
   */
  async setUp(key: string, user: NewUser & { password: string }): Promise<number> {
    checkPerson(user);
    const refuse = (): void => {
      if (this.hasAdministrator() || this.links.find(key)?.user !== null) throw usedUp();
    };
    refuse();
    const hash = await this.hash(user.password);
    return this.database
      .transaction(() => {
        refuse();
        this.links.use(key);
        const made = this.insertUser({ ...user, superuser: true }, hash);
        this.audit.recordUser(made, "link.use", { for: "set-up" });
        return made;
      })
      .immediate();
  }

  /**
   * Sets the password of the account that the key of a link is for, and ends its sessions.
   * @returns its row @throws Problem not_found where the key is good for nothing (any more), invalid_request, busy
   */
  async setPasswordByLink(key: string, password: string): Promise<number> {
    if (typeof this.links.find(key)?.user !== "number") throw usedUp();
    const hash = await this.hash(password);
    return this.database
      .transaction(() => {
        const user = this.links.find(key)?.user;
        if (typeof user !== "number") throw usedUp();
        // Before, for what it sets drops all links of the account.
        this.audit.recordUser(user, "link.use", { for: "password" });
        this.setPasswordHash(user, hash);
        return user;
      })
      .immediate();
  }

  /** Adds a user and returns its row. @throws Problem invalid_request, conflict, busy */
  async addUser(user: NewUser): Promise<number> {
    checkPerson(user);
    return this.insertUser(user, user.password === undefined ? null : await this.hash(user.password));
  }

  /**
   * The same with the hash of its password, or none. `join`: whether it becomes a member of its group, which a caller
   * that keeps a history does by itself. @throws Problem invalid_request, conflict
   */
  insertUser(user: Omit<NewUser, "password">, hash: string | null, join = true): number {
    checkUsername(user.username);
    return this.database
      .transaction(() => {
        if (this.exists(user.username))
          throw new Problem("conflict", `username: there is a user ${user.username} already.`);
        const group = this.addGroup(user.group ?? "SYSTEM_GROUP");
        const { rid } = this.database
          .query(
            `INSERT INTO user_account (id, username, full_name, email, password_hash, is_staff, is_superuser, date_joined, primary_group)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING rid`,
          )
          .get(
            this.clock.newId(),
            user.username,
            user.fullName ?? "",
            user.email ?? "",
            hash,
            user.superuser ? 1 : 0,
            user.superuser ? 1 : 0,
            this.clock.now(),
            group,
          ) as { rid: number };
        if (join)
          this.database.query("INSERT INTO membership (user_rid, group_rid) VALUES (?, ?)").run(rid, group);
        this.audit.recordUser(rid, "account.create", {
          administrator: user.superuser === true,
          group: user.group ?? "SYSTEM_GROUP",
        });
        return rid;
        // Takes the lock at once: a read that turns into a write is refused where another process writes meanwhile.
      })
      .immediate();
  }

  /** The row of the group of this name, made where it is missing. */
  addGroup(name: string): number {
    const found = this.database.query("SELECT rid FROM user_group WHERE name = ?").get(name) as {
      rid: number;
    } | null;
    if (found) return found.rid;
    const made = this.database
      .query("INSERT INTO user_group (id, name) VALUES (?, ?) RETURNING rid")
      .get(this.clock.newId(), name) as { rid: number };
    this.audit.recordGroup(made.rid, "group.create");
    return made.rid;
  }

  /** The row of an account. @throws Problem not_found */
  userId(username: string, { active = false } = {}): number {
    const row = this.database
      .query(`SELECT rid FROM user_account WHERE username = ?${active ? " AND is_active" : ""}`)
      .get(username) as { rid: number } | null;
    if (!row) throw new Problem("not_found", `There is no ${active ? "active " : ""}user ${username}.`);
    return row.rid;
  }

  /**
   * Lets an account sign in, or not: then its sessions end, and its tokens do nothing while it lasts. `why` is for the
   * audit log.
   * @throws Problem conflict for the system account and for the last administrator
   */
  setActive(user: number, active: boolean, why: AuditDetail = {}): void {
    this.database.transaction(() => {
      if (user === SYSTEM) throw new Problem("conflict", "Nobody signs in as the account system.");
      if (!active) this.requireOtherAdministrator(user);
      this.database.query("UPDATE user_account SET is_active = ? WHERE rid = ?").run(active ? 1 : 0, user);
      // Whoever did so before, it is this that counts.
      this.database.query("UPDATE external_identity SET suspended = NULL WHERE user_rid = ?").run(user);
      this.audit.recordUser(user, active ? "account.enable" : "account.disable", why);
      if (active) return;
      this.sessions.closeAll(user);
      this.links.dropOf(user);
    })();
  }

  /** Before an account stops being an administrator. @throws Problem conflict where nobody else is one */
  requireOtherAdministrator(user: number): void {
    const others = this.database
      .query("SELECT 1 FROM user_account WHERE is_superuser AND is_active AND rid <> ?")
      .get(user);
    const is = this.database
      .query("SELECT 1 FROM user_account WHERE is_superuser AND is_active AND rid = ?")
      .get(user);
    if (is && !others) throw new Problem("conflict", "This is the only active administrator.");
  }

  /** Sets a password and ends all sessions of the account; tokens stay. @throws Problem invalid_request, conflict, busy */
  async setPassword(user: number, password: string): Promise<void> {
    this.setPasswordHash(user, await this.hash(password));
  }

  /** The hash of a password. @throws Problem invalid_request for one that breaks the rule, busy */
  hash(password: string): Promise<string> {
    return this.passwords.hash(password);
  }

  setPasswordHash(user: number, hash: string): void {
    if (user === SYSTEM) throw new Problem("conflict", "Nobody signs in as the account system.");
    this.database.transaction(() => {
      this.database.query("UPDATE user_account SET password_hash = ? WHERE rid = ?").run(hash, user);
      this.sessions.closeAll(user);
      this.links.dropOf(user);
      this.audit.recordUser(user, "account.password");
    })();
  }

  /** Makes a token for a user and returns it. @throws Problem not_found */
  addToken(username: string, name: string, expires: number | null = null, scope: Scope = "write"): string {
    return this.tokens.add(this.userId(username, { active: true }), { name, expires, scope }).token;
  }

  /** A new token for whoever these are the credentials of. @throws Problem as SignIns.verify */
  async signIn(credentials: Credentials, request?: Request): Promise<string> {
    const user = await this.signIns.verify(credentials, "token-auth", request);
    const { tokenDays } = this.options;
    const expires = tokenDays === 0 ? null : this.clock.now() + tokenDays * DAY;
    return this.tokens.add(user, { name: "token-auth", expires }).token;
  }

  /** A new session for the same, in the place of the one before. @throws Problem as SignIns.verify, forbidden */
  async openSession(
    credentials: Credentials,
    request: Request,
  ): Promise<{ session: Session; cookie: string }> {
    refuseForeignPage(request, this.options);
    return this.sessions.open(await this.signIns.verify(credentials, "session", request), request);
  }

  /** Whether a session may do nothing until its account has a second factor. */
  mustSetUpSecondFactor({ user, external }: Session): boolean {
    return !external && this.secondFactors.mustSetUp(user);
  }

  /** Takes the second factor of an account away, for somebody who has lost it, and ends its sessions. @returns whether there was one */
  resetSecondFactor(user: number): boolean {
    return this.database
      .transaction(() => {
        this.sessions.closeAll(user);
        return this.secondFactors.remove(user, "second_factor.reset");
      })
      .immediate();
  }

  /**
   * What is wrong with the password that somebody gives to set another one; undefined where it is the account's own.
   * @throws Problem throttled, busy
   */
  async passwordError(username: string, password: string, request?: Request): Promise<string | undefined> {
    try {
      await this.signIns.verify({ username, password }, "check", request);
      return undefined;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "unauthenticated") throw error;
      const has = this.database
        .query("SELECT 1 FROM user_account WHERE username = ? AND password_hash IS NOT NULL")
        .get(username);
      return has
        ? "This is not the password of the account."
        : "The account has no password of its own: it signs in elsewhere, or by tokens. An administrator can give it one.";
    }
  }

  /**
   * What has to be found out of a request before it is answered: whether a password that it brings is right. Never
   * rejects; `authenticate` tells what was found.
   */
  verifyBasic(request: Request): void | Promise<void> {
    return this.signIns.verifyBasic(request);
  }

  /**
   * The caller of a request, by its Authorization header (`Token …`, `Bearer …`, or `Basic …` once admitted) or the
   * cookie of its session; without either, anonymous.
   * @throws Problem unauthenticated for a header that is not understood or not valid; forbidden for a token that may
   * only read, and for a request by cookie that a foreign page may have made; second_factor_missing for a session whose
   * account has to set one up first, unless it is `enrolling`; throttled, busy
   */
  authenticate(request: Request, { enrolling = false } = {}): Actor {
    const header = request.headers.get("authorization");
    if (header === null) {
      const session = this.sessions.find(request);
      if (!session) return ANONYMOUS;
      this.sessions.checkCsrf(request, session);
      if (!enrolling && this.mustSetUpSecondFactor(session))
        throw new Problem(
          "second_factor_missing",
          "Set up a second factor first, at /second-factor: without it this account may do nothing else.",
        );
      return this.known(session.user, null, "session");
    }
    const [scheme, token, ...rest] = header.trim().split(/\s+/);
    if (!/^(token|bearer|basic)$/i.test(scheme))
      throw unauthenticated("Authorization: expected Token or Bearer followed by a token, or Basic.");
    const kind = /^basic$/i.test(scheme) ? "basic" : "token";
    if (token === undefined) throw unauthenticated(`Invalid ${kind} header. No credentials provided.`);
    if (rest.length > 0)
      throw unauthenticated(
        `Invalid ${kind} header. ${kind === "basic" ? "Credentials" : "Token"} string should not contain spaces.`,
      );
    if (kind === "basic") {
      const found = this.signIns.found();
      // Browsers send a password that they know along with what foreign pages ask, as they do cookies.
      if (isUnsafe(request.method)) refuseForeignPage(request, this.options);
      return this.known(found, null, "basic");
    }
    const use = this.tokens.use(token);
    if (!use) throw unauthenticated("Invalid token.");
    if (use.scope === "read" && isUnsafe(request.method))
      throw new Problem("forbidden", "This token may only read (scope read).");
    const actor = this.known(use.user, use.rid, "token");
    this.tokens.noteUse(use);
    return actor;
  }

  private known(user: number, token: number | null, via: Via): Actor {
    const actor = { ...this.actorOf(user, token), via };
    identify(actor);
    return actor;
  }

  /** Who an account is now. */
  actorOf(user: number, token: number | null = null): Actor {
    const row = this.database
      .query("SELECT username, is_superuser, primary_group FROM user_account WHERE rid = ?")
      .get(user) as { username: string; is_superuser: number; primary_group: number };
    const groups = this.database.query("SELECT group_rid FROM membership WHERE user_rid = ?").all(user) as {
      group_rid: number;
    }[];
    return {
      user,
      username: row.username,
      superuser: row.is_superuser === 1,
      groups: groups.map(({ group_rid }) => group_rid),
      primaryGroup: row.primary_group,
      token,
    };
  }
}

const usedUp = (): Problem => new Problem("not_found", "This link is used up, or over. Ask for another.");
