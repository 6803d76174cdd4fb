import { beforeEach, describe, expect, test } from "bun:test";
import { linkPurpose } from "../../src/accounts/account-routes.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import { Identities } from "../../src/accounts/external/index.ts";
import { accountRoutes } from "../../src/accounts/routes.ts";
import { resolveConfig } from "../../src/config.ts";
import { openMemberships } from "../../src/inventory/index.ts";
import type { Database } from "../../src/platform/sqlite.ts";
import { complaints, listOperations, type Paths } from "../described.ts";
import { shownCode } from "../fixtures/authenticator.ts";
import { type Answered, type Json, openService } from "../fixtures/service.ts";
import { fixedClock } from "../inventory/harness.ts";
import { openMigrated } from "../database.ts";

/** All routes of accounts, in memory. Every answer is compared with the OpenAPI document. */

const PASSWORD = "correct horse";
const ISSUER = "https://id.example";
const clock = fixedClock();
const { config } = resolveConfig({
  flags: { oidc_issuer: ISSUER, oidc_client_id: "labd" },
  environment: {},
});
let database: Database;
let accounts: Accounts;
let service: ReturnType<typeof openService>;
let operations: Paths;
const tokens: Record<string, string> = {};

beforeEach(async () => {
  database = openMigrated();
  accounts = new Accounts(database, clock);
  const identities = new Identities(database, clock, accounts, openMemberships(database, clock));
  await accounts.addUser({ username: "ada", superuser: true });
  await accounts.addUser({ username: "kim", password: PASSWORD });
  for (const name of ["ada", "kim"]) tokens[name] = accounts.addToken(name, "test");
  service = openService(accounts, [...accountRoutes({ accounts, identities, settings: config })]);
  operations ??= listOperations((await service.ask("GET", "/docs/json")).body);
});

/** Calls a route as a user by token, or with headers. */
async function call(
  method: string,
  path: string,
  as: string | Record<string, string> = "",
  body?: unknown,
): Promise<Answered> {
  const answered = await service.ask(method, `/api/${path}`, {
    ...(typeof as === "string" ? (as === "" ? {} : { as: tokens[as] }) : { headers: as }),
    ...(body === undefined ? {} : { body }),
  });
  const [pathname] = `/api/${path}`.split("?");
  const pattern = Object.keys(operations).find((one) =>
    new RegExp(`^${one.replace(/\{\w+\}/g, "[^/]+")}/?$`).test(pathname),
  );
  const operation = operations[pattern ?? ""]?.[method.toLowerCase()];
  if (operation && answered.headers.get("content-type") !== "application/x-ndjson")
    expect(complaints(operation, method, pattern!, answered)).toEqual([]);
  return answered;
}

/** The headers of a browser with a session. */
const browser = (cookie: string): Record<string, string> => ({
  Cookie: cookie.split(";")[0],
  Origin: "http://lab",
});
const signIn = (username: string): Record<string, string> =>
  browser(accounts.sessions.open(accounts.userId(username), new Request("http://lab/")).cookie);

const ROUTES: [method: string, path: string, statuses: [number, number, number]][] = [
  ["POST", "account/password", [400, 400, 400]],
  ["POST", "account/confirmation", [401, 400, 400]],
  ["GET", "account/sessions", [401, 200, 200]],
  ["DELETE", "account/sessions", [401, 200, 200]],
  ["DELETE", "account/sessions/x", [401, 404, 404]],
  ["POST", "admin/users/kim/password-link", [401, 403, 200]],
  ["GET", "admin/tokens", [401, 403, 200]],
  ["DELETE", "admin/tokens/x", [401, 403, 404]],
  ["GET", "account/second-factor", [401, 200, 200]],
  ["POST", "account/second-factor", [401, 403, 403]],
  ["POST", "account/second-factor/confirm", [401, 400, 400]],
  ["POST", "account/second-factor/recovery-codes", [401, 400, 400]],
  ["POST", "account/second-factor/remove", [401, 400, 400]],
  ["GET", "admin/second-factors", [401, 403, 200]],
  ["DELETE", "admin/users/kim/second-factor", [401, 403, 404]],
  ["GET", "admin/identities", [401, 403, 200]],
  ["POST", "admin/users/kim/identities", [401, 403, 400]],
  ["DELETE", "admin/users/kim/identities/oidc", [401, 403, 404]],
  ["DELETE", "admin/users/kim/identities/x", [401, 403, 400]],
  ["GET", "admin/audit/", [401, 403, 200]],
  ["POST", "setup", [400, 400, 400]],
];
test.each(ROUTES)(
  "%s /api/%s returns to anonymous callers, users and administrators %j",
  async (method, path, statuses) => {
    const got = [];
    for (const as of ["", "kim", "ada"]) got.push(await call(method, path, as));
    expect(got.map(({ status }) => status)).toEqual(statuses);
    expect(got[2].status >= 400 || got[2].headers.get("cache-control") === "no-store").toBe(true);
  },
);

