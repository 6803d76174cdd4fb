import {
  type DirectoryRejection,
  describeRejection,
  rejectionOf,
  STATE_ATTRIBUTES,
  accountState,
} from "./active-directory.ts";
import { fillFilter } from "./ldap-filter.ts";
import {
  type LdapConnection,
  type LdapEntry,
  type LdapFilter,
  type LdapServer,
  resultCodeOf,
  unavailable,
  withDirectory,
} from "./ldap-connection.ts";
import type { Identities } from "./identities.ts";
import { type Admission, type Person, plainEmail, plainText } from "./person.ts";
import { Semaphore } from "../../platform/semaphore.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ExternalPasswords, ExternalRejection } from "../external-password.ts";
import type { Log } from "../../platform/log.ts";
import { LOGIN_FAILURES, LOGIN_WINDOW, Throttle, throttled } from "../throttle.ts";
import type { Database } from "../../platform/sqlite.ts";
import { writeLockOf } from "../../platform/write-lock.ts";

/** Where in a directory people and groups are. */
export interface LdapOptions extends LdapServer, Admission {
  bindDn: string;
  bindPassword: string;
  userBase: string;
  userFilter: string;
  /** Attributes; `dn` is the DN. */
  id: string;
  username: string;
  fullName: string;
  email: string;
  /** Empty: there are no groups. */
  groupBase: string;
  groupFilter: string;
  groupName: string;
}

/** Characters; of those that are kept here, too. */
const LONGEST_PASSWORD = 1024;
/** Connections at once. */
const AT_ONCE = 16;
/** Groups of one person; more are not looked at. */
const GROUPS = 1000;
/** What a server answers where a password does not fit, or the account may not be used: RFC 4511, appendix A. */
const REFUSED = new Set([19, 32, 34, 48, 49, 50, 53]);
const SIZE_LIMIT = 4;
/** The server takes no password without TLS: RFC 4511, appendix A (strongerAuthRequired, confidentialityRequired). */
const WANTS_TLS = new Set([8, 13]);
const NO_SUCH_OBJECT = 32;
/** What nobody has in a name that is typed: directories leave some of it out when they compare. */
const UNTYPED = /[\p{Cc}\p{Cn}\p{Co}\p{Cs}]/u;

/** Finds somebody by the name that is typed at sign-in, or by DN. @throws Problem identity_unavailable */
export async function lookUp(
  options: LdapOptions,
  username: string,
): Promise<{ entry: LdapEntry; person: Person } | undefined> {
  return withDirectory(options, async (connection) => {
    const isDn = /^[^=,]+=[^,]*,.*=/.test(username);
    const entry = await findEntry(connection, options, isDn ? byDn(username) : byName(options, username));
    return entry && { entry, person: await describe(connection, options, entry) };
  });
}

/**
 * Somebody of whom only the identifier and the DN of last time are known; undefined where the directory has them no
 * longer, or `userFilter` finds them no longer. @throws Problem identity_unavailable
 */
export async function lookUpIdentity(
  options: LdapOptions,
  { subject, label, username }: { subject: string; label: string; username: string },
): Promise<Person | undefined> {
  return withDirectory(options, async (connection) => {
    const find = async (where: Where): Promise<Person | undefined> => {
      const entry = await findEntry(connection, options, where);
      const person = entry && (await describe(connection, options, entry));
      return person?.subject === subject ? person : undefined;
    };
    const found = await find(byName(options, username));
    if (found) return found;
    // The name may be another one than here: the entry knows.
    const byId = {
      base: options.userBase,
      filter: { attribute: options.id, value: subject },
      scope: "sub",
    } as const;
    const there = (options.id === "dn" ? undefined : await find(byId)) ?? (await find(byDn(label)));
    return there && find(byName(options, there.username));
  });
}

/**
 * An entry with this name that `userFilter` leaves out, for who wonders why it is not found: its DN.
 * @throws Problem identity_unavailable
 */
export const findExcluded = (options: LdapOptions, username: string): Promise<LdapEntry | undefined> =>
  withDirectory(options, (connection) =>
    findEntry(connection, options, {
      base: options.userBase,
      filter: { attribute: options.username, value: username },
      scope: "sub",
    }),
  );

/**
 * Somebody by name and password: looks the entry up, and binds as it. Undefined where they do not fit; a refusal where
 * the directory says that it is something else.
 * `attempt` is told the DN before the password is sent, and counts it.
 * @throws Problem identity_unavailable, and what `attempt` throws
 */
