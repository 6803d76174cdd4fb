/** Accounts and groups as the interface of the inventory lists them. */

export interface Listed<Row> {
  total: number;
  results: Row[];
}

interface Named {
  id: string;
  name: string;
}

export interface User {
  id: string;
  username: string;
  full_name: string;
  email: string;
  groups: Named[];
  primary_group: Named;
  is_active: boolean;
  is_superuser: boolean;
  date_joined: string;
}

export interface Group extends Named {
  description: string;
}

export const userPath = (username: string): string => `/api/v2/users/${encodeURIComponent(username)}/`;
export const secondFactorPath = (username: string): string =>
  `/api/admin/users/${encodeURIComponent(username)}/second-factor`;
export const groupPath = (name: string): string => `/api/v2/groups/${encodeURIComponent(name)}/`;
/** It owns what every installation has, and stays. */
export const SYSTEM_GROUP = "SYSTEM_GROUP";

/** Who vouches for people. */
export type ProviderName = "ldap" | "oidc";
export const PROVIDER_NAMES: Readonly<Record<ProviderName, string>> = {
  ldap: "Directory (LDAP)",
  oidc: "Provider (OpenID Connect)",
};

/** Somebody there who signs in as an account here. */
export interface Identity {
  username: string;
  provider: ProviderName;
  label: string;
  last_used: string | null;
  /** When the directory was found to let them in no more. */
  suspended: string | null;
}

export const identityPath = (username: string): string =>
  `/api/admin/users/${encodeURIComponent(username)}/identities`;
