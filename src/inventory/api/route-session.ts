import { fieldProblem } from "../model/parse-body.ts";
import type { Elysia } from "elysia";
import type { Answers } from "./respond.ts";
import { type Json, KINDS, printInstant } from "../model/field.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { readJson, readPairs } from "./request-body.ts";
import { PEOPLE } from "../resources/index.ts";
import { respond, ROOT } from "./response.ts";
import { content, detail, refusalsOf, secured } from "./route-description.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import { unauthenticated } from "../../accounts/unauthenticated.ts";
import type { Credentials } from "../../accounts/sign-in.ts";
import type { Clock } from "../../platform/clock.ts";
import { basePathOf, ownPage, type PublicUrlOptions } from "../../platform/origin.ts";
import type { Session } from "../../accounts/session.ts";
import { SCOPES, type Scope, tokenNameRule, type TokenRecord } from "../../accounts/token.ts";

const SESSION_METHODS = "GET, POST, DELETE, HEAD, OPTIONS";
const TOKENS_METHODS = "GET, POST, HEAD, OPTIONS";
const TOKEN_METHODS = "GET, DELETE, HEAD, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;
const PRIVATE = { "Cache-Control": "no-store" };
const DAY = 86_400_000;

interface SignInOptions {
  answers: Answers;
  store: Store;
  accounts: Accounts;
  clock: Clock;
  maxMessageBytes: number;
  /** How clients reach the server. */
  reach: PublicUrlOptions;
}
type Params = Record<string, string | null>;
/** Signing in: a token for a name and a password, sessions of browsers, and the tokens of the caller. */
export function addSignIn(app: Elysia, options: SignInOptions): void {
  addTokenAuth(app, options);
  addSession(app, options);
  addTokens(app, options);
}

const json = (value: Json, status: number, headers: Record<string, string>): Response =>
  respond(JSON.stringify(value), status, MEDIA_TYPES.json, { ...PRIVATE, ...headers });

function refuseMethod(request: Request, allow: string): void {
  if (!allow.split(", ").includes(request.method))
    throw new Problem("method_not_allowed", `Method "${request.method}" not allowed.`, { allow });
}

/** What somebody signs in with. @throws Problem invalid_request with an entry per field */
function readCredentials(body: Json): Credentials {
  const pairs = body !== null && typeof body === "object" && !Array.isArray(body) ? body : {};
  const errors = new Map<string, string[]>();
  for (const name of ["username", "password"])
    if (typeof pairs[name] !== "string" || pairs[name] === "") errors.set(name, ["This field is required."]);
  const { username, password, code = "" } = pairs;
  if (typeof code !== "string" || code.length > 100)
    throw new Problem("invalid_request", "code: Expected a text: six digits, or a recovery code.", {
      more: { field: "code" },
    });
  if (errors.size > 0) throw fieldProblem(errors);
  return { username: String(username), password: String(password), code };
}

/** As clients of Django REST framework sign in. */
function addTokenAuth(app: Elysia, { accounts, maxMessageBytes }: SignInOptions): void {
  const signIn = async ({ request }: { request: Request }): Promise<Response> => {
    refuseMethod(request, "POST");
    const credentials = readCredentials(await readPairs(request, maxMessageBytes));
    return json({ token: await accounts.signIn(credentials) }, 200, {});
  };
  app.post(`${ROOT}token-auth/`, signIn, { parse: "none", detail: DOCS.tokenAuth });
  for (const path of [`${ROOT}token-auth/`, `${ROOT}token-auth`, "/api/token-auth/", "/api/token-auth"])
    app.all(path, signIn, HIDDEN);
}