async function authenticate(
  options: LdapOptions,
  username: string,
  password: string,
  attempt: (dn: string) => void,
): Promise<Person | EntryRefusal | undefined> {
  // Without a password servers let everybody bind, as nobody (RFC 4513, section 5.1.2).
  if (password === "" || password.length > LONGEST_PASSWORD) return undefined;
  if (!isTypable(username)) return undefined;
  return withDirectory(options, async (connection) => {
    const entry = await findEntry(connection, options, byName(options, username));
    if (!entry) return undefined;
    attempt(entry.dn);
    const bound = await bindAs(connection, entry.dn, password);
    if (bound !== true) return bound && { ...bound, label: entry.dn };
    if (options.groupBase !== "" && options.bindDn !== "") await bindReader(connection, options);
    return describe(connection, options, entry);
  });
}

/** What the directory says of somebody whom it does not let in although the password may be right. */
interface EntryRefusal extends DirectoryRejection {
  label: string;
}

const isTypable = (username: string): boolean =>
  username !== "" && username.length <= 150 && !UNTYPED.test(username);

/** Looks a name up as for a sign-in, and forgets what was found. @throws Problem identity_unavailable */
const searchFor = async (options: LdapOptions, username: string): Promise<unknown> =>
  isTypable(username) &&
  withDirectory(options, (connection) => findEntry(connection, options, byName(options, username)));

/** Whether this is the password of an entry, or why it is refused; what did not fit is not counted. @throws Problem identity_unavailable */
export const checkPassword = (
  options: LdapOptions,
  dn: string,
  password: string,
): Promise<true | DirectoryRejection | undefined> =>
  withDirectory(options, async (connection) =>
    password === "" ? undefined : bindAs(connection, dn, password),
  );

/** @throws Problem identity_unavailable where the answer is about anything but the password */
async function bindAs(
  connection: LdapConnection,
  dn: string,
  password: string,
): Promise<true | DirectoryRejection | undefined> {
  try {
    await connection.bind(dn, password);
    return true;
  } catch (error) {
    if (REFUSED.has(resultCodeOf(error) ?? -1)) return rejectionOf(error);
    throw unavailable(`${connection.url}: ${inWords(error)}`);
  }
}

/** What a server answers, with what to do about it where that is known. */
function inWords(error: unknown): string {
  const code = resultCodeOf(error);
  const said = describeRejection(error);
  return [
    (error as Error).message,
    code === undefined ? "" : ` (result code ${code})`,
    said === "" ? "" : `: ${said}`,
    WANTS_TLS.has(code ?? -1)
      ? ": the server takes passwords by TLS alone: write ldaps:// in ldap_url, or set ldap_tls to starttls"
      : "",
  ].join("");
}

/** Signs in as the account that looks people up. @throws Problem identity_unavailable */
export async function bindReader(
  connection: LdapConnection,
  { bindDn, bindPassword }: LdapOptions,
): Promise<void> {
  await asked(connection, `bind as ${bindDn}`, connection.bind(bindDn, bindPassword));
}

/** @throws Problem identity_unavailable where the directory refuses what the settings ask of it */
export async function asked<T>(connection: LdapConnection, what: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw unavailable(`${connection.url}: ${what}: ${inWords(error)}`);
  }
}

/** Where to look for one entry. */
interface Where {
  base: string;
  filter: LdapFilter;
  scope: "base" | "sub";
}

/** By the name that is typed at sign-in. */
const byName = ({ userBase, userFilter }: LdapOptions, username: string): Where => ({
  base: userBase,
  filter: fillFilter(userFilter, { username }),
  scope: "sub",
});
const byDn = (dn: string): Where => ({ base: dn, filter: "(objectClass=*)", scope: "base" });

/** The one entry that is there; undefined where there is none, or several. */
async function findEntry(
  connection: LdapConnection,
  options: LdapOptions,
  { base, filter, scope }: Where,
): Promise<LdapEntry | undefined> {
  if (options.bindDn !== "") await bindReader(connection, options);
  const { id, username, fullName, email } = options;
  const attributes = [id, username, fullName, email, ...STATE_ATTRIBUTES].filter((name) => name !== "dn");
  const found = await asked(
    connection,
    `search below ${base} for ${typeof filter === "string" ? filter : `(${filter.attribute}=${filter.value})`}`,
    connection.search(base, filter, attributes, 2, scope).catch((error: unknown) => {
      // More than two; or, of a DN, none.
      if (resultCodeOf(error) === SIZE_LIMIT || (scope === "base" && resultCodeOf(error) === NO_SUCH_OBJECT))
        return [];
      throw error;
    }),
  );
  return found.length === 1 && found[0].dn !== "" ? found[0] : undefined;
}

