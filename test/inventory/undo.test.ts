import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { InventorySample } from "../../src/inventory/index.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import type { Query } from "../../src/inventory/model/operator.ts";
import { annotation } from "../../src/inventory/resources/annotation.ts";
import INVENTORY from "../../src/sample/inventory.json";
import { type Answered, type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Undo of batches, restoring of versions and deleted records, and purging. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const send = (method: string, path: string, body?: unknown, as = "alice"): Promise<Answered> => {
  lab.clock.set(lab.clock.now() + 1000);
  return lab.ask(method, path, { as, ...(body === undefined ? {} : { body }) });
};
const undo = (answer: Answered, body?: unknown, as = "alice"): Promise<Answered> =>
  send("POST", `batches/${answer.headers.get("batch-id")}/undo/`, body, as);
/** All records that are not deleted, without the fields that every write changes. */
const state = async (segment = "locations"): Promise<Json[]> => {
  const { body } = await lab.ask("GET", `${segment}/?page_size=max&fields=*&ordering=id`, { as: "admin" });
  const records = body.results as { [name: string]: Json }[];
  return records.map((record) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !/^(version|modified.*)$/.test(name))),
  );
};
const add = async (body: object = { label: "Box" }): Promise<string> =>
  String((await send("POST", "locations/", body)).body.id);

