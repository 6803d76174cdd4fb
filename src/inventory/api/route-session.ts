import { Type } from "typebox";
import { type Json, KINDS, printInstant } from "../model/field.ts";
import { fieldProblem, invalidField } from "../model/parse-body.ts";
import type { Store } from "../records/store.ts";
import { PEOPLE } from "../resources/index.ts";
import { type Call, asObject, noContent, notFound, respondJson } from "./call.ts";
import { nullable } from "../../platform/schema.ts";
import { operation, type OperationKey } from "../../platform/operation.ts";
import { readJsonBody, readPairs } from "./request-body.ts";
import { closed, content, INSTANT, optional, pageSchema, singlePage, TEXT } from "./schema.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import type { Session } from "../../accounts/session.ts";
import type { Credentials } from "../../accounts/sign-in.ts";
import { SCOPES, type TokenRecord, TOKENS_LISTED } from "../../accounts/token.ts";
import { unauthenticated } from "../../platform/unauthenticated.ts";
import { Problem } from "../../problem.ts";

const NO_STORE = { "Cache-Control": "no-store" };
const DAY = 86_400_000;

const CREDENTIALS = Type.Object(
  {
    username: Type.String({ examples: ["alice"] }),
    password: Type.String({ format: "password" }),
    code: optional("Code of the second factor: six digits, or a recovery code."),
  },
  { $id: "Credentials" },
);

/** The account of a session. Its other fields are those of users. */
interface SessionUser {
  id: string;
  username: string;
  is_superuser?: boolean;
  [field: string]: unknown;
}

const SESSION = Type.Object(
  {
    user: Type.Unsafe<SessionUser>(
      Type.Object(
        { id: TEXT, username: TEXT },
        { description: "The account, as the list of users shows it." },
      ),
    ),
    csrf_token: Type.String({ description: "Value for the header X-CSRFToken." }),
    expires: INSTANT,
    needs_second_factor: Type.Boolean({
      description: "Whether the account must set up a second factor before it can do anything else.",
    }),
    vouched: Type.Boolean({ description: "Whether an OpenID Connect provider authenticated the user." }),
  },
  { $id: "Session" },
);

/** @throws Problem invalid_request with an entry for each field */
function parseCredentials(body: Json): Credentials {
  const { username, password, code = "" } = asObject(body) ?? {};
  const missing = Object.entries({ username, password }).filter(
    ([, value]) => typeof value !== "string" || value === "",
  );
  if (typeof code !== "string" || code.length > 100)
    // The error body cannot have a field named code.
    throw new Problem("invalid_request", "code: Expected six digits, or a recovery code.", {
      more: { field: "code" },
    });
  if (missing.length > 0)
    throw fieldProblem(new Map(missing.map(([name]) => [name, ["This field is required."]])));
  return { username: String(username), password: String(password), code };
}

/** Sign-in, for callers without credentials: tokens for programs, sessions for browsers. */
export function signInOperations(store: Store, accounts: Accounts) {
  const getToken = <const Key extends OperationKey>(key: Key, hidden?: true) =>
    operation(key, {
      access: "withoutCredentials",
      summary: "Sign in for a token",
      description: "Returns a token for a username and password. Send it as `Authorization: Token <token>`.",
      ...(hidden ? { hidden } : {}),
      sends: content(CREDENTIALS),
      returns: Type.Object({ token: TEXT }),
      errors: [429],
      async run(_, call: Call) {
        const credentials = parseCredentials(await readPairs(call.request, call.maxBytes));
        return respondJson({ token: await accounts.signIn(credentials) }, NO_STORE);
      },
    });
  const show = (session: Session, headers: Record<string, string> = {}): Response => {
    const { user: rid, csrfToken, external: vouched } = session;
    const [user] = store.reader.values(PEOPLE.user, undefined, accounts.readActor(rid), [rid]);
    const expires = printInstant(session.expires * 1000);
    const needed = accounts.mustSetUpSecondFactor(session);
    const shown = { user, csrf_token: csrfToken, expires, needs_second_factor: needed, vouched };
    return respondJson(shown, { ...NO_STORE, ...headers });
  };
  /** Ends the session; returns the cookie that removes it. */
  const close = (request: Request): string => {
    const session = accounts.sessions.find(request);
    if (session) accounts.sessions.checkCsrf(request, session);
    return accounts.sessions.close(request);
  };
  return [
    getToken("POST /api/v2/token-auth/"),
    // Without a version: some clients of Django REST framework expect this form.
    getToken("POST /api/token-auth/", true),
    operation("GET /api/v2/session/", {
      access: "public",
      summary: "Get the current session",
      returns: SESSION,
      run(_, call: Call) {
        const session = accounts.sessions.find(call.request);
        if (!session)
          throw unauthenticated("There is no session. POST username and password here to start one.");
        return show(session);
      },
    }),
    operation("POST /api/v2/session/", {
      access: "withoutCredentials",
      summary: "Start a session",
      description:
        "Sets a cookie. Later requests that change something must come from a page of this server or send X-CSRFToken.",
      sends: content(CREDENTIALS),
      returns: SESSION,
      errors: [429],
      async run(_, call: Call) {
        const credentials = parseCredentials(await readJsonBody(call));
        const { session, cookie, browserCookie } = await accounts.openSession(credentials, call.request);
        const response = show(session, { "Set-Cookie": cookie });
        if (browserCookie !== undefined) response.headers.append("Set-Cookie", browserCookie);
        return response;
      },
    }),
    operation("DELETE /api/v2/session/", {
      access: "public",
      summary: "End the current session",
      run: (_, call: Call) => noContent({ ...NO_STORE, "Set-Cookie": close(call.request) }),
    }),
  ];
}

