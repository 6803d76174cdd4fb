import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "../../src/platform/sqlite.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import { MIGRATIONS } from "../../db/index.ts";
import { type Lab, openLab } from "./harness.ts";

/** Rights of members of a group on each other's stock, against a model of them written here. */

const LIST = "stocks/consumables/";
const MEMBERS_MAY = ["view", "use", "change"] as const;
type MembersMay = (typeof MEMBERS_MAY)[number];

/** Alice owns all records, for her group Genomics, of which Carol is a member; Bob is in Imaging. */
const ACTORS = ["alice", "carol", "bob", "admin", null] as const;
type Name = (typeof ACTORS)[number];

interface Grant {
  to: { user: "bob" | "carol" } | { group: "Imaging" };
  change: boolean;
  delete: boolean;
}
interface Thing {
  id: string;
  public: boolean;
  grant: Grant | null;
}

const GRANTS: (Grant | null)[] = [
  null,
  ...[{ user: "bob" } as const, { user: "carol" } as const, { group: "Imaging" } as const].flatMap((to) =>
    [false, true].flatMap((change) => [false, true].map((remove): Grant => ({ to, change, delete: remove }))),
  ),
];

const reaches = (grant: Grant | null, who: Name): boolean =>
  grant !== null &&
  ("user" in grant.to ? grant.to.user === who : grant.to.group === "Imaging" && who === "bob");

/** The oracle: sentences of the documentation, one for each right. */
function expectedRights(may: MembersMay, who: Name, { public: isPublic, grant }: Thing) {
  const isMember = who === "carol";
  const isAll = who === "alice" || who === "admin";
  const given = reaches(grant, who) ? grant : null;
  const change = isAll || given?.change === true || (isMember && may === "change");
  return {
    view: isPublic || isAll || isMember || given !== null,
    use: change || (isMember && may === "use"),
    change,
    delete: isAll || given?.delete === true,
  };
}

interface Operation {
  right: "use" | "change" | "delete";
  method: string;
  path: (id: string) => string;
  body: (id: string) => unknown;
  /** Status where the caller may not view the record. */
  hidden?: number;
}
let box: string;
let lab: Lab;
const own = (action: string) => (id: string) => `${LIST}${id}/${action}`;
const OPERATIONS: Record<string, Operation> = {
  consume: { right: "use", method: "POST", path: own("consume/"), body: () => ({ amount: 1 }) },
  thaw: { right: "use", method: "POST", path: own("thaw/"), body: () => ({}) },
  "take out": { right: "use", method: "POST", path: own("take_out/"), body: () => ({}) },
  "put back": {
    right: "use",
    method: "POST",
    path: own("put_back/"),
    body: () => ({ location: box, position: "A1" }),
  },
  move: {
    right: "use",
    method: "PATCH",
    path: own(""),
    body: () => ({ location: box, position: "A1" }),
  },
  "move by JSON Patch": {
    right: "use",
    method: "PATCH",
    path: own(""),
    body: () => [{ op: "replace", path: "/location", value: box }],
  },
  "move out": { right: "use", method: "PATCH", path: own(""), body: () => ({ location: null }) },
  "bulk move": { right: "use", method: "PATCH", path: () => LIST, body: (id) => [{ id, location: box }] },
  fill: {
    right: "use",
    method: "POST",
    path: () => `locations/${box}/free_slots/`,
    body: (id) => ({ records: [id] }),
    hidden: 400,
  },
  refill: { right: "change", method: "POST", path: own("refill/"), body: () => ({ amount: 1 }) },
  aliquots: { right: "change", method: "POST", path: own("aliquots/"), body: () => ({ count: 1 }) },
  edit: { right: "change", method: "PATCH", path: own(""), body: () => ({ name: "Other" }) },
  "edit the amount": { right: "change", method: "PATCH", path: own(""), body: () => ({ amount: 3 }) },
  "edit and move": {
    right: "change",
    method: "PATCH",
    path: own(""),
    body: () => ({ location: box, name: "Other" }),
  },
  "write nothing": { right: "change", method: "PATCH", path: own(""), body: () => ({}) },
  replace: {
    right: "change",
    method: "PUT",
    path: own(""),
    body: () => ({ name: "Other", location: box }),
  },
  "bulk edit": { right: "change", method: "PATCH", path: () => LIST, body: (id) => [{ id, name: "Other" }] },
  note: { right: "change", method: "POST", path: own("notes/"), body: () => ({ content: "x" }) },
  share: {
    right: "change",
    method: "PATCH",
    path: own("permissions/"),
    body: () => ({ users: [{ user: "dora", view: true }] }),
  },
  remove: { right: "delete", method: "DELETE", path: own(""), body: () => undefined },
  "bulk delete": {
    right: "delete",
    method: "DELETE",
    path: (id) => `${LIST}bulk_delete/?id=${id}`,
    body: () => undefined,
  },
};