describe("undo of a batch", () => {
  test("undoes creating, changing, deleting and undoing", async () => {
    const ids = [await add({ label: "a" }), await add({ label: "b" })];
    const steps: (() => Promise<Answered>)[] = [
      () => send("POST", "locations/", [{ label: "x" }, { label: "y", parent: ids[0] }]),
      () =>
        send("PATCH", `locations/?name=a`, { label: "z", description: "d", place: IDS.a101, public: true }),
      () => send("DELETE", `locations/bulk_delete/?id=${ids.join()}`),
      () => send("PUT", `locations/${ids[0]}/`, { label: "q" }),
      () => send("DELETE", `locations/${ids[0]}/`),
    ];
    for (const step of steps) {
      const before = await state();
      const done = await step();
      expect(done.status).toBeLessThan(300);
      const after = await state();
      expect(after).not.toEqual(before);
      const undone = await undo(done);
      expect(undone.status).toBe(200);
      expect(undone.body).toMatchObject({
        kind: "undo",
        user: "alice",
        undoes: done.headers.get("batch-id"),
      });
      expect(await state()).toEqual(before);
      const again = await undo(undone);
      expect(again.status).toBe(200);
      const names = (rows: Json[]) => rows.map((row) => ({ ...(row as object), deleted_date: 0 }));
      expect(names(await state())).toEqual(names(after));
      await undo(again);
      expect(await state()).toEqual(before);
    }
    const batch = await lab.ask("GET", "batches/?kind=undo&page_size=1", { as: "alice" });
    expect((batch.body.results as Json[])[0]).toMatchObject({ undone_by: null, changes: { locations: 1 } });
  });

  test("rejects undo for each record with later changes to the same fields", async () => {
    const ids = [await add(), await add(), await add()];
    const batch = await send("PATCH", "locations/?name=Box", { label: "Case" });
    await send("PATCH", `locations/${ids[0]}/`, { label: "Later" });
    await send("PATCH", `locations/${ids[1]}/`, { description: "kept" });
    await send("DELETE", `locations/${ids[2]}/`);
    const before = await state();
    const refused = await undo(batch);
    expect([refused.status, refused.body.refused]).toEqual([409, 2]);
    expect(refused.body.rows).toMatchObject([
      { id: ids[0], status: 409, message: `location ${ids[0]} was changed later (label).` },
      { id: ids[2], status: 409 },
    ]);
    expect(await state()).toEqual(before);
    expect((await undo(batch, { force: true })).status).toBe(200);
    const after = await send("GET", "locations/?name=Box&fields=description&ordering=description");
    expect(after.body.results).toEqual(["", "", "kept"].map((description) => ({ description })));
  });

  test("undoes changes from the newest to the oldest, skipping changes that were undone before", async () => {
    const id = await add({ label: "0" });
    const changes: Answered[] = [];
    for (const label of ["1", "2", "3"]) changes.push(await send("PATCH", `locations/${id}/`, { label }));
    const label = async () =>
      (await lab.ask("GET", `locations/${id}/?fields=label`, { as: "alice" })).body.label;
    const undone = await undo(changes[2]);
    expect([undone.status, await label()]).toEqual([200, "2"]);
    // Undone, done again and undone: the change before does not notice.
    await undo(await undo(undone));
    expect([(await undo(changes[1])).status, await label()]).toEqual([200, "1"]);
    expect((await undo(changes[1])).status).toBe(409);
    const between = await send("PATCH", `locations/${id}/`, { label: "4", description: "kept" });
    expect([(await undo(changes[0])).status, await label()]).toEqual([409, "4"]);
    await undo(between);
    expect([(await undo(changes[0])).status, await label()]).toEqual([200, "0"]);
    const last = await lab.ask("GET", `batches/${String(undone.body.id)}/`, { as: "alice" });
    expect(last.body.undone_by).toBeNull();
  });

  test("undoes a restore although the former position is occupied, but not a move of records that were moved again", async () => {
    const boxes = [];
    for (const label of ["Box 1", "Box 2"]) boxes.push(await add({ label, grid_rows: 2, grid_columns: 2 }));
    const [box, other] = boxes;
    const tube = async (position: string) => {
      const body = { name: "Tube", model_type: "OTHER", location: box, position };
      return String((await send("POST", "stocks/consumables/", body)).body.id);
    };
    const first = await tube("A1");
    await send("DELETE", `stocks/consumables/${first}/`);
    await tube("A1");
    const restored = await send("POST", `stocks/consumables/${first}/restore/?fields=position`, {});
    expect(restored.body.position).toBe("");
    const undone = await undo(restored);
    expect([undone.status, undone.body.changes]).toEqual([200, { "stocks/consumables": 1 }]);
    expect((await undo(undone)).status).toBe(200);
    const second = await tube("A2");
    const moved = await send("PATCH", `stocks/consumables/${second}/`, { position: "B1" });
    await send("PATCH", `stocks/consumables/${second}/`, { location: other, position: "B1" });
    expect((await undo(moved)).body.message).toEndWith("was changed later (location).");
  });

  test("does not undo the creation of a record that is in use or has other values now", async () => {
    const made = await send("POST", "locations/", { label: "Rack" });
    await send("POST", "locations/", { label: "Slot", parent: made.body.id });
    const used = await undo(made);
    const parent = '"Rack" cannot be deleted: it is the parent of records in locations';
    expect([used.status, used.body.message]).toEqual([409, expect.stringContaining(parent)]);
    const touched = await send("POST", "locations/", { label: "Touched" });
    await send("PATCH", `locations/${touched.body.id}/`, {});
    expect((await undo(touched)).status).toBe(200);
    const other = await send("POST", "locations/", { label: "Rack" });
    await send("PATCH", `locations/${other.body.id}/`, { label: "Used" });
    expect((await undo(other)).status).toBe(409);
    expect((await undo(other, { force: "yes" })).status).toBe(200);
    expect((await lab.ask("GET", `locations/${other.body.id}/`, { as: "alice" })).status).toBe(404);
  });

  test("restores a deleted tree as a whole, and no record without its parent", async () => {
    const rack = await add({ label: "Rack" });
    const slot = await add({ label: "Slot", parent: rack });
    const slotGone = await send("DELETE", `locations/${slot}/`);
    const rackGone = await send("DELETE", `locations/${rack}/`);
    const alone = await undo(slotGone);
    expect(alone.body).toMatchObject({
      refused: 1,
      rows: [{ id: slot, errors: { parent: ["The location that it refers to is deleted."] } }],
    });
    await undo(rackGone);
    expect((await undo(slotGone)).status).toBe(200);
    const tree = await send("DELETE", `locations/bulk_delete/?id=${rack},${slot}`);
    const before = await state();
    const undone = await undo(tree);
    expect(undone.status).toBe(200);
    await undo(undone);
    expect((await state()).length).toBe(before.length);
  });

  test("undoes a batch that moved a name from one record to another", async () => {
    const make = async (name: string) =>
      String((await send("POST", "vocabularies/categories/", { name })).body.id);
    const [one, two] = [await make("one"), await make("two")];
    const before = await state("vocabularies/categories");
    const swapped = await send("PATCH", "vocabularies/categories/", [
      { id: two, name: "three" },
      { id: one, name: "two" },
    ]);
    expect(swapped.status).toBe(200);
    expect((await undo(swapped)).status).toBe(200);
    expect(await state("vocabularies/categories")).toEqual(before);
    const renamed = await send("PATCH", `vocabularies/categories/${one}/`, { name: "four" });
    await make("one");
    const taken = await undo(renamed);
    expect({ status: taken.status, rows: taken.body.rows }).toMatchObject({
      status: 409,
      rows: [{ id: one, message: "Another record now has the former name of this record." }],
    });
  });

  test("requires the permissions of the undone changes, and reveals nothing else", async () => {
    const batch = await send("POST", "locations/", [{ label: "open", public: true }, { label: "closed" }]);
    const theirs = await undo(batch, undefined, "bob");
    expect({ status: theirs.status, told: "rows" in theirs.body }).toEqual({ status: 403, told: false });
    const open = await send("POST", "locations/", { label: "open", public: true });
    expect((await undo(open, undefined, "bob")).status).toBe(403);
    const closed = await send("POST", "locations/", { label: "closed" });
    expect((await undo(closed, undefined, "bob")).status).toBe(404);
    expect((await lab.ask("POST", `batches/${open.headers.get("batch-id")}/undo/`)).status).toBe(401);
    const moved = await send("PATCH", `locations/${open.body.id}/`, { owner: "bob" }, "admin");
    expect((await undo(moved, undefined, "bob")).status).toBe(400);
    expect((await undo(moved, undefined, "admin")).status).toBe(200);
  });
});