async function describe(connection: LdapConnection, options: LdapOptions, entry: LdapEntry): Promise<Person> {
  const first = (name: string): string => entry.values.get(name.toLowerCase())?.[0]?.trim() ?? "";
  const username = first(options.username);
  const id = options.id === "dn" ? entry.dn.toLowerCase() : first(options.id);
  if (id === "")
    throw unavailable(`${entry.dn} has no attribute ${options.id} that may be read; see ldap_attributes`);
  return {
    provider: "ldap",
    issuer: "",
    subject: id,
    label: entry.dn,
    username,
    fullName: plainText(first(options.fullName)),
    email: plainEmail(first(options.email)),
    groups: await groupsOf(connection, options, entry.dn, username),
    disabled: accountState(entry.values, Date.now()).closed,
  };
}

async function groupsOf(
  connection: LdapConnection,
  { groupBase, groupFilter, groupName }: LdapOptions,
  dn: string,
  username: string,
): Promise<string[]> {
  if (groupBase === "") return [];
  const filter = fillFilter(groupFilter, { dn, username });
  const found = await asked(
    connection,
    `search below ${groupBase} for ${filter}`,
    connection.search(groupBase, filter, [groupName], GROUPS),
  );
  return found.flatMap(({ values }) => values.get(groupName.toLowerCase()) ?? []);
}

/** Passwords that a directory knows, and the accounts of their owners. */
export class Ldap implements ExternalPasswords {
  readonly name = "ldap";
  private readonly turns = new Semaphore(AT_ONCE);
  private readonly failures: Throttle;

  constructor(
    private readonly options: LdapOptions,
    private readonly identities: Identities,
    private readonly database: Database,
    private readonly log: Log,
    clock: Clock,
  ) {
    this.failures = new Throttle(LOGIN_FAILURES, LOGIN_WINDOW, clock);
  }

  async verify(username: string, password: string): Promise<number | ExternalRejection | undefined> {
    if (!this.identities.mayBeExternal(username, "ldap")) {
      // It takes as long as for a name that is none here, or the time would tell which ones are.
      await this.turns.run(() => searchFor(this.options, username)).catch(() => {});
      return undefined;
    }
    const person = await this.turns.run(() => this.authenticate(username, password));
    if (!person) return undefined;
    if ("words" in person) {
      const { label, reason, words } = person;
      this.log.info("ldap refused", { label, why: words });
      return { reason, label };
    }
    await writeLockOf(this.database).free();
    return this.identities.admit(person, this.options);
  }

  async checkPassword(user: number, username: string, password: string): Promise<boolean> {
    const identity = this.identities.ofUser(user).find(({ provider }) => provider === "ldap");
    if (!identity || password.length > LONGEST_PASSWORD) return false;
    const { options } = this;
    const found = await this.turns.run(() =>
      this.counted(async (attempt) => {
        const person = await lookUpIdentity(options, { ...identity, username });
        if (!person) return undefined;
        attempt(person.label);
        return (await checkPassword(options, person.label, password)) === true ? person : undefined;
      }),
    );
    return found !== undefined;
  }

  private authenticate(username: string, password: string): Promise<Person | EntryRefusal | undefined> {
    return this.counted((attempt) => authenticate(this.options, username, password, attempt));
  }

  /** One entry may have many names that can be typed: attempts are counted by DN, too. @throws Problem throttled */
  private async counted<T extends Person | EntryRefusal>(
    work: (attempt: (dn: string) => void) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    let tried: string | undefined;
    try {
      const person = await work((dn) => {
        const wait = this.failures.wait(dn);
        if (wait > 0) throw throttled(wait);
        this.failures.count(dn);
        tried = dn;
      });
      if (person && !("words" in person)) this.failures.forget(person.label);
      return person;
    } catch (error) {
      if (tried !== undefined) this.failures.forgive(tried);
      throw error;
    }
  }

  canSignIn(user: number): boolean {
    return this.identities.canSignIn(user, "ldap");
  }
}
