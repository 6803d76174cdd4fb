import { Identities, type Memberships } from "./identities.ts";
import { Ldap } from "./ldap.ts";
import { readLdapOptions } from "./ldap-options.ts";
import { scheduleRecheck } from "./ldap-recheck.ts";
import { OidcSignIn } from "./oidc.ts";
import { readOidcOptions } from "./oidc-options.ts";
import { oidcRoutes } from "./route.ts";
import type { IdentitySettings } from "./settings.ts";
import type { Accounts } from "../accounts.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { PublicUrlOptions } from "../../platform/origin.ts";
import type { Database } from "../../platform/sqlite.ts";

export { Identities, type Identity } from "./identities.ts";
export { accountState } from "./active-directory.ts";
export { findExcluded, lookUp, checkPassword } from "./ldap.ts";
export { readLdapOptions } from "./ldap-options.ts";
export { recheckDirectory } from "./ldap-recheck.ts";
export { checkDirectory } from "./check-directory.ts";
export { checkProvider } from "./check-provider.ts";
export { readOidcOptions } from "./oidc-options.ts";
export { configuredProviders, resolveSubject } from "./linking.ts";
export { type Provider, PROVIDERS } from "./person.ts";
export type { IdentitySettings } from "./settings.ts";

export interface IdentityOptions {
  settings: IdentitySettings;
  database: Database;
  clock: Clock;
  accounts: Accounts;
  memberships: Memberships;
  log: Log;
  reach: PublicUrlOptions;
}

/** Has accounts ask those who know them besides us. @throws Problem invalid_setting */
export function openIdentity(options: IdentityOptions): {
  identities: Identities;
  routes: ReturnType<typeof oidcRoutes>;
  close(): Promise<void>;
} {
  const { settings, database, clock, accounts, memberships } = options;
  const identities = new Identities(database, clock, accounts, memberships);
  const ldap = readLdapOptions(settings);
  if (ldap) accounts.signIns.externalPasswords = new Ldap(ldap, identities, database, options.log, clock);
  const recheck = ldap && scheduleRecheck({ ...options, options: ldap, identities });
  const provider = readOidcOptions(settings);
  const oidc = provider && new OidcSignIn({ ...options, options: provider, identities });
  return { identities, routes: oidcRoutes(oidc), close: async () => recheck?.close() };
}
