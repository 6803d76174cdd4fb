import { Problem } from "../problem.ts";
import { type AccountOptions, USUAL } from "./account-options.ts";
import { AccountNotes, type Method } from "./account-notes.ts";
import type { ForeignPasswords } from "./foreign-password.ts";
import { RememberedPasswords } from "./remembered-password.ts";
import { identify, type Via } from "./request-origin.ts";
import { writeTurn } from "./write-turn.ts";
import { callerNetwork } from "./caller.ts";
import type { Clock } from "./clock.ts";
import { isUnsafe, refuseForeignPage } from "./origin.ts";
import { OneTimeLinks } from "./one-time-link.ts";
import { Passwords } from "./password.ts";
import { type Session, Sessions } from "./session.ts";
import type { Database } from "./sqlite.ts";
import { Throttle, throttled } from "./throttle.ts";
import { type Scope, Tokens } from "./token.ts";
import { checkUsername } from "./username.ts";

/** On whose behalf a request is answered. */
export interface Actor {
  /** Row of `user_account`; null for a caller without credentials. */
  user: number | null;
  username: string | null;
  superuser: boolean;
  /** Rows of `user_group` that the user is a member of. */
  groups: readonly number[];
  /** Row of the group that new records belong to; null for a caller without credentials. */
  primaryGroup: number | null;
  /** Row of `api_token` by which the caller signed in; null for a password, a session, or nobody. */
  token: number | null;
  /** How the caller proved who it is. */
  via?: Via;
}