test("this table contains every documented operation", () => {
  const documented = Object.entries(operations).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const patterns = ROUTES.map(([method, path]) => [method, `/api/${path}`]);
  const missing = documented.filter(
    (one) =>
      one.includes(" /api/") &&
      !patterns.some(([method, path]) => {
        const [documentedMethod, pattern] = one.split(" ");
        return (
          method === documentedMethod && new RegExp(`^${pattern.replace(/\{\w+\}/g, "[^/]+")}/?$`).test(path)
        );
      }),
  );
  expect(missing).toEqual([]);
});

describe("links", () => {
  test("a link sets up the first administrator once, from a page of this site", async () => {
    database.run("UPDATE user_account SET is_superuser = 0");
    const { key } = accounts.links.make(null, 24);
    expect(linkPurpose(accounts, key)).toBe("set-up");
    const input = { key, username: "root", password: PASSWORD, full_name: "Root", email: "root@lab.example" };
    expect((await call("POST", "setup", { Origin: "http://evil.example" }, input)).status).toBe(403);
    expect((await call("POST", "setup", "", { ...input, password: "short" })).status).toBe(400);
    const { status, body, headers } = await call("POST", "setup", "", input);
    expect([status, body]).toEqual([200, { username: "root", csrf_token: expect.any(String) }]);
    const asked = await call("GET", "account/sessions", browser(headers.get("set-cookie")!));
    expect(asked.body).toMatchObject({ total: 1, results: [{ current: true }] });
    expect((await call("POST", "setup", "", input)).status).toBe(404);
    expect([linkPurpose(accounts, key), linkPurpose(accounts, "x")]).toEqual([undefined, undefined]);
  });

  test("a link sets a password once and signs in, but does not skip the second factor", async () => {
    const link = async () => {
      const { body } = await call("POST", "admin/users/kim/password-link", "ada");
      expect(body.url).toStartWith("http://lab/set-password?key=");
      expect(Date.parse(body.expires) - clock.now()).toBe(72 * 3_600_000);
      return new URL(body.url).searchParams.get("key")!;
    };
    const key = await link();
    expect(linkPurpose(accounts, key)).toBe("password");
    const input = { key, password: "another password" };
    expect((await call("POST", "account/password", { Origin: "http://evil.example" }, input)).status).toBe(
      403,
    );
    expect((await call("POST", "account/password", "", input)).body.csrf_token).toBeString();
    expect((await call("POST", "account/password", "", input)).status).toBe(404);
    const kim = accounts.userId("kim");
    const { secret } = accounts.secondFactors.begin(kim, "kim", "labd");
    accounts.secondFactors.confirm(kim, shownCode(secret, 0, clock.now()));
    const second = { key: await link(), password: "another password" };
    expect((await call("POST", "account/password", "", second)).body).toEqual({
      username: "kim",
      csrf_token: null,
    });
    expect((await call("POST", "admin/users/nobody/password-link", "ada")).status).toBe(404);
  });
});

test.each([
  ["setup", { username: "root", password: PASSWORD, full_name: null, email: null }, 404, "not_found"],
  ["account/password", { password: PASSWORD, current_password: null }, 400, "invalid_request"],
  ["account/password", { password: PASSWORD, current_password: PASSWORD, key: null }, 200, undefined],
  ["account/second-factor", { current_password: null }, 200, undefined],
])("/api/%s treats null as empty text: %j", async (path, input, status, code) => {
  const body = path === "setup" ? { key: "unknown", ...input } : input;
  const got = await call("POST", path, signIn("kim"), body);
  expect([got.status, got.body.code]).toEqual([status, code]);
  if (status === 400) expect(got.body.current_password).toEqual(["This is not the password of the account."]);
});

