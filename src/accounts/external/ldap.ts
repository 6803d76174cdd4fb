import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { currentRequest } from "../../platform/request-context.ts";
import { Semaphore } from "../../platform/semaphore.ts";
import type { Database } from "../../platform/sqlite.ts";
import { getWriteLock } from "../../platform/write-lock.ts";
import type { ExternalPasswords, ExternalRejection } from "../external-password.ts";
import {
  ACCOUNT_WINDOW,
  Attempt,
  type AttemptCounter,
  GrowingDelay,
  LOGIN_FAILURES_ACCOUNT,
  Throttle,
  throttled,
} from "../throttle.ts";
import {
  accountState,
  describeRejection,
  type DirectoryRejection,
  parseRejection,
  STATE_ATTRIBUTES,
} from "./active-directory.ts";
import type { Identities } from "./identities.ts";
import {
  type LdapConnection,
  type LdapEntry,
  type LdapFilter,
  type LdapServer,
  readResultCode,
  unavailable,
  withDirectory,
} from "./ldap-connection.ts";
import { cleanEmail, cleanText } from "../username.ts";
import type { Admission, Person } from "./person.ts";

/** The search bases of people and groups in a directory. */
export interface LdapOptions extends LdapServer, Admission {
  bindDn: string;
  bindPassword: string;
  userBase: string;
  userFilter: string;
  id: string;
  username: string;
  fullName: string;
  email: string;
  /** Names of groups; empty without groups. */
  groupBase: string;
  groupFilter: string;
  groupName: string;
}

const MAX_PASSWORD = 1024;
const MAX_CONNECTIONS = 16;
const MAX_GROUPS = 1000;
/** Result codes (RFC 4511, appendix A) of a wrong password or an account that may not be used. */
const REJECTED_CODES = new Set([19, 32, 34, 48, 49, 50, 53]);
const SIZE_LIMIT = 4;
const NO_SUCH_OBJECT = 32;
/** strongerAuthRequired and confidentialityRequired. */
const NEEDS_TLS = new Set([8, 13]);
/** Directories ignore some of these characters when they compare names. */
const UNTYPABLE_CHARACTERS = /[\p{Cc}\p{Cn}\p{Co}\p{Cs}]/u;

/** A filter with values for its placeholders such as `{username}`, escaped (RFC 4515, section 3). */
export const fillFilter = (filter: string, values: Readonly<Record<string, string>>): string =>
  filter.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name)
      ? values[name].replace(
          /[\0()*\\]/g,
          (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
        )
      : placeholder,
  );

/** The search for one entry: base, scope and filter. */
interface Target {
  base: string;
  filter: LdapFilter;
  scope: "base" | "sub";
}

const targetByName = ({ userBase, userFilter }: LdapOptions, username: string): Target => ({
  base: userBase,
  filter: fillFilter(userFilter, { username }),
  scope: "sub",
});
const targetByAttribute = ({ userBase }: LdapOptions, attribute: string, value: string): Target => ({
  base: userBase,
  filter: { attribute, value },
  scope: "sub",
});
const targetByDn = (dn: string): Target => ({ base: dn, filter: "(objectClass=*)", scope: "base" });

/** Finds a person by the name typed at sign-in, or by DN. @throws Problem identity_unavailable */
export const lookUp = (
  options: LdapOptions,
  typed: string,
): Promise<{ entry: LdapEntry; person: Person } | undefined> =>
  withDirectory(options, async (connection) => {
    const isDn = /^[^=,]+=[^,]*,.*=/.test(typed);
    const entry = await findEntry(
      connection,
      options,
      isDn ? targetByDn(typed) : targetByName(options, typed),
    );
    return entry && { entry, person: await describe(connection, options, entry) };
  });

/** Finds the person of a linked account by name, identifier or former DN. @throws Problem identity_unavailable */
export const lookUpIdentity = (
  options: LdapOptions,
  { subject, label, username }: { subject: string; label: string; username: string },
): Promise<Person | undefined> =>
  withDirectory(options, async (connection) => {
    const find = async (target: Target): Promise<Person | undefined> => {
      const entry = await findEntry(connection, options, target);
      const person = entry && (await describe(connection, options, entry));
      return person?.subject === subject ? person : undefined;
    };
    const byId = options.id === "dn" ? targetByDn(label) : targetByAttribute(options, options.id, subject);
    const found = await find(targetByName(options, username));
    if (found) return found;
    const renamed = (await find(byId)) ?? (await find(targetByDn(label)));
    // The filter for people must match too.
    return renamed && find(targetByName(options, renamed.username));
  });