describe("restore", () => {
  test("restores the values of a version as a new version", async () => {
    const id = await add({ label: "one", description: "first", place: IDS.a101 });
    await send("PATCH", `locations/${id}/`, { label: "two", place: null });
    await send("PATCH", `locations/${id}/`, { label: "three", description: "" });
    const path = `locations/${id}/restore/?fields=label,description,place,version`;
    const back = await send("POST", path, { version: 1 });
    const first = { label: "one", place: IDS.a101, description: "first", version: 4 };
    expect([back.status, back.body]).toEqual([200, first]);
    expect((await undo(back)).status).toBe(200);
    expect((await lab.ask("GET", `locations/${id}/?fields=label`, { as: "alice" })).body.label).toBe("three");
    for (const [body, status] of [
      [{ version: 99 }, 404],
      [{ version: "x" }, 400],
      [{ versio: 1 }, 400],
    ] as const)
      expect((await send("POST", `locations/${id}/restore/`, body)).status).toBe(status);
  });

  test("restores a deleted record for users who may delete it", async () => {
    const id = await add({ label: "one", public: true });
    await send("DELETE", `locations/${id}/`);
    expect((await send("POST", `locations/${id}/restore/`, {}, "bob")).status).toBe(403);
    const back = await send("POST", `locations/${id}/restore/?fields=label,deleted,deleted_by`);
    expect([back.status, back.body]).toEqual([200, { label: "one", deleted: false, deleted_by: null }]);
    const history = await lab.ask("GET", `locations/${id}/history/`, { as: "bob" });
    expect((history.body.results as { op: string }[]).map(({ op }) => op).join()).toBe(
      "restore,delete,create",
    );
  });

  test("rejects restoring a version that refers to a deleted record", async () => {
    const place = (await send("POST", "places/", { room: "7", address: 1 })).body.id;
    const id = await add({ label: "one", place });
    await send("PATCH", `locations/${id}/`, { place: null });
    await send("DELETE", `places/${String(place)}/`);
    const answer = await send("POST", `locations/${id}/restore/`, { version: 1 });
    expect([answer.status, answer.body.place]).toEqual([400, ["The place that it refers to is deleted."]]);
  });
});

