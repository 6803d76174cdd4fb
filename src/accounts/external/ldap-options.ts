import { existsSync } from "node:fs";
import type { LdapOptions } from "./ldap.ts";
import { readMap, readNames, readPairs } from "./person.ts";
import { LDAP_SETTINGS, type IdentitySettings } from "./settings.ts";
import { Problem } from "../../problem.ts";

/** Milliseconds for one sign-in. */
const TIMEOUT = 5000;

const isOwnMachine = (url: string): boolean =>
  url.startsWith("ldapi:") || /^ldap:\/\/(127\.[\d.]+|\[::1\]|localhost)(:\d+)?\/?$/i.test(url);

/**
 * What the settings say of the directory; undefined where there is none.
 * @throws Problem invalid_setting where they do not go together
 */
export function readLdapOptions(settings: IdentitySettings): LdapOptions | undefined {
  const urls = settings.ldap_url.split(/ +/).filter((url) => url !== "");
  if (urls.length === 0) return undefined;
  const refuse = (why: string): never => {
    throw new Problem("invalid_setting", why);
  };
  const open = urls.find((url) => url.startsWith("ldap:") && !isOwnMachine(url));
  if (open !== undefined && settings.ldap_tls === "required")
    refuse(
      `ldap_url: ${open} sends passwords over the network unprotected. Use ldaps://, or set ldap_tls to starttls (or to off where the network is safe).`,
    );
  if (settings.ldap_user_base === "")
    refuse("ldap_user_base: expected the DN below which people are, with ldap_url.");
  if (!settings.ldap_user_filter.includes("{username}"))
    refuse("ldap_user_filter: expected {username} in it, or everybody would be found by every name.");
  // A DN without a password is let in by servers as nobody, and finds nobody: that is never meant.
  if ((settings.ldap_bind_dn === "") !== (settings.ldap_bind_password === ""))
    refuse("ldap_bind_dn and ldap_bind_password are set together or not at all.");
  if (settings.ca_file !== "" && !existsSync(settings.ca_file))
    refuse(`ca_file: there is no file ${settings.ca_file}.`);
  const asks = (["groups_allowed", "groups_admin", "group_map"] as const).find(
    (name) => settings[name] !== "",
  );
  if (asks !== undefined && settings.ldap_group_base === "" && settings.oidc_issuer === "")
    refuse(`ldap_group_base: expected the DN below which groups are, with ${asks}.`);
  const attributes = readPairs(settings.ldap_attributes, LDAP_SETTINGS.ldap_attributes.fallback);
  return {
    urls,
    startTls: settings.ldap_tls === "starttls",
    caFile: settings.ca_file,
    timeout: TIMEOUT,
    bindDn: settings.ldap_bind_dn,
    bindPassword: settings.ldap_bind_password,
    userBase: settings.ldap_user_base,
    userFilter: settings.ldap_user_filter,
    id: attributes.id,
    username: attributes.username,
    fullName: attributes.name,
    email: attributes.email,
    groupBase: settings.ldap_group_base,
    groupFilter: settings.ldap_group_filter,
    groupName: attributes.group,
    newAccounts: ["ldap", "all"].includes(settings.new_accounts),
    allowed: readNames(settings.groups_allowed),
    administrators: readNames(settings.groups_admin),
    map: readMap(settings.group_map),
    firstGroup: settings.new_account_group,
  };
}