/** An entry with this username that `userFilter` excludes. @throws Problem identity_unavailable */
export const findExcluded = (options: LdapOptions, username: string): Promise<LdapEntry | undefined> =>
  withDirectory(options, (connection) =>
    findEntry(connection, options, targetByAttribute(options, options.username, username)),
  );

/** Checks the password of an entry: true, false, or the reason for a rejection. @throws Problem identity_unavailable */
export const checkPassword = (
  options: LdapOptions,
  dn: string,
  password: string,
): Promise<boolean | DirectoryRejection> =>
  withDirectory(options, (connection) => bindAs(connection, dn, password));

async function bindAs(
  connection: LdapConnection,
  dn: string,
  password: string,
): Promise<boolean | DirectoryRejection> {
  // Servers accept a bind without a password, as anonymous (RFC 4513, section 5.1.2).
  if (password === "" || password.length > MAX_PASSWORD) return false;
  try {
    await connection.bind(dn, password);
    return true;
  } catch (error) {
    if (REJECTED_CODES.has(readResultCode(error) ?? -1)) return parseRejection(error) ?? false;
    throw unavailable(`${connection.url}: ${explain(error)}`);
  }
}

/** A server's error with its code and a remedy, where known. */
function explain(error: unknown): string {
  const code = readResultCode(error);
  const rejection = describeRejection(error);
  const needsTls = NEEDS_TLS.has(code ?? -1);
  return [
    `${(error as Error).message}${code === undefined ? "" : ` (result code ${code})`}`,
    ...(rejection === "" ? [] : [rejection]),
    ...(needsTls ? ["the server requires TLS: use ldaps:// in ldap_url, or set ldap_tls to starttls"] : []),
  ].join(": ");
}

/** Awaits an operation that the settings ask for. @throws Problem identity_unavailable if the server refuses it */
export async function requireAnswer<T>(
  connection: LdapConnection,
  operation: string,
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw unavailable(`${connection.url}: ${operation}: ${explain(error)}`);
  }
}

/** Binds as the account that searches, if there is one. @throws Problem identity_unavailable */
export async function bindReader(connection: LdapConnection, options: LdapOptions): Promise<void> {
  const { bindDn, bindPassword } = options;
  if (bindDn !== "")
    await requireAnswer(connection, `bind as ${bindDn}`, connection.bind(bindDn, bindPassword));
}

/** The only matching entry; undefined if there is none, or several. */
async function findEntry(
  connection: LdapConnection,
  options: LdapOptions,
  { base, filter, scope }: Target,
): Promise<LdapEntry | undefined> {
  await bindReader(connection, options);
  const attributes = [options.id, options.username, options.fullName, options.email, ...STATE_ATTRIBUTES];
  const wanted = attributes.filter((name) => name !== "dn");
  const search = connection.search(base, filter, wanted, 2, scope).catch((error: unknown) => {
    const code = readResultCode(error);
    if (code === SIZE_LIMIT || (scope === "base" && code === NO_SUCH_OBJECT)) return [];
    throw error;
  });
  const text = typeof filter === "string" ? filter : `(${filter.attribute}=${filter.value})`;
  const found = await requireAnswer(connection, `search below ${base} for ${text}`, search);
  return found.length === 1 && found[0].dn !== "" ? found[0] : undefined;
}

async function describe(connection: LdapConnection, options: LdapOptions, entry: LdapEntry): Promise<Person> {
  const first = (name: string): string => entry.values.get(name.toLowerCase())?.[0]?.trim() ?? "";
  const username = first(options.username);
  const subject = options.id === "dn" ? entry.dn.toLowerCase() : first(options.id);
  if (subject === "")
    throw unavailable(`${entry.dn} has no readable attribute ${options.id} (setting ldap_attributes)`);
  return {
    provider: "ldap",
    issuer: "",
    subject,
    label: entry.dn,
    username,
    fullName: cleanText(first(options.fullName)),
    email: cleanEmail(first(options.email)),
    isEmailVerified: true,
    groups: await findGroups(connection, options, { dn: entry.dn, username }),
    disabled: accountState(entry.values, Date.now()).closed,
  };
}

