import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { expectStatuses, type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

/** Grants on single records: who may give them, and their effect. */

let lab: Lab;
let id = "";
beforeAll(async () => {
  lab = await openLab();
  await lab.accounts.addUser({ username: "carol", fullName: "Carol Clark", group: "Imaging" });
  lab.tokens.carol = lab.accounts.addToken("carol", "test");
});
afterAll(() => lab.database.close());
beforeEach(async () => {
  const made = await lab.send("alice", "POST", "locations/", { label: "Shared" });
  id = String(made.body.id);
});

const share = (as: string, body: unknown, method = "PATCH") =>
  lab.send(as, method, `locations/${id}/permissions/`, body);
const seen = async (as: string, query = "") =>
  (await lab.send(as, "GET", `locations/?id=${id}${query}`)).body.total === 1;
const change = async (as: string) =>
  (await lab.send(as, "PATCH", `locations/${id}/`, { barcode: "1" })).status;
const remove = async (as: string) => (await lab.send(as, "DELETE", `locations/${id}/`)).status;
/** The effect of grants on a user: whether the list has the record, also as one to change; status of a change. */
const effect = async (as: string) => [await seen(as), await seen(as, "&can_change=true"), await change(as)];
const toBob = (rights: object) => ({ users: [{ user: "bob", ...rights }] });

test("grants and revokes a permission with immediate effect", async () => {
  expect(await effect("bob")).toEqual([false, false, 404]);
  const shared = await share("alice", toBob({ view: true }));
  const bob = { id: expect.any(String), username: "bob", full_name: "Bob Baker", grant: expect.any(String) };
  expect([shared.status, shared.body]).toEqual([
    200,
    {
      owner: "alice",
      owned_by: "Genomics",
      public: false,
      users: [{ ...bob, view: true, change: false, delete: false }],
      groups: [],
    },
  ]);
  expect(await effect("bob")).toEqual([true, false, 403]);
  await share("alice", toBob({ change: true }));
  expect([...(await effect("bob")), await remove("bob")]).toEqual([true, true, 200, 403]);
  const record = await lab.send("bob", "GET", `locations/${id}/?fields=permissions`);
  expect(record.body.permissions).toEqual({ public: false, actions: { change: true, delete: false } });
  await share("alice", toBob({ view: false, change: false }));
  expect(await effect("bob")).toEqual([false, false, 404]);
  expect((await share("alice", {})).body.users).toEqual([]);
});

test("applies grants of a group to its members", async () => {
  await share("alice", { groups: [{ group: "Imaging", delete: true }] });
  expect([await seen("bob"), await seen("carol"), await change("bob")]).toEqual([true, true, 403]);
  expect(await seen("carol", "&can_delete=true&can_change=false")).toBe(true);
  expect(await remove("carol")).toBe(204);
  expect((await share("alice", {})).status).toBe(404);
});

test("editors may share, but may not grant a delete permission that they lack", async () => {
  await share("alice", { users: [{ user: "bob", view: true }] });
  for (const method of ["GET", "PUT", "PATCH"])
    expect((await share("bob", method === "GET" ? undefined : {}, method)).status).toBe(403);
  expect((await share("carol", undefined, "GET")).status).toBe(404);
  expect((await lab.ask("GET", `locations/${id}/permissions/`)).status).toBe(401);
  await share("alice", { users: [{ user: "bob", change: true }] });
  expect((await share("bob", { users: [{ user: "carol", change: true }] })).status).toBe(200);
  expect(await change("carol")).toBe(200);
  for (const user of ["bob", "carol"]) {
    const refused = await share("bob", { users: [{ user, delete: true }] });
    expect([refused.status, refused.body.users]).toEqual([400, [expect.stringContaining("right to delete")]]);
  }
  expect(await remove("bob")).toBe(403);
  // Existing permissions can be sent back.
  await share("alice", { users: [{ user: "carol", delete: true }] });
  const read = (await share("bob", undefined, "GET")).body;
  expect((await share("bob", read, "PUT")).body).toEqual(read);
  // Giving the own right away is possible, and the last that one hears.
  const gone = await share("bob", { users: [{ user: "bob", change: false, view: false }] });
  expect([gone.status, gone.text, await seen("bob")]).toEqual([204, "", false]);
});

test("PUT replaces lists of grants and PATCH merges them", async () => {
  await share("alice", { ...toBob({ change: true }), groups: [{ group: "Imaging", view: true }] });
  const merged = await share("alice", { users: [{ username: "carol", view: true }] });
  const names = (merged.body.users as { username: string }[]).map(({ username }) => username);
  expect(names).toEqual(["bob", "carol"]);
  const set = await share("alice", { users: [{ id: await fetchId("carol"), view: true }] }, "PUT");
  expect(set.body).toMatchObject({ users: [{ username: "carol" }], groups: [{ name: "Imaging" }] });
  const open = { users: [], groups: [], public: true };
  expect((await share("alice", open, "PUT")).body).toMatchObject(open);
  expect((await lab.ask("GET", `locations/${id}/`)).status).toBe(200);
  const history = await lab.send("alice", "GET", `locations/${id}/history/`);
  const kinds = (history.body.results as { resource: string; op: string }[]).map(
    ({ resource, op }) => `${resource} ${op}`,
  );
  expect(kinds.filter((kind) => kind === "locations update")).toBeArrayOfSize(1);
  expect(kinds).toContain("permissions create");
  expect(kinds).toContain("permissions delete");
});
const fetchId = async (name: string) => (await lab.send("alice", "GET", `users/${name}/`)).body.id;

test("names the invalid list, and writes nothing", async () => {
  const good = { user: "bob", view: true };
  for (const [body, field] of [
    [{ users: [good, { user: "nobody", view: true }] }, "users"],
    [{ users: [good, good] }, "users"],
    [{ users: [{ user: "bob", view: "perhaps" }] }, "users"],
    [{ users: [{ user: "bob", view: false, change: true }] }, "users"],
    [{ users: [{ user: "bob", see: true }] }, "users"],
    [{ users: [{ view: true }] }, "users"],
    [{ users: "bob" }, "users"],
    [{ users: [good], groups: [{ group: "nobody", view: true }] }, "groups"],
    [{ users: [good], public: "perhaps" }, "public"],
    [{ users: [good], user: "bob" }, "user"],
    [[], "non_field_errors"],
  ] as const) {
    const refused = await share("alice", body);
    expect([body, refused.status, Object.keys(refused.body)]).toEqual([body, 400, [field, "message"]]);
  }
  expect(await seen("bob")).toBe(false);
  expect((await lab.send("alice", "DELETE", `locations/${id}/permissions/`)).status).toBe(405);
});

test("shares all of the given records or none", async () => {
  const second = String((await lab.send("alice", "POST", "locations/", { label: "Two" })).body.id);
  const body = (ids: string[]) => ({ ids, users: [{ user: "bob", view: true }] });
  const count = async () => (await lab.send("bob", "GET", `locations/?id=${id}&id=${second}`)).body.total;
  const hidden = await lab.send("bob", "PATCH", "locations/permissions/", body([id]));
  expect([hidden.status, hidden.body.detail]).toEqual([404, `Not found: "${id}".`]);
  // A public record of the program, which alice may not change.
  const refused = await lab.send("alice", "PATCH", "locations/permissions/", body([id, IDS.shelf]));
  expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining(IDS.shelf)]);
  expect(await count()).toBe(0);
  const done = await lab.send("alice", "PATCH", "locations/permissions/", body([id, second]));
  expect([done.status, done.body]).toEqual([200, { shared: 2, ids: [id, second] }]);
  expect(await count()).toBe(2);
  await expectStatuses(lab, "alice", [
    ["PUT locations/permissions/", 200, { ids: [id], users: [] }],
    ["PATCH locations/permissions/", 400, { users: [] }],
  ]);
  expect(await count()).toBe(1);
});

test("every resource and alias can be shared", async () => {
  for (const [segment, record] of [
    ["stocks/equipment", IDS.freezer],
    ["annotationtypes", IDS.note],
    ["vocabularies/terms", IDS.liver],
    ["places", IDS.a101],
    ["addresses", "1"],
  ])
    for (const end of ["", "/"])
      expect((await lab.send("admin", "GET", `${segment}/${record}/permissions${end}`)).body).toMatchObject({
        owner: "system",
        public: true,
      });
});

test("grants end when the account or group is deleted", async () => {
  await share("alice", { users: [{ user: "carol", view: true }] });
  expect(await seen("carol")).toBe(true);
  await lab.send("admin", "PATCH", "users/carol/", { is_active: false });
  expect((await lab.send("carol", "GET", `locations/?id=${id}`)).status).toBe(401);
  await lab.send("admin", "POST", "groups/", { name: "Guests", members: ["bob"] });
  await share("alice", { groups: [{ group: "Guests", view: true }] });
  expect(await seen("bob")).toBe(true);
  expect((await lab.send("admin", "DELETE", "groups/Guests/")).status).toBe(204);
  expect(await seen("bob")).toBe(false);
});