export const ANONYMOUS: Actor = {
  user: null,
  username: null,
  superuser: false,
  groups: [],
  primaryGroup: null,
  token: null,
};

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
  readonly notes: AccountNotes;
  private readonly passwords: Passwords;
  private readonly byAccount: Throttle;
  private readonly byAddress: Throttle;
  private readonly options: AccountOptions;
  /** What Basic said of requests, found out before they are answered. */
  private readonly admitted = new WeakMap<Request, number | Problem>();
  private readonly remembered: RememberedPasswords;
  /** Asked where a name and a password are not those of an account here. */
  elsewhere: ForeignPasswords | undefined;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    options: Partial<AccountOptions> = {},
  ) {
    this.options = { ...USUAL, ...options };
    const { loginFailures, loginFailuresAddress, loginWindow, passwordHashes } = this.options;
    this.tokens = new Tokens(database, clock);
    this.sessions = new Sessions(database, clock, this.options);
    this.links = new OneTimeLinks(database, clock);
    this.passwords = new Passwords(passwordHashes);
    this.byAccount = new Throttle(loginFailures, loginWindow * 1000, clock);
    this.byAddress = new Throttle(loginFailuresAddress, loginWindow * 1000, clock);
    this.notes = new AccountNotes(database, clock, loginWindow * 1000);
    this.remembered = new RememberedPasswords(clock);
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
    checkUsername(user.username);
    const refuse = (): void => {
      if (this.hasAdministrator() || this.links.find(key)?.user !== null) throw usedUp();
    };
    refuse();
    const hash = await this.hash(user.password);
    return this.database
      .transaction(() => {
        refuse();
        this.links.use(key);
        return this.insertUser({ ...user, superuser: true }, hash);
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
        this.storePassword(user, hash);
        return user;
      })
      .immediate();
  }

  /** Adds a user and returns its row. @throws Problem invalid_request, conflict, busy */
  async addUser(user: NewUser): Promise<number> {
    checkUsername(user.username);
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
        this.notes.user(rid, "account.create", {
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
    this.notes.group(made.rid, "group.create");
    return made.rid;
  }

  /** The row of an account. @throws Problem not_found */
  userOf(username: string, { active = false } = {}): number {
    const row = this.database
      .query(`SELECT rid FROM user_account WHERE username = ?${active ? " AND is_active" : ""}`)
      .get(username) as { rid: number } | null;
    if (!row) throw new Problem("not_found", `There is no ${active ? "active " : ""}user ${username}.`);
    return row.rid;
  }

  /**
   * Lets an account sign in, or not: then its sessions end, and its tokens do nothing while it lasts.
   * @throws Problem conflict for the system account and for the last administrator
   */
  setActive(user: number, active: boolean): void {
    this.database.transaction(() => {
      if (user === SYSTEM) throw new Problem("conflict", "Nobody signs in as the account system.");
      if (!active) this.refuseLastAdministrator(user);
      this.database.query("UPDATE user_account SET is_active = ? WHERE rid = ?").run(active ? 1 : 0, user);
      this.notes.user(user, active ? "account.enable" : "account.disable");
      if (active) return;
      this.sessions.closeAll(user);
      this.links.dropOf(user);
    })();
  }

  /** Before an account stops being an administrator. @throws Problem conflict where nobody else is one */
  refuseLastAdministrator(user: number): void {
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
    this.storePassword(user, await this.hash(password));
  }

  /** The hash of a password. @throws Problem invalid_request for one that breaks the rule, busy */
  hash(password: string): Promise<string> {
    return this.passwords.hash(password);
  }

  storePassword(user: number, hash: string): void {
    if (user === SYSTEM) throw new Problem("conflict", "Nobody signs in as the account system.");
    this.database.transaction(() => {
      this.database.query("UPDATE user_account SET password_hash = ? WHERE rid = ?").run(hash, user);
      this.sessions.closeAll(user);
      this.links.dropOf(user);
      this.notes.user(user, "account.password");
    })();
  }

  /** Makes a token for a user and returns it. @throws Problem not_found */
  addToken(username: string, name: string, expires: number | null = null, scope: Scope = "write"): string {
    return this.tokens.add(this.userOf(username, { active: true }), { name, expires, scope }).token;
  }

  /** A new token for a user and a password. @throws Problem unauthenticated, throttled, busy */
  async signIn(username: string, password: string, request?: Request): Promise<string> {
    const user = await this.verify(username, password, request, "token-auth");
    const { tokenDays } = this.options;
    const expires = tokenDays === 0 ? null : this.clock.now() + tokenDays * DAY;
    return this.tokens.add(user, { name: "token-auth", expires }).token;
  }

  /** A new session for a user and a password, in the place of the one before. @throws Problem as signIn, forbidden */
  async openSession(
    username: string,
    password: string,
    request: Request,
  ): Promise<{ session: Session; cookie: string }> {
    refuseForeignPage(request, this.options);
    return this.sessions.open(await this.verify(username, password, request, "session"), request);
  }

  /**
   * The row of the account of this name and password; `check` asks for the account's own password only. Whether the
   * account or the password is wrong can be told neither by the answer nor, without a directory, by the time it takes.
   * @throws Problem unauthenticated, throttled, busy; identity_unavailable, forbidden by what `elsewhere` says
   */
  async verify(
    username: string,
    password: string,
    request?: Request,
    method: Method = "check",
  ): Promise<number> {
    const address = request && callerNetwork(request, this.options);
    const account = throttleKey(username);
    const wait = Math.max(
      this.byAccount.wait(account),
      address === undefined ? 0 : this.byAddress.wait(address),
    );
    if (wait > 0) {
      await this.notes.throttled(username, address, method);
      throw throttled(wait);
    }
    this.byAccount.count(account);
    if (address !== undefined) this.byAddress.count(address);
    const user = this.database
      .query("SELECT rid, password_hash FROM user_account WHERE username = ? AND is_active")
      .get(username) as { rid: number; password_hash: string | null } | null;
    let found: number | undefined;
    let by: string | undefined;
    try {
      if ((await this.passwords.verify(password, user?.password_hash ?? null)) && user) found = user.rid;
      else if (method !== "check" && this.elsewhere) {
        found = await this.elsewhere.verify(username, password);
        by = this.elsewhere.name;
      }
    } catch (error) {
      this.byAccount.forgive(account);
      if (address !== undefined) this.byAddress.forgive(address);
      throw error;
    }
    if (found === undefined) {
      await this.notes.refusal(username, "refused", method);
      throw unauthenticated("Unable to log in with provided credentials.");
    }
    this.byAccount.forget(account);
    if (address !== undefined) this.byAddress.forgive(address);
    await writeTurn(this.database).free();
    const rid = found;
    if (method !== "check") identify({ username: this.actorOf(rid).username, via: "password" });
    this.database
      .transaction(() => {
        this.database
          .query("UPDATE user_account SET last_login = ? WHERE rid = ?")
          .run(this.clock.now(), rid);
        if (method !== "check")
          this.notes.user(rid, "sign_in", { method, ...(by === undefined ? {} : { by }) });
      })
      .immediate();
    return rid;
  }

  /**
   * What has to be found out of a request before it is answered: whether a password that it brings is right. Never
   * rejects; `authenticate` tells what was found.
   */
  admit(request: Request): void | Promise<void> {
    const header = request.headers.get("authorization");
    if (header === null || !/^\s*basic\s/i.test(header)) return;
    return this.admitBasic(request, header).then(
      (user) => void this.admitted.set(request, user),
      (error: unknown) => void this.admitted.set(request, Problem.from(error)),
    );
  }

  /** Basic (RFC 7617). The same name and password again need not be hashed again for a while. */
  private async admitBasic(request: Request, header: string): Promise<number> {
    const bytes = Buffer.from(header.trim().split(/\s+/)[1] ?? "", "base64");
    const pair = bytes.toString("utf8");
    const colon = pair.indexOf(":");
    if (colon < 1 || !pair.isWellFormed() || pair.includes("\0") || pair.includes("\ufffd"))
      throw unauthenticated("Invalid basic header. Credentials not correctly base64 encoded.");
    const key = this.remembered.keyOf(bytes);
    const known = this.remembered.find(key, ({ user, hash }) =>
      hash === null ? this.elsewhere?.holds(user) === true : this.passwordHash(user) === hash,
    );
    if (known !== undefined) return known;
    const user = await this.verify(pair.slice(0, colon), pair.slice(colon + 1), request, "basic").catch(
      (error: unknown) => {
        const wrong = error instanceof Problem && error.code === "unauthenticated";
        throw wrong ? unauthenticated("Invalid username/password.") : error;
      },
    );
    this.remembered.keep(key, { user, hash: this.passwordHash(user) ?? null });
    return user;
  }

  private passwordHash(user: number): string | undefined {
    const row = this.database
      .query("SELECT password_hash FROM user_account WHERE rid = ? AND is_active")
      .get(user) as { password_hash: string | null } | null;
    return row?.password_hash ?? undefined;
  }

  /**
   * The caller of a request, by its Authorization header (`Token …`, `Bearer …`, or `Basic …` once admitted) or the
   * cookie of its session; without either, anonymous.
   * @throws Problem unauthenticated for a header that is not understood or not valid; forbidden for a token that may
   * only read, and for a request by cookie that a foreign page may have made; throttled, busy
   */
  authenticate(request: Request): Actor {
    const header = request.headers.get("authorization");
    if (header === null) {
      const session = this.sessions.find(request);
      if (!session) return ANONYMOUS;
      this.sessions.checkIntent(request, session);
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
      const found = this.admitted.get(request) ?? unauthenticated("Invalid username/password.");
      if (found instanceof Problem) throw found;
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

/** Directories take names that differ in case alone for the same: so does what counts attempts. */
const throttleKey = (username: string): string => username.slice(0, 150).normalize("NFKC").toLowerCase();

const usedUp = (): Problem => new Problem("not_found", "This link is used up, or over. Ask for another.");

/** 401 with the challenges that name the schemes (RFC 9110, section 11.6.1). Basic would open a browser's own dialog. */
export function unauthenticated(message: string): Problem {
  return new Problem("unauthenticated", message, { headers: { "WWW-Authenticate": "Token, Bearer" } });
}
