import { beforeAll, describe, expect, test } from "bun:test";
import { type AnyElysia, Elysia } from "elysia";
import { Type } from "typebox";
import { Accounts } from "../../src/accounts/accounts.ts";
import { guards } from "../../src/accounts/route-guards.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { requestPlugin } from "../../src/platform/http.ts";
import { openLog } from "../../src/platform/log.ts";
import { schema, textSchema } from "../../src/platform/schema.ts";
import { openService } from "../fixtures/service.ts";
import { openMigrated } from "../database.ts";

const PASSWORD = "correct horse battery";

const accounts = new Accounts(openMigrated(), systemClock);
const tokens: Record<string, string> = {};
const log: Record<string, unknown>[] = [];

const Note = schema(
  Type.Object(
    {
      text: Type.String({ minLength: 1, maxLength: 10, description: "Text of the note." }),
      kind: Type.Optional(Type.Union([Type.Literal("memo"), Type.Literal("warning")])),
      current_password: Type.Optional(Type.String()),
    },
    { additionalProperties: false },
  ),
);
const Made = schema(Type.Object({ id: Type.Integer(), text: Type.String(), by: Type.String() }));
const Paging = textSchema(Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1 })) }));

const routes = (): AnyElysia =>
  new Elysia({ name: "notes" })
    .use(requestPlugin)
    .use(guards(accounts))
    .get("/api/notes/", ({ actor, query }) => ({ by: actor.username, page: query.page ?? 1 }), {
      anyone: true,
      query: Paging,
    })
    .post(
      "/api/notes/",
      ({ actor, body, status }) => status(201, { id: 1, text: body.text, by: actor.username }),
      { signedIn: true, parse: "jsonBody", body: Note, response: { 201: Made } },
    )
    .get("/api/notes/:id/", ({ params, requestContext }) => ({
      self: `${requestContext.baseUrl}/${params.id}`,
    }))
    .delete("/api/notes/:id/", () => undefined, { administrator: true })
    .post("/api/notes/:id/publish", ({ actor }) => ({ by: actor.username }), {
      signedIn: true,
      confirmed: true,
      parse: "jsonBody",
      body: Note,
    })
    .get("/api/broken", () => ({ id: "x" }) as never, { response: { 200: Made } });
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
});

const ask = (method: string, path: string, as = "", body?: unknown) =>
  service.ask(method, `/api/${path}`, { body, ...(as === "" ? {} : { as: tokens[as] ?? as }) });

describe("guards", () => {
  test.each([
    ["GET", "notes/", "", 200, { by: null, page: 1 }],
    ["GET", "notes/", "kim", 200, { by: "kim", page: 1 }],
    ["GET", "notes/", "wrong", 401, { code: "unauthenticated" }],
    ["POST", "notes/", "", 401, { code: "unauthenticated" }],
    ["POST", "notes/", "kim", 201, { id: 1, text: "hello", by: "kim" }],
    ["DELETE", "notes/1/", "", 401, { code: "unauthenticated" }],
    ["DELETE", "notes/1/", "kim", 403, { detail: expect.stringContaining("Ada Archer (ada)") }],
    ["DELETE", "notes/1/", "ada", 204, {}],
    ["POST", "notes/1/publish", "kim", 200, { by: "kim" }],
  ])("%s /api/%s as %p returns %d", async (method, path, as, status, body) => {
    const sent = method === "POST" ? { text: "hello" } : undefined;
    const got = await ask(method, path, as, sent);
    expect({ status: got.status, body: got.body }).toMatchObject({ status, body });
  });

  test("returns 401 before the body is validated", async () => {
    expect((await ask("POST", "notes/", "", { text: 1 })).status).toBe(401);
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

  test("documents each operation once", async () => {
    const { body } = await ask("GET", "../docs/json");
    const paths = Object.keys(body.paths).filter((path) => path.startsWith("/api/"));
    expect(paths).toHaveLength(4);
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
    ["PATCH", "notes/1/", 405, "GET, DELETE, HEAD, OPTIONS"],
    ["GET", "notes/1/publish/", 405, "POST, OPTIONS"],
  ])("%s /api/%s returns %d", async (method, path, status, allow) => {
    const got = await ask(method, path);
    expect([got.status, got.headers.get("allow")]).toEqual([status, allow]);
  });

  test("HEAD returns the headers of GET without a body, with and without the trailing slash", async () => {
    const head = await ask("HEAD", "notes/?page=3");
    expect([head.status, head.text]).toEqual([200, ""]);
    expect((await ask("GET", "notes?page=3")).body).toEqual({ by: null, page: 3 });
    expect((await ask("POST", "notes", "kim", { text: "hello" })).status).toBe(201);
    expect((await ask("GET", "notes/7")).body).toEqual({ self: "http://lab/7" });
  });
});
