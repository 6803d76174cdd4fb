import { choice, type Setting, text } from "../../platform/setting.ts";

const names = (sentence: string): Setting<string> =>
  text("", "empty, or names separated by commas", /^[^\0\n]*$/, { sentence });

const textSetting = (allowed: string, sentence: string): Setting<string> =>
  text("", allowed, /^[^\0]*$/, { sentence });

const filter = (fallback: string, sentence: string): Setting<string> =>
  text(fallback, "a filter in parentheses", /^\(.*\)$/s, { sentence });

/** The people of a directory or a provider who may sign in. */
export const SIGN_IN_SETTINGS = {
  new_accounts: choice<"ldap" | "oidc" | "all" | "off">("ldap", ["ldap", "oidc", "all", "off"], {
    sentence:
      "Create an account at the first sign-in with the directory (ldap), the provider (oidc) or either (all); otherwise only linked accounts can sign in (labd user link).",
  }),
  groups_allowed: names(
    "Groups of the directory or provider that may sign in; a user must be in one of them. Empty admits all users.",
  ),
  groups_admin: names(
    "Groups of the directory or provider whose members are administrators; its other users are not. Empty leaves administrators unchanged.",
  ),
  group_map: text(
    "",
    "empty, or pairs such as genomics=Genomics, separated by commas",
    /^([^=,\0\n]+=[^=,\0\n]+(,|$))*$/,
    {
      sentence:
        "Local groups for groups of the directory or provider, such as genomics=Genomics. Their members are updated at every sign-in.",
    },
  ),
} satisfies Record<string, Setting<string>>;

/** A directory (LDAP). docs/identity.md has examples. */
export const LDAP_SETTINGS = {
  ldap_url: text(
    "",
    "empty, or addresses such as ldaps://ldap.example, separated by spaces",
    /^((ldaps?:\/\/(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?|ldapi:\/\/[A-Za-z0-9%._~-]+)\/?( +|$))*$/,
    {
      sentence:
        "LDAP servers whose users may sign in, tried in this order: ldaps://, ldap://, or ldapi:// with the encoded path of a socket.",
    },
  ),
  ldap_tls: choice<"required" | "starttls" | "off">("required", ["required", "starttls", "off"], {
    sentence:
      "Protection of ldap:// connections: only this machine is allowed (required), StartTLS (starttls), or none (off).",
  }),
  ldap_bind_dn: textSetting(
    "empty, or a DN",
    "DN of the account that searches the directory; empty searches anonymously.",
  ),
  ldap_bind_password: text("", "a text", /^[^\0]*$/, { secret: true, sentence: "Password of ldap_bind_dn." }),
  ldap_user_base: textSetting("empty, or a DN", "DN below which users are searched."),
  ldap_user_filter: filter(
    "(&(objectClass=person)(uid={username}))",
    "Filter that finds a user by the name typed at sign-in, which replaces {username}.",
  ),
  ldap_group_base: textSetting(
    "empty, or a DN",
    "DN below which groups are searched; if empty, groups are not searched.",
  ),
  ldap_group_filter: filter(
    "(|(member={dn})(uniqueMember={dn})(memberUid={username}))",
    "Filter that finds the groups of a user by {dn} or {username}.",
  ),
  ldap_attributes: text(
    "id=entryUUID, username=uid, name=cn, email=mail, group=cn",
    "pairs such as id=entryUUID, separated by commas",
    /^((id|username|name|email|group)=[A-Za-z][A-Za-z0-9;.-]*(, *|$))*$/,
    {
      sentence:
        "Attributes of the directory for id, username, name, email and group. The id must never change (entryUUID; objectGUID in Active Directory; dn); group is the name of a group. Omitted pairs keep their defaults.",
    },
  ),
} satisfies Record<string, Setting<string>>;

/** A provider of OpenID Connect. docs/identity.md has examples. */
export const OIDC_SETTINGS = {
  oidc_issuer: text(
    "",
    "empty, or an address that begins with https (http on this machine only)",
    /^(https:\/\/[^\s?#"'<>@]+|http:\/\/(127\.[\d.]+|\[::1\]|localhost)(:\d{1,5})?(\/[^\s?#"'<>@]*)?)?$/,
    {
      sentence:
        "Issuer of the OpenID Connect provider whose users may sign in, exactly as in its configuration. Register /api/oidc/callback there as redirect URI.",
    },
  ),
  oidc_client_id: text("", "empty, or text", /^[\x20-\x7e]*$/, {
    sentence: "Client id of this service at the provider.",
  }),
  oidc_client_secret: text("", "empty, or text", /^[\x20-\x7e]*$/, {
    secret: true,
    sentence: "Client secret from the provider; empty for a public client.",
  }),
  oidc_scopes: text("openid profile email", "words with openid among them", /^([!-~]+ )*openid( [!-~]+)*$/, {
    sentence:
      "Scopes to request, separated by spaces; some providers send groups only with a scope for them.",
  }),
  oidc_claims: text(
    "username=preferred_username, name=name, email=email, groups=groups",
    "pairs such as groups=roles, separated by commas",
    /^((username|name|email|groups)=[!-+\--~]+(, *|$))*$/,
    {
      sentence:
        "Claims of the provider for username, name, email and groups; groups=realm_access.roles reads a list within another claim. Omitted pairs keep their defaults.",
    },
  ),
} satisfies Record<string, Setting<string>>;

const IDENTITY_SETTINGS = { ...SIGN_IN_SETTINGS, ...LDAP_SETTINGS, ...OIDC_SETTINGS };

/** The values of these settings, and of `ca_file`. */
export type IdentitySettings = { readonly ca_file: string } & {
  readonly [N in keyof typeof IDENTITY_SETTINGS]: NonNullable<
    ReturnType<(typeof IDENTITY_SETTINGS)[N]["read"]>
  >;
};
