import type { Opened } from "../app/data-directory.ts";
import type { Config } from "../config.ts";
import { Identities, lookUp, readLdapOptions } from "../identity/index.ts";
import { openMemberships } from "../inventory/index.ts";
import { Problem } from "../problem.ts";
import { systemClock } from "../shell/clock.ts";

const PROVIDERS = ["ldap", "oidc"] as const;

/** Which accounts others vouch for, in a data directory. */
export const identitiesOf = ({ database, accounts }: Pick<Opened, "database" | "accounts">): Identities =>
  new Identities(database, systemClock, accounts, openMemberships(database, systemClock));

/** `labd user link`. @throws Problem usage, not_found, conflict, identity_unavailable */
export async function link(
  opened: Opened,
  config: Config,
  username: string,
  { ldap }: { ldap: string | undefined },
): Promise<string> {
  if (ldap === undefined) throw new Problem("usage", "labd user link takes --ldap NAME, or a DN.");
  const user = opened.accounts.userOf(username);
  const options = readLdapOptions(config);
  if (!options) throw new Problem("invalid_setting", "ldap_url: expected an address; there is no directory.");
  const found = await lookUp(options, ldap);
  if (!found) throw new Problem("not_found", `The directory has nobody, or several, by ${ldap}.`);
  identitiesOf(opened).link(user, found.person);
  return `Linked ${username} to ${found.person.label}: the password of the directory signs in.\n`;
}

/** `labd user unlink`. @throws Problem usage, not_found */
export function unlink(opened: Opened, username: string, from: string | undefined): string {
  const provider = PROVIDERS.find((name) => name === from);
  if (!provider)
    throw new Problem("usage", `labd user unlink takes --from ${PROVIDERS.join(" or --from ")}.`);
  const { label } = identitiesOf(opened).unlink(opened.accounts.userOf(username), provider);
  return `Unlinked ${username} from ${label}, and ended its sessions. Tokens stay: labd token revoke --user ${username}\n`;
}