/** Sessions of browsers. */
function addSession(app: Elysia, { store, accounts, maxMessageBytes, reach }: SignInOptions): void {
  const shown = (session: Session): Json => {
    const look = { format: undefined, shape: "flat", fields: undefined } as const;
    // Accounts hold no links.
    const around = { base: "", format: undefined };
    const actor = accounts.actorOf(session.user);
    const [record] = store.reader.records(PEOPLE.user, look, actor, [session.user], around).values;
    return {
      user: record,
      csrf_token: session.csrfToken,
      expires: printInstant(session.expires * 1000),
      needs_second_factor: accounts.mustSetUpSecondFactor(session),
      vouched: session.external,
    };
  };
  const allow = { Allow: SESSION_METHODS };
  const isForm = (request: Request): boolean =>
    /^application\/x-www-form-urlencoded\b/i.test(request.headers.get("content-type") ?? "");
  /** Back to the page that the form names, which is one of ours. */
  const onwards = (path: string, next: Json | undefined, cookie: string): Response => {
    const local = ownPage(next) ?? `${path}${ROOT}?format=api`;
    return new Response(null, {
      status: 303,
      headers: { ...PRIVATE, Location: local, "Set-Cookie": cookie },
    });
  };
  const end = (request: Request): string => {
    const session = accounts.sessions.find(request);
    if (session) accounts.sessions.checkCsrf(request, session);
    return accounts.sessions.close(request);
  };

  const session = async ({ request }: { request: Request }): Promise<Response> => {
    refuseMethod(request, SESSION_METHODS);
    if (request.method === "DELETE")
      return respond(null, 204, "", { ...PRIVATE, ...allow, "Set-Cookie": end(request) });
    if (request.method === "POST") {
      const body = await readPairs(request, maxMessageBytes);
      const pairs = body !== null && typeof body === "object" && !Array.isArray(body) ? body : {};
      // Forms of HTML know no DELETE.
      if (isForm(request) && pairs._method === "DELETE")
        return onwards(basePathOf(request, reach), pairs.next, end(request));
      const opened = await accounts.openSession(readCredentials(body), request);
      if (isForm(request)) return onwards(basePathOf(request, reach), pairs.next, opened.cookie);
      return json(shown(opened.session), 200, { ...allow, "Set-Cookie": opened.cookie });
    }
    if (request.method === "OPTIONS") return respond(null, 204, "", { ...PRIVATE, ...allow });
    const found = accounts.sessions.find(request);
    if (!found) throw unauthenticated("There is no session. POST username and password here to begin one.");
    return json(shown(found), 200, allow);
  };
  const path = `${ROOT}session/`;
  app
    .get(path, session, { detail: DOCS.session })
    .post(path, session, { parse: "none", detail: DOCS.openSession })
    .delete(path, session, { parse: "none", detail: DOCS.closeSession });
  for (const address of [path, path.slice(0, -1)]) app.all(address, session, HIDDEN);
}

const instant = (at: number | null): string | null => (at === null ? null : printInstant(at * 1000));

const printToken = (token: TokenRecord): Record<string, Json> => ({
  id: token.id,
  name: token.name,
  prefix: token.prefix,
  scope: token.scope,
  created: instant(token.created),
  expires: instant(token.expires),
  last_used: instant(token.last_used),
});

/** The usable tokens of the caller. */
function addTokens(app: Elysia, { answers, accounts, clock, maxMessageBytes }: SignInOptions): void {
  const { tokens } = accounts;
  const list = async ({ request }: { request: Request }): Promise<Response> => {
    const { actor, method } = answers.beginKnown(request, TOKENS_METHODS);
    const user = actor.user!;
    const headers = { Allow: TOKENS_METHODS };
    if (method === "OPTIONS") return respond(null, 204, "", headers);
    if (method === "POST") {
      const { password, ...wanted } = readToken(await readJson(request, maxMessageBytes), clock.now());
      await accounts.confirmations.require(request, actor, password);
      const { token, id } = tokens.add(user, wanted);
      return json({ ...printToken(tokens.find(user, id)!), token }, 201, headers);
    }
    const results = tokens.list({ user }).map(printToken);
    const page = { previous: null, next: null, current: 1, total: results.length, total_pages: 1, results };
    return json(page, 200, headers);
  };
  const item = ({ request, params }: { request: Request; params: Params }): Response => {
    const { actor, method } = answers.beginKnown(request, TOKEN_METHODS);
    const headers = { Allow: TOKEN_METHODS };
    const found = tokens.list({ user: actor.user! }).find(({ id }) => id === params.id);
    if (!found) throw new Problem("not_found", "Not found.");
    if (method === "OPTIONS") return respond(null, 204, "", headers);
    if (method !== "DELETE") return json(printToken(found), 200, headers);
    tokens.revoke(found.id);
    return respond(null, 204, "", { ...PRIVATE, ...headers });
  };
  const path = `${ROOT}tokens/`;
  app
    .get(path, list, { detail: DOCS.tokens })
    .post(path, list, { parse: "none", detail: DOCS.addToken })
    .get(`${path}:id/`, item, { detail: DOCS.token })
    .delete(`${path}:id/`, item, { parse: "none", detail: DOCS.revokeToken });
  for (const end of ["", "/"]) {
    app.all(`${path.slice(0, -1)}${end}`, list, HIDDEN);
    app.all(`${path}:id${end}`, item, HIDDEN);
  }
}

const TOKEN_FIELDS = ["name", "scope", "expires", "days", "current_password"];

