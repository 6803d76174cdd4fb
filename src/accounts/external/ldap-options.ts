import { existsSync } from "node:fs";
import type { LdapOptions } from "./ldap.ts";
import { readMap, readNames } from "./person.ts";
import type { IdentitySettings } from "./settings.ts";
import { Problem } from "../../problem.ts";

const isOwnMachine = (url: string): boolean =>
  url.startsWith("ldapi:") || /^ldap:\/\/(127\.[\d.]+|\[::1\]|localhost)(:\d+)?\/?$/i.test(url);

/**
 * What the settings say of the directory; undefined where there is none.
 * @throws Problem invalid_setting where they do not go together
 */
export function readLdapOptions(
  settings: IdentitySettings & { login_failures: number; login_window: number },
): LdapOptions | undefined {
  const urls = settings.ldap_url.split(/ +/).filter((url) => url !== "");
  if (urls.length === 0) return undefined;
  const refuse = (why: string): never => {
    throw new Problem("invalid_setting", why);
  };
  const open = urls.find((url) => url.startsWith("ldap:") && !isOwnMachine(url));
  if (open !== undefined && !settings.ldap_start_tls && !settings.ldap_plain)
    refuse(
      `ldap_url: ${open} would send passwords over the network for all to read; use ldaps://, set ldap_start_tls, or set ldap_plain where the network is safe.`,
    );
  if (settings.ldap_user_base === "")
    refuse("ldap_user_base: expected the DN below which people are, with ldap_url.");
  if (!settings.ldap_user_filter.includes("{username}"))
    refuse("ldap_user_filter: expected {username} in it, or everybody would be found by every name.");
  // A DN without a password is let in by servers as nobody, and finds nobody: that is never meant.
  if ((settings.ldap_bind_dn === "") !== (settings.ldap_bind_password === ""))
    refuse("ldap_bind_dn and ldap_bind_password are set together or not at all.");
  if (settings.ldap_ca_file !== "" && !existsSync(settings.ldap_ca_file))
    refuse(`ldap_ca_file: there is no file ${settings.ldap_ca_file}.`);
  const asks = (["ldap_groups_allowed", "ldap_groups_admin", "ldap_group_map"] as const).find(
    (name) => settings[name] !== "",
  );
  if (asks !== undefined && settings.ldap_group_base === "")
    refuse(`ldap_group_base: expected the DN below which groups are, with ${asks}.`);
  return {
    urls,
    startTls: settings.ldap_start_tls,
    caFile: settings.ldap_ca_file,
    timeout: settings.ldap_timeout * 1000,
    bindDn: settings.ldap_bind_dn,
    bindPassword: settings.ldap_bind_password,
    userBase: settings.ldap_user_base,
    userFilter: settings.ldap_user_filter,
    id: settings.ldap_attribute_id,
    username: settings.ldap_attribute_username,
    fullName: settings.ldap_attribute_name,
    email: settings.ldap_attribute_email,
    groupBase: settings.ldap_group_base,
    groupFilter: settings.ldap_group_filter,
    groupName: settings.ldap_attribute_group,
    newAccounts: settings.ldap_new_accounts,
    allowed: readNames(settings.ldap_groups_allowed),
    administrators: readNames(settings.ldap_groups_admin),
    map: readMap(settings.ldap_group_map),
    firstGroup: settings.new_account_group,
    loginFailures: settings.login_failures,
    loginWindow: settings.login_window,
  };
}
