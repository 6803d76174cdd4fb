import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Lab, openLab, PASSWORD } from "./harness.ts";

/** Accounts, groups and memberships, as administrators and everybody else work with them. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ passwords: true });
  lab.database.run("UPDATE user_account SET email = username || '@lab.example' WHERE rid > 1");
});
afterAll(() => lab.database.close());

const get = (path: string, as?: string) => lab.ask("GET", path, as === undefined ? {} : { as });
const results = async (path: string, as: string) =>
  (await get(path, as)).body.results as Record<string, Json>[];

test("signed-in users see names; only the user and administrators see the e-mail address", async () => {
  for (const path of ["users/", "groups/", "users/alice/", "groups/Genomics", "groups/Genomics/members/"])
    expect((await get(path)).status).toBe(401);
  const mail = async (as: string) =>
    Object.fromEntries((await results("users/", as)).map(({ username, email }) => [username, email]));
  const all = { admin: "admin@lab.example", alice: "alice@lab.example", bob: "bob@lab.example", system: "" };
  expect(await mail("admin")).toEqual(all);
  expect(await mail("alice")).toEqual({ ...all, admin: "", bob: "" });
  expect(await mail("bob")).toEqual({ ...all, admin: "", alice: "" });
  expect((await get("users/alice/", "bob")).body).toMatchObject({
    username: "alice",
    full_name: "Alice Archer",
    email: "",
    primary_group: { name: "Genomics" },
  });
});

test("no answer contains a hash or a token, and no parameter reaches hidden fields", async () => {
  for (const look of [
    "",
    "fields=*",
    "response_format=flat&fields=*",
    "response_format=nested",
    "format=csv",
    "format=api",
  ])
    for (const path of [`users/?${look}`, `users/alice/?${look}`, `groups/?fields=*&${look}`, `tokens/?`]) {
      const { status, text } = await get(path, "alice");
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toMatch(/argon2|password_hash|sha256/);
      for (const token of Object.values(lab.tokens)) expect(text).not.toContain(token);
    }
  for (const name of ["email", "password_hash", "is_superuser", "tokens", "email__startswith"]) {
    expect((await get(`users/?${name}=a`, "bob")).status).toBe(400);
    expect((await get(`users/?ordering=${name}`, "bob")).status).toBe(400);
    expect((await get(`locations/?owner__${name}=a`, "bob")).status).toBe(400);
    const expression = `query_expression={"category":"owner__${name}","operator":"contains","value":"a"}`;
    expect((await get(`locations/?${expression}`, "bob")).status).toBe(400);
    expect((await get(`locations/?fields=owner__${name}`, "bob")).text).not.toContain("@lab");
  }
});

test("lists of accounts support filters, ordering, pages and formats", async () => {
  const names = async (query: string) =>
    (await results(`users/?${query}`, "bob")).map(({ username }) => username);
  expect(await names("ordering=-username")).toEqual(["system", "bob", "alice", "admin"]);
  expect(await names("name=al")).toEqual(["alice"]);
  expect(await names("query=baker")).toEqual(["bob"]);
  expect(await names("can_change=true")).toEqual(["bob"]);
  expect(await names("page_size=1&page=2")).toEqual(["alice"]);
  const groups = await get("groups/?name=Gen&fields=name,members&response_format=flat", "bob");
  expect(groups.body).toMatchObject({
    total: 1,
    results: [{ name: "Genomics", members: [{ username: "alice", full_name: "Alice Archer" }] }],
  });
  expect(groups.headers.get("allow")).toBe("GET, POST, HEAD, OPTIONS");
  expect((await lab.ask("PUT", "users/", { as: "admin", body: [] })).status).toBe(405);
  const root = (await get("", "bob")).body;
  expect(root).toMatchObject({ users: "http://lab/api/v2/users/", groups: "http://lab/api/v2/groups/" });
});

test("users may change their own name, e-mail address and password, and nothing else", async () => {
  const as = "alice";
  const own = async (body: unknown, name = "alice") => lab.ask("PATCH", `users/${name}/`, { as, body });
  expect((await own({ full_name: "Alice B. Archer", email: "a@b.example" })).body).toMatchObject({
    full_name: "Alice B. Archer",
    email: "a@b.example",
  });
  // What was read can be sent back.
  const read = (await get("users/alice/", as)).body;
  const { status } = await lab.ask("PUT", "users/alice/", {
    as,
    body: { ...read, full_name: "Alice Archer" },
  });
  expect(status).toBe(200);
  for (const body of [
    { is_superuser: true },
    { is_staff: true },
    { is_active: false },
    { groups: ["Genomics", "Imaging"] },
    { groups: [] },
    { primary_group: "Imaging" },
    { username: "eve" },
    { email: "no address" },
    { password_hash: "x" },
    { password: "a new password" },
    { password: "a new password", current_password: "wrong" },
    { password: "short", current_password: PASSWORD },
  ]) {
    const refused = await own(body);
    expect([body, refused.status]).toEqual([body, 400]);
    expect(refused.body.message).toBeString();
  }
  expect((await own({ full_name: "x" }, "bob")).status).toBe(403);
  expect((await lab.ask("DELETE", "users/alice/", { as })).status).toBe(403);
  expect((await lab.ask("POST", "users/", { as, body: { username: "eve" } })).status).toBe(403);
  expect((await lab.ask("POST", "groups/", { as, body: { name: "Mine" } })).status).toBe(403);
  expect((await lab.ask("PATCH", "groups/Genomics/", { as, body: { description: "x" } })).status).toBe(403);
  expect((await lab.ask("PUT", "groups/Imaging/members/alice/", { as })).status).toBe(403);
  expect((await get("users/alice/", as)).body).toMatchObject({
    is_superuser: false,
    groups: [{ name: "Genomics" }],
  });
  expect((await own({ password: "a new password", current_password: PASSWORD })).status).toBe(200);
  const signIn = (password: string) =>
    lab.ask("POST", "token-auth/", { body: { username: "alice", password } });
  expect((await signIn(PASSWORD)).status).toBe(401);
  expect((await signIn("a new password")).status).toBe(200);
});

test("administrators create, change and disable accounts", async () => {
  const as = "admin";
  const made = await lab.ask("POST", "users/", {
    as,
    body: {
      username: "carol",
      full_name: "Carol",
      groups: ["Genomics", { name: "Imaging" }],
      password: "long enough",
    },
  });
  expect(made.status).toBe(201);
  expect(made.headers.get("location")).toBe(`http://lab/api/v2/users/${made.body.id}/`);
  expect(made.body).toMatchObject({
    username: "carol",
    is_active: true,
    is_superuser: false,
    primary_group: { name: "Genomics" },
    groups: [{ name: "Genomics" }, { name: "Imaging" }],
  });
  lab.tokens.carol = lab.accounts.addToken("carol", "test");
  const change = (body: unknown) => lab.ask("PATCH", "users/carol/", { as, body });
  expect((await change({ groups: ["Imaging"] })).body.groups).toEqual([
    expect.stringContaining("primary_group"),
  ]);
  expect((await change({ groups: ["Imaging"], primary_group: "Imaging" })).body).toMatchObject({
    primary_group: { name: "Imaging" },
    groups: [{ name: "Imaging" }],
  });
  for (const [body, field] of [
    [{ username: "carol" }, "username"],
    [{ username: "a b" }, "username"],
    [{}, "username"],
    [{ username: "dan", groups: ["Nobody"] }, "groups"],
    [{ username: "dan", primary_group: 7 }, "primary_group"],
    [{ username: "dan", password: "short" }, "password"],
    [{ username: "dan", is_active: "perhaps" }, "is_active"],
    [{ username: "dan", fullname: "Dan" }, "fullname"],
  ] as const) {
    const refused = await lab.ask("POST", "users/", { as, body });
    expect([body, refused.status, Object.keys(refused.body)]).toEqual([body, 400, [field, "message"]]);
  }
  expect((await get("users/dan/", as)).status).toBe(404);

  expect((await lab.ask("DELETE", "users/carol/", { as })).status).toBe(204);
  expect((await get("users/carol/", as)).body.is_active).toBe(false);
  expect((await get("locations/", "carol")).status).toBe(401);
  expect((await change({ is_active: true })).body.is_active).toBe(true);
  expect((await get("locations/", "carol")).status).toBe(200);
  for (const body of [{ is_superuser: false }, { is_active: false }])
    expect((await lab.ask("PATCH", "users/admin/", { as, body })).status).toBe(409);
  expect((await lab.ask("DELETE", "users/admin/", { as })).status).toBe(409);
  expect((await lab.ask("DELETE", "users/system/", { as })).status).toBe(409);
  expect((await lab.ask("PATCH", "users/system/", { as, body: { password: "long enough" } })).status).toBe(
    409,
  );
});

test("membership takes effect at once", async () => {
  const as = "admin";
  const secret = async () => (await get("locations/?name=Secret", "bob")).body.total;
  const members = async () =>
    (await results("groups/Genomics/members/", "bob")).map(({ username }) => username);
  expect(await secret()).toBe(0);
  expect((await lab.ask("PUT", "groups/Genomics/members/bob/", { as })).status).toBe(204);
  expect(await members()).toContain("bob");
  expect(await secret()).toBe(1);
  expect((await lab.ask("DELETE", "groups/Genomics/members/bob", { as })).status).toBe(204);
  expect(await secret()).toBe(0);
  expect((await lab.ask("POST", "groups/Genomics/members/", { as, body: ["bob", "carol"] })).body.total).toBe(
    3,
  );
  expect(await secret()).toBe(1);
  expect((await lab.ask("PUT", "groups/Genomics/members", { as, body: ["alice"] })).body.total).toBe(1);
  expect(await secret()).toBe(0);
  const without = await lab.ask("PUT", "groups/Genomics/members/", { as, body: [] });
  expect([without.status, without.body.members]).toEqual([400, [expect.stringContaining("primary")]]);
  expect((await lab.ask("POST", "groups/Genomics/members/", { as, body: ["nobody"] })).status).toBe(400);
  expect((await lab.ask("PUT", "groups/Genomics/members/nobody/", { as })).status).toBe(404);
});

test("creates, renames and deletes groups that are not in use", async () => {
  const as = "admin";
  const made = await lab.ask("POST", "groups/", { as, body: { name: "Yeast", members: ["bob"] } });
  expect([made.status, made.body.name]).toEqual([201, "Yeast"]);
  expect((await lab.ask("POST", "groups/", { as, body: { name: "Yeast" } })).body.name).toEqual([
    "group with this name already exists.",
  ]);
  expect((await lab.ask("POST", "groups/", { as, body: { name: "a,b" } })).status).toBe(400);
  expect((await lab.ask("PATCH", `groups/${made.body.id}/`, { as, body: { name: "Fungi" } })).body.name).toBe(
    "Fungi",
  );
  const owned = await lab.ask("POST", "locations/", { as: "bob", body: { label: "x", owned_by: "Fungi" } });
  expect(owned.status).toBe(201);
  expect((await lab.ask("DELETE", "groups/Fungi/", { as })).status).toBe(409);
  const back = { label: "x", owned_by: "Imaging" };
  const moved = await lab.ask("PATCH", `locations/${owned.body.id}/`, { as: "bob", body: back });
  expect([moved.status, moved.text]).toEqual([200, expect.any(String)]);
  expect((await lab.ask("DELETE", "groups/Fungi/", { as })).status).toBe(204);
  expect((await get("groups/Fungi/", as)).status).toBe(404);
  expect((await lab.ask("DELETE", "groups/Genomics/", { as })).status).toBe(409);
  expect((await lab.ask("DELETE", "groups/SYSTEM_GROUP/", { as })).status).toBe(409);
  expect((await lab.ask("PATCH", "groups/SYSTEM_GROUP/", { as, body: { name: "x" } })).status).toBe(400);
});

test("accounts and groups have no history except memberships, and explanations reveal no secrets", async () => {
  for (const segment of ["users", "groups"]) {
    expect((await get(`${segment}/?as_of=2026-01-01`, "bob")).status).toBe(400);
    const explained = await get(`${segment}/?explain=1&name=a`, "bob");
    expect(explained.status).toBe(200);
    expect(explained.text).not.toMatch(/argon2|@lab/);
    expect((await get(`${segment}/?explain=1`)).status).toBe(401);
  }
  const { body } = await get("users/alice/history/", "bob");
  expect(new Set((body.results as { resource: string }[]).map(({ resource }) => resource))).toEqual(
    new Set(["members"]),
  );
  for (const path of ["users/alice/history/", "groups/Genomics/history/"])
    expect((await get(path)).status).toBe(401);
});

test("OPTIONS lists the methods that the caller may use", async () => {
  const actions = async (path: string, as: string) =>
    Object.keys(((await lab.ask("OPTIONS", path, { as })).body.actions ?? {}) as object);
  expect(await actions("users/", "admin")).toEqual(["POST"]);
  expect(await actions("users/", "bob")).toEqual([]);
  expect(await actions("users/bob/", "bob")).toEqual(["PUT"]);
  expect(await actions("users/alice/", "bob")).toEqual([]);
  expect(await actions("groups/Imaging/", "bob")).toEqual([]);
});

test("moves a user to another primary group, and refuses to leave it behind", async () => {
  const send = (body: unknown) => lab.ask("PATCH", "users/mover/", { as: "admin", body });
  await lab.ask("POST", "users/", { as: "admin", body: { username: "mover", groups: ["Imaging"] } });
  const refused = await send({ groups: ["Genomics"] });
  expect([refused.status, Object.keys(refused.body)]).toEqual([400, ["groups", "message"]]);
  const moved = await send({ groups: ["Genomics"], primary_group: "Genomics" });
  expect(moved.body).toMatchObject({ primary_group: { name: "Genomics" }, groups: [{ name: "Genomics" }] });
});
