import { Elysia } from "elysia";
import { Type } from "typebox";
import { requestPlugin } from "../platform/http.ts";
import { nullable, schema, textSchema } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import { errors, list, listSchema, NO_CONTENT, timestamp, timestampOrNull } from "./responses.ts";
import { guards, requireUser } from "./route-guards.ts";
import { SCOPES } from "./token.ts";

/** Hours for which the set-up link, and a link to set a password, are valid. */
export const SET_UP_HOURS = 24;
const PASSWORD_HOURS = 72;

/** The page of a link. The page removes the key from the address bar at once. */
export const setUpPath = (key: string): string => `/setup?key=${key}`;
const passwordPath = (key: string): string => `/set-password?key=${key}`;

/** What the key of a link may be used for; undefined if it is invalid. */
export function linkPurpose(accounts: Accounts, key: string): "set-up" | "password" | undefined {
  const found = accounts.links.find(key);
  if (!found) return undefined;
  if (found.user !== null) return "password";
  return accounts.hasAdministrator() ? undefined : "set-up";
}

const Text = Type.String({ maxLength: 1024 });
const RequiredText = Type.String({ minLength: 1, maxLength: 1024 });
const SetUp = schema(
  Type.Object(
    {
      key: RequiredText,
      username: RequiredText,
      password: RequiredText,
      full_name: Type.Optional(Text),
      email: Type.Optional(Text),
    },
    { additionalProperties: false },
  ),
);
const NewPassword = schema(
  Type.Object(
    { password: RequiredText, current_password: Type.Optional(Text), key: Type.Optional(Text) },
    { additionalProperties: false },
  ),
);
const Confirmation = schema(Type.Object({ current_password: RequiredText }, { additionalProperties: false }));
const Started = schema(
  Type.Object(
    { username: Type.String(), csrf_token: nullable(Type.String()) },
    { description: "A cookie holds the session. `csrf_token` is null if none was opened." },
  ),
);
const SessionList = listSchema(
  Type.Object({
    id: Type.String(),
    created: Type.String(),
    last_used: Type.String(),
    expires: Type.String(),
    agent: Type.String(),
    current: Type.Boolean(),
  }),
  "The browsers in which you are signed in, the latest first.",
);
const Ended = schema(
  Type.Object({ ended: Type.Integer() }, { description: "The number of ended sessions." }),
);
const PasswordLink = schema(
  Type.Object({ url: Type.String(), expires: Type.String() }, { description: "The link, shown only now." }),
);
const TokenList = listSchema(
  Type.Object({
    id: Type.String(),
    username: Type.String(),
    name: Type.String(),
    prefix: Type.String(),
    scope: Type.Enum([...SCOPES]),
    created: Type.String(),
    expires: nullable(Type.String()),
    last_used: nullable(Type.String()),
    revoked: nullable(Type.String()),
  }),
  "The tokens, newest first.",
);
const TokenQuery = textSchema(
  Type.Object({
    all: Type.Optional(Type.String({ description: "1 includes expired and revoked tokens." })),
  }),
);

const plugin = (name: string, accounts: Accounts) =>
  new Elysia({ name, detail: { tags: ["administration"], security: [{ token: [] }] } })
    .use(requestPlugin)
    .use(guards(accounts));

/** First set-up, passwords, and the sessions and tokens of accounts. */
export const accountRoutes = (accounts: Accounts) =>
  new Elysia({ name: "accounts" })
    .use(passwordRoutes(accounts))
    .use(sessionRoutes(accounts))
    .use(adminAccountRoutes(accounts));

function passwordRoutes(accounts: Accounts) {
  const { sessions } = accounts;
  return plugin("passwords", accounts)
    .post(
      "/api/setup",
      async ({ request, body: { key, username, password, full_name = "", email = "" }, set }) => {
        sessions.requireSameOrigin(request);
        await accounts.setUp(key, { username, password, fullName: full_name, email });
        const { session, cookie } = await accounts.openSession({ username, password }, request);
        set.headers["Set-Cookie"] = cookie;
        return { username, csrf_token: session.csrfToken };
      },
      {
        parse: "jsonBody",
        body: SetUp,
        response: { 200: Started, ...errors(400, 403, 404) },
        detail: {
          summary: "Create the first administrator",
          description:
            "With the key of the link that the log shows while there is no administrator. Signs in.",
        },
      },
    )
    .post(
      "/api/account/password",
      async ({ request, body: { key = "", password, current_password = "" }, set }) => {
        if (key !== "") {
          sessions.requireSameOrigin(request);
          const user = await accounts.setPasswordByLink(key, password);
          const username = accounts.actorOf(user).username!;
          // The link replaces the password only.
          if (accounts.secondFactors.isOn(user)) return { username, csrf_token: null };
          const { session, cookie } = await accounts.openSession({ username, password }, request);
          set.headers["Set-Cookie"] = cookie;
          return { username, csrf_token: session.csrfToken };
        }
        const { user, username } = requireUser(accounts, request);
        const wrong = await accounts.passwordError(username, current_password);
        if (wrong !== undefined)
          throw new Problem("invalid_request", wrong, { fields: { current_password: [wrong] } });
        await accounts.setPassword(user, password);
        const { session, cookie } = sessions.open(user, request);
        set.headers["Set-Cookie"] = cookie;
        return { username, csrf_token: session.csrfToken };
      },
      {
        parse: "jsonBody",
        body: NewPassword,
        response: { 200: Started, ...errors(400, 401, 403, 404) },
        detail: {
          summary: "Set a password",
          description:
            "Your own, with the current one: all sessions end, and a new one replaces yours. Or that of the account that a link's `key` is for; an account with a second factor is not signed in.",
        },
      },
    );
}

