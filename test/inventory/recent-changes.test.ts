import { afterAll, beforeAll, expect, test } from "bun:test";
import type { BatchSummary } from "../../src/inventory/api/route-history.ts";
import { BOX, CONSUMABLES, id, openBoxes, RACK, SPECIMEN } from "./boxes.ts";
import type { Lab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Recent changes as sentences, for each reader, with undo or the reason why not. */

let lab: Lab;
beforeAll(async () => {
  lab = await openBoxes();
});
afterAll(() => lab.database.close());

const send = async (as: string, method: string, path: string, body?: unknown) => {
  lab.clock.set(lab.clock.now() + 1000);
  const answer = await lab.send(as, method, path, body);
  expect([method, path, answer.status < 300 ? "" : answer.text]).toEqual([method, path, ""]);
  return answer;
};
/** The newest changes as somebody reads them. */
const recent = async (as: string, query = "page_size=1") => {
  const { status, body } = await lab.ask("GET", `batches/?${query}`, { as });
  expect(status).toBe(200);
  return body.results as unknown as BatchSummary[];
};
const sentence = async (as = "admin") => (await recent(as))[0].sentence;
const tube = (n: number) => `${CONSUMABLES}${id(n)}/`;
const make = async (name: string, more: object = {}) =>
  String(
    (await send("alice", "POST", CONSUMABLES, { name, model_type: "OTHER", public: true, ...more })).body.id,
  );

test.each<[did: string, as: string, method: string, path: () => string, body?: unknown]>([
  ["admin moved Tube 14 to Box 1, A3", "admin", "PATCH", () => tube(14), { location: BOX, position: "A3" }],
  ["admin moved Tube 14 to B1 in Box 1", "admin", "PATCH", () => tube(14), { position: "B1" }],
  ["admin took Tube 14 out of Box 1", "admin", "PATCH", () => tube(14), { location: null }],
  [
    "admin moved 2 consumables and 1 specimen to Box 10",
    "admin",
    "POST",
    () => `locations/${RACK}/free_slots/`,
    { records: [id(14), id(15), id(22)] },
  ],
  [
    "admin moved 2 consumables",
    "admin",
    "PATCH",
    () => CONSUMABLES,
    [
      { id: id(14), location: null },
      { id: id(15), location: BOX },
    ],
  ],
  ["admin moved Box 10 to Shelf 1", "admin", "PATCH", () => `locations/${RACK}/`, { parent: IDS.shelf }],
  [
    "admin changed lot and expiry of Tube 14",
    "admin",
    "PATCH",
    () => tube(14),
    { lot: "7", expiry: "2031-01-01" },
  ],
  ["admin used 2.5 of Tube 14, 7.5 left", "admin", "POST", () => `${tube(14)}consume/`, { amount: 2.5 }],
  [
    "admin made 3 aliquots of Tube 14",
    "admin",
    "POST",
    () => `${tube(14)}aliquots/`,
    { count: 3, amount: 1, location: null },
  ],
  ["admin renamed Tube 15 to Q5", "admin", "PATCH", () => tube(15), { name: "Q5" }],
  [
    "admin made 2 consumables private",
    "admin",
    "PATCH",
    () => CONSUMABLES,
    { items: [id(14), id(15)], public: false },
  ],
  ["admin deleted Q5", "admin", "DELETE", () => tube(15)],
  ["admin restored Q5", "admin", "POST", () => `${tube(15)}restore/`, {}],
  [
    "admin deleted 2 consumables",
    "admin",
    "DELETE",
    () => `${CONSUMABLES}bulk_delete/?id=${id(14)},${id(15)}`,
  ],
  ["Alice Archer added Thing", "alice", "POST", () => "core/projects/", { name: "Thing" }],
  [
    "admin changed metadata of Tube 11",
    "admin",
    "POST",
    () => `${tube(11)}annotations/`,
    { annotation_type_id: "note", value: "x" },
  ],
  [
    "admin changed metadata of 2 consumables",
    "admin",
    "PATCH",
    () => CONSUMABLES,
    { items: [id(11), id(13)], annotations__note: "y" },
  ],
  ["admin added a note to Tube 21", "admin", "POST", () => `${SPECIMEN}${id(21)}/notes/`, { content: "x" }],
  [
    "admin shared Tube 11 with Bob Baker",
    "admin",
    "PATCH",
    () => `${tube(11)}permissions/`,
    { users: [{ user: "bob", view: true }] },
  ],
  [
    "admin stopped sharing Tube 11 with Bob Baker",
    "admin",
    "PATCH",
    () => `${tube(11)}permissions/`,
    { users: [{ user: "bob", view: false }] },
  ],
  [
    "admin shared 2 consumables with Imaging",
    "admin",
    "PATCH",
    () => `${CONSUMABLES}permissions/`,
    { ids: [id(11), id(13)], groups: [{ group: "Imaging", view: true, change: true }] },
  ],
  ["admin added Alice Archer to Imaging", "admin", "PUT", () => "groups/Imaging/members/alice/"],
  ["admin removed Alice Archer from Imaging", "admin", "DELETE", () => "groups/Imaging/members/alice/"],
  [
    "admin added 1 piece of equipment and 4 locations",
    "admin",
    "POST",
    () => "locations/build/",
    {
      place: IDS.a101,
      levels: [{ list: "equipment", name: "Fridge", model_type: "FREEZER" }, { name: "Shelf {1..4}" }],
    },
  ],
])("says: %s", async (...row) => {
  const [said, as, method, path, body] = row;
  // Tube 14 has an amount only for the sentence about it.
  if (/amount|used/.test(said)) lab.database.run(`UPDATE consumable SET amount = 10 WHERE id = '${id(14)}'`);
  await send(as, method, path(), body);
  expect(await sentence()).toBe(said);
});

test("describes an import, a stocktake, an undo and a redo", async () => {
  const csv = `id,name,lot\n${id(11)},Tube 11,L1\n,Import 1,L2\n,Import 2,L3`;
  const headers = { "Content-Type": "text/csv" };
  const imported = await lab.ask("POST", `${CONSUMABLES}import/`, { as: "admin", body: csv, headers });
  expect(imported.status).toBe(200);
  expect(await sentence()).toBe("admin imported 2 consumables and changed lot of Tube 11");
  const path = `batches/${imported.headers.get("batch-id")}/undo/`;
  const undone = await send("admin", "POST", path, {});
  expect(undone.body.sentence).toBe("admin undid: imported 2 consumables and changed lot of Tube 11");
  await send("admin", "POST", `batches/${String(undone.body.id)}/undo/`, {});
  expect(await sentence()).toBe("admin repeated: imported 2 consumables and changed lot of Tube 11");
  const made = await send("admin", "POST", "stocktakes/", { name: "Rack", location: RACK });
  const stocktake = `stocktakes/${String(made.body.id)}/`;
  await send("admin", "POST", `${stocktake}scans/`, { codes: [id(13), id(21)] });
  await send("admin", "POST", `${stocktake}apply/`, {});
  expect(await sentence()).toBe("admin applied the stocktake Rack, which changed 2 records");
});

test("names and counts only records that the reader may view, and explains why a change cannot be undone", async () => {
  const open = await make("Open");
  const closed = await make("Closed secret", { public: false });
  const bulk = await send("alice", "PATCH", CONSUMABLES, { items: [open, closed], description: "d" });
  const [seen] = await recent("bob");
  expect([seen.sentence, seen.cannot_undo]).toEqual([
    "Alice Archer changed description of Open",
    "You do not have permission to undo this batch.",
  ]);
  expect(JSON.stringify(await recent("bob", "page_size=100"))).not.toContain("secret");
  expect((await recent("alice"))[0]).toMatchObject({
    sentence: "Alice Archer changed description of 2 consumables",
    cannot_undo: null,
  });
  // A place that the reader may not view is not named.
  await send("alice", "PATCH", `${CONSUMABLES}${open}/`, { location: IDS.secret });
  expect([await sentence("alice"), await sentence("bob")]).toEqual([
    "Alice Archer moved Open to Secret",
    "Alice Archer moved Open",
  ]);
  expect((await recent("bob"))[0].cannot_undo).toBe("You do not have permission to undo this batch.");
  await send("alice", "PATCH", `${CONSUMABLES}${closed}/`, { description: "later" });
  const [, , changed] = await recent("alice", "page_size=3");
  expect([changed.id, changed.cannot_undo]).toEqual([
    String(bulk.headers.get("batch-id")),
    "Closed secret has been changed since.",
  ]);
  const [last] = await recent("alice");
  await send("alice", "POST", `batches/${last.id}/undo/`, {});
  const [undo, undone, , before] = await recent("alice", "page_size=4");
  expect([undo.cannot_undo, undone.cannot_undo, before.cannot_undo]).toEqual([
    null,
    "The batch has been undone.",
    null,
  ]);
});

test("lists changes of a list, and since a day", async () => {
  const kinds = async (query: string) =>
    (await recent("admin", `page_size=100&${query}`)).map(({ changes }) => changes);
  const of = await kinds("resource=core/projects");
  // The other one is the sample.
  expect([of.length, of[0]]).toEqual([2, { "core/projects": 1 }]);
  const [sample] = await recent("admin", "kind=sample");
  expect(sample.sentence).toMatch(/^labd loaded the sample data, \d+ records$/);
  // Notes of specimens are changes of specimens.
  expect((await kinds("resource=stocks/specimen")).some(({ notes }) => notes === 1)).toBe(true);
  expect(await kinds("since=2031-01-01T00:00:00Z")).toEqual([]);
  for (const query of ["since=yesterday", "resource=nothing"])
    expect([query, (await lab.ask("GET", `batches/?${query}`, { as: "admin" })).status]).toEqual([
      query,
      400,
    ]);
});
