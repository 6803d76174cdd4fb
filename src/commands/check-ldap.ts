import { existsSync } from "node:fs";
import { join } from "node:path";
import { DATABASE } from "../app/data-directory.ts";
import { accountOptions } from "../app/options.ts";
import type { Config } from "../config.ts";
import {
  findExcluded,
  checkDirectory,
  lookUp,
  checkPassword,
  readLdapOptions,
  accountState,
} from "../accounts/external/index.ts";
import { isInAnyGroup, membershipsBy } from "../accounts/external/person.ts";
import { Problem } from "../problem.ts";
import { Accounts } from "../accounts/accounts.ts";
import { systemClock } from "../platform/clock.ts";
import { openReader } from "../platform/sqlite.ts";
import { identitiesOf } from "./user-link.ts";

const REMEDIES: Readonly<Record<string, (name: string, who: string) => string>> = {
  not_allowed: () => "none of the groups is in ldap_groups_allowed",
  disabled: (name) => `the account is disabled: labd user enable ${name}`,
  no_account: (name, who) =>
    `there is no account, and ldap_new_accounts is off: labd user add ${name}, then labd user link ${name} --ldap ${who}`,
  name_taken: (name, who) =>
    `there is an account ${name} that is not linked: labd user link ${name} --ldap ${who}`,
  name_unusable: (_, who) =>
    `no account can have this name: labd user add another, then labd user link it --ldap ${who}`,
};

/** `labd check --ldap NAME`: what the directory says of somebody, in words. @returns lines, and whether it would come in */
export async function checkLdap(
  config: Config,
  who: string,
  password: string | undefined,
): Promise<{ text: string; good: boolean }> {
  const options = readLdapOptions(config);
  if (!options) throw new Problem("invalid_setting", "ldap_url: expected an address; there is no directory.");
  const rows: [string, string][] = [];
  const servers = await checkDirectory(options);
  for (const { about, found, state } of servers)
    if (about === "ldap" && state !== "warning") rows.push(["server", found]);
  const end = (good: boolean) => {
    const width = Math.max(...rows.map(([name]) => name.length));
    // What others wrote must not tell a terminal what to do.
    const lines = rows.map(([name, said]) => `${name.padEnd(width)}  ${said.replace(/\p{C}/gu, "\ufffd")}\n`);
    return { good, text: lines.join("") };
  };
  if (!servers.some(({ state }) => state === "ok")) return end(false);
  const found = await lookUp(options, who).catch((error: unknown) => {
    throw error instanceof Problem && error.cause instanceof Error
      ? new Problem("identity_unavailable", error.cause.message)
      : error;
  });
  if (!found) {
    rows.push([
      "person",
      `nobody, or several, below ${options.userBase} by ${options.userFilter} with ${who}`,
    ]);
    const other = await findExcluded(options, who).catch(() => undefined);
    if (other) {
      const state = accountState(other.values, Date.now()).words.join(", ");
      rows.push(["left out", `${other.dn}${state === "" ? "" : `: ${state}`}`]);
    }
    return end(false);
  }
  const { person } = found;
  rows.push(
    ["person", person.label],
    ["id", `${person.subject} (${options.id})`],
    ["name", `${person.username}, ${person.fullName || "no full name"}, ${person.email || "no e-mail"}`],
    ["groups", person.groups.join(", ") || (options.groupBase === "" ? "not asked for" : "none")],
  );
  const state = accountState(found.entry.values, Date.now());
  if (state.words.length > 0) rows.push(["account", state.words.join(", ")]);
  let fits = true;
  if (password !== undefined) {
    const bound = await checkPassword(options, found.entry.dn, password);
    fits = bound === true;
    rows.push(["password", bound === true ? "fits" : bound ? `is refused: ${bound.words}` : "does not fit"]);
  }
  if (options.administrators.length > 0)
    rows.push(["administrator", isInAnyGroup(person.groups, options.administrators) ? "yes" : "no"]);
  for (const [group, isIn] of membershipsBy(options.map, person.groups))
    rows.push(["group", `${group}: ${isIn ? "member" : "no member"}`]);
  if (state.closed) {
    rows.push(["signs in", "no: the directory lets the account do nothing"]);
    return end(false);
  }
  const isAllowed = options.allowed.length === 0 || isInAnyGroup(person.groups, options.allowed);
  const path = join(config.data_dir, DATABASE);
  if (!existsSync(path)) {
    rows.push(["signs in", isAllowed ? "yes" : `no: ${REMEDIES.not_allowed("", who)}`]);
    return end(fits && isAllowed);
  }
  const database = openReader(path);
  try {
    const accounts = new Accounts(database, systemClock, accountOptions(config));
    const { refusal, account } = identitiesOf({ database, accounts }).preview(person, options);
    const name = account ?? person.username.toLowerCase();
    rows.push([
      "signs in",
      refusal === undefined
        ? `yes, as ${name}${account === null ? ", which is made then" : ""}`
        : `no: ${REMEDIES[refusal](name, who)}`,
    ]);
    return end(fits && refusal === undefined);
  } finally {
    database.close();
  }
}
