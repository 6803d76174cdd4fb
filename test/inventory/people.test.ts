import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { expectStatuses, type Lab, openLab, PASSWORD } from "./harness.ts";

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

test("signed-in users see names; only the account's user and administrators see its e-mail address", async () => {
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

test("no response contains a hash or a token, and no parameter reaches hidden fields", async () => {
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

test("account lists support filters, ordering, pages and formats", async () => {
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
  const own = async (body: unknown) => lab.ask("PATCH", "users/alice/", { as, body });
  expect((await own({ full_name: "Alice B. Archer", email: "a@b.example" })).body).toMatchObject({
    full_name: "Alice B. Archer",
    email: "a@b.example",
  });
  // A record that was read can be sent back.
  const read = (await get("users/alice/", as)).body;
  await expectStatuses(lab, as, [["PUT users/alice/", 200, { ...read, full_name: "Alice Archer" }]]);
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
  await expectStatuses(lab, as, [
    ["PATCH users/bob/", 403, { full_name: "x" }],
    ["DELETE users/alice/", 403],
    ["POST users/", 403, { username: "eve" }],
    ["POST groups/", 403, { name: "Mine" }],
    ["PATCH groups/Genomics/", 403, { description: "x" }],
    ["PUT groups/Imaging/members/alice/", 403],
  ]);
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
  const groups = ["Genomics", { name: "Imaging" }];
  const carol = { username: "carol", full_name: "Carol", groups, password: "long enough" };
  const made = await lab.send(as, "POST", "users/", carol);
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
  const refused = await change({ groups: ["Imaging"] });
  expect([refused.status, refused.body.groups]).toEqual([400, [expect.stringContaining("primary_group")]]);
  const moved = await change({ groups: ["Imaging"], primary_group: "Imaging" });
  expect(moved.body).toMatchObject({ primary_group: { name: "Imaging" }, groups: [{ name: "Imaging" }] });
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
    const answer = await lab.ask("POST", "users/", { as, body });
    expect([body, answer.status, Object.keys(answer.body)]).toEqual([body, 400, [field, "message"]]);
  }
  await expectStatuses(lab, as, [
    ["GET users/dan/", 404],
    ["DELETE users/carol/", 204],
  ]);
  expect((await get("users/carol/", as)).body.is_active).toBe(false);
  expect((await get("locations/", "carol")).status).toBe(401);
  expect((await change({ is_active: true })).body.is_active).toBe(true);
  expect((await get("locations/", "carol")).status).toBe(200);
  await expectStatuses(lab, as, [
    ["PATCH users/admin/", 409, { is_superuser: false }],
    ["PATCH users/admin/", 409, { is_active: false }],
    ["DELETE users/admin/", 409],
    ["DELETE users/system/", 409],
    ["PATCH users/system/", 409, { password: "long enough" }],
  ]);
});

test("membership takes effect immediately", async () => {
  const members = "groups/Genomics/members/";
  for (const [method, path, body, status, names, secret] of [
    ["PUT", `${members}bob/`, undefined, 204, ["alice", "bob"], 1],
    ["DELETE", `${members}bob`, undefined, 204, ["alice"], 0],
    ["POST", members, ["bob", "carol"], 200, ["alice", "bob", "carol"], 1],
    ["PUT", members.slice(0, -1), ["alice"], 200, ["alice"], 0],
    ["POST", members, ["nobody"], 400, ["alice"], 0],
    ["PUT", `${members}nobody/`, undefined, 404, ["alice"], 0],
  ] as const) {
    await expectStatuses(lab, "admin", [[`${method} ${path}`, status, body]]);
    expect((await results(members, "bob")).map(({ username }) => username).sort()).toEqual([...names]);
    expect((await get("locations/?name=Secret", "bob")).body.total).toBe(secret);
  }
  const without = await lab.send("admin", "PUT", members, []);
  expect([without.status, without.body.members]).toEqual([400, [expect.stringContaining("primary")]]);
});

test("creates, renames and deletes unused groups", async () => {
  const as = "admin";
  const made = await lab.send(as, "POST", "groups/", { name: "Yeast", members: ["bob"] });
  expect([made.status, made.body.name]).toEqual([201, "Yeast"]);
  const twice = await lab.send(as, "POST", "groups/", { name: "Yeast" });
  expect(twice.body.name).toEqual(["group with this name already exists."]);
  const renamed = await lab.send(as, "PATCH", `groups/${made.body.id}/`, { name: "Fungi" });
  expect(renamed.body.name).toBe("Fungi");
  const owned = await lab.send("bob", "POST", "locations/", { label: "x", owned_by: "Fungi" });
  await expectStatuses(lab, as, [["DELETE groups/Fungi/", 409]]);
  const back = { label: "x", owned_by: "Imaging" };
  await expectStatuses(lab, "bob", [[`PATCH locations/${owned.body.id}/`, 200, back]]);
  await expectStatuses(lab, as, [
    ["DELETE groups/Fungi/", 204],
    ["GET groups/Fungi/", 404],
    ["DELETE groups/Genomics/", 409],
    ["DELETE groups/SYSTEM_GROUP/", 409],
    ["PATCH groups/SYSTEM_GROUP/", 400, { name: "x" }],
    ["POST groups/", 400, { name: "a,b" }],
  ]);
});

test("accounts and groups have no history except of memberships, and explanations reveal no secrets", async () => {
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
