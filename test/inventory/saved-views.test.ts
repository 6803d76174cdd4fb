import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Views of lists: one's own until they are shared. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  await lab.accounts.addUser({ username: "carol", group: "Genomics" });
  lab.tokens.carol = lab.accounts.addToken("carol", "test");
});
afterAll(() => lab.database.close());

const names = async (as: string) =>
  ((await lab.ask("GET", "views/?list=locations", { as })).body.results as { name: string }[]).map(
    ({ name }) => name,
  );
const save = (body: object) => lab.ask("POST", "views/", { as: "alice", body });

test("only the owner sees a view until it is shared with a group", async () => {
  const made = await save({
    name: "Mine",
    list: "locations",
    query: "label__icontains=box&ordering=-created",
  });
  expect({ status: made.status, group: made.body.owned_by }).toEqual({ status: 201, group: "Genomics" });
  expect(await names("alice")).toEqual(["Cold room", "Mine"]);
  expect([await names("carol"), await names("bob")]).toEqual([["Cold room"], ["Cold room"]]);
  const id = String(made.body.id);
  expect((await lab.ask("GET", `views/${id}/`, { as: "carol" })).status).toBe(404);
  const body = { groups: [{ group: "Genomics", view: true }] };
  expect((await lab.ask("PATCH", `views/${id}/permissions/`, { as: "alice", body })).status).toBe(200);
  expect([await names("carol"), await names("bob")]).toEqual([["Cold room", "Mine"], ["Cold room"]]);
  expect((await lab.ask("DELETE", `views/${id}/`, { as: "carol" })).status).toBe(403);
  expect((await lab.ask("DELETE", `views/${id}/`, { as: "alice" })).status).toBe(204);
});

test("a view returns the records of its list", async () => {
  const { body } = await lab.ask("GET", `views/${IDS.view}/`);
  const list = await lab.ask("GET", `${String(body.list)}/?${String(body.query)}`);
  expect((list.body.results as { label: string }[]).map(({ label }) => label)).toEqual(["drawer", "Shelf 1"]);
});

test("rejects a view of an unknown list or of a single page", async () => {
  const wrong = await save({ name: "X", list: "nothing" });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining("Choices: locations")]);
  expect((await save({ name: "X", list: "locations", query: "page=2" })).body.query).toEqual([
    "page cannot be part of a view.",
  ]);
});

test("a layout of labels is for all lists, private until it is shared, and has only parts of a layout", async () => {
  const query = "printer=zpl&sheet=50x25&symbol=qr&dpi=300&lines=name,expiry,barcode";
  const layout = { name: "Zebra in 204", list: "locations", kind: "labels", query };
  const made = await save(layout);
  expect([made.status, made.body.query]).toEqual([201, query]);
  const seen = async (as: string) =>
    ((await lab.ask("GET", "views/?kind=labels", { as })).body.results as object[]).length;
  expect([await seen("alice"), await seen("carol"), await seen("bob")]).toEqual([1, 0, 0]);
  const wrong = await save({ ...layout, query: `${query}&skip=3` });
  expect([wrong.status, wrong.body.message]).toEqual([
    400,
    "query: skip is not part of a layout. Choices: printer, sheet, symbol, dpi, lines.",
  ]);
});
