import { type Static, Type } from "typebox";
import { timestamp, timestampOrNull } from "../platform/clock.ts";
import { operation, Reply } from "../platform/operation.ts";
import { pageSchema, singlePage } from "../platform/page.ts";
import { answerSchema, bodySchema, nullable, OptionalInput } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import { requireUser } from "./guards.ts";
import type { Session } from "./session.ts";
import { SCOPES, TOKENS_LISTED } from "./token.ts";

/** Hours for which the set-up link, and a link to set a password, are valid. */
export const SET_UP_HOURS = 24;
const PASSWORD_HOURS = 72;

export const setUpPath = (key: string): string => `/setup?key=${key}`;
const passwordPath = (key: string): string => `/set-password?key=${key}`;

/** The purpose of the key of a link; undefined if it is invalid. */
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
const TokenQuery = Type.Object({ all: Type.Optional(All) });

/** Dependencies of the operations of accounts. */
export interface AccountParts {
  accounts: Accounts;
}

const passwordOperations = [
  operation("POST /api/setup", {
    access: "withoutCredentials",
    summary: "Create the first administrator",
    description:
      "Requires the key of the setup link, which the log shows while there is no administrator. Also signs in.",
    body: SetUp,
    returns: SignedIn,
    errors: [404],
    async run({ request, body: { key, username, password, ...about } }, { accounts }: AccountParts) {
      const [fullName, email] = [about.full_name ?? "", about.email ?? ""];
      accounts.sessions.requireSameOrigin(request);
      await accounts.setUp(key, { username, password, fullName, email });
      return answerSignedIn(username, await accounts.openSession({ username, password }, request));
    },
  }),
  operation("POST /api/account/password", {
    // Credentials or the key of a link, which is in the body.
    access: "withoutCredentials",
    summary: "Set a password",
    description:
      "Sets your own password if you send the current one; all sessions end, and a new one replaces yours. With the `key` of a link, sets the password of its account and signs in, unless the account has a second factor.",
    body: NewPassword,
    returns: SignedIn,
    errors: [404],
    async run({ request, body: { key, password, current_password } }, { accounts }: AccountParts) {
      if (key) return setByLink(accounts, request, key, password);
      const { user, username } = requireUser(accounts, request);
      const wrong = await accounts.passwordError(username, current_password ?? "");
      if (wrong !== undefined)
        throw new Problem("invalid_request", wrong, { fields: { current_password: [wrong] } });
      await accounts.setPassword(user, password);
      return answerSignedIn(username, accounts.sessions.open(user, request));
    },
  }),
];

/** Sets the password of the account that a link was sent for. */
async function setByLink(accounts: Accounts, request: Request, key: string, password: string) {
  accounts.sessions.requireSameOrigin(request);
  const user = await accounts.setPasswordByLink(key, password);
  const username = accounts.readActor(user).username!;
  // The link replaces the password only.
  if (accounts.secondFactors.isOn(user)) return { username, csrf_token: null };
  return answerSignedIn(username, await accounts.openSession({ username, password }, request));
}

/** The answer that opens a session. */
const answerSignedIn = (
  username: string,
  opened: { session: Session; cookie: string },
): Reply<Static<typeof SignedIn>> =>
  new Reply({ username, csrf_token: opened.session.csrfToken }, { headers: { "Set-Cookie": opened.cookie } });

const sessionOperations = [
  operation("POST /api/account/confirmation", {
    access: "enrolling",
    summary: "Confirm your identity",
    description:
      "Confirms a browser session with the password, after a response with the code `confirmation_required`.",
    body: Confirmation,
    async run({ caller, request, body }, { accounts }: AccountParts) {
      if (caller.via !== "session")
        throw new Problem(
          "forbidden",
          "Only browser sessions need confirmation; requests with a token do not.",
        );
      await accounts.confirmations.confirm(request, caller, body.current_password);
    },
  }),
  operation("GET /api/account/sessions", {
    access: "signedIn",
    summary: "List your sessions",
    returns: SessionList,
    run: ({ caller, request }, { accounts }: AccountParts) =>
      singlePage(
        accounts.sessions.list(caller.user, request).map((session) =>
          Object.assign({}, session, {
            created: timestamp(session.created),
            last_used: timestamp(session.last_used),
            expires: timestamp(session.expires),
          }),
        ),
      ),
  }),
  operation("DELETE /api/account/sessions", {
    access: "signedIn",
    summary: "End your other sessions",
    returns: Ended,
    run: ({ caller, request }, { accounts }: AccountParts) => ({
      ended: accounts.sessions.endOthers(caller.user, request),
    }),
  }),
  operation("DELETE /api/account/sessions/:id", {
    access: "signedIn",
    summary: "End one of your sessions",
    params: { id: "Id of the session." },
    errors: [404],
    run({ caller, params }, { accounts }: AccountParts) {
      if (!accounts.sessions.end(caller.user, params.id)) throw new Problem("not_found", "Not found.");
    },
  }),
];

const administrationOperations = [
  operation("POST /api/admin/users/:username/password-link", {
    access: "administrator",
    confirmed: true,
    summary: "Create a link to set a password",
    description: `The link works once within ${PASSWORD_HOURS} hours and replaces earlier links. The current password stays valid until then.`,
    params: { username: ["Username.", "carol"] },
    returns: PasswordLink,
    errors: [404],
    run({ params, context }, { accounts }: AccountParts) {
      const user = accounts.userId(params.username, { active: true });
      const { key, expires } = accounts.links.make(user, PASSWORD_HOURS);
      return { url: context.baseUrl + passwordPath(key), expires: timestamp(expires) };
    },
  }),
  operation("GET /api/admin/tokens", {
    access: "administrator",
    summary: "List the tokens of all users",
    query: TokenQuery,
    returns: TokenList,
    run: ({ query }, { accounts }: AccountParts) =>
      singlePage(
        accounts.tokens.list({ all: query.all === "1", limit: TOKENS_LISTED }).map((token) =>
          Object.assign({}, token, {
            created: timestamp(token.created),
            expires: timestampOrNull(token.expires),
            last_used: timestampOrNull(token.last_used),
            revoked: timestampOrNull(token.revoked),
          }),
        ),
      ),
  }),
  operation("DELETE /api/admin/tokens/:id", {
    access: "administrator",
    summary: "Revoke any token",
    params: { id: "Id of the token." },
    errors: [404],
    run({ params }, { accounts }: AccountParts) {
      if (!accounts.tokens.revoke(params.id)) throw new Problem("not_found", "Not found.");
    },
  }),
];

/** First set-up, passwords, and the sessions and tokens of accounts. */
export const accountOperations = [...passwordOperations, ...sessionOperations, ...administrationOperations];
