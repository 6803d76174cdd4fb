import { Problem } from "../problem.ts";
import type { Clock } from "./clock.ts";
import type { Database } from "./sqlite.ts";

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
}

export const ANONYMOUS: Actor = {
  user: null,
  username: null,
  superuser: false,
  groups: [],
  primaryGroup: null,
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

/** Argon2id at the figures of OWASP's cheat sheet: 19 MiB, two passes. */
const HASHING = { algorithm: "argon2id", memoryCost: 19456, timeCost: 2 } as const;
/** Hash of nothing in particular: an unknown user costs the same time as a wrong password. */
let decoy: Promise<string> | undefined;

const USERNAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.@+-]{0,149}$/u;
const TOKEN_PREFIX_LENGTH = 12;

/** Accounts and their tokens in one database. */
export class Accounts {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Whether there is an account of this name, active or not. */
  exists(username: string): boolean {
    return this.database.query("SELECT 1 FROM user_account WHERE username = ?").get(username) !== null;
  }

  /** Adds a user and returns its row. @throws Problem invalid_request, conflict */
  async addUser(user: NewUser): Promise<number> {
    if (!USERNAME.test(user.username)) {
      const rule = "1 to 150 letters, digits and @ . + - _, beginning with a letter, digit or _";
      throw new Problem("invalid_request", `username: expected ${rule}.`, {
        fields: { username: [`Expected ${rule}.`] },
      });
    }
    if (user.password !== undefined && user.password.length < 8) {
      const rule = "at least 8 characters";
      throw new Problem("invalid_request", `password: expected ${rule}.`, {
        fields: { password: [`Expected ${rule}.`] },
      });
    }
    const hash = user.password === undefined ? null : await Bun.password.hash(user.password, HASHING);
    return this.database.transaction(() => {
      const taken = this.database.query("SELECT 1 FROM user_account WHERE username = ?").get(user.username);
      if (taken) throw new Problem("conflict", `username: there is a user ${user.username} already.`);
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
      this.database.query("INSERT INTO membership (user_rid, group_rid) VALUES (?, ?)").run(rid, group);
      return rid;
    })();
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
    return made.rid;
  }

  /**
   * Makes a token for a user and returns it: the only time that it can be read, for its SHA-256 is what is kept.
   * @throws Problem not_found
   */
  addToken(username: string, name: string, expires: number | null = null): string {
    const user = this.database
      .query("SELECT rid FROM user_account WHERE username = ? AND is_active")
      .get(username) as {
      rid: number;
    } | null;
    if (!user) throw new Problem("not_found", `There is no active user ${username}.`);
    const token = `labd_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url")}`;
    this.database
      .query(
        "INSERT INTO api_token (user_rid, name, prefix, sha256, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
      )
      .run(user.rid, name, token.slice(0, TOKEN_PREFIX_LENGTH), sha256(token), this.clock.now(), expires);
    return token;
  }

  /** A new token for a user and a password. @throws Problem unauthenticated, whether the user or the password is wrong */
  async signIn(username: string, password: string): Promise<string> {
    const user = this.database
      .query("SELECT rid, password_hash FROM user_account WHERE username = ? AND is_active")
      .get(username) as { rid: number; password_hash: string | null } | null;
    decoy ??= Bun.password.hash("decoy", HASHING);
    const right = await Bun.password.verify(password, user?.password_hash ?? (await decoy));
    if (!user?.password_hash || !right) throw unauthenticated("Unable to log in with provided credentials.");
    this.database
      .query("UPDATE user_account SET last_login = ? WHERE rid = ?")
      .run(this.clock.now(), user.rid);
    return this.addToken(username, "token-auth");
  }

  /**
   * The caller of a request, by its Authorization header: `Token …` or `Bearer …`; without one, anonymous.
   * @throws Problem unauthenticated for a header that is not understood or a token that is not valid
   */
  authenticate(request: Request): Actor {
    const header = request.headers.get("authorization");
    if (header === null) return ANONYMOUS;
    const [scheme, token, ...rest] = header.trim().split(/\s+/);
    if (!/^(token|bearer)$/i.test(scheme)) {
      throw unauthenticated("Authorization: expected Token or Bearer followed by a token.");
    }
    if (token === undefined) throw unauthenticated("Invalid token header. No credentials provided.");
    if (rest.length > 0)
      throw unauthenticated("Invalid token header. Token string should not contain spaces.");
    const user = this.database
      .query(
        `SELECT u.rid, u.username, u.is_superuser, u.primary_group FROM api_token t JOIN user_account u ON u.rid = t.user_rid
         WHERE t.sha256 = ? AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > ?) AND u.is_active`,
      )
      .get(sha256(token), this.clock.now()) as {
      rid: number;
      username: string;
      is_superuser: number;
      primary_group: number;
    } | null;
    if (!user) throw unauthenticated("Invalid token.");
    const groups = this.database
      .query("SELECT group_rid FROM membership WHERE user_rid = ?")
      .all(user.rid) as {
      group_rid: number;
    }[];
    return {
      user: user.rid,
      username: user.username,
      superuser: user.is_superuser === 1,
      groups: groups.map(({ group_rid }) => group_rid),
      primaryGroup: user.primary_group,
    };
  }
}

/** 401 with the challenges that name the schemes (RFC 9110, section 11.6.1). */
export function unauthenticated(message: string): Problem {
  return new Problem("unauthenticated", message, { headers: { "WWW-Authenticate": "Token, Bearer" } });
}

function sha256(token: string): string {
  return new Bun.CryptoHasher("sha256").update(token).digest("hex");
}
