import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Lab, openLab } from "./harness.ts";

/** Previews say in words what would change, and name only what their reader may view. */

const LIST = "stocks/consumables/";
let lab: Lab;

beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

async function create(as: string, path: string, body: object): Promise<string> {
  const { status, body: made } = await lab.send(as, "POST", path, body);
  expect({ status, made }).toMatchObject({ status: 201 });
  return String(made.id);
}

const preview = async (as: string, method: string, path: string, body?: object) =>
  (await lab.send(as, method, `${path}?dry_run=1`, body)).body;

test("each planned change is a sentence", async () => {
  const box = await create("alice", "locations/", { label: "Box", grid_rows: 2, grid_columns: 2 });
  const [tube, other] = [
    await create("alice", LIST, { name: "Taq" }),
    await create("alice", LIST, { name: "Pfu" }),
  ];
  const sentences = async (method: string, path: string, body?: object) =>
    (await preview("alice", method, path, body)).sentences;
  expect(await sentences("POST", LIST, { name: "Phusion" })).toEqual(["Add the consumable Phusion."]);
  expect(await sentences("POST", `locations/${box}/free_slots/`, { records: [tube, other] })).toEqual([
    "Move Taq to Box, A1.",
    "Move Pfu to Box, A2.",
  ]);
  expect(await sentences("PATCH", `${LIST}${tube}/`, { name: "Taq 2" })).toEqual(["Rename Taq to Taq 2."]);
  expect(await sentences("DELETE", `${LIST}${tube}/`)).toEqual(["Delete Taq."]);
  expect(await sentences("PATCH", `${LIST}${tube}/`, { name: "Taq" })).toEqual(["Change Taq."]);
  expect(await sentences("POST", `${LIST}${tube}/notes/`, { content: "Old" })).toEqual([
    "Add a note to Taq.",
  ]);
  const many = Array.from({ length: 30 }, (_, i) => ({ name: `Tube ${i}` }));
  expect(await sentences("POST", LIST, many)).toHaveLength(20);
});

test("a place that the reader may not view has no name", async () => {
  const hidden = await create("alice", "locations/", { label: "Hidden box", public: false });
  const tube = await create("alice", LIST, { name: "Shared", public: true, location: hidden });
  const users = [{ user: "bob", view: true, change: true }];
  expect((await lab.send("alice", "PATCH", `${LIST}${tube}/permissions/`, { users })).status).toBe(200);
  const { sentences } = await preview("bob", "PATCH", `${LIST}${tube}/`, { location: null });
  expect(sentences).toEqual(["Take Shared out."]);
});

test("a preview of taking stock out is confirmed later, and refused after a change", async () => {
  const tube = await create("alice", LIST, { name: "BsaI" });
  const path = `${LIST}${tube}/take_out/`;
  const first = await preview("alice", "POST", path, {});
  lab.clock.set(lab.clock.now() + 60_000);
  const taken = await lab.send("alice", "POST", `${path}?confirm=${String(first.confirm)}`, {});
  expect(taken.status).toBe(200);
  const again = await lab.send("alice", "POST", `${path}?confirm=${String(first.confirm)}`, {});
  expect(again.status).toBe(409);
});