test("changing a password requires the current one and ends the other sessions", async () => {
  const [here, there] = [signIn("kim"), signIn("kim")];
  const change = (current_password: string, password = "another password") =>
    call("POST", "account/password", here, { current_password, password });
  expect((await change("wrong")).body).toMatchObject({ current_password: [expect.any(String)] });
  expect((await change(PASSWORD, "short")).body).toMatchObject({ password: [expect.any(String)] });
  const { headers } = await change(PASSWORD);
  const statuses = [];
  for (const one of [here, there, browser(headers.get("set-cookie")!)])
    statuses.push((await call("GET", "account/sessions", one)).status);
  expect(statuses).toEqual([401, 401, 200]);
});

test("sessions are listed and ended", async () => {
  const [here] = [signIn("kim"), signIn("kim"), signIn("kim")];
  const { results } = (await call("GET", "account/sessions", here)).body;
  expect(results).toHaveLength(3);
  const other = results.find(({ current }: Json) => !current);
  expect((await call("DELETE", `account/sessions/${other.id}`, "ada")).status).toBe(404);
  expect((await call("DELETE", `account/sessions/${other.id}`, here)).status).toBe(204);
  expect((await call("DELETE", "account/sessions", here)).body).toEqual({ ended: 1 });
  expect((await call("GET", "account/sessions", here)).body.total).toBe(1);
});

test("an administrator lists all tokens, on request also revoked ones, and revokes them", async () => {
  const list = async (query = "") => (await call("GET", `admin/tokens${query}`, "ada")).body;
  const { results } = await list();
  const { id } = results.find(({ username }: Json) => username === "kim");
  expect((await call("DELETE", `admin/tokens/${id}`, "ada")).status).toBe(204);
  expect((await call("DELETE", `admin/tokens/${id}`, "ada")).status).toBe(404);
  expect([(await list()).total, (await list("?all=1")).total, (await list("?all=0")).total]).toEqual([
    1, 2, 1,
  ]);
});

describe("an unconfirmed session", () => {
  test.each([
    ["POST", "admin/users/ada/password-link", undefined],
    ["POST", "admin/users/ada/identities", { provider: "oidc", who: "1" }],
    ["DELETE", "admin/users/ada/second-factor", undefined],
    ["POST", "account/second-factor", {}],
    ["POST", "account/second-factor/confirm", { code: "000000" }],
  ])(
    "%s /api/%s requires a confirmed session, but no confirmation with a token",
    async (method, path, body) => {
      await accounts.setPassword(accounts.userId("kim"), PASSWORD);
      database.run("UPDATE user_account SET is_superuser = 1");
      const kim = signIn("kim");
      clock.set(clock.now() + 11 * 60_000);
      expect((await call(method, path, kim, body)).body.code).toBe("confirmation_required");
      const confirm = (current_password: string) =>
        call("POST", "account/confirmation", kim, { current_password });
      expect((await confirm("wrong")).status).toBe(400);
      expect((await call("POST", "account/confirmation", "kim", { current_password: PASSWORD })).status).toBe(
        403,
      );
      expect((await confirm(PASSWORD)).status).toBe(204);
      expect((await call(method, path, kim, body)).body.code).not.toBe("confirmation_required");
      expect((await call(method, path, "kim", body)).body.code).not.toBe("confirmation_required");
    },
  );
});

