import { existsSync } from "node:fs";
import { type Admission, readMap, readNames, readPairs } from "./person.ts";
import { type IdentitySettings, OIDC_SETTINGS } from "./settings.ts";
import { Problem } from "../../problem.ts";

/** Hours after which a user has to come by the provider again. */
const SESSION_HOURS = 24;
/** Milliseconds for one answer of the provider. */
const TIMEOUT = 10_000;

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
  if (settings.ca_file !== "" && !existsSync(settings.ca_file))
    throw new Problem("invalid_setting", `ca_file: there is no file ${settings.ca_file}.`);
  const claims = readPairs(settings.oidc_claims, OIDC_SETTINGS.oidc_claims.fallback);
  return {
    // One spelling of an address: accounts are bound to it.
    issuer: new URL(settings.oidc_issuer).href.replace(/^(https?:\/\/[^/]+)\/$/, "$1"),
    clientId: settings.oidc_client_id,
    clientSecret: settings.oidc_client_secret,
    scopes: settings.oidc_scopes,
    caFile: settings.ca_file,
    username: claims.username,
    fullName: claims.name,
    email: claims.email,
    groups: claims.groups,
    sessionHours: SESSION_HOURS,
    timeout: TIMEOUT,
    newAccounts: ["oidc", "all"].includes(settings.new_accounts),
    allowed: readNames(settings.groups_allowed),
    administrators: readNames(settings.groups_admin),
    map: readMap(settings.group_map),
    firstGroup: settings.new_account_group,
  };
}
