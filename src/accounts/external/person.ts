/** Services that authenticate people: a directory, or an OpenID Connect provider. */
export const PROVIDERS = ["ldap", "oidc"] as const;
export type Provider = (typeof PROVIDERS)[number];

export interface Subject {
  provider: Provider;
  /** Issuer within which the subject is unique; empty for the directory. */
  issuer: string;
  /** Identifies the person permanently. */
  subject: string;
  /** A name that people recognize, such as the DN. */
  label: string;
}

/** A person who has just authenticated, with data of the provider. Empty strings mean unknown. */
export interface Person extends Subject {
  username: string;
  fullName: string;
  email: string;
  /** True if the provider has verified the address. */
  isEmailVerified: boolean;
  groups: readonly string[];
  disabled?: boolean;
}

/** The people who may sign in, and their rights. Group names are compared without regard to case. */
export interface Admission {
  newAccounts: boolean;
  /** Provider groups that may sign in; empty allows everybody. */
  allowed: readonly string[];
  /** Provider groups of administrators; empty leaves administrators unchanged. */
  administrators: readonly string[];
  /** Provider groups, and the local groups that follow them. */
  map: readonly (readonly [external: string, local: string])[];
  /** Primary group of new accounts that the map does not assign. */
  firstGroup: string;
}

const fold = (name: string): string => name.normalize("NFKC").toLowerCase();

export function isInAnyGroup(groups: readonly string[], names: readonly string[]): boolean {
  const known = new Set(names.map(fold));
  return groups.some((group) => known.has(fold(group)));
}

/** True if a person with these provider groups may sign in. */
export const isAllowed = ({ allowed }: Admission, groups: readonly string[]): boolean =>
  allowed.length === 0 || isInAnyGroup(groups, allowed);

/** For each mapped local group, in the order of the map: true if the person is a member. */
export function mapMemberships(map: Admission["map"], groups: readonly string[]): Map<string, boolean> {
  const memberships = new Map<string, boolean>();
  for (const [external, local] of map)
    memberships.set(local, memberships.get(local) === true || isInAnyGroup(groups, [external]));
  return memberships;
}

/** The local username for an external one: folded, so that two that differ only in case are one account. */
export const normalizeUsername = (username: string): string => fold(username.trim());
