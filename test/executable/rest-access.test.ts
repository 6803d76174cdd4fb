import { afterAll, beforeAll, expect, test } from "bun:test";
import { labd, scratch, serve, type Server } from "./labd.ts";

/** Accounts, sign-in and rights, over a socket and by the verbs beside a running server. */

const place = scratch();
const env = { LABD_DATA_DIR: place.directory };
const PASSWORD = "correct horse";
let server: Server;
let admin = "";
beforeAll(async () => {
  await labd(["user", "add", "root", "--admin"], { env });
  admin = (await labd(["token", "add", "root"], { env })).stdout.trim();
  const kim = ["user", "add", "kim", "--password-stdin", "--full-name", "Kim Kern", "--group", "Yeast"];
  expect((await labd(kim, { env, stdin: `${PASSWORD}\n` })).code).toBe(0);
  server = await serve(place.directory);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const call = async (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) => {
  const response = await fetch(`${server.url}/api/v2/${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.status, headers: response.headers, text, json };
};
const root = (): Record<string, string> => ({ authorization: `Token ${admin}` });
const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });

test("a session: cookie, CSRF, a page of ours, sign-out", async () => {
  const opened = await call("POST", "session/", {}, { username: "kim", password: PASSWORD });
  expect(opened.status).toBe(200);
  const [cookie] = opened.headers.get("set-cookie")!.split(";");
  expect(opened.headers.get("set-cookie")).toContain("HttpOnly; SameSite=Lax");
  const mine = await call("GET", "users/kim/", { cookie });
  expect([mine.json.full_name, mine.headers.get("vary")]).toEqual([
    "Kim Kern",
    expect.stringContaining("Cookie"),
  ]);
  expect(mine.headers.get("referrer-policy")).toBe("same-origin");
  const write = (headers: Record<string, string>) =>
    call("POST", "locations/", { cookie, ...headers }, { label: "Shelf" });
  expect((await write({})).json.detail).toContain("CSRF Failed");
  expect((await write({ origin: "http://evil.example" })).status).toBe(403);
  expect((await write({ origin: server.url })).status).toBe(201);
  const token = String(opened.json.csrf_token);
  expect((await write({ "x-csrftoken": token })).json.created_by).toBe("kim");
  expect((await call("DELETE", "session/", { cookie, "x-csrftoken": token })).status).toBe(204);
  expect((await call("GET", "session/", { cookie })).status).toBe(401);
  expect(server.log()).not.toContain(cookie.split("=")[1]);
});

test("Basic, and a token that may only read, made, used and revoked", async () => {
  const made = await call("POST", "tokens/", basic(`kim:${PASSWORD}`), {
    name: "reader",
    scope: "read",
    days: 2,
  });
  expect(made.status).toBe(201);
  const reader = { authorization: `Bearer ${made.json.token}` };
  expect((await call("GET", "locations/", reader)).json.total).toBeGreaterThan(0);
  expect((await call("POST", "locations/", reader, { label: "x" })).status).toBe(403);
  const listed = await labd(["token", "list", "kim", "--json"], { env });
  expect(JSON.parse(listed.stdout)).toEqual([
    expect.objectContaining({ name: "reader", scope: "read", last_used: expect.any(String), revoked: null }),
  ]);
  expect(listed.stdout).not.toContain(String(made.json.token));
  const revoked = await labd(["token", "revoke", String(made.json.prefix)], { env });
  expect([revoked.code, revoked.stdout]).toEqual([0, `Revoked ${made.json.id}.\n`]);
  expect((await call("GET", "locations/", reader)).status).toBe(401);
  expect((await labd(["token", "revoke", "labd_nothing"], { env })).code).toBe(66);
  expect((await labd(["token", "revoke"], { env })).code).toBe(64);
});

test("a record is shared, and what is shared ends with the membership", async () => {
  const lee = await call("POST", "users/", root(), {
    username: "lee",
    password: PASSWORD,
    groups: ["Yeast"],
  });
  expect([lee.status, lee.json.primary_group]).toEqual([201, expect.objectContaining({ name: "Yeast" })]);
  await call("POST", "groups/", root(), { name: "Fly", members: ["lee"] });
  const box = await call("POST", "locations/", root(), { label: "Box" });
  const path = `locations/${box.json.id}/`;
  const seen = async () => (await call("GET", path, basic(`lee:${PASSWORD}`))).status;
  expect(await seen()).toBe(404);
  const shared = await call("PATCH", `${path}permissions/`, root(), {
    groups: [{ group: "Fly", change: true }],
  });
  expect(shared.json.groups).toEqual([
    expect.objectContaining({ name: "Fly", view: true, change: true, delete: false }),
  ]);
  expect(await seen()).toBe(200);
  expect((await call("PATCH", path, basic(`lee:${PASSWORD}`), { label: "Box 2" })).status).toBe(200);
  expect((await call("DELETE", path, basic(`lee:${PASSWORD}`))).status).toBe(403);
  expect((await call("DELETE", "groups/Fly/members/lee/", root())).status).toBe(204);
  expect(await seen()).toBe(404);
});

test("accounts are listed, get passwords, and are disabled beside the running server", async () => {
  const list = await labd(["user", "list"], { env });
  expect(list.stdout).toMatch(/^username +full name +group +state +last sign-in\n/);
  expect(list.stdout).toMatch(/\nkim +Kim Kern +Yeast +active +\d{4}-\d\d-\d\dT\d\d:\d\dZ\n/);
  expect(list.stdout).toMatch(/\nroot .*active, admin/);
  const changed = await labd(["user", "password", "lee", "--password-stdin"], {
    env,
    stdin: "another password",
  });
  expect(changed.code).toBe(0);
  expect((await call("GET", "users/lee/", basic(`lee:${PASSWORD}`))).status).toBe(401);
  expect((await call("GET", "users/lee/", basic("lee:another password"))).status).toBe(200);
  expect((await labd(["user", "disable", "lee"], { env })).code).toBe(0);
  expect((await call("GET", "users/lee/", basic("lee:another password"))).status).toBe(401);
  expect((await call("GET", "users/lee/", root())).json.is_active).toBe(false);
  expect((await labd(["user", "enable", "lee"], { env })).code).toBe(0);
  expect((await call("GET", "users/lee/", basic("lee:another password"))).status).toBe(200);
  const last = await labd(["user", "disable", "root"], { env });
  expect([last.code, last.stderr]).toEqual([75, expect.stringContaining("only active administrator")]);
  expect((await labd(["user", "rename", "lee"], { env })).code).toBe(64);
});

test("failed sign-ins are throttled over the socket", async () => {
  const attempt = () => call("POST", "token-auth/", {}, { username: "nobody", password: "wrong horse" });
  for (let i = 0; i < 10; i++) expect((await attempt()).status).toBe(401);
  const { status, headers, json } = await attempt();
  expect([status, json.code]).toEqual([429, "throttled"]);
  expect(Number(headers.get("retry-after"))).toBeWithin(250, 301);
  expect(json.detail).toMatch(/^Request was throttled\. Expected available in \d+ seconds\.$/);
});
