import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../../src/inventory/model/field.ts";
import { type Answered, expectStatuses, type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

/** Putting a record into a location takes the right to use it; those who may change a location may evict what is there. */

const LIST = "stocks/consumables";
const REFUSED = "You may not put records into this location.";

let lab: Lab;
let box: string;
/** A record of bob, who sees the box only because it is public. */
let tube: string;
const send = (as: string, method: string, path: string, body?: unknown): Promise<Answered> =>
  lab.send(as, method, path, body);
const made = async (as: string, path: string, body: unknown): Promise<string> => {
  const answer = await send(as, "POST", path, body);
  expect([path, answer.status, answer.text.slice(0, 200)]).toMatchObject([path, 201, expect.any(String)]);
  return String(answer.body.id);
};
const share = (rights: object) =>
  send("alice", "PATCH", `locations/${box}/permissions/`, { users: [{ user: "bob", ...rights }] });
const fetchPlace = async (id: string): Promise<Json[]> => {
  const { body } = await send("admin", "GET", `${LIST}/${id}/?fields=location,position`);
  return [body.location, body.position];
};

beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());
beforeEach(async () => {
  const grid = { grid_rows: 2, grid_columns: 2 };
  box = await made("alice", "locations/", { label: "Box of alice", public: true, ...grid });
  tube = await made("bob", `${LIST}/`, { name: "Tube of bob", model_type: "OTHER" });
});

describe("a location that the caller may only view, as everyone may", () => {
  type Request = [method: string, path: () => string, body: () => unknown, field: string];
  const requests: Record<string, Request> = {
    create: ["POST", () => `${LIST}/`, () => ({ name: "a", model_type: "OTHER", location: box }), "location"],
    "create several": [
      "POST",
      () => "stocks/specimen/",
      () => [{ name: "a", model_type: "FISH", location: box, position: "A1" }],
      "0",
    ],
    change: ["PATCH", () => `${LIST}/${tube}/`, () => ({ location: box }), "location"],
    "change by filter": [
      "PATCH",
      () => `${LIST}/?id=${tube}&name=Tube`,
      () => ({ location: box }),
      "[0].location",
    ],
    replace: [
      "PUT",
      () => `${LIST}/${tube}/`,
      () => ({ name: "b", model_type: "OTHER", location: box }),
      "location",
    ],
    "fill slots": ["POST", () => `locations/${box}/free_slots/`, () => ({ records: [tube] }), "[0].location"],
    "fill a slot": [
      "POST",
      () => `locations/${box}/free_slots/`,
      () => ({ records: [tube], positions: ["B2"] }),
      "[0].location",
    ],
    aliquots: ["POST", () => `${LIST}/${tube}/aliquots/`, () => ({ count: 1, location: box }), "location"],
    "a location within": ["POST", () => "locations/", () => ({ label: "Inner", parent: box }), "parent"],
    build: [
      "POST",
      () => "locations/build/",
      () => ({ parent: box, levels: [{ name: "Inner {1..2}" }] }),
      "levels",
    ],
  };
  test.each(Object.entries(requests))("%s", async (_name, [method, path, body, field]) => {
    const { status, body: answer, text } = await send("bob", method, path(), body());
    expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining(REFUSED) });
    expect(Object.keys(answer)).toContain(field);
    expect(await fetchPlace(tube)).toEqual([null, ""]);
  });

  test("imports respect the permission to use a location", async () => {
    const body = `id,name,model_type,location\n${tube},Tube of bob,OTHER,${box}\n,New,OTHER,Box of alice\n`;
    const headers = { "Content-Type": "text/csv" };
    const { status, text } = await lab.ask("POST", `${LIST}/import/`, { as: "bob", body, headers });
    expect([status, text]).toEqual([400, expect.stringContaining(REFUSED)]);
  });

  test("a stocktake does not move records into the location without the right", async () => {
    const id = await made("bob", "stocktakes/", { name: "Count", location: box });
    expect((await send("bob", "POST", `stocktakes/${id}/scans/`, { code: tube })).status).toBe(200);
    const { body } = await send("bob", "POST", `stocktakes/${id}/apply/`, {});
    expect(body.misplaced).toMatchObject([{ id: tube, done: "not permitted" }]);
    expect(await fetchPlace(tube)).toEqual([null, ""]);
  });

  test("undo and restore do not return a record to its position without the right", async () => {
    await share({ view: true });
    expect((await send("bob", "PATCH", `${LIST}/${tube}/`, { location: box, position: "A1" })).status).toBe(
      200,
    );
    const out = await send("bob", "PATCH", `${LIST}/${tube}/`, { location: null });
    await share({ view: false });
    const undone = await send("bob", "POST", `batches/${out.headers.get("batch-id")}/undo/`, {});
    const restored = await send("bob", "POST", `${LIST}/${tube}/restore/`, { version: 2 });
    for (const { status, text } of [undone, restored])
      expect([status, text]).toEqual([400, expect.stringContaining(REFUSED)]);
    expect(await fetchPlace(tube)).toEqual([null, ""]);
  });

  test("a deleted record is restored without its location", async () => {
    await share({ view: true });
    await send("bob", "PATCH", `${LIST}/${tube}/`, { location: box, position: "A1" });
    await send("bob", "DELETE", `${LIST}/${tube}/`);
    await share({ view: false });
    expect((await send("bob", "POST", `${LIST}/${tube}/restore/`, {})).status).toBe(200);
    expect(await fetchPlace(tube)).toEqual([null, ""]);
  });
});