const things: Thing[] = [];

beforeAll(async () => {
  lab = await openLab();
  for (const [username, group] of [
    ["carol", "Genomics"],
    ["dora", "Imaging"],
  ]) {
    await lab.accounts.addUser({ username, fullName: `${username} Example`, group });
    lab.tokens[username] = lab.accounts.addToken(username, "test");
  }
  const create = async (path: string, body: object) => {
    const { status, body: made } = await lab.send("alice", "POST", path, { owned_by: "Genomics", ...body });
    expect({ status, made }).toMatchObject({ status: 201 });
    return String(made.id);
  };
  box = await create("locations/", { label: "Box", grid_rows: 10, grid_columns: 10 });
  await share(`locations/${box}/`, { groups: [{ group: "Imaging", view: true }] });
  for (const grant of GRANTS)
    for (const isPublic of [false, true]) {
      const id = await create(LIST, { name: "Taq", amount: 100, public: isPublic });
      await lab.send("alice", "POST", `${LIST}${id}/take_out/`, {});
      if (grant) {
        const { to, ...rights } = grant;
        await share(`${LIST}${id}/`, {
          ["user" in to ? "users" : "groups"]: [{ ...to, view: true, ...rights }],
        });
      }
      things.push({ id, public: isPublic, grant });
    }
});
afterAll(() => lab.database.close());

async function share(path: string, body: object) {
  expect((await lab.send("alice", "PATCH", `${path}permissions/`, body)).status).toBe(200);
}

const setMembersMay = async (may: MembersMay) =>
  expect((await lab.send("admin", "PATCH", "groups/Genomics/", { members_may: may })).status).toBe(200);

const ask = (who: Name, method: string, path: string, body?: unknown) =>
  lab.ask(method, path, { as: who ?? undefined, ...(body === undefined ? {} : { body }) });

const dry = (path: string): string => `${path}${path.includes("?") ? "&" : "?"}dry_run=1`;

describe.each(MEMBERS_MAY)("where members of the group may %s each other's records:", (may) => {
  test("records and lists say what the caller may do", async () => {
    await setMembersMay(may);
    for (const who of ACTORS) {
      const rights = things.map((thing) => ({ id: thing.id, ...expectedRights(may, who, thing) }));
      for (const [filter, right] of [
        ["", "view"],
        ["&can_use=true", "use"],
        ["&can_change=true", "change"],
        ["&can_delete=true", "delete"],
      ] as const) {
        const { body } = await ask(who, "GET", `${LIST}?name=Taq&page_size=max&fields=id${filter}`);
        const listed = (body.results as { id: string }[]).map(({ id }) => id);
        expect([who, filter, listed.toSorted()]).toEqual([
          who,
          filter,
          rights
            .filter((each) => each[right])
            .map(({ id }) => id)
            .toSorted(),
        ]);
      }
      for (const { id, view, ...expected } of rights) {
        const { status, body } = await ask(who, "GET", `${LIST}${id}/?fields=permissions`);
        expect([who, status]).toEqual([who, view ? 200 : 404]);
        if (!view) continue;
        const { actions } = body.permissions as { actions: object };
        const isAny = expected.use || expected.change || expected.delete;
        expect([who, id, actions]).toEqual([who, id, isAny ? expected : {}]);
        if (who === null) continue;
        const explained = (await ask(who, "GET", `${LIST}${id}/?explain=1`)).body;
        for (const right of ["view", "use", "change", "delete"] as const)
          expect([who, id, right, (explained[right] as { may: boolean }).may]).toEqual([
            who,
            id,
            right,
            right === "view" || expected[right],
          ]);
      }
    }
  });

  test.each(Object.entries(OPERATIONS))("%s", async (name, { right, method, path, body, hidden = 404 }) => {
    await setMembersMay(may);
    for (const who of ACTORS)
      for (const thing of things) {
        const { view, ...rights } = expectedRights(may, who, thing);
        const answer = await ask(who, method, dry(path(thing.id)), body(thing.id));
        const expected = who === null ? 401 : !view ? hidden : rights[right] ? 200 : 403;
        expect([who, thing, answer.status, answer.body]).toEqual([who, thing, expected, expect.anything()]);
        if (expected !== 403) continue;
        // Everyone who is named may do it, and Alice, the owner, is the first.
        const names = String(answer.body.message).match(/Ask (.*)\.$/)?.[1] ?? "";
        if (!["bulk delete", "note", "share"].includes(name)) expect(names).toStartWith("Alice Archer");
        const bob = expectedRights(may, "bob", thing);
        expect([thing, names.includes("Bob Baker") && !bob[right]]).toEqual([thing, false]);
      }
  });
});

