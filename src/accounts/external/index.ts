import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/sqlite.ts";
import { Problem } from "../../problem.ts";
import type { Accounts } from "../accounts.ts";
import { Identities, type Memberships } from "./identities.ts";
import { LdapPasswords, lookUp } from "./ldap.ts";
import { scheduleRecheck } from "./ldap-recheck.ts";
import { OidcSignIn } from "./oidc.ts";
import { readLdapOptions, readOidcOptions } from "./options.ts";
import type { Provider, Subject } from "./person.ts";
import { oidcRoutes } from "./route.ts";
import type { IdentitySettings } from "./settings.ts";

export { Identities, type Identity } from "./identities.ts";
export { accountState } from "./active-directory.ts";
export { findExcluded, lookUp, checkPassword } from "./ldap.ts";
export { ldapMistakes, oidcMistakes, readLdapOptions, readOidcOptions } from "./options.ts";
export { recheckDirectory } from "./ldap-recheck.ts";
export { checkDirectory, checkProvider } from "./check.ts";
export { type Provider, PROVIDERS } from "./person.ts";
export type { IdentitySettings } from "./settings.ts";

export interface IdentityOptions {
  settings: IdentitySettings;
  database: Database;
  clock: Clock;
  accounts: Accounts;
  memberships: Memberships;
  log: Log;
}

/** Sign-in with a directory and a provider, if configured. @throws Problem invalid_setting */
export function openIdentity(options: IdentityOptions) {
  const { settings, database, clock, accounts, memberships, log } = options;
  const identities = new Identities(database, clock, accounts, memberships);
  const ldap = readLdapOptions(settings);
  if (ldap) accounts.signIns.externalPasswords = new LdapPasswords(ldap, identities, database, log, clock);
  const recheck = ldap && scheduleRecheck({ ...options, options: ldap, identities });
  const provider = readOidcOptions(settings);
  const oidc = provider && new OidcSignIn({ ...options, options: provider, identities });
  return { identities, routes: oidcRoutes(oidc), close: async () => recheck?.close() };
}

/** @throws Problem invalid_setting */
export const configuredProviders = (settings: IdentitySettings): Provider[] => [
  ...(readLdapOptions(settings) ? (["ldap"] as const) : []),
  ...(readOidcOptions(settings) ? (["oidc"] as const) : []),
];

/**
 * The person that an administrator names: in the directory by the name typed at sign-in or the DN, at the provider by the
 * subject. @throws Problem invalid_setting, not_found, invalid_request, identity_unavailable
 */
export async function resolveSubject(
  settings: IdentitySettings,
  provider: Provider,
  name: string,
): Promise<Subject> {
  if (name === "")
    throw new Problem("invalid_request", "who: This field is required.", {
      fields: { who: ["This field is required."] },
    });
  if (provider === "ldap") {
    const options = readLdapOptions(settings);
    if (!options) throw new Problem("invalid_setting", "ldap_url: no directory is configured.");
    const found = await lookUp(options, name);
    if (!found) throw new Problem("not_found", `The directory has no entry, or several, for ${name}.`);
    return found.person;
  }
  const options = readOidcOptions(settings);
  if (!options) throw new Problem("invalid_setting", "oidc_issuer: no provider is configured.");
  const { issuer } = options;
  return { provider: "oidc", issuer, subject: name, label: `${name} at ${issuer}` };
}
