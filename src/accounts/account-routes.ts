import { Problem } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import { baseOf, refuseForeignPage, type PublicUrlOptions } from "../platform/origin.ts";
import {
  withTimestamps,
  describeOperation,
  noContent,
  type Endpoint,
  timestamp,
  json,
  list,
  usernameParameter,
  parameter,
  readTexts,
  requireAdministrator,
  requireUser,
  texts,
} from "./endpoint.ts";

/** Hours that a link is good for: the set-up link, and one by which somebody sets a password. */
export const SET_UP_HOURS = 24;
const PASSWORD_HOURS = 72;

/** The page that a link leads to. The key is good for one use, and the page takes it out of the address at once. */
export const setUpPath = (key: string): string => `/setup?key=${key}`;
const passwordPath = (key: string): string => `/set-password?key=${key}`;

/** What a key is good for; undefined where it is good for nothing. */
export function linkPurpose(accounts: Accounts, key: string): "set-up" | "password" | undefined {
  const found = accounts.links.find(key);
  if (!found) return undefined;
  if (found.user !== null) return "password";
  return accounts.hasAdministrator() ? undefined : "set-up";
}

/** First set-up, passwords by link, and what everybody does with the own account. */
export function accountEndpoints(accounts: Accounts, reach: PublicUrlOptions): Endpoint[] {
  /** What tells of a session that was begun. */
  const begun = (username: string, { session, cookie }: ReturnType<Accounts["sessions"]["open"]>): Response =>
    json({ username, csrf_token: session.csrfToken }, 200, { "Set-Cookie": cookie });
  const signedIn = async (username: string, password: string, request: Request): Promise<Response> =>
    begun(username, await accounts.openSession({ username, password }, request));
  return [
    {
      path: "/api/setup",
      methods: {
        POST: {
          detail: describeOperation("Make the first administrator", {
            description: "By the key of the link that the log shows while there is none. Signs in.",
            body: texts(["key", "username", "password"], ["full_name", "email"]),
            answers: { 200: "It is made, and signed in by a cookie." },
            refusals: [400, 403, 404],
          }),
          async answer({ request }) {
            refuseForeignPage(request, reach);
            const { key, username, password, full_name, email } = await readTexts(
              request,
              ["key", "username", "password", "full_name", "email"],
              ["key", "username", "password"],
            );
            await accounts.setUp(key, { username, password, fullName: full_name, email });
            return signedIn(username, password, request);
          },
        },
      },
    },
    {
      path: "/api/account/password",
      methods: {
        POST: {
          detail: describeOperation("Set a password", {
            description:
              "The own, by the current one: all sessions end, and a new one takes the place of the caller's. Or that of an account whose link the `key` is from.",
            body: texts(["password"], ["current_password", "key"]),
            answers: {
              200: "It is set, and a session begun; not by a link for an account with a second factor: `csrf_token` is null.",
            },
            refusals: [400, 401, 403, 404],
          }),
          async answer({ request }) {
            const { key, password, current_password } = await readTexts(
              request,
              ["key", "password", "current_password"],
              ["password"],
            );
            if (key !== "") {
              refuseForeignPage(request, reach);
              const user = await accounts.setPasswordByLink(key, password);
              const username = accounts.actorOf(user).username!;
              // The link stands for the password alone.
              if (accounts.secondFactors.isOn(user)) return json({ username, csrf_token: null });
              return signedIn(username, password, request);
            }
            const { user, username } = requireUser(accounts, request);
            const wrong = await accounts.passwordError(username!, current_password);
            if (wrong !== undefined)
              throw new Problem("invalid_request", wrong, { fields: { current_password: [wrong] } });
            await accounts.setPassword(user, password);
            return begun(username!, accounts.sessions.open(user, request));
          },
        },
      },
    },
    {
      path: "/api/account/confirmation",
      methods: {
        POST: {
          detail: describeOperation("Show again who you are", {
            description:
              "By the password, of a browser's session, where an answer has the code `confirmation_required`: for making tokens, setting up a second factor, and what lets administrators into accounts of others. It counts for a while (`confirm_minutes`).",
            body: texts(["current_password"]),
            answers: { 204: "Done." },
            refusals: [400, 401, 403],
          }),
          async answer({ request }) {
            const actor = requireUser(accounts, request, { enrolling: true });
            if (actor.via !== "session")
              throw new Problem("forbidden", "This is asked of browsers alone: a program has its token.");
            const { current_password } = await readTexts(request, ["current_password"], ["current_password"]);
            await accounts.confirmations.confirm(request, actor, current_password);
            return noContent();
          },
        },
      },
    },
    {
      path: "/api/account/sessions",
      methods: {
        GET: {
          detail: describeOperation("Your sessions", {
            answers: { 200: "The browsers in which you are signed in, the latest first." },
            refusals: [401],
          }),
          answer({ request }) {
            const { user } = requireUser(accounts, request);
            return list(
              accounts.sessions
                .list(user, request)
                .map((session) => withTimestamps(session, "created", "last_used", "expires")),
            );
          },
        },
        DELETE: {
          detail: describeOperation("End your other sessions", {
            answers: { 200: "`ended` says how many." },
            refusals: [401, 403],
          }),
          answer({ request }) {
            const { user } = requireUser(accounts, request);
            return json({ ended: accounts.sessions.endOthers(user, request) });
          },
        },
      },
    },
    {
      path: "/api/account/sessions/:id",
      methods: {
        DELETE: {
          detail: describeOperation("End one of your sessions", {
            parameters: [parameter("path", "id", "As the list has it.")],
            answers: { 204: "Done." },
            refusals: [401, 403, 404],
          }),
          answer({ request, params }) {
            const { user } = requireUser(accounts, request);
            if (!accounts.sessions.end(user, params.id)) throw new Problem("not_found", "Not found.");
            return noContent();
          },
        },
      },
    },
    {
      path: "/api/admin/users/:username/password-link",
      methods: {
        POST: {
          detail: describeOperation("A link by which somebody sets a password", {
            description: `Good for one use, within ${PASSWORD_HOURS} hours, in the place of any before. The password stays until then.`,
            parameters: [usernameParameter()],
            answers: { 200: "`url`, which is shown this once, and when it is over." },
            refusals: [401, 403, 404],
          }),
          async answer({ request, params }) {
            const actor = requireAdministrator(accounts, request);
            await accounts.confirmations.require(request, actor);
            const user = accounts.userId(params.username, { active: true });
            const { key, expires } = accounts.links.make(user, PASSWORD_HOURS);
            return json({ url: baseOf(request, reach) + passwordPath(key), expires: timestamp(expires) });
          },
        },
      },
    },
    {
      path: "/api/admin/tokens",
      methods: {
        GET: {
          detail: describeOperation("The tokens of all", {
            parameters: [parameter("query", "all", "1: also those that are over or were revoked.")],
            answers: { 200: "The newest first." },
          }),
          answer({ request, query }) {
            requireAdministrator(accounts, request);
            return list(
              accounts.tokens
                .list({ all: query.get("all") === "1" })
                .map((token) => withTimestamps(token, "created", "expires", "last_used", "revoked")),
            );
          },
        },
      },
    },
    {
      path: "/api/admin/tokens/:id",
      methods: {
        DELETE: {
          detail: describeOperation("Revoke a token of anybody", {
            parameters: [parameter("path", "id", "Identifier of the token.")],
            answers: { 204: "Done." },
            refusals: [401, 403, 404],
          }),
          answer({ request, params }) {
            requireAdministrator(accounts, request);
            if (!accounts.tokens.revoke(params.id)) throw new Problem("not_found", "Not found.");
            return noContent();
          },
        },
      },
    },
  ];
}