/** What a new token shall be. @throws Problem invalid_request */
function readToken(
  body: Json,
  now: number,
): { name: string; scope: Scope; expires: number | null; password: string } {
  const errors = new Map<string, string[]>();
  if (body === null || typeof body !== "object" || Array.isArray(body))
    throw fieldProblem(new Map([["non_field_errors", ["Invalid data. Expected a dictionary."]]]));
  for (const name of Object.keys(body))
    if (!TOKEN_FIELDS.includes(name))
      errors.set(/^\w{1,60}$/.test(name) ? name : "non_field_errors", [
        `This is not a field of a token. Choices: ${TOKEN_FIELDS.join(", ")}.`,
      ]);
  const { name = "", scope = "write", expires = null, days = null, current_password: password = "" } = body;
  const wrong = tokenNameRule(typeof name === "string" ? name : "");
  if (wrong !== undefined) errors.set("name", [wrong]);
  if (!SCOPES.includes(scope as Scope)) errors.set("scope", [`Choices: ${SCOPES.join(", ")}.`]);
  if (typeof password !== "string" || password.length > 1024)
    errors.set("current_password", ["Expected a text of up to 1024 characters."]);
  let end: number | null = null;
  if (days !== null) {
    if (!Number.isInteger(days) || Number(days) < 1 || Number(days) > 36_500)
      errors.set("days", ["Expected a whole number from 1 to 36500."]);
    else end = now + Number(days) * DAY;
  }
  if (expires !== null) {
    const read = KINDS.instant.parse(String(expires));
    if (typeof read !== "number" || read / 1000 <= now)
      errors.set("expires", [`Expected ${KINDS.instant.expected}, in the future.`]);
    else if (days !== null) errors.set("days", ["Give expires or days, not both."]);
    else end = Math.floor(read / 1000);
  }
  if (errors.size > 0) throw fieldProblem(errors);
  return { name: String(name).trim(), scope: scope as Scope, expires: end, password: String(password) };
}

const refusals = refusalsOf({
  400: "A field is missing or wrong.",
  401: "The credentials are missing or wrong. With the code second_factor_required the password is right, and `code` is missing.",
  403: "A page of another origin asks, the token may only read, or a second factor has to be set up first.",
  404: "There is none.",
  429: "Too many failed sign-ins; Retry-After says for how many seconds to wait.",
});
const text = { type: "string" };
const time = { type: "string", format: "date-time" };
const object = (properties: Record<string, object>, needed = Object.keys(properties)) => ({
  type: "object",
  required: needed,
  properties,
});
const credentials = {
  required: true,
  content: content(
    object(
      {
        username: text,
        password: { type: "string", format: "password" },
        code: {
          ...text,
          description: "Of the second factor, where the account has one: six digits, or a recovery code.",
        },
      },
      ["username", "password"],
    ),
  ),
};
const tokenShape = {
  id: text,
  name: text,
  prefix: { type: "string", description: "The first characters of the token." },
  scope: { type: "string", enum: [...SCOPES] },
  created: time,
  expires: { ...time, nullable: true },
  last_used: { ...time, nullable: true, description: "To the minute." },
};
const sessionShape = object({
  user: { type: "object" },
  csrf_token: { type: "string", description: "For X-CSRFToken." },
  expires: time,
  needs_second_factor: {
    type: "boolean",
    description: "Whether the account may do nothing until it has set a second factor up.",
  },
  vouched: { type: "boolean", description: "Whether a provider has said who it is (OpenID Connect)." },
});
const id = { name: "id", in: "path", required: true, description: "Identifier of the token.", schema: text };

const DOCS = {
  tokenAuth: detail({
    summary: "Sign in",
    description: "Gives a token for a username and a password. Send it as `Authorization: Token <token>`.",
    requestBody: credentials,
    responses: {
      200: { description: "The token.", content: content(object({ token: text })) },
      ...refusals(400, 401, 403, 429),
    },
  }),
  session: detail({
    summary: "The session of a browser",
    responses: {
      200: { description: "Who is signed in.", content: content(sessionShape) },
      ...refusals(401),
    },
  }),
  openSession: detail({
    summary: "Sign a browser in",
    description:
      "Sets a cookie. Requests that change something then come from a page of ours, or carry X-CSRFToken. A form gets 303 to its field `next`.",
    requestBody: credentials,
    responses: {
      200: { description: "Who is signed in.", content: content(sessionShape) },
      ...refusals(400, 401, 403, 429),
    },
  }),
  closeSession: detail({
    summary: "Sign a browser out",
    responses: { 204: { description: "Done." }, ...refusals(403) },
  }),
  tokens: secured({
    summary: "Your tokens",
    responses: {
      200: {
        description: "Those that can be used, newest first, all in one page.",
        content: content(
          object({
            previous: { ...text, nullable: true },
            next: { ...text, nullable: true },
            current: { type: "integer" },
            total: { type: "integer" },
            total_pages: { type: "integer" },
            results: { type: "array", items: object(tokenShape) },
          }),
        ),
      },
      ...refusals(401),
    },
  }),
  addToken: secured({
    summary: "Make a token",
    requestBody: {
      required: true,
      content: content(
        object(
          {
            name: { ...text, description: "Purpose." },
            scope: tokenShape.scope,
            expires: tokenShape.expires,
            days: { type: "integer", description: "Days until it expires, in the place of expires." },
          },
          ["name"],
        ),
      ),
    },
    responses: {
      201: {
        description: "The token, which is shown this once.",
        content: content(object({ ...tokenShape, token: text })),
      },
      ...refusals(400, 401, 403),
    },
  }),
  token: secured({
    summary: "One of your tokens",
    parameters: [id],
    responses: { 200: { description: "It.", content: content(object(tokenShape)) }, ...refusals(401, 404) },
  }),
  revokeToken: secured({
    summary: "Revoke a token",
    parameters: [id],
    responses: { 204: { description: "Done." }, ...refusals(401, 403, 404) },
  }),
};