test("users with whom a location is shared and members of its group may use it", async () => {
  await share({ view: true });
  expect((await send("bob", "PATCH", `${LIST}/${tube}/`, { location: box })).status).toBe(200);
  // Items already in the location may be changed without the right.
  await share({ view: false });
  await expectStatuses(lab, "bob", [[`PATCH ${LIST}/${tube}/`, 200, { status: "USED", location: box }]]);
  const own = await made("alice", "locations/", { label: "Box of Genomics" });
  await lab.accounts.addUser({ username: `mate${own.slice(-3)}`, group: "Genomics" });
  lab.tokens.mate = lab.accounts.addToken(`mate${own.slice(-3)}`, "test");
  await made("mate", `${LIST}/`, { name: "Tube of a member", model_type: "OTHER", location: own });
  const found = async (query: string) =>
    ((await send("bob", "GET", `locations/?${query}&page_size=max`)).body.results as JsonObject[]).map(
      ({ id }) => id,
    );
  expect(await found("can_use=true")).not.toContain(box);
  expect(await found("can_use=false")).toContain(box);
  expect((await send("bob", "GET", `locations/${box}/slots/`)).body.use).toBe(false);
});

test("free slots of equipment are filled where the caller may use the location", async () => {
  const shelf = { equipment: IDS.freezer, capacity: 3, label: "A shelf" };
  await made("alice", "locations/", { ...shelf, public: true });
  const own = await made("bob", "locations/", { ...shelf, label: "Shelf of bob" });
  const { status, body } = await send("bob", "POST", `equipment/${IDS.freezer}/free_slots/`, {
    records: [tube],
  });
  expect([status, body.results]).toMatchObject([200, [{ location: { id: own } }]]);
});

describe("evicting", () => {
  /** Bob puts a hidden record into the box, and two more. */
  async function squat(): Promise<string[]> {
    await share({ view: true });
    const at = (name: string, more: object) =>
      made("bob", `${LIST}/`, { name, model_type: "OTHER", location: box, ...more });
    const hidden = await at("Squatter", { position: "A1" });
    const loose = await at("Loose squatter", {});
    const shown = await at("Shown", { position: "B2", public: true });
    return [hidden, loose, shown];
  }

  test("lets the owner delete the box and change its grid, with advice in the errors", async () => {
    const [hidden, loose, shown] = await squat();
    const grid = await send("alice", "PATCH", `locations/${box}/`, { grid_rows: null, grid_columns: null });
    const removed = await send("alice", "DELETE", `locations/${box}/`);
    for (const { text } of [grid, removed]) expect(text).toContain("or by POST locations/<id>/evict/.");
    expect((await send("alice", "GET", `locations/${box}/slots/`)).body.hidden).toBe(2);
    const { status, body, headers, text } = await send("alice", "POST", `locations/${box}/evict/`, {
      hidden: true,
    });
    const nothing = { position: "", record: null };
    expect([status, body.results]).toEqual([200, [nothing, { position: "A1", record: null }]]);
    for (const secret of [hidden, loose, "quatter"]) expect(text).not.toContain(secret);
    expect((await send("alice", "GET", `batches/${headers.get("batch-id")}/`)).text).not.toContain(hidden);
    expect([await fetchPlace(hidden), await fetchPlace(loose)]).toEqual([
      [null, ""],
      [null, ""],
    ]);
    const rest = await send("alice", "POST", `locations/${box}/evict/`, { positions: ["b2"] });
    expect(rest.body.results).toMatchObject([{ position: "B2", record: { id: shown } }]);
    await expectStatuses(lab, "alice", [
      [`PATCH locations/${box}/`, 200, { grid_rows: null, grid_columns: null }],
      [`DELETE locations/${box}/`, 204],
    ]);
  });

  test("the change of a position is in the history of the record and in the audit log", async () => {
    const [hidden] = await squat();
    await send("alice", "POST", `locations/${box}/evict/`, { positions: ["A1"] });
    const { body } = await send("bob", "GET", `${LIST}/${hidden}/history/`);
    expect((body.results as Json[])[0]).toMatchObject({
      op: "update",
      user: "alice",
      before: { location: box, position: "A1" },
      after: { location: null, position: "" },
    });
    const entry = lab.database.query("SELECT action, actor FROM audit ORDER BY seq DESC LIMIT 1").get();
    expect(entry).toEqual({ action: "record.evict", actor: "alice" });
  });

  test("only users who may change the location may use it, and errors name the field", async () => {
    const [hidden, loose, shown] = await squat();
    const evict = (as: string, body: object) => send(as, "POST", `locations/${box}/evict/`, body);
    expect((await evict("bob", { hidden: true })).status).toBe(403);
    expect((await send("bob", "GET", `locations/${box}/slots/`)).body.hidden).toBeNull();
    for (const [body, message] of [
      [{}, "positions: Name positions or records, or set hidden to true."],
      [{ positions: ["A2"] }, 'positions: [0]: Nothing is in "A2".'],
      [{ records: [hidden] }, `records: [0]: "${hidden}" is not the id of a record in this location.`],
      [{ records: [loose.toUpperCase()] }, "is not the id of a record in this location."],
    ] as const)
      expect((await evict("alice", body)).body.message).toEqual(expect.stringContaining(message));
    expect((await evict("alice", { records: [shown] })).body.results).toHaveLength(1);
  });
});
