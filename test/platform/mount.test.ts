import { beforeAll, describe, expect, test } from "bun:test";
import type { AnyElysia } from "elysia";
import { Type } from "typebox";
import { Accounts } from "../../src/accounts/accounts.ts";
import { makeGuards } from "../../src/accounts/guards.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openLog } from "../../src/platform/log.ts";
import { mount } from "../../src/platform/mount.ts";
import { operation, Reply } from "../../src/platform/operation.ts";
import { answerSchema, bodySchema, nullable } from "../../src/platform/schema.ts";
import { openMigrated } from "../database.ts";
import { openService } from "../fixtures/service.ts";

const PASSWORD = "correct horse battery";

const accounts = new Accounts(openMigrated(), systemClock);
const tokens: Record<string, string> = {};
const log: Record<string, unknown>[] = [];

const Note = bodySchema({
  text: Type.String({ minLength: 1, maxLength: 10, description: "Text of the note." }),
  kind: Type.Optional(Type.Union([Type.Literal("memo"), Type.Literal("warning")])),
  current_password: Type.Optional(Type.String()),
});
const Made = answerSchema("The note.", { id: Type.Integer(), text: Type.String(), by: Type.String() });
const By = answerSchema("The caller.", { by: nullable(Type.String()) });

interface NoteParts {
  prefix: string;
}
const ofOne = { params: { id: "Id of the note." } } as const;
const operations = [
  operation("GET /api/notes/", {
    access: "anyone",
    summary: "List notes",
    query: Type.Object({
      page: Type.Optional(Type.Integer({ minimum: 1 })),
      kinds: Type.Optional(Type.Array(Type.Enum(["memo", "warning"]))),
    }),
    returns: Type.Object({
      by: nullable(Type.String()),
      page: Type.Integer(),
      kinds: Type.Array(Type.String()),
    }),
    run: ({ caller, query: { page = 1, kinds = [] } }) => ({ by: caller.username, page, kinds }),
  }),
  operation("POST /api/notes/", {
    access: "signedIn",
    summary: "Add a note",
    body: Note,
    status: 201,
    returns: Made,
    run: ({ caller, body: { text } }, { prefix }: NoteParts) =>
      new Reply({ id: 1, text, by: caller.username }, { headers: { Location: `${prefix}1` } }),
  }),
  operation("GET /api/notes/:id/", {
    ...ofOne,
    access: "public",
    summary: "Get a note",
    returns: Type.Object({ self: Type.String() }),
    run: ({ params, context }) => ({ self: `${context.baseUrl}/${params.id}` }),
  }),
  operation("PUT /api/notes/:id/", {
    params: { id: Type.String({ description: "Id of the note.", pattern: "^\\d+$" }) },
    access: "withoutCredentials",
    summary: "Replace a note",
    sends: { "text/plain": { schema: Type.String() } },
    returns: Type.Object({ text: Type.String() }),
    run: async ({ request }) => new Reply({ text: await request.text() }, { status: 202 }),
  }),
  operation("DELETE /api/notes/:id/", {
    ...ofOne,
    access: "administrator",
    summary: "Remove a note",
    run: () => {},
  }),
  operation("POST /api/notes/:id/publish", {
    ...ofOne,
    access: "signedIn",
    confirmed: true,
    summary: "Publish a note",
    body: Note,
    returns: By,
    run: ({ caller }) => ({ by: caller.username }),
  }),
  operation("POST /api/notes/:id/pin", {
    ...ofOne,
    access: "enrolling",
    confirmed: true,
    summary: "Pin a note",
    returns: By,
    run: ({ caller }) => ({ by: caller.username }),
  }),
  operation("GET /api/notes/:id/text", {
    ...ofOne,
    access: "public",
    summary: "Download a note",
    formats: { "text/plain": { schema: Type.String() } },
    run: () => new Response("text", { headers: { "Content-Type": "text/plain" } }),
  }),
  operation("POST /api/notes/find", {
    access: "signedIn",
    summary: "Find notes",
    reads: true,
    hidden: true,
    sends: () => ({ "application/json": { schema: Type.Object({}) } }),
    returns: () => By,
    run: ({ caller }) => ({ by: caller.username }),
  }),
  operation("GET /api/broken", {
    access: "public",
    summary: "Return something else",
    returns: Made,
    run: () => ({ id: "x" }) as never,
  }),
];

const routes = (): AnyElysia =>
  mount(operations, { tag: "notes", guards: makeGuards(accounts), dependencies: { prefix: "/api/notes/" } });