describe("purge", () => {
  test("administrators may purge a deleted record and its history", async () => {
    const id = await add({ label: "Gone for good", public: true });
    expect((await send("POST", `locations/${id}/purge/`, undefined, "admin")).status).toBe(409);
    const removed = await send("DELETE", `locations/${id}/`);
    const then = new Date(lab.clock.now() - 500).toISOString();
    expect((await send("POST", `locations/${id}/purge/`)).status).toBe(403);
    const purged = await send("POST", `locations/${id}/purge/`, undefined, "admin");
    expect(purged.status).toBe(204);
    for (const path of [
      `locations/${id}/?deleted=all`,
      `locations/${id}/history/`,
      `locations/${id}/?as_of=${then}&deleted=all`,
      `batches/${removed.headers.get("batch-id")}/`,
    ])
      expect([path, (await lab.ask("GET", path, { as: "alice" })).status]).toEqual([path, 404]);
    const traces = lab.database.query(
      "SELECT 1 FROM record_change WHERE before LIKE '%Gone%' OR after LIKE '%Gone%'",
    );
    expect(traces.all()).toEqual([]);
    expect((await undo(removed, undefined, "admin")).status).toBe(200);
    expect((await lab.ask("GET", "batches/?kind=purge", { as: "admin" })).body.total).toBe(1);
    expect((await lab.ask("GET", "batches/?kind=purge", { as: "alice" })).body.total).toBe(0);
  });

  test("rejects purging while any record refers to the record, even a deleted one", async () => {
    const rack = await add({ label: "Rack" });
    const slot = await add({ label: "Slot", parent: rack });
    await send("DELETE", `locations/bulk_delete/?id=${rack},${slot}`);
    const refused = await send("POST", `locations/${rack}/purge/`, undefined, "admin");
    const error = expect.stringContaining("parent of records in locations");
    expect([refused.status, refused.body.message]).toEqual([409, error]);
    expect((await send("POST", `locations/${slot}/purge/`, undefined, "admin")).status).toBe(204);
    expect((await send("POST", `locations/${rack}/purge/`, undefined, "admin")).status).toBe(204);
  });
});

describe("the feed of changes", () => {
  const feed = async (since: Json, more = "", as = "alice") =>
    (await lab.ask("GET", `changes/?since=${String(since)}${more}`, { as })).body;

  test("the feed is read by cursor in commit order without gaps", async () => {
    const { cursor } = await feed(0, "&page_size=max");
    const id = await add();
    await send("PATCH", `locations/${id}/`, { label: "Case" });
    await send("POST", "equipment/", { name: "Rack" });
    await send("DELETE", `locations/${id}/`);
    const ops: Json[] = [];
    let at = cursor;
    for (;;) {
      const part = await feed(at, "&page_size=1");
      for (const { op, resource } of part.results as { op: string; resource: string }[])
        ops.push(`${op} ${resource}`);
      expect(part.next).toBe(`http://lab/api/v2/changes/?since=${String(part.cursor)}&page_size=1`);
      at = part.cursor;
      if (part.more !== true) break;
    }
    expect(ops).toEqual(["create locations", "update locations", "create equipment", "delete locations"]);
    expect((await feed(at)).results).toEqual([]);
    expect(((await feed(cursor, "&resource=equipment")).results as Json[]).length).toBe(1);
    expect((await feed(cursor, "", "bob")).results).toEqual([]);
    expect((await feed(cursor, "", "bob")).cursor).toBe(at);
    for (const path of ["changes/?since=-1", "changes/?since=x", "changes/?resource=none"])
      expect((await lab.ask("GET", path)).status).toBe(400);
  });
});

test("checks the other values of a restored annotation by its record, not by its type", () => {
  const steps: string[] = [];
  const query: Query = {
    all: () => [],
    get({ text, args }) {
      const plan = lab.database.query(`EXPLAIN QUERY PLAN ${text}`).all(...args) as { detail: string }[];
      steps.push(...plan.map(({ detail }) => detail));
      return { total: 0 };
    },
  };
  annotation.verify!({ object_kind: "location", object_rid: 1, annotation_type: 1, deleted: 0 }, query);
  expect(steps[0]).toContain("annotation_object (object_kind=? AND object_rid=?)");
});

test("an import that writes nothing names no batch to undo", async () => {
  const other = await openLab({ sample: {}, loadable: INVENTORY as InventorySample });
  await other.send("admin", "POST", "sample/");
  const query = "name=anti-p53 DO-1&format=eln";
  const { bytes: body } = await other.bytes("GET", `stocks/consumables/?${query}`, { as: "admin" });
  const imported = await other.bytes("POST", "stocks/consumables/import/", { as: "admin", body });
  expect([imported.status, imported.headers.get("batch-id")]).toEqual([200, null]);
  other.database.close();
});
