import { integer, type Setting, text, truth } from "../../platform/setting.ts";

/** Names separated by commas. */
const names = (sentence: string): Setting<string> =>
  text("", "empty, or names separated by commas", /^[^\0\n]*$/, { sentence });

const groupMap = (sentence: string): Setting<string> =>
  text(
    "",
    "empty, or pairs such as genomics=Genomics, separated by commas",
    /^([^=,\0\n]+=[^=,\0\n]+(,|$))*$/,
    {
      sentence,
    },
  );

const attribute = (fallback: string, sentence: string): Setting<string> =>
  text(fallback, "the name of an attribute", /^[A-Za-z][A-Za-z0-9;.-]*$/, { sentence });

const claim = (fallback: string, sentence: string): Setting<string> =>
  text(fallback, "the name of a claim", /^[!-~]+$/, { sentence });

const filter = (fallback: string, sentence: string): Setting<string> =>
  text(fallback, "a filter in parentheses", /^\(.*\)$/s, { sentence });

/** Accounts that others know: a directory (LDAP), a provider (OpenID Connect). docs/identity.md has examples. */
export const IDENTITY_SETTINGS = {
  ldap_url: text(
    "",
    "empty, or addresses such as ldaps://ldap.example, separated by spaces",
    /^((ldaps?:\/\/(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?|ldapi:\/\/[A-Za-z0-9%._~-]+)\/?( +|$))*$/,
    {
      sentence:
        "LDAP servers whose people may sign in, tried in this order: ldaps://, ldap:// or ldapi:// with the path of a socket, encoded.",
    },
  ),
  ldap_start_tls: truth(false, {
    sentence: "Whether connections to ldap:// begin TLS (StartTLS) before anything is said.",
  }),
  ldap_plain: truth(false, {
    sentence: "Whether passwords may go to ldap:// on another machine without TLS.",
  }),
  ldap_ca_file: text("", "empty, or a path", /^[^\0]*$/, {
    sentence:
      "File with the certificates (PEM) of the authorities that the LDAP servers are trusted by; empty trusts those of the system.",
  }),
  ldap_bind_dn: text("", "empty, or a DN", /^[^\0]*$/, {
    sentence: "DN of the account that looks people up in the directory; empty looks up without one.",
  }),
  ldap_bind_password: text("", "a text", /^[^\0]*$/, {
    secret: true,
    sentence: "Password of ldap_bind_dn.",
  }),
  ldap_user_base: text("", "empty, or a DN", /^[^\0]*$/, {
    sentence: "DN below which people are looked for.",
  }),
  ldap_user_filter: filter(
    "(&(objectClass=person)(uid={username}))",
    "Filter that finds somebody by the name that was typed, which stands for {username}.",
  ),
  ldap_attribute_id: attribute(
    "entryUUID",
    "Attribute that stays the same for ever and is nobody else's: objectGUID in Active Directory; dn takes the DN.",
  ),
  ldap_attribute_username: attribute("uid", "Attribute from which new accounts have their name."),
  ldap_attribute_name: attribute("cn", "Attribute with the full name."),
  ldap_attribute_email: attribute("mail", "Attribute with the e-mail address."),
  ldap_group_base: text("", "empty, or a DN", /^[^\0]*$/, {
    sentence: "DN below which groups are looked for; empty asks for none.",
  }),
  ldap_group_filter: filter(
    "(|(member={dn})(uniqueMember={dn})(memberUid={username}))",
    "Filter that finds the groups of somebody, by {dn} or {username}, which is what ldap_attribute_username has.",
  ),
  ldap_attribute_group: attribute("cn", "Attribute with the name of a group."),
  ldap_groups_allowed: names(
    "Groups of the directory of which somebody has to be in one to sign in; empty lets all in that ldap_user_filter finds.",
  ),
  ldap_groups_admin: names(
    "Groups of the directory whose members are administrators, and nobody else who signs in by it; empty leaves that as it is.",
  ),
  ldap_group_map: groupMap(
    "Which groups of the directory are which here, such as genomics=Genomics: memberships of these follow the directory at every sign-in.",
  ),
  ldap_new_accounts: truth(true, {
    sentence:
      "Whether an account is made for somebody who signs in by the directory for the first time; otherwise only linked accounts sign in (labd user link).",
  }),
  ldap_timeout: integer(5, 1, 60, {
    sentence: "Seconds that the directory may take for one sign-in.",
  }),
  ldap_recheck_hours: integer(24, 0, 8760, {
    sentence:
      "Hours after which the directory is asked again about everybody who signs in by it: who is gone, or in no group that may sign in, is shut out until that changes; 0 asks at sign-in only.",
  }),
  oidc_issuer: text(
    "",
    "empty, or an address that begins with https (http on this machine only)",
    /^(https:\/\/[^\s?#"'<>@]+|http:\/\/(127\.[\d.]+|\[::1\]|localhost)(:\d{1,5})?(\/[^\s?#"'<>@]*)?)?$/,
    {
      sentence:
        "Provider of OpenID Connect whose people may sign in, as its own configuration names it. It is told to let them return to /api/oidc/callback.",
    },
  ),
  oidc_client_id: text("", "empty, or a text", /^[\x20-\x7e]*$/, {
    sentence: "What the provider knows this service as.",
  }),
  oidc_client_secret: text("", "empty, or a text", /^[\x20-\x7e]*$/, {
    secret: true,
    sentence: "Secret that the provider has given to this service; empty where it has given none.",
  }),
  oidc_name: text("your organisation", "1 to 60 characters", /^\P{Cc}{1,60}$/u, {
    sentence: "What the provider is called on the sign-in page: Sign in with ….",
  }),
  oidc_scopes: text("openid profile email", "words with openid among them", /^([!-~]+ )*openid( [!-~]+)*$/, {
    sentence:
      "What the provider is asked for, separated by spaces; some tell groups only by a word for that.",
  }),
  oidc_ca_file: text("", "empty, or a path", /^[^\0]*$/, {
    sentence:
      "File with the certificates (PEM) of the authorities that the provider is trusted by; empty trusts those of the system.",
  }),
  oidc_claim_username: claim("preferred_username", "Claim from which new accounts have their name."),
  oidc_claim_name: claim("name", "Claim with the full name."),
  oidc_claim_email: claim("email", "Claim with the e-mail address."),
  oidc_claim_groups: claim(
    "groups",
    "Claim with the names of the groups, such as groups, or realm_access.roles for a list within another claim.",
  ),
  oidc_groups_allowed: names(
    "Groups of the provider of which somebody has to be in one to sign in; empty lets all in.",
  ),
  oidc_groups_admin: names(
    "Groups of the provider whose members are administrators, and nobody else who signs in by it; empty leaves that as it is.",
  ),
  oidc_group_map: groupMap(
    "Which groups of the provider are which here, as ldap_group_map has it for the directory.",
  ),
  oidc_new_accounts: truth(false, {
    sentence:
      "Whether an account is made for somebody who signs in by the provider for the first time: for all whom the provider knows and oidc_groups_allowed lets in. Otherwise only linked accounts sign in (labd user link).",
  }),
  oidc_sign_out: truth(true, {
    sentence:
      "Whether signing out leads to the provider, which asks whether to sign out there, too; else the next one at a shared computer comes in without a question. It is told to let people return to the home page.",
  }),
  oidc_session_hours: integer(24, 1, 87_600, {
    sentence:
      "Hours after which somebody who came in by the provider has to come by it again, at most session_hours: who is known there no longer is out by then.",
  }),
  oidc_timeout: integer(10, 1, 60, {
    sentence: "Seconds that the provider may take for one answer.",
  }),
  new_account_group: text("SYSTEM_GROUP", "the name of a group", /^[^\0\n]{1,150}$/, {
    sentence:
      "Primary group of accounts that a directory or a provider brings, where no group map gives them one; made where it is missing.",
  }),
} satisfies Record<string, Setting<string | number | boolean>>;

/** Their values. */
export type IdentitySettings = {
  readonly [N in keyof typeof IDENTITY_SETTINGS]: NonNullable<
    ReturnType<(typeof IDENTITY_SETTINGS)[N]["read"]>
  >;
};