const service = openService(accounts, [routes()], {
  maxMessageBytes: 5000,
  log: openLog(
    "requests",
    (line) => log.push(JSON.parse(line)),
    () => 0,
  ),
});

beforeAll(async () => {
  await accounts.addUser({ username: "ada", superuser: true, fullName: "Ada Archer" });
  await accounts.addUser({ username: "kim", password: PASSWORD });
  for (const name of ["ada", "kim"]) tokens[name] = accounts.addToken(name, "test");
  tokens.reader = accounts.tokens.add(accounts.userId("kim"), { name: "reader", scope: "read" }).token;
});

const ask = (method: string, path: string, as = "", body?: unknown) =>
  service.ask(method, `/api/${path}`, { body, ...(as === "" ? {} : { as: tokens[as] ?? as }) });

describe("guards", () => {
  test.each([
    ["GET", "notes/", "", 200, { by: null, page: 1, kinds: [] }],
    ["GET", "notes/", "kim", 200, { by: "kim", page: 1 }],
    ["GET", "notes/", "wrong", 401, { code: "unauthenticated" }],
    ["POST", "notes/", "", 401, { code: "unauthenticated" }],
    ["POST", "notes/", "kim", 201, { id: 1, text: "hello", by: "kim" }],
    ["DELETE", "notes/1/", "", 401, { code: "unauthenticated" }],
    ["DELETE", "notes/1/", "kim", 403, { detail: expect.stringContaining("Ada Archer (ada)") }],
    ["DELETE", "notes/1/", "ada", 204, {}],
    ["POST", "notes/1/publish", "kim", 200, { by: "kim" }],
    ["POST", "notes/find", "reader", 200, { by: "kim" }],
    ["POST", "notes/find", "", 401, { code: "unauthenticated" }],
  ])("%s /api/%s as %p returns %d", async (method, path, as, status, body) => {
    const sent = method === "POST" ? { text: "hello" } : undefined;
    const got = await ask(method, path, as, sent);
    expect({ status: got.status, body: got.body }).toMatchObject({ status, body });
  });

  test.each([
    ["", 401],
    ["reader", 403],
    ["kim", 400],
  ])("as %p a body that cannot be read, or is invalid, returns %d", async (as, status) => {
    for (const sent of ["{", { text: 1 }, "x".repeat(5001)]) {
      const got = await ask("POST", "notes/", as, sent);
      expect(got.status).toBe(as === "kim" && sent === "x".repeat(5001) ? 413 : status);
    }
    expect((await ask("POST", "notes/?wrong=1", as, { text: "hello" })).status).toBe(status);
  });

  test("`confirmed` requires the password in an old session; the body may contain it", async () => {
    const old = { hours: 1, session: null, confirmed: 0 };
    const { cookie } = accounts.sessions.open(accounts.userId("kim"), new Request("http://lab/"), old);
    const headers = { Cookie: cookie.split(";")[0], Origin: "http://lab" };
    for (const [more, status, code] of [
      [{}, 403, "confirmation_required"],
      [{ current_password: "wrong" }, 400, "invalid_request"],
      [{ current_password: PASSWORD }, 200, undefined],
    ] as const) {
      const call = { headers, body: { text: "hello", ...more } };
      const got = await service.ask("POST", "/api/notes/1/publish", call);
      expect([got.status, got.body.code]).toEqual([status, code]);
    }
  });
});

