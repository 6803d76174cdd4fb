import { Elysia } from "elysia";
import { requestPlugin } from "../platform/http.ts";
import type { Accounts } from "./accounts.ts";
import { requireAdministrator, requireUser } from "./guards.ts";

// Elysia reads the source of hooks, and misunderstands methods that the build has minified: they are arrow functions.

/** Finds the caller before the request is validated, so that a stranger gets 401 and not 400, and supplies it as `actor`. */
const supply = <Caller>(find: (request: Request) => Caller) => ({
  transform: (context: { request: Request; actor?: Caller }) => {
    context.actor = find(context.request);
  },
  resolve: (context: object) => ({ actor: (context as { actor: Caller }).actor }),
});

/**
 * Who may use a route, as macros: `{ signedIn: true }`. Each supplies the caller as `actor`.
 *
 * - `anyone`: callers without credentials too; wrong credentials are refused.
 * - `signedIn`: callers with an account. "enrolling" also admits a session that must set up a second factor first.
 * - `administrator`: administrators only.
 * - `confirmed`: in addition to one of these, sessions whose user entered the password a short while ago, or sends it as
 *   `current_password`.
 */
export function guards(accounts: Accounts) {
  return new Elysia({ name: "guards" }).macro({
    anyone: supply((request) => accounts.authenticate(request)),
    signedIn: (mode: true | "enrolling") =>
      supply((request) => requireUser(accounts, request, { enrolling: mode === "enrolling" })),
    administrator: supply((request) => requireAdministrator(accounts, request)),
    confirmed: {
      beforeHandle: async ({ request, body }: { request: Request; body: unknown }) => {
        const { current_password: password } = (body ?? {}) as { current_password?: string | null };
        await accounts.confirmations.require(request, accounts.authenticate(request), password ?? "");
      },
    },
  });
}

/** A plugin for routes with guards. @param tag group of the operations in the documentation */
export const guardedRoutes = (name: string, tag: string, accounts: Accounts) =>
  new Elysia({ name, detail: { tags: [tag] } }).use(requestPlugin).use(guards(accounts));
