import { Elysia } from "elysia";
import { Type } from "typebox";
import { pageSchema, singlePage } from "../platform/page.ts";
import { answerSchema, bodySchema, nullable, OptionalInput, textSchema } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import { answers, NO_CONTENT, pathSchema } from "./responses.ts";
import { requireUser } from "./guards.ts";
import { guardedRoutes } from "./route-guards.ts";
import type { Session } from "./session.ts";
import { SCOPES, TOKENS_LISTED } from "./token.ts";
import { timestamp, timestampOrNull } from "../platform/clock.ts";

/** Hours for which the set-up link, and a link to set a password, are valid. */
export const SET_UP_HOURS = 24;
const PASSWORD_HOURS = 72;

export const setUpPath = (key: string): string => `/setup?key=${key}`;
const passwordPath = (key: string): string => `/set-password?key=${key}`;

/** What the key of a link may be used for; undefined if it is invalid. */
export function linkPurpose(accounts: Accounts, key: string): "set-up" | "password" | "email" | undefined {
  const found = accounts.links.find(key);
  if (!found) return undefined;
  if (found.email !== null) return "email";
  if (found.user !== null) return "password";
  return accounts.hasAdministrator() ? undefined : "set-up";
}

const Text = Type.String();
const NullableText = nullable(Text);
const input = (...examples: string[]) => Type.String({ minLength: 1, maxLength: 1024, examples });
const Password = input("correct horse battery");

const SetUp = bodySchema({
  key: input("kP3mQ7xW"),
  username: input("ada"),
  password: Password,
  full_name: OptionalInput,
  email: OptionalInput,
});
const NewPassword = bodySchema({
  password: Password,
  current_password: Type.Optional(nullable(Password)),
  key: OptionalInput,
});
const Confirmation = bodySchema({ current_password: Password });
const SignedIn = answerSchema("A cookie stores the session. `csrf_token` is null if there is no session.", {
  username: Text,
  csrf_token: NullableText,
});
const SessionList = pageSchema(
  "Your browser sessions, latest first.",
  Type.Object({
    id: Text,
    created: Text,
    last_used: Text,
    expires: Text,
    agent: Text,
    current: Type.Boolean(),
  }),
);
const Ended = answerSchema("The number of ended sessions.", { ended: Type.Integer() });
const PasswordLink = answerSchema("The link, which is not shown again.", { url: Text, expires: Text });
const TokenList = pageSchema(
  `The latest ${TOKENS_LISTED} tokens, newest first.`,
  Type.Object({
    id: Text,
    username: Text,
    name: Text,
    prefix: Text,
    scope: Type.Enum([...SCOPES]),
    created: Text,
    expires: NullableText,
    last_used: NullableText,
    revoked: NullableText,
  }),
);
const All = Type.String({ description: "1: include expired and revoked tokens." });
const TokenQuery = textSchema(Type.Object({ all: Type.Optional(All) }));

const SET_UP = {
  security: [] as [],
  summary: "Create the first administrator",
  description:
    "Requires the key of the setup link, which the log shows while there is no administrator. Also signs in.",
};
const SET_PASSWORD = {
  security: [] as [],
  summary: "Set a password",
  description:
    "Sets your own password if you send the current one; all sessions end, and a new one replaces yours. With the `key` of a link, sets the password of its account and signs in, unless the account has a second factor.",
};
const CONFIRM = {
  summary: "Confirm your identity",
  description:
    "Confirms a browser session with the password, after a response with the code `confirmation_required`.",
};
const ADD_LINK = {
  summary: "Create a link to set a password",
  description: `The link works once within ${PASSWORD_HOURS} hours and replaces earlier links. The current password stays valid until then.`,
};

/** First set-up, passwords, and the sessions and tokens of accounts. */
export const accountRoutes = (accounts: Accounts) =>
  new Elysia({ name: "accounts" })
    .use(passwordRoutes(accounts))
    .use(sessionRoutes(accounts))
    .use(administrationRoutes(accounts));