const FIELDS = {
  id: TEXT,
  name: TEXT,
  prefix: Type.String({ description: "First characters of the token." }),
  scope: Type.Enum([...SCOPES]),
  created: INSTANT,
  expires: nullable(INSTANT),
  last_used: nullable(Type.String({ format: "date-time", description: "To the minute." })),
};
const TOKEN = Type.Object(FIELDS, { $id: "Token" });

function printToken({ id, name, prefix, scope, created, expires, last_used: used }: TokenRecord) {
  const instant = (at: number | null): string | null => (at === null ? null : printInstant(at * 1000));
  const times = { created: instant(created), expires: instant(expires), last_used: instant(used) };
  return { id, name, prefix, scope, ...times };
}

const NEW_TOKEN = closed({
  name: Type.String({ description: "Purpose of the token.", examples: ["plate reader"] }),
  scope: Type.Optional(Type.Enum([...SCOPES])),
  expires: Type.Optional(Type.Union([INSTANT, Type.Null()])),
  days: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: 36_500 }), Type.Null()], {
      description: "Days until the token expires, instead of `expires`.",
    }),
  ),
  current_password: Type.Optional(Type.String({ maxLength: 1024, format: "password" })),
});

/** Milliseconds at which a new token expires; null for never. @throws Problem invalid_request */
function computeExpiry(
  { expires = null, days = null }: Type.Static<typeof NEW_TOKEN>,
  now: number,
): number | null {
  if (expires === null) return days === null ? null : now + days * DAY;
  if (days !== null) throw invalidField("days", "Give expires or days, not both.");
  const instant = Number(KINDS.instant.parse(expires) ?? 0) / 1000;
  if (instant <= now) throw invalidField("expires", `Expected ${KINDS.instant.expected}, in the future.`);
  return Math.floor(instant);
}

/** The caller's own tokens that are in use. */
export function tokenOperations({ tokens, confirmations }: Accounts) {
  const find = (user: number | null, id: string): TokenRecord => {
    const found = user === null ? undefined : tokens.find(user, id);
    if (!found) throw notFound();
    return found;
  };
  return [
    operation("GET /api/v2/tokens/", {
      access: "signedIn",
      summary: "List tokens",
      description: `Your active tokens, newest first, in one page: the latest ${TOKENS_LISTED}.`,
      returns: pageSchema(TOKEN),
      run(_, { actor }: Call) {
        const results = tokens.list({ user: actor.user!, limit: TOKENS_LISTED }).map(printToken);
        return respondJson(singlePage(results), NO_STORE);
      },
    }),
    operation("POST /api/v2/tokens/", {
      access: "signedIn",
      summary: "Create a token",
      description: "The token is shown only once.",
      body: NEW_TOKEN,
      status: 201,
      returns: Type.Object({ ...FIELDS, token: TEXT }, { $id: "CreatedToken" }),
      async run({ body }, { actor, request, store }: Call) {
        const { name, scope = "write", current_password: password = "" } = body;
        const expires = computeExpiry(body, store.clock.now());
        await confirmations.require(request, actor, password);
        const { token, id } = tokens.add(actor.user!, { name: name.trim(), scope, expires });
        return respondJson({ ...printToken(tokens.find(actor.user!, id)!), token }, NO_STORE, 201);
      },
    }),
    operation("GET /api/v2/tokens/:id/", {
      access: "signedIn",
      summary: "Get a token",
      returns: TOKEN,
      run: ({ params }, call: Call) => respondJson(printToken(find(call.actor.user, params.id)), NO_STORE),
    }),
    operation("DELETE /api/v2/tokens/:id/", {
      access: "signedIn",
      summary: "Revoke a token",
      run({ params }, call: Call) {
        tokens.revoke(find(call.actor.user, params.id).id);
        return noContent(NO_STORE);
      },
    }),
  ];
}
