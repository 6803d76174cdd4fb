import { Problem } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import type { SignedIn } from "../platform/actor.ts";
import type { Guards } from "../platform/operation.ts";
import { unauthenticated } from "../platform/unauthenticated.ts";

/** The signed-in caller. @throws Problem unauthenticated, forbidden */
export function requireUser(
  accounts: Accounts,
  request: Request,
  options: { enrolling?: boolean } = {},
): SignedIn {
  const { user, username, ...actor } = accounts.authenticate(request, options);
  if (user === null || username === null)
    throw unauthenticated("Authentication credentials were not provided.");
  return { ...actor, user, username };
}

/** @throws Problem unauthenticated; forbidden, which names some administrators */
export function requireAdministrator(accounts: Accounts, request: Request): SignedIn {
  const actor = requireUser(accounts, request);
  if (actor.superuser) return actor;
  const names = accounts
    .list()
    .filter((user) => user.is_superuser === 1 && user.is_active === 1)
    .map(({ username, full_name }) => (full_name === "" ? username : `${full_name} (${username})`));
  throw new Problem("forbidden", `Administrators only. Ask ${names.slice(0, 5).join(", ")}.`);
}

/** The guards of operations. */
export const makeGuards = (accounts: Accounts): Guards => ({
  anyone: (request) => accounts.authenticate(request),
  signedIn: (request) => requireUser(accounts, request),
  enrolling: (request) => requireUser(accounts, request, { enrolling: true }),
  administrator: (request) => requireAdministrator(accounts, request),
  confirmed: (request, caller, password) => accounts.confirmations.require(request, caller, password),
});
