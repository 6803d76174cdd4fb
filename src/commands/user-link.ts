import {
  Identities,
  PROVIDERS,
  readLdapOptions,
  recheckDirectory,
  resolveSubject,
} from "../accounts/external/index.ts";
import type { Opened } from "../app/data-directory.ts";
import { openMemberships } from "../inventory/index.ts";
import { systemClock } from "../platform/clock.ts";
import { Problem } from "../problem.ts";
import type { Call } from "./command.ts";
import { textTable } from "./text-table.ts";
import { withData } from "./with-data.ts";

/** The links between accounts and external identities in a data directory. */
export const openIdentities = ({ database, accounts }: Pick<Opened, "database" | "accounts">): Identities =>
  new Identities(database, systemClock, accounts, openMemberships(database, systemClock));

/** `labd user link`. @throws Problem usage, invalid_setting, not_found, conflict, identity_unavailable */
export function linkUser(call: Call): Promise<void> {
  const [username] = call.operands;
  const providers = PROVIDERS.filter((provider) => call.has(`--${provider}`));
  if (providers.length !== 1)
    throw new Problem("usage", "labd user link needs --ldap NAME or --oidc SUBJECT.");
  const [provider] = providers;
  return withData(call, async (opened, config) => {
    const user = opened.accounts.userId(username);
    const subject = await resolveSubject(config, provider, call.value(`--${provider}`)!);
    openIdentities(opened).link(user, subject);
    await call.print(`Linked ${username} to ${subject.label}, who signs in as this account from now on.\n`);
  });
}

/** `labd user unlink`. @throws Problem usage, not_found */
export function unlinkUser(call: Call): Promise<void> {
  const [username] = call.operands;
  const provider = PROVIDERS.find((name) => name === call.value("--from"));
  if (!provider)
    throw new Problem("usage", `labd user unlink needs --from ${PROVIDERS.join(" or --from ")}.`);
  return withData(call, (opened) => {
    const { label } = openIdentities(opened).unlink(opened.accounts.userId(username), provider);
    return call.print(
      `Unlinked ${username} from ${label}, and ended its sessions. Tokens remain: labd token revoke --user ${username}\n`,
    );
  });
}

/** `labd user recheck`. @throws Problem invalid_setting, identity_unavailable, conflict */
export const recheckUsers = (call: Call): Promise<void> =>
  withData(call, async (opened, config) => {
    const options = readLdapOptions(config);
    if (!options) throw new Problem("invalid_setting", "ldap_url is empty: no directory is configured.");
    const all = await recheckDirectory({ options, identities: openIdentities(opened), ...opened });
    const rows = all.map(({ username, outcome, why = "" }) => [username, outcome, why]);
    await call.print(textTable(["username", "outcome", "reason"], rows));
  });
