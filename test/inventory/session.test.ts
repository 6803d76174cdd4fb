import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { expectStatuses, type Lab, openLab, PASSWORD, START } from "./harness.ts";

/** Sign-in, sign-out and API tokens. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ passwords: true });
});
afterAll(() => lab.database.close());

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const readCookie = (headers: Headers): string => (headers.get("set-cookie") ?? "").split(";")[0];
const right = { username: "alice", password: PASSWORD };

test("opens a session, uses its cookie, and ends it", async () => {
  expect((await lab.ask("GET", "session/")).status).toBe(401);
  const opened = await lab.ask("POST", "session/", { body: right });
  expect(opened.status).toBe(200);
  const [session, browser] = opened.headers.getSetCookie();
  expect(session).toMatch(/^labd_session=\S+; Path=\/; .*HttpOnly; SameSite=Lax$/);
  expect(browser).toMatch(/^labd_browser_\w+=\S+; Path=\/; .*HttpOnly; SameSite=Strict$/);
  expect(opened.headers.get("cache-control")).toBe("no-store");
  const { csrf_token: token, user } = opened.body as { csrf_token: string; user: Json };
  const groups = [{ name: "Genomics" }];
  expect(user).toMatchObject({ username: "alice", full_name: "Alice Archer", groups });
  const Cookie = readCookie(opened.headers);
  expect((await lab.ask("GET", "session/", { headers: { Cookie } })).body).toEqual(opened.body);
  expect((await lab.ask("GET", "locations/?name=Secret", { headers: { Cookie } })).body.total).toBe(1);

  const body = { label: "By a browser" };
  const bare = await lab.ask("POST", "locations/", { headers: { Cookie }, body });
  expect(bare.status).toBe(403);
  expect(bare.body.detail).toContain("CSRF Failed: CSRF token missing.");
  const evil = { Cookie, Origin: "http://evil.example" };
  expect((await lab.ask("POST", "locations/", { headers: evil, body })).status).toBe(403);
  for (const proof of [{ "X-CSRFToken": token }, { Origin: "http://lab" }] as Record<string, string>[]) {
    const made = await lab.ask("POST", "locations/", { headers: { Cookie, ...proof }, body });
    expect([made.status, made.body.created_by]).toEqual([201, "alice"]);
  }
  // The token of another session.
  const other = await lab.ask("POST", "session/", { body: right });
  const mixed = { Cookie, "X-CSRFToken": other.body.csrf_token as string };
  expect((await lab.ask("POST", "locations/", { headers: mixed, body })).status).toBe(403);

  expect((await lab.ask("DELETE", "session/", { headers: { Cookie } })).status).toBe(403);
  const closed = await lab.ask("DELETE", "session/", { headers: { Cookie, "X-CSRFToken": token } });
  expect([closed.status, closed.headers.get("set-cookie")]).toEqual([
    204,
    expect.stringContaining("Max-Age=0"),
  ]);
  expect((await lab.ask("GET", "session/", { headers: { Cookie } })).status).toBe(401);
  expect((await lab.ask("GET", "locations/?name=Secret", { headers: { Cookie } })).body.total).toBe(0);
  expect((await lab.ask("DELETE", "session/")).status).toBe(204);
});

test("rejects forms, which other sites can send", async () => {
  const body = new URLSearchParams(right).toString();
  expect((await lab.ask("POST", "session/", { headers: FORM, body })).status).toBe(415);
});

test("reports missing and wrong credentials like other errors", async () => {
  const missing = await lab.ask("POST", "session/", { body: { username: "alice" } });
  expect([missing.status, missing.body.password]).toEqual([400, ["This field is required."]]);
  const wrong = await lab.ask("POST", "session/", { body: { ...right, password: "wrong horse" } });
  expect([wrong.status, wrong.body.detail]).toEqual([401, "Unable to log in with provided credentials."]);
  expect(wrong.headers.get("set-cookie")).toBeNull();
  expect((await lab.ask("PUT", "session/", { body: right })).headers.get("allow")).toBe(
    "GET, POST, DELETE, HEAD, OPTIONS",
  );
});

test("accepts Basic authentication", async () => {
  const basic = (pair: string) => ({ Authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
  const ask = (pair: string) => lab.ask("GET", "users/alice/", { headers: basic(pair) });
  expect((await ask(`alice:${PASSWORD}`)).body.username).toBe("alice");
  const wrong = await ask("alice:wrong horse");
  expect([wrong.status, wrong.body.detail]).toEqual([401, "Invalid username/password."]);
  expect(wrong.headers.get("www-authenticate")).toBe("Token, Bearer");
});

test("creates, lists and revokes tokens, and shows each once", async () => {
  const as = "bob";
  const made = await lab.send(as, "POST", "tokens/", { name: "plate reader", scope: "read", days: 1 });
  expect(made.status).toBe(201);
  const { token, ...record } = made.body;
  expect(record).toEqual({
    id: expect.any(String),
    name: "plate reader",
    prefix: String(token).slice(0, 12),
    scope: "read",
    created: "2026-01-01T00:00:00.000000+00:00",
    expires: "2026-01-02T00:00:00.000000+00:00",
    last_used: null,
  });
  const headers = { Authorization: `Bearer ${token}` };
  expect((await lab.ask("GET", "tokens/", { headers })).text).not.toContain(String(token));
  const refused = await lab.ask("POST", "tokens/", { headers, body: { name: "more" } });
  expect([refused.status, refused.body.detail]).toEqual([403, "This token is read-only (scope read)."]);
  const listed = (await lab.send(as, "GET", "tokens/")).body;
  expect(listed.total).toBe(2);
  expect((listed.results as Json[])[0]).toEqual({ ...record, last_used: record.created });
  const path = `tokens/${record.id}/`;
  expect((await lab.send(as, "GET", path)).body.name).toBe("plate reader");
  for (const other of ["alice", "admin"])
    await expectStatuses(lab, other, [
      [`GET ${path}`, 404],
      [`DELETE ${path}`, 404],
    ]);
  expect((await lab.ask("GET", "tokens/")).status).toBe(401);
  expect((await lab.ask("GET", "locations/", { headers })).status).toBe(200);
  await expectStatuses(lab, as, [
    [`DELETE ${path}`, 204],
    [`DELETE ${path}`, 404],
  ]);
  expect((await lab.ask("GET", "locations/", { headers })).status).toBe(401);
  await expectStatuses(lab, as, [
    ["POST tokens/", 400, {}],
    ["POST tokens/", 400, { name: "" }],
    ["POST tokens/", 400, { name: "x", scope: "admin" }],
    ["POST tokens/", 400, { name: "x", days: 0 }],
    ["POST tokens/", 400, { name: "x", days: 1.5 }],
    ["POST tokens/", 400, { name: "x", expires: "2025-01-01" }],
    ["POST tokens/", 400, { name: "x", expires: "2027-01-01", days: 3 }],
    ["POST tokens/", 400, { name: "x", user: "admin" }],
    ["POST tokens/", 400, []],
  ]);
});

test("throttles failed sign-ins of known and unknown names", async () => {
  const attempt = (username: string) =>
    lab.ask("POST", "token-auth/", { body: { username, password: "wrong horse" } });
  for (const name of ["bob", "nobody"]) {
    for (let i = 0; i < 10; i++) expect((await attempt(name)).status).toBe(401);
    const { status, headers, body } = await attempt(name);
    expect([status, headers.get("retry-after")]).toEqual([429, "30"]);
    expect(body.detail).toBe("Request was throttled. Expected available in 30 seconds.");
  }
  lab.clock.set(START + 301_000);
  expect((await attempt("bob")).status).toBe(401);
  // Tokens still work.
  expect((await lab.send("bob", "GET", "locations/")).status).toBe(200);
}, 300_000);
