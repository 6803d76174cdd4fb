import { existsSync } from "node:fs";
import { type Admission, readMap, readNames } from "./person.ts";
import type { IdentitySettings } from "./settings.ts";
import { Problem } from "../../problem.ts";

/** A provider of OpenID Connect, and who of its people come in. */
export interface OidcOptions extends Admission {
  issuer: string;
  clientId: string;
  /** Empty where the provider has given none. */
  clientSecret: string;
  scopes: string;
  /** File with the authorities that are trusted; empty for those of the system. */
  caFile: string;
  /** Claims; groups may lie within another, `realm_access.roles`. */
  username: string;
  fullName: string;
  email: string;
  groups: string;
  /** Whether signing out leads there, too. */
  signOut: boolean;
  /** Hours after which the provider is to be asked again. */
  sessionHours: number;
  /** Milliseconds for one answer. */
  timeout: number;
}

/**
 * What the settings say of the provider; undefined where there is none.
 * @throws Problem invalid_setting where they do not go together
 */
export function readOidcOptions(settings: IdentitySettings): OidcOptions | undefined {
  if (settings.oidc_issuer === "") return undefined;
  if (settings.oidc_client_id === "")
    throw new Problem(
      "invalid_setting",
      "oidc_client_id: expected what the provider knows this service as, with oidc_issuer.",
    );
  if (settings.oidc_ca_file !== "" && !existsSync(settings.oidc_ca_file))
    throw new Problem("invalid_setting", `oidc_ca_file: there is no file ${settings.oidc_ca_file}.`);
  return {
    // One spelling of an address: accounts are bound to it.
    issuer: new URL(settings.oidc_issuer).href.replace(/^(https?:\/\/[^/]+)\/$/, "$1"),
    clientId: settings.oidc_client_id,
    clientSecret: settings.oidc_client_secret,
    scopes: settings.oidc_scopes,
    caFile: settings.oidc_ca_file,
    username: settings.oidc_claim_username,
    fullName: settings.oidc_claim_name,
    email: settings.oidc_claim_email,
    groups: settings.oidc_claim_groups,
    signOut: settings.oidc_sign_out,
    sessionHours: settings.oidc_session_hours,
    timeout: settings.oidc_timeout * 1000,
    newAccounts: settings.oidc_new_accounts,
    allowed: readNames(settings.oidc_groups_allowed),
    administrators: readNames(settings.oidc_groups_admin),
    map: readMap(settings.oidc_group_map),
    firstGroup: settings.new_account_group,
  };
}