async function findGroups(
  connection: LdapConnection,
  { groupBase, groupFilter, groupName }: LdapOptions,
  person: { dn: string; username: string },
): Promise<string[]> {
  if (groupBase === "") return [];
  const filter = fillFilter(groupFilter, person);
  const search = connection.search(groupBase, filter, [groupName], MAX_GROUPS);
  const found = await requireAnswer(connection, `search below ${groupBase} for ${filter}`, search);
  return found.flatMap(({ values }) => values.get(groupName.toLowerCase()) ?? []);
}

/** Rejections carry the DN. */
type Rejected = DirectoryRejection & { label: string };

/** Directory passwords, and the accounts of their owners. */
export class LdapPasswords implements ExternalPasswords {
  readonly name = "ldap";
  private readonly semaphore = new Semaphore(MAX_CONNECTIONS);
  /** Attempts by directory entry and known browser or address. */
  private readonly originDelay: GrowingDelay;
  private readonly entryThrottle: Throttle;

  constructor(
    private readonly options: LdapOptions,
    private readonly identities: Identities,
    private readonly database: Database,
    private readonly log: Log,
    clock: Clock,
  ) {
    this.originDelay = new GrowingDelay(clock);
    this.entryThrottle = new Throttle(LOGIN_FAILURES_ACCOUNT, ACCOUNT_WINDOW, clock);
  }

  async verify(
    username: string,
    password: string,
    browser?: string,
  ): Promise<number | ExternalRejection | undefined> {
    const isTypable = username !== "" && username.length <= 150 && !UNTYPABLE_CHARACTERS.test(username);
    if (!this.identities.mayBeExternal(username, "ldap")) {
      // Search nevertheless: the time must not tell which local accounts exist.
      if (isTypable) await this.semaphore.run(() => this.search(username)).catch(() => {});
      return undefined;
    }
    if (!isTypable || password === "" || password.length > MAX_PASSWORD) return undefined;
    const person = await this.semaphore.run(() => this.authenticate(username, password, browser));
    if (!person) return undefined;
    if ("words" in person) {
      const { label, reason, words } = person;
      this.log.info("ldap refused", { label, why: words });
      return { reason, label };
    }
    await getWriteLock(this.database).free();
    return this.identities.admit(person, this.options);
  }

  private search(username: string): Promise<unknown> {
    const { options } = this;
    return withDirectory(options, (connection) =>
      findEntry(connection, options, targetByName(options, username)),
    );
  }

  private authenticate(
    username: string,
    password: string,
    browser: string | undefined,
  ): Promise<Person | Rejected | undefined> {
    const { options } = this;
    return withDirectory(options, async (connection) => {
      const entry = await findEntry(connection, options, targetByName(options, username));
      if (!entry) return undefined;
      const bound = await this.countAttempt(entry.dn, browser, () => bindAs(connection, entry.dn, password));
      if (bound === false) return undefined;
      if (bound !== true) return { ...bound, label: entry.dn };
      if (options.groupBase !== "") await bindReader(connection, options);
      return describe(connection, options, entry);
    });
  }

  async checkPassword(user: number, username: string, password: string, browser?: string): Promise<boolean> {
    const identity = this.identities.listByUser(user).find(({ provider }) => provider === "ldap");
    if (!identity) return false;
    return this.semaphore.run(async () => {
      const person = await lookUpIdentity(this.options, { ...identity, username });
      if (!person) return false;
      const dn = person.label;
      return (await this.countAttempt(dn, browser, () => checkPassword(this.options, dn, password))) === true;
    });
  }

  /**
   * Counts attempts as `SignIns` does, but by DN, because one entry may have several names. @throws Problem throttled
   */
  private async countAttempt<T>(dn: string, browser: string | undefined, bind: () => Promise<T>): Promise<T> {
    const origin = `${dn} ${browser ?? currentRequest()?.network ?? ""}`;
    const counters: [AttemptCounter, string][] = [[this.originDelay, origin]];
    if (browser === undefined) counters.push([this.entryThrottle, dn]);
    const attempt = new Attempt(counters);
    const wait = attempt.wait();
    if (wait > 0) throw throttled(wait);
    attempt.count();
    try {
      const bound = await bind();
      if (bound !== true) return bound;
      attempt.forgive();
      this.originDelay.forget(origin);
      return bound;
    } catch (error) {
      attempt.forgive();
      throw error;
    }
  }

  canSignIn(user: number): boolean {
    return this.identities.canSignIn(user, "ldap");
  }
}
