import { existsSync } from "node:fs";
import { join } from "node:path";
import { Accounts } from "../accounts/accounts.ts";
import {
  accountState,
  checkDirectory,
  checkPassword,
  findExcluded,
  lookUp,
  readLdapOptions,
} from "../accounts/external/index.ts";
import { isInAnyGroup, mapMemberships } from "../accounts/external/person.ts";
import { DATABASE } from "../app/data-directory.ts";
import { accountOptions } from "../app/options.ts";
import type { Config } from "../config.ts";
import { systemClock } from "../platform/clock.ts";
import { openReader } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import { openIdentities } from "./user-link.ts";

type Options = NonNullable<ReturnType<typeof readLdapOptions>>;
type Found = NonNullable<Awaited<ReturnType<typeof lookUp>>>;

const REMEDIES: Readonly<Record<string, (name: string, typed: string) => string>> = {
  not_allowed: () => "none of the groups is in groups_allowed",
  disabled: (name) => `the account is disabled. Run labd user enable ${name}`,
  no_account: (name, typed) =>
    `there is no account, and new_accounts does not create accounts for the directory. Run labd user add ${name}, then labd user link ${name} --ldap ${typed}`,
  name_taken: (name, typed) =>
    `the account ${name} exists but is not linked. Run labd user link ${name} --ldap ${typed}`,
  name_unusable: (_, typed) =>
    `this is not a valid username. Add an account with another name (labd user add NAME), then run labd user link NAME --ldap ${typed}`,
};

type Rows = [name: string, text: string][];

/** `labd check --ldap NAME`: the directory's data about a person, and whether they could sign in. */
export async function checkLdap(
  config: Config,
  typed: string,
  password: string | undefined,
): Promise<{ text: string; canSignIn: boolean }> {
  const options = readLdapOptions(config);
  if (!options) throw new Problem("invalid_setting", "ldap_url is empty: no directory is configured.");
  const rows: Rows = [];
  const canSignIn = await describe(rows, config, options, typed, password);
  const width = Math.max(...rows.map(([name]) => name.length));
  // Values from the directory must not control the terminal.
  const lines = rows.map(([name, text]) => `${name.padEnd(width)}  ${text.replace(/\p{C}/gu, "\ufffd")}\n`);
  return { canSignIn, text: lines.join("") };
}

async function describe(
  rows: Rows,
  config: Config,
  options: Options,
  typed: string,
  password: string | undefined,
): Promise<boolean> {
  const servers = await checkDirectory(options);
  for (const { about, found, state } of servers)
    if (about === "ldap" && state !== "warning") rows.push(["server", found]);
  if (!servers.some(({ state }) => state === "ok")) return false;
  const found = await lookUp(options, typed).catch((error: unknown) => {
    throw error instanceof Problem && error.cause instanceof Error
      ? new Problem("identity_unavailable", error.cause.message)
      : error;
  });
  if (!found) {
    await describeMissing(rows, options, typed);
    return false;
  }
  const closed = describePerson(rows, options, found);
  const bound = password === undefined || (await checkPassword(options, found.entry.dn, password));
  if (password !== undefined)
    rows.push(["password", bound === true ? "correct" : bound ? `refused: ${bound.words}` : "wrong"]);
  describeGroups(rows, options, found);
  const [answer, isAllowedIn] = closed
    ? ["no: the account is disabled in the directory", false]
    : admission(config, options, found, typed);
  rows.push(["signs in", answer]);
  return bound === true && isAllowedIn;
}

async function describeMissing(rows: Rows, options: Options, typed: string): Promise<void> {
  const { userBase, userFilter } = options;
  rows.push(["person", `not exactly one entry below ${userBase} matches ${userFilter} with ${typed}`]);
  const excluded = await findExcluded(options, typed).catch(() => undefined);
  if (!excluded) return;
  const state = accountState(excluded.values, Date.now()).words.join(", ");
  rows.push(["excluded", `${excluded.dn}${state && `: ${state}`}`]);
}

/** @returns whether the directory has closed the account */
function describePerson(rows: Rows, { id, groupBase }: Options, { person, entry }: Found): boolean {
  const { username, fullName, email, groups } = person;
  rows.push(["person", person.label]);
  rows.push(["id", `${person.subject} (${id})`]);
  rows.push(["name", `${username}, ${fullName || "no full name"}, ${email || "no e-mail"}`]);
  rows.push(["groups", groups.join(", ") || (groupBase === "" ? "not looked up" : "none")]);
  const { words, closed } = accountState(entry.values, Date.now());
  if (words.length > 0) rows.push(["account", words.join(", ")]);
  return closed;
}

function describeGroups(rows: Rows, { administrators, map }: Options, { person }: Found): void {
  if (administrators.length > 0)
    rows.push(["administrator", isInAnyGroup(person.groups, administrators) ? "yes" : "no"]);
  for (const [group, isMember] of mapMemberships(map, person.groups))
    rows.push(["group", `${group}: ${isMember ? "member" : "not a member"}`]);
}

/** A sentence about whether the person could sign in, and the answer as a boolean. */
function admission(config: Config, options: Options, { person }: Found, typed: string): [string, boolean] {
  const path = join(config.data_dir, DATABASE);
  if (!existsSync(path)) {
    const isAllowed = options.allowed.length === 0 || isInAnyGroup(person.groups, options.allowed);
    return isAllowed ? ["yes", true] : [`no: ${REMEDIES.not_allowed("", typed)}`, false];
  }
  const database = openReader(path);
  try {
    const accounts = new Accounts(database, systemClock, accountOptions(config));
    const { refusal, account } = openIdentities({ database, accounts }).preview(person, options);
    const name = account ?? person.username.toLowerCase();
    if (refusal !== undefined) return [`no: ${REMEDIES[refusal](name, typed)}`, false];
    return [`yes, as ${name}${account === null ? ", which the first sign-in creates" : ""}`, true];
  } finally {
    database.close();
  }
}
