import type { Opened } from "../app/data-directory.ts";
import type { Config } from "../config.ts";
import {
  Identities,
  PROVIDERS,
  readLdapOptions,
  recheckDirectory,
  resolveSubject,
} from "../accounts/external/index.ts";
import { openMemberships } from "../inventory/index.ts";
import { Problem } from "../problem.ts";
import { accountTable } from "./account-table.ts";
import { systemClock } from "../platform/clock.ts";

/** Which accounts others vouch for, in a data directory. */
export const identitiesOf = ({ database, accounts }: Pick<Opened, "database" | "accounts">): Identities =>
  new Identities(database, systemClock, accounts, openMemberships(database, systemClock));

/** `labd user link`. @throws Problem usage, invalid_setting, not_found, conflict, identity_unavailable */
export async function link(
  opened: Opened,
  config: Config,
  username: string,
  { ldap, oidc }: { ldap: string | undefined; oidc: string | undefined },
): Promise<string> {
  if ((ldap === undefined) === (oidc === undefined))
    throw new Problem("usage", "labd user link takes --ldap WHO or --oidc SUBJECT.");
  const user = opened.accounts.userId(username);
  const subject = await (ldap === undefined
    ? resolveSubject(config, "oidc", oidc!)
    : resolveSubject(config, "ldap", ldap));
  identitiesOf(opened).link(user, subject);
  return `Linked ${username} to ${subject.label}, who signs in as this account from now on.\n`;
}

/** `labd user unlink`. @throws Problem usage, not_found */
export function unlink(opened: Opened, username: string, from: string | undefined): string {
  const provider = PROVIDERS.find((name) => name === from);
  if (!provider)
    throw new Problem("usage", `labd user unlink takes --from ${PROVIDERS.join(" or --from ")}.`);
  const { label } = identitiesOf(opened).unlink(opened.accounts.userId(username), provider);
  return `Unlinked ${username} from ${label}, and ended its sessions. Tokens stay: labd token revoke --user ${username}\n`;
}

/** `labd user recheck`. @throws Problem invalid_setting, identity_unavailable, conflict */
export async function recheck(opened: Opened, config: Config): Promise<string> {
  const options = readLdapOptions(config);
  if (!options) throw new Problem("invalid_setting", "ldap_url: expected an address; there is no directory.");
  const all = await recheckDirectory({ options, identities: identitiesOf(opened), ...opened });
  return accountTable(
    ["username", "outcome", "why"],
    all.map(({ username, outcome, why = "" }) => [username, outcome, why]),
  );
}
