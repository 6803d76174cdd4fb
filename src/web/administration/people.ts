import { type Answer, call } from "../request.ts";
import { readList } from "../inventory/read-list.ts";

/** Accounts and groups as the inventory's REST API lists them. */

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
  members_may: string;
  members_order: boolean;
  due_back_days: number;
}

export type Identity = Answer<"GET /api/admin/identities">["results"][number];
export type Provider = Identity["provider"];

export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  ldap: "Directory (LDAP)",
  oidc: "Provider (OpenID Connect)",
};

/** Owns the records that come with labd; it cannot be removed. */
export const SYSTEM_GROUP = "SYSTEM_GROUP";
/** Owns them, too; nobody signs in with it. */
const SYSTEM_USER = "system";

/** An account with what only administrators see of it. */
export interface Person extends User {
  hasSecondFactor: boolean;
  identities: Identity[];
}

/** Everything that the page about people shows. */
export interface People {
  results: Person[];
  groups: Group[];
  providers: Provider[];
}

export async function loadPeople(_query: URLSearchParams, signal: AbortSignal): Promise<People> {
  const all = { page_size: "max" };
  const [factors, { results: identities, providers }, users, groups] = await Promise.all([
    call("GET /api/admin/second-factors", { signal }),
    call("GET /api/admin/identities", { signal }),
    readList<User>("users", { ...all, ordering: "username" }, signal),
    readList<Group>("groups", all, signal),
  ]);
  const enrolled = new Set(factors.results.map(({ username }) => username));
  const people = users.results.map((user) =>
    Object.assign(user, {
      hasSecondFactor: enrolled.has(user.username),
      identities: identities.filter(({ username }) => username === user.username),
    }),
  );
  return {
    results: people.filter(({ username }) => username !== SYSTEM_USER),
    groups: groups.results,
    providers,
  };
}

export const listMembers = ({ results }: People, group: string): Person[] =>
  results.filter(({ groups }) => groups.some(({ name }) => name === group));

/** The members of a group as requests name them: the account of labd is in its group, and not in the list. */
export const withSystemUser = (group: string, members: readonly string[]): string[] =>
  group === SYSTEM_GROUP ? [...members, SYSTEM_USER] : [...members];