function passwordRoutes(accounts: Accounts) {
  const { sessions } = accounts;
  type Reply = { headers: Record<string, string | number> };
  const reply = (set: Reply, username: string, opened: { session: Session; cookie: string }) => {
    set.headers["Set-Cookie"] = opened.cookie;
    return { username, csrf_token: opened.session.csrfToken };
  };
  const setByLink = async (request: Request, key: string, password: string, set: Reply) => {
    sessions.requireSameOrigin(request);
    const user = await accounts.setPasswordByLink(key, password);
    const username = accounts.actorOf(user).username!;
    // The link replaces the password only.
    if (accounts.secondFactors.isOn(user)) return { username, csrf_token: null };
    return reply(set, username, await accounts.openSession({ username, password }, request));
  };
  return guardedRoutes("passwords", "administration", accounts)
    .post(
      "/api/setup",
      async ({ request, body: { key, username, password, ...about }, set }) => {
        const [fullName, email] = [about.full_name ?? "", about.email ?? ""];
        sessions.requireSameOrigin(request);
        await accounts.setUp(key, { username, password, fullName, email });
        return reply(set, username, await accounts.openSession({ username, password }, request));
      },
      { parse: "jsonBody", body: SetUp, ...answers(SET_UP, { 200: SignedIn }, 400, 403, 404) },
    )
    .post(
      "/api/account/password",
      async ({ request, body: { key, password, current_password }, set }) => {
        if (key) return setByLink(request, key, password, set);
        const { user, username } = requireUser(accounts, request);
        const wrong = await accounts.passwordError(username, current_password ?? "");
        if (wrong !== undefined)
          throw new Problem("invalid_request", wrong, { fields: { current_password: [wrong] } });
        await accounts.setPassword(user, password);
        return reply(set, username, sessions.open(user, request));
      },
      {
        parse: "jsonBody",
        body: NewPassword,
        ...answers(SET_PASSWORD, { 200: SignedIn }, 400, 401, 403, 404),
      },
    );
}

function sessionRoutes(accounts: Accounts) {
  const { sessions, confirmations } = accounts;
  return guardedRoutes("sessions", "administration", accounts)
    .post(
      "/api/account/confirmation",
      async ({ actor, request, body }) => {
        if (actor.via !== "session")
          throw new Problem(
            "forbidden",
            "Only browser sessions need confirmation; requests with a token do not.",
          );
        await confirmations.confirm(request, actor, body.current_password);
      },
      {
        signedIn: "enrolling",
        parse: "jsonBody",
        body: Confirmation,
        ...answers(CONFIRM, NO_CONTENT, 400, 401, 403),
      },
    )
    .get(
      "/api/account/sessions",
      ({ actor, request }) =>
        singlePage(
          sessions.list(actor.user, request).map((session) =>
            Object.assign({}, session, {
              created: timestamp(session.created),
              last_used: timestamp(session.last_used),
              expires: timestamp(session.expires),
            }),
          ),
        ),
      { signedIn: true, ...answers("List your sessions", { 200: SessionList }, 401) },
    )
    .delete(
      "/api/account/sessions",
      ({ actor, request }) => ({ ended: sessions.endOthers(actor.user, request) }),
      { signedIn: true, ...answers("End your other sessions", { 200: Ended }, 401, 403) },
    )
    .delete(
      "/api/account/sessions/:id",
      ({ actor, params }) => {
        if (!sessions.end(actor.user, params.id)) throw new Problem("not_found", "Not found.");
      },
      {
        signedIn: true,
        params: pathSchema({ id: ["Id of the session."] }),
        ...answers("End one of your sessions", NO_CONTENT, 401, 403, 404),
      },
    );
}

function administrationRoutes(accounts: Accounts) {
  const { tokens, links } = accounts;
  return guardedRoutes("admin-accounts", "administration", accounts)
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
        params: pathSchema({ username: ["Username.", "carol"] }),
        ...answers(ADD_LINK, { 200: PasswordLink }, 401, 403, 404),
      },
    )
    .get(
      "/api/admin/tokens",
      ({ query }) =>
        singlePage(
          tokens.list({ all: query.all === "1", limit: TOKENS_LISTED }).map((token) =>
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
        ...answers("List the tokens of all users", { 200: TokenList }, 401, 403),
      },
    )
    .delete(
      "/api/admin/tokens/:id",
      ({ params }) => {
        if (!tokens.revoke(params.id)) throw new Problem("not_found", "Not found.");
      },
      {
        administrator: true,
        params: pathSchema({ id: ["Id of the token."] }),
        ...answers("Revoke any token", NO_CONTENT, 401, 403, 404),
      },
    );
}
