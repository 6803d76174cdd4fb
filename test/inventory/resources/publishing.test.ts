import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { expectStatuses, type Lab, openLab } from "../harness.ts";

/** Making a record public, or giving it to another group, is confirmed first, by its owner. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const unconfirmed = (method: string, path: string, body?: unknown, as = "alice") =>
  lab.ask(method, path, { as, body, unconfirmed: true });
const isPublic = async (path: string) =>
  (await lab.send("admin", "GET", `${path}?fields=public`)).body.public;

let made = 0;
/** A private record of alice with two versions, three notes, one of them deleted, and a file. */
async function addRecord(): Promise<string> {
  const { body } = await lab.send("alice", "POST", "specimens/", { name: `Mouse ${++made}` });
  const path = `specimens/${String(body.id)}/`;
  for (const content of ["one", "two", "three"]) {
    const note = await lab.send("alice", "POST", `${path}notes/`, { content });
    if (content === "three") await lab.send("alice", "DELETE", `${path}notes/${String(note.body.id)}/`);
  }
  await lab.bytes("POST", `attachments/?app=stocks&model=specimen&object_id=${String(body.id)}`, {
    as: "alice",
    body: "x",
  });
  await lab.send("alice", "PATCH", path, { description: "later" });
  return path;
}

/** Requests that show a record to more people, by what they do. */
const REQUESTS: [string, (path: string) => [method: string, path: string, body: unknown], as?: string][] = [
  ["PATCH of a record", (path) => ["PATCH", path, { public: true }]],
  ["PUT of a record", (path) => ["PUT", path, { name: "Mouse", public: true }]],
  ["a JSON Patch", (path) => ["PATCH", path, [{ op: "replace", path: "/public", value: true }]]],
  ["another group", (path) => ["PATCH", path, { owned_by: "Imaging" }], "admin"],
  ["permissions of a record", (path) => ["PATCH", `${path}permissions/`, { public: true }]],
  [
    "a permission of a group",
    (path) => ["PATCH", `${path}permissions/`, { groups: [{ group: "Imaging", view: true }] }],
  ],
  [
    "a permission of a group on several records",
    (path) => [
      "PUT",
      "specimens/permissions/",
      { ids: [path.split("/")[1]], groups: [{ group: "Imaging", change: true }] },
    ],
  ],
  [
    "permissions of several records",
    (path) => ["PATCH", "specimens/permissions/", { ids: [path.split("/")[1]], public: true }],
  ],
  ["PATCH of a list", (path) => ["PATCH", "specimens/", [{ id: path.split("/")[1], public: true }]]],
  [
    "PATCH of a filtered list",
    () => ["PATCH", `specimens/?owned_by=Genomics&name=Mouse%20${made}`, { public: true }],
  ],
];

test.each(REQUESTS)(
  "%s lists the records that become visible, and requires `confirm`",
  async (_, requestOf, as = "alice") => {
    const path = await addRecord();
    const [method, to, body] = requestOf(path);
    const refused = await unconfirmed(method, to, body, as);
    expect(refused.status).toBe(409);
    expect(JSON.parse(refused.text)).toMatchObject({ code: "sharing_unconfirmed", count: 1 });
    const [exposed, ...others] = refused.body.exposes as Record<string, Json>[];
    const toGroup = "owned_by" in (body as object) || "groups" in (body as object);
    expect(others).toEqual([]);
    expect(exposed).toMatchObject({
      resource: "stocks/specimen",
      id: path.split("/")[1],
      public: !toGroup,
      group: toGroup ? "Imaging" : null,
      visible: { notes: 2, attachments: 1, annotations: 0 },
      hidden: { versions: 2, notes: 1, attachments: 0, annotations: 0 },
    });
    expect(await isPublic(path)).toBe(false);
    // A preview says the same and confirms the same.
    const preview = await unconfirmed(method, `${to}${to.includes("?") ? "&" : "?"}dry_run=1`, body, as);
    expect([preview.status, preview.body.exposes]).toEqual([200, refused.body.exposes]);
    const confirm = `${to}${to.includes("?") ? "&" : "?"}confirm=${String(refused.body.confirm)}`;
    await lab.send("alice", "POST", `${path}notes/`, { content: "added meanwhile" });
    expect((await unconfirmed(method, confirm, body, as)).status).toBe(409);
    const again = await unconfirmed(method, to, body, as);
    const done = await unconfirmed(
      method,
      confirm.replace(/confirm=.*/, `confirm=${String(again.body.confirm)}`),
      body,
      as,
    );
    expect([done.status, done.text.length > 0]).toEqual([200, true]);
    expect(await isPublic(path)).toBe(!toGroup);
  },
);

test("undoing and restoring a version require confirmation, too", async () => {
  const path = await addRecord();
  await lab.send("alice", "PATCH", path, { public: true });
  const hidden = await unconfirmed("PATCH", path, { public: false });
  expect(hidden.status).toBe(200);
  const undo = `batches/${hidden.headers.get("batch-id")}/undo/`;
  expect((await unconfirmed("POST", undo, {})).status).toBe(409);
  expect((await unconfirmed("POST", `${path}restore/`, { version: 3 })).status).toBe(409);
  expect(await isPublic(path)).toBe(false);
  expect((await lab.send("alice", "POST", undo, {})).status).toBe(200);
  expect(await isPublic(path)).toBe(true);
});

