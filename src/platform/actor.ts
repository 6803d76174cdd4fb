import type { Via } from "./request-context.ts";

/** The caller of a request. Numbers are rows of accounts, groups and tokens. */
export interface Actor {
  /** Row of the account; null for an anonymous caller, like the username and the primary group. */
  user: number | null;
  username: string | null;
  superuser: boolean;
  groups: readonly number[];
  /** Those of the groups whose members may use, change or order each other's records. */
  groupRights?: Readonly<Record<"use" | "change" | "order", readonly number[]>>;
  /** The group that owns the caller's new records. */
  primaryGroup: number | null;
  /** The token that authenticated the caller; null for a password or a session. */
  token?: number | null;
  via?: Via;
}

/** A caller with an account. */
export interface SignedIn extends Actor {
  user: number;
  username: string;
}

export const ANONYMOUS: Actor = {
  user: null,
  username: null,
  superuser: false,
  groups: [],
  primaryGroup: null,
  token: null,
};