function sessionRoutes(accounts: Accounts) {
  const { sessions, confirmations } = accounts;
  return plugin("sessions", accounts)
    .post(
      "/api/account/confirmation",
      async ({ actor, request, body }) => {
        if (actor.via !== "session")
          throw new Problem("forbidden", "Only browser sessions are confirmed; a program has its token.");
        await confirmations.confirm(request, actor, body.current_password);
      },
      {
        signedIn: "enrolling",
        parse: "jsonBody",
        body: Confirmation,
        response: { 204: NO_CONTENT, ...errors(400, 401, 403) },
        detail: {
          summary: "Confirm your identity",
          description:
            "By the password, for a browser session that was answered with `confirmation_required`. It counts for a while (`confirm_minutes`).",
        },
      },
    )
    .get(
      "/api/account/sessions",
      ({ actor, request }) =>
        list(
          sessions.list(actor.user, request).map((session) =>
            Object.assign({}, session, {
              created: timestamp(session.created),
              last_used: timestamp(session.last_used),
              expires: timestamp(session.expires),
            }),
          ),
        ),
      {
        signedIn: true,
        response: { 200: SessionList, ...errors(401) },
        detail: { summary: "List your sessions" },
      },
    )
    .delete(
      "/api/account/sessions",
      ({ actor, request }) => ({ ended: sessions.endOthers(actor.user, request) }),
      {
        signedIn: true,
        response: { 200: Ended, ...errors(401, 403) },
        detail: { summary: "End your other sessions" },
      },
    )
    .delete(
      "/api/account/sessions/:id",
      ({ actor, params }) => {
        if (!sessions.end(actor.user, params.id)) throw new Problem("not_found", "Not found.");
      },
      {
        signedIn: true,
        response: { 204: NO_CONTENT, ...errors(401, 403, 404) },
        detail: { summary: "End one of your sessions" },
      },
    );
}

function adminAccountRoutes(accounts: Accounts) {
  const { tokens, links } = accounts;
  return plugin("admin-accounts", accounts)
    .post(
      "/api/admin/users/:username/password-link",
      ({ params, requestContext }) => {
        const user = accounts.userId(params.username, { active: true });
        const { key, expires } = links.make(user, PASSWORD_HOURS);
        return { url: requestContext.baseUrl + passwordPath(key), expires: timestamp(expires) };
      },
      {
        administrator: true,
        confirmed: true,
        parse: "jsonBody",
        response: { 200: PasswordLink, ...errors(401, 403, 404) },
        detail: {
          summary: "Create a link to set a password",
          description: `For one use within ${PASSWORD_HOURS} hours; replaces earlier links. The password stays valid until then.`,
        },
      },
    )
    .get(
      "/api/admin/tokens",
      ({ query }) =>
        list(
          tokens.list({ all: query.all === "1" }).map((token) =>
            Object.assign({}, token, {
              created: timestamp(token.created),
              expires: timestampOrNull(token.expires),
              last_used: timestampOrNull(token.last_used),
              revoked: timestampOrNull(token.revoked),
            }),
          ),
        ),
      {
        administrator: true,
        query: TokenQuery,
        response: { 200: TokenList, ...errors(401, 403) },
        detail: { summary: "List everybody's tokens" },
      },
    )
    .delete(
      "/api/admin/tokens/:id",
      ({ params }) => {
        if (!tokens.revoke(params.id)) throw new Problem("not_found", "Not found.");
      },
      {
        administrator: true,
        response: { 204: NO_CONTENT, ...errors(401, 403, 404) },
        detail: { summary: "Revoke any token" },
      },
    );
}