test("a second factor can be set up, used and removed in a browser, and reset by an administrator", async () => {
  const kim = signIn("kim");
  const path = "account/second-factor";
  const begun = (await call("POST", path, kim, { current_password: PASSWORD })).body;
  expect(begun.uri).toContain(begun.secret);
  expect(begun.uri).toContain("labd%20lab");
  expect(new Set(begun.qr.map((row: string) => row.length))).toEqual(new Set([begun.qr.length]));
  const code = () => {
    clock.set(clock.now() + 30_000);
    return shownCode(begun.secret, 0, clock.now());
  };
  const other = signIn("kim");
  expect((await call("POST", `${path}/recovery-codes`, kim, { code: code() })).status).toBe(409);
  expect((await call("POST", `${path}/confirm`, kim, { code: "000000" })).body.field).toBe("code");
  const { recovery_codes } = (await call("POST", `${path}/confirm`, kim, { code: code() })).body;
  expect((await call("GET", "account/sessions", other)).status).toBe(401);
  expect((await call("GET", path, kim)).body).toMatchObject({
    on: true,
    recovery_codes: 10,
    required: false,
  });
  expect((await call("POST", path, kim, {})).status).toBe(409);
  const renewed = await call("POST", `${path}/recovery-codes`, kim, { code: recovery_codes[0] });
  expect(renewed.body.recovery_codes).toHaveLength(10);
  expect((await call("GET", "admin/second-factors", "ada")).body).toMatchObject({
    total: 1,
    results: [{ username: "kim", recovery_codes: 10 }],
  });
  expect((await call("POST", `${path}/remove`, kim, { code: "wrong" })).status).toBe(400);
  expect((await call("POST", `${path}/remove`, kim, { code: code() })).status).toBe(204);
  expect((await call("GET", path, kim)).body).toMatchObject({ on: false, since: null, recovery_codes: 0 });

  accounts.secondFactors.confirm(
    accounts.userId("kim"),
    shownCode(accounts.secondFactors.begin(accounts.userId("kim"), "kim", "labd").secret, 0, clock.now()),
  );
  expect((await call("DELETE", "admin/users/ada/second-factor", "ada")).status).toBe(409);
  expect((await call("DELETE", "admin/users/kim/second-factor", "ada")).status).toBe(204);
  expect((await call("GET", "account/sessions", kim)).status).toBe(401);
});

test("external accounts can be linked, listed and unlinked", async () => {
  const link = (user: string, who: string, provider = "oidc") =>
    call("POST", `admin/users/${user}/identities`, "ada", { provider, who });
  expect((await link("kim", "42")).body).toEqual({ label: `42 at ${ISSUER}` });
  expect((await link("kim", "43")).status).toBe(409);
  expect((await link("ada", "42")).status).toBe(409);
  expect((await link("nobody", "42")).status).toBe(404);
  expect((await link("ada", "ada", "ldap")).body.code).toBe("invalid_setting");
  expect((await link("ada", "ada", "x")).body).toMatchObject({ provider: [expect.any(String)] });
  expect((await call("GET", "admin/identities", "ada")).body).toMatchObject({
    total: 1,
    results: [{ username: "kim", provider: "oidc", issuer: ISSUER, subject: "42", suspended: null }],
    providers: ["oidc"],
  });
  expect((await call("DELETE", "admin/users/kim/identities/oidc", "ada")).status).toBe(204);
  expect((await call("GET", "admin/identities", "ada")).body.total).toBe(0);
});

describe("the audit log", () => {
  const read = (query: string, headers: Record<string, string> = {}) =>
    call("GET", `admin/audit/${query}`, { Authorization: `Token ${tokens.ada}`, ...headers });

  test("returns the audit log in pages, newest first, or as JSON lines", async () => {
    for (let i = 0; i < 3; i++) accounts.addToken("kim", `token ${i}`);
    const first = (await read("?action=token.create&page_size=3")).body;
    expect(first.results.map(({ detail }: Json) => detail.name)).toEqual(["token 2", "token 1", "token 0"]);
    expect(first.head.seq).toBeGreaterThanOrEqual(first.results[0].seq);
    const second = (await read(first.next)).body;
    expect([second.results.length, second.next]).toEqual([2, null]);
    for (const lines of [
      await read("?format=jsonl&action=token.create"),
      await read("?action=token.create", { Accept: "application/x-ndjson" }),
    ]) {
      expect(lines.headers.get("content-type")).toBe("application/x-ndjson");
      const names = lines.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).detail.name);
      expect(names).toEqual(["test", "test", "token 0", "token 1", "token 2"]);
    }
  });

  test.each([
    ["?page_size=1000", 200],
    ["?page_size=1001", 400],
    ["?page_size=0", 400],
    ["?before=0", 400],
    ["?before=1", 200],
    ["?since=2026-01-01", 200],
    ["?since=yesterday", 400],
    ["?until=2026-01-01T00:00:00Z", 200],
    ["?until=2026-13-01", 400],
    ["?actor=kim&action=token", 200],
    ["?kind=token", 400],
  ])("the audit log responds to %s with %d", async (query, status) => {
    expect((await read(query)).status).toBe(status);
  });
});