test("restoring a removed permission of a group requires confirmation, too", async () => {
  const path = await addRecord();
  const imaging = { groups: [{ group: "Imaging", view: true }] };
  const shared = await lab.send("alice", "PATCH", `${path}permissions/`, imaging);
  const [{ grant }] = shared.body.groups as { grant: string }[];
  const removed = await unconfirmed("PUT", `${path}permissions/`, { groups: [] });
  expect(removed.status).toBe(200);
  const undo = `batches/${removed.headers.get("batch-id")}/undo/`;
  expect((await unconfirmed("POST", `${path}permissions/${grant}/restore/`, {})).status).toBe(409);
  expect((await unconfirmed("POST", undo, {})).status).toBe(409);
  expect((await lab.send("bob", "GET", path)).status).toBe(404);
  expect((await lab.send("alice", "POST", undo, {})).status).toBe(200);
  expect((await lab.send("bob", "GET", path)).status).toBe(200);
});

test("no confirmation is required if nobody else gains access", async () => {
  const created = await unconfirmed("POST", "specimens/", { name: "New", public: true });
  expect(created.status).toBe(201);
  const path = `specimens/${String(created.body.id)}/`;
  for (const body of [{ public: true }, { description: "x" }, { public: false }, { owned_by: "Genomics" }])
    expect([body, (await unconfirmed("PATCH", path, body)).status]).toEqual([body, 200]);
  const groups = (group: string, rights: object) => ({ groups: [{ group, ...rights }] });
  const share = async (body: object) => (await unconfirmed("PATCH", `${path}permissions/`, body)).status;
  // The owning group, people, and groups of public records.
  expect(await share(groups("Genomics", { change: true }))).toBe(200);
  expect(await share({ users: [{ user: "bob", view: true }] })).toBe(200);
  await lab.send("alice", "PATCH", path, { public: true });
  expect(await share(groups("Imaging", { view: true }))).toBe(200);
  await lab.send("alice", "PATCH", path, { public: false });
  // A group that may view it already.
  expect(await share(groups("Imaging", { change: true }))).toBe(200);
});

test("users with only the permission to change may neither publish a record nor give it away", async () => {
  const path = await addRecord();
  const share = { users: [{ user: "bob", view: true, change: true }] };
  await expectStatuses(lab, "alice", [[`PATCH ${path}permissions/`, 200, share]]);
  await expectStatuses(lab, "bob", [
    [`PATCH ${path}`, 400, { public: true }],
    [`PATCH ${path}`, 400, { owned_by: "Imaging" }],
    [`PATCH ${path}permissions/`, 400, { public: true }],
    [`PATCH ${path}permissions/`, 400, { groups: [{ group: "Imaging", view: true }] }],
    [`PUT ${path}permissions/`, 400, { groups: [{ group: "Genomics", change: true }] }],
    [
      "PATCH specimens/permissions/",
      400,
      { ids: [path.split("/")[1]], groups: [{ group: "Imaging", view: true }] },
    ],
    [`PATCH ${path}`, 200, { description: "by bob" }],
    [`PATCH ${path}permissions/`, 200, { users: [{ user: "bob", view: true, change: true }] }],
  ]);
  const { body } = await lab.send("bob", "PATCH", path, { public: true });
  expect(body.public).toEqual(["Only the owner or an administrator may make a record public."]);
  // Nor by undoing that the owner made it private.
  await lab.send("alice", "PATCH", path, { public: true });
  const hidden = await lab.send("alice", "PATCH", path, { public: false });
  expect((await lab.send("bob", "POST", `batches/${hidden.headers.get("batch-id")}/undo/`, {})).status).toBe(
    400,
  );
});

test("users with only the permission to change may not restore a permission of a group", async () => {
  const path = await addRecord();
  const share = {
    users: [{ user: "bob", change: true }],
    groups: [{ group: "SYSTEM_GROUP", view: true }],
  };
  const shared = await lab.send("alice", "PATCH", `${path}permissions/`, share);
  const [{ grant }] = shared.body.groups as { grant: string }[];
  const back = { users: share.users, groups: [] };
  const removed = await lab.send("bob", "PUT", `${path}permissions/`, back);
  expect([removed.status, removed.body.groups]).toEqual([200, []]);
  await expectStatuses(lab, "bob", [
    [`POST ${path}permissions/${grant}/restore/`, 403, {}],
    [`POST batches/${removed.headers.get("batch-id")}/undo/`, 403, {}],
    // Existing permissions can be sent back.
    [`PUT ${path}permissions/`, 200, back],
  ]);
  await expectStatuses(lab, "alice", [[`POST ${path}permissions/${grant}/restore/`, 200, {}]]);
  const kept = (await lab.send("bob", "GET", `${path}permissions/`)).body;
  expect((await lab.send("bob", "PUT", `${path}permissions/`, kept)).body).toEqual(kept);
});

test("an import refuses rows that would publish existing records", async () => {
  const path = await addRecord();
  const id = path.split("/")[1];
  const rows = `id,name,public\n${id},Mouse,true\n,New mouse,true\n`;
  const { bytes } = await lab.bytes("POST", "specimens/import/", {
    as: "alice",
    body: rows,
    type: "text/csv",
  });
  const report = JSON.parse(new TextDecoder().decode(bytes));
  expect(report.errors).toMatchObject([{ row: 2, message: expect.stringContaining("to more people") }]);
  expect(await isPublic(path)).toBe(false);
});
