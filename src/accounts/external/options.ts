import { existsSync } from "node:fs";
import { Problem } from "../../problem.ts";
import type { LdapOptions } from "./ldap.ts";
import type { OidcOptions } from "./oidc-provider.ts";
import type { Admission } from "./person.ts";
import { type IdentitySettings, LDAP_SETTINGS, OIDC_SETTINGS } from "./settings.ts";

/** Hours after which a session must be renewed at the provider. */
const SESSION_HOURS = 24;

const fileMistakes = (path: string): string[] =>
  path !== "" && !existsSync(path) ? [`ca_file: there is no file ${path}.`] : [];

/** @throws Problem invalid_setting with the first mistake */
function refuse([mistake]: readonly string[]): void {
  if (mistake !== undefined) throw new Problem("invalid_setting", mistake);
}

const isLocal = (url: string): boolean => /^ldap:\/\/(127\.[\d.]+|\[::1\]|localhost)(:\d+)?\/?$/i.test(url);

const listUrls = ({ ldap_url }: IdentitySettings): string[] =>
  ldap_url.split(/ +/).filter((url) => url !== "");

/** The mistakes in the settings of the directory; none if none is configured. */
export function ldapMistakes(settings: IdentitySettings): string[] {
  const urls = listUrls(settings);
  if (urls.length === 0) return [];
  const mistakes = fileMistakes(settings.ca_file);
  const plain = urls.find((url) => url.startsWith("ldap:") && !isLocal(url));
  if (plain !== undefined && settings.ldap_tls === "required")
    mistakes.push(
      `ldap_url: ${plain} would send passwords unencrypted. Use ldaps://, or set ldap_tls to starttls (or to off if the network is safe).`,
    );
  if (settings.ldap_user_base === "")
    mistakes.push("ldap_user_base: required with ldap_url. Expected the DN below which users are searched.");
  if (!settings.ldap_user_filter.includes("{username}"))
    mistakes.push("ldap_user_filter: must contain {username}; otherwise every name matches every user.");
  // Servers treat a bind with a DN and no password as anonymous.
  if ((settings.ldap_bind_dn === "") !== (settings.ldap_bind_password === ""))
    mistakes.push("ldap_bind_dn and ldap_bind_password: set both or neither.");
  const needsGroups = (["groups_allowed", "groups_admin", "group_map"] as const).find(
    (name) => settings[name] !== "",
  );
  if (needsGroups !== undefined && settings.ldap_group_base === "" && settings.oidc_issuer === "")
    mistakes.push(
      `ldap_group_base: required with ${needsGroups}. Expected the DN below which groups are searched.`,
    );
  return mistakes;
}

/** The options of the directory; undefined if none is configured. @throws Problem invalid_setting */
export function readLdapOptions(settings: IdentitySettings): LdapOptions | undefined {
  const urls = listUrls(settings);
  if (urls.length === 0) return undefined;
  refuse(ldapMistakes(settings));
  const attributes = readPairs(settings.ldap_attributes, LDAP_SETTINGS.ldap_attributes.fallback);
  return {
    urls,
    startTls: settings.ldap_tls === "starttls",
    caFile: settings.ca_file,
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
    ...readAdmission(settings, "ldap"),
  };
}

/** The mistakes in the settings of the provider; none if none is configured. */
export function oidcMistakes(settings: IdentitySettings): string[] {
  if (settings.oidc_issuer === "") return [];
  const mistakes = fileMistakes(settings.ca_file);
  if (!URL.canParse(settings.oidc_issuer))
    mistakes.push(`oidc_issuer: ${settings.oidc_issuer} is not a valid URL. Check host and port.`);
  if (settings.oidc_client_id === "")
    mistakes.push(
      "oidc_client_id: required with oidc_issuer. Expected the client ID of this service at the provider.",
    );
  return mistakes;
}

/** The options of the provider; undefined if none is configured. @throws Problem invalid_setting */
export function readOidcOptions(settings: IdentitySettings): OidcOptions | undefined {
  if (settings.oidc_issuer === "") return undefined;
  refuse(oidcMistakes(settings));
  const claims = readPairs(settings.oidc_claims, OIDC_SETTINGS.oidc_claims.fallback);
  return {
    // The normalized identifier to which accounts are linked.
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
    ...readAdmission(settings, "oidc"),
  };
}

const readAdmission = (settings: IdentitySettings, provider: "ldap" | "oidc"): Admission => ({
  newAccounts: [provider, "all"].includes(settings.new_accounts),
  allowed: readNames(settings.groups_allowed),
  administrators: readNames(settings.groups_admin),
  map: readMap(settings.group_map),
  firstGroup: "SYSTEM_GROUP",
});

const readNames = (setting: string): string[] =>
  setting
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

const readMap = (setting: string): [string, string][] =>
  readNames(setting).map((pair) => {
    const [name, value] = pair.split("=");
    return [name.trim(), value.trim()];
  });

/** A setting such as `id=objectGUID, name=cn` by name, completed by the defaults. */
const readPairs = (setting: string, defaults: string): Record<string, string> =>
  Object.fromEntries([...readMap(defaults), ...readMap(setting)]);
