/** Who shows that somebody is who they say: a directory, or a provider of OpenID Connect. */
export const PROVIDERS = ["ldap", "oidc"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** Somebody at a provider. */
export interface Subject {
  provider: Provider;
  /** Address of the provider, at which the subject is unique; empty for the directory. */
  issuer: string;
  /** What stays the same whatever the name becomes, and is never another's. */
  subject: string;
  /** What people know it by, such as a DN. */
  label: string;
}

/** Somebody who has just shown who they are, and what the provider says of them. */
export interface Person extends Subject {
  username: string;
  /** Empty where it is not known; so is the address. */
  fullName: string;
  email: string;
  /** Names of the provider's groups. */
  groups: readonly string[];
  /** Whether the provider has them, and says that they may do nothing. */
  disabled?: boolean;
}

/** Who may come in, and as what. Names of the provider's groups are compared without regard to case. */
export interface Admission {
  /** Whether accounts are made for who has none. */
  newAccounts: boolean;
  /** Groups of the provider of which one is needed; empty lets everybody in. */
  allowed: readonly string[];
  /** Groups of the provider whose members are administrators; empty leaves that as it is. */
  administrators: readonly string[];
  /** Groups of the provider, and which they are here. */
  map: readonly (readonly [theirs: string, ours: string])[];
  /** Primary group where the map gives none. */
  firstGroup: string;
}

const fold = (name: string): string => name.normalize("NFKC").toLowerCase();

/** Whether one of the provider's groups is among those named. */
export function isInAnyGroup(groups: readonly string[], named: readonly string[]): boolean {
  const known = new Set(named.map(fold));
  return groups.some((group) => known.has(fold(group)));
}

/** Of the groups here that follow the provider, in the order of the map: whether somebody is in them. */
export function membershipsBy(map: Admission["map"], groups: readonly string[]): Map<string, boolean> {
  const follows = new Map<string, boolean>();
  for (const [theirs, ours] of map)
    follows.set(ours, follows.get(ours) === true || isInAnyGroup(groups, [theirs]));
  return follows;
}

/** The names of a setting, separated by commas. */
export const readNames = (setting: string): string[] =>
  setting
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** The pairs of a setting: `genomics=Genomics, imaging=Imaging`. */
export const readMap = (setting: string): [string, string][] =>
  readNames(setting).map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });

/** A setting such as `id=objectGUID, name=cn` by name; names that it does not have are those of `defaults`. */
export const readPairs = (setting: string, defaults: string): Record<string, string> =>
  Object.fromEntries([...readMap(defaults), ...readMap(setting)]);

/** The name of an account for a name elsewhere: in lower case, so that two that differ in case alone are not two people. */
export const accountNameOf = (username: string): string => fold(username.trim());

/** A name or an address as others have it, without what is no text in it; at most so many characters. */
export const plainText = (value: string, longest = 200): string =>
  value
    .normalize("NFC")
    .replace(/\p{C}+/gu, " ")
    .trim()
    .slice(0, longest);

/** An address for mail; empty for what is none. */
export const plainEmail = (value: string): string =>
  /^[^\s@]+@[^\s@]+$/.test(value) && value.length <= 254 ? value : "";