test.each([
  ["view", "not permitted"],
  ["use", "moved"],
  ["change", "moved"],
] as const)("a stocktake of a member who may %s says of a misplaced tube: %s", async (may, expected) => {
  await setMembersMay(may);
  const { body: tube } = await lab.send("alice", "POST", LIST, { name: "Lost", owned_by: "Genomics" });
  const { body: made } = await lab.send("carol", "POST", "stocktakes/", { name: "Count", location: box });
  const of = `stocktakes/${String(made.id)}/`;
  expect((await lab.send("carol", "POST", `${of}scans/`, { codes: [tube.id] })).status).toBe(200);
  const { status, body } = await lab.send("carol", "POST", `${of}apply/`, { missing: "keep" });
  expect(status).toBe(200);
  expect(body.misplaced).toEqual([expect.objectContaining({ id: tube.id, done: expected })]);
});

test("a member who uses stock takes it back, but not after somebody else changed it", async () => {
  await setMembersMay("use");
  const { id } = things.find(({ public: isPublic, grant }) => !isPublic && grant === null)!;
  const consume = await lab.send("carol", "POST", `${LIST}${id}/consume/`, { amount: 40 });
  expect([consume.status, consume.body.amount]).toEqual([200, 60]);
  const undo = async (as: string, batch: string, force = false) =>
    (await lab.send(as, "POST", `batches/${batch}/undo/`, { force })).status;
  const batch = consume.headers.get("batch-id")!;
  expect(await undo("bob", batch)).toBe(404);
  expect(await undo("carol", batch)).toBe(200);
  const again = await lab.send("carol", "POST", `${LIST}${id}/consume/`, { amount: 40 });
  await lab.send("alice", "PATCH", `${LIST}${id}/`, { amount: 5 });
  expect(await undo("carol", again.headers.get("batch-id")!)).toBe(409);
  expect(await undo("carol", again.headers.get("batch-id")!, true)).toBe(403);
  const edit = await lab.send("alice", "PATCH", `${LIST}${id}/`, { amount: 100 });
  expect(await undo("carol", edit.headers.get("batch-id")!)).toBe(403);
});

test("read-only tokens use nothing", async () => {
  await setMembersMay("use");
  const token = lab.accounts.addToken("carol", "read", null, "read");
  const { status } = await lab.ask("POST", `${LIST}${things[0].id}/consume/`, {
    headers: { Authorization: `Token ${token}` },
    body: { amount: 1 },
  });
  expect(status).toBe(403);
});

test("new servers let members use; servers with accounts keep their rights, also for new groups", () => {
  const index = MIGRATIONS.findIndex(({ name }) => name.includes("group-rights"));
  for (const [people, expected] of [
    [false, "use"],
    [true, "view"],
  ] as const) {
    const database = openDatabase(":memory:", MIGRATIONS.slice(0, index));
    if (people)
      database.run(
        "INSERT INTO user_account (id, username, date_joined, primary_group) VALUES ('a', 'ada', 0, 1)",
      );
    const bytes = database.serialize();
    database.close();
    const migrated = openDatabase(bytes, MIGRATIONS);
    const group = new Accounts(migrated, { now: Date.now, newId: () => crypto.randomUUID() }).addGroup("Lab");
    expect(
      migrated.query("SELECT members_may, members_order FROM user_group WHERE rid IN (1, ?)").all(group),
    ).toEqual([
      { members_may: expected, members_order: 0 },
      { members_may: expected, members_order: 0 },
    ]);
    migrated.close();
  }
});