describe("schemas", () => {
  test.each([
    [{}, { text: ["This field is required."] }],
    [{ text: "" }, { text: ["Must not be empty."] }],
    [{ text: "x".repeat(11) }, { text: ["Must have at most 10 characters."] }],
    [
      { text: 3, kind: "note" },
      { text: ["Must be a string."], kind: ["Must be one of: memo, warning."] },
    ],
    [{ text: "a", colour: "red" }, { colour: ["Unknown field. Choices: text, kind, current_password."] }],
    [[], { non_field_errors: ["Must be an object."] }],
  ])("%j returns a message for each invalid field", async (body, fields) => {
    const got = await ask("POST", "notes/", "kim", body);
    const [[field, [message]]] = Object.entries(fields) as [string, string[]][];
    expect(got.status).toBe(400);
    expect(got.body).toEqual({
      ...fields,
      code: "invalid_request",
      message: field === "non_field_errors" ? message : expect.stringContaining(": "),
    });
  });

  test.each([
    ["notes/?page=2", 200, { page: 2 }],
    ["notes/?kinds=memo,warning", 200, { kinds: ["memo", "warning"] }],
    ["notes/?kinds=memo&kinds=warning", 200, { kinds: ["memo", "warning"] }],
    ["notes/?kinds=note", 400, { kinds: ["Must be one of: memo, warning."] }],
    ["notes/?page=1&page=2", 400, { page: ["Must be a whole number."] }],
    ["notes/?wrong=1", 400, { wrong: [expect.stringContaining("Choices: page, kinds.")] }],
    ["notes/?page=2.5", 400, { page: ["Must be a whole number."] }],
    ["notes/?page=", 400, { page: ["Must be a whole number."] }],
    ["notes/?page=0", 400, { page: ["Must be at least 1."] }],
  ])("/api/%s returns %d", async (path, status, body) => {
    const got = await ask("GET", path);
    expect({ status: got.status, body: got.body }).toMatchObject({ status, body });
  });

  test("malformed JSON returns 400, an empty body counts as {}, and a large one returns 413", async () => {
    expect((await ask("POST", "notes/", "kim", "{")).body).toMatchObject({ code: "malformed" });
    expect((await ask("POST", "notes/", "kim", "")).body).toMatchObject({
      text: ["This field is required."],
    });
    expect((await ask("POST", "notes/", "kim", " ".repeat(5001))).status).toBe(413);
  });

  test("a response that violates its schema returns 500, and only the log names the field", async () => {
    const { status, body } = await ask("GET", "broken");
    expect([status, body.code]).toEqual([500, "internal"]);
    expect(JSON.stringify(log)).toContain(
      "The response does not match its schema: text: This field is required. by: This field is required. id:",
    );
  });

  test("an answer has the declared status and headers unless its reply sets others", async () => {
    const added = await ask("POST", "notes/", "kim", { text: "hello" });
    expect([added.status, added.headers.get("location")]).toEqual([201, "/api/notes/1"]);
    const replaced = await ask("PUT", "notes/1/", "", "plain");
    expect([replaced.status, replaced.body]).toEqual([202, { text: "plain" }]);
    expect((await ask("PUT", "notes/x/", "", "plain")).body).toMatchObject({ id: ["Must match ^\\d+$."] });
    const got = await ask("GET", "notes/1/text");
    expect([got.text, got.headers.get("content-type")]).toEqual(["text", "text/plain"]);
  });

  test("the body of an operation that needs only confirmation may be empty", async () => {
    expect((await ask("POST", "notes/1/pin", "kim")).body).toEqual({ by: "kim" });
    expect((await ask("POST", "notes/1/pin", "kim", { text: "x" })).status).toBe(400);
  });

  test("documents each operation once", async () => {
    const { body } = await ask("GET", "../docs/json");
    const paths = Object.keys(body.paths).filter((path) => path.startsWith("/api/"));
    expect(paths).toHaveLength(6);
    expect(Object.keys(body.paths["/api/notes"]).sort()).toEqual(["get", "post"]);
    const { post } = body.paths["/api/notes"];
    expect(JSON.stringify(post.requestBody)).toContain("Text of the note.");
    expect(JSON.stringify(post.responses["201"])).toContain('"by"');
    expect(JSON.stringify(post)).not.toContain("~standard");
  });
});

describe("methods that no route declares", () => {
  test.each([
    ["OPTIONS", "notes/", 204, "GET, POST, HEAD, OPTIONS"],
    ["OPTIONS", "notes", 204, "GET, POST, HEAD, OPTIONS"],
    ["PATCH", "notes/1/", 405, "GET, PUT, DELETE, HEAD, OPTIONS"],
    ["GET", "notes/1/publish/", 405, "POST, OPTIONS"],
  ])("%s /api/%s returns %d", async (method, path, status, allow) => {
    const got = await ask(method, path);
    expect([got.status, got.headers.get("allow")]).toEqual([status, allow]);
  });

  test("HEAD returns the headers of GET without a body, with and without the trailing slash", async () => {
    const head = await ask("HEAD", "notes/?page=3");
    expect([head.status, head.text]).toEqual([200, ""]);
    expect((await ask("GET", "notes?page=3")).body).toEqual({ by: null, page: 3, kinds: [] });
    expect((await ask("POST", "notes", "kim", { text: "hello" })).status).toBe(201);
    expect((await ask("GET", "notes/7")).body).toEqual({ self: "http://lab/7" });
  });
});
