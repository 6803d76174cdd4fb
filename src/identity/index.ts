import type { Accounts } from "../shell/auth.ts";
import type { Clock } from "../shell/clock.ts";
import type { Database } from "../shell/sqlite.ts";
import { Identities, type Memberships } from "./identities.ts";
import { Ldap } from "./ldap.ts";
import { readLdapOptions } from "./ldap-options.ts";
import type { IdentitySettings } from "./settings.ts";

export { Identities, type Identity } from "./identities.ts";
export { lookAtDirectory } from "./look-at-directory.ts";
export { lookUp, passwordFits } from "./ldap.ts";
export { readLdapOptions } from "./ldap-options.ts";

export interface IdentityOptions {
  settings: IdentitySettings & { login_failures: number; login_window: number };
  database: Database;
  clock: Clock;
  accounts: Accounts;
  memberships: Memberships;
}

/** Has accounts ask those who know them besides us. @throws Problem invalid_setting */
export function openIdentity({
  settings,
  database,
  clock,
  accounts,
  memberships,
}: IdentityOptions): Identities {
  const identities = new Identities(database, clock, accounts, memberships);
  const ldap = readLdapOptions(settings);
  if (ldap) accounts.elsewhere = new Ldap(ldap, identities, database, clock);
  return identities;
}
