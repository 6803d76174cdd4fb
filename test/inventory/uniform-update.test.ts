import { beforeEach, expect, test } from "bun:test";
import { openStore } from "../../src/inventory/records/store.ts";
import { RESOURCES } from "../../src/inventory/resources/index.ts";
import { type Lab, openLab } from "./harness.ts";

/** Changes of many records by a few statements: they must write what changes of single records write. */

const RECORDS = 120;
const FILTER = "stocks/consumables?name__startswith=Tube";
let lab: Lab;
let ids: string[];

beforeEach(async () => {
  lab = await openLab();
  const bodies = Array.from({ length: RECORDS }, (_, i) => ({
    name: `Tube ${i}`,
    model_type: "OTHER",
    description: i % 7 === 0 ? "" : `\u00c4ther "${i}" \\ \u{1f9ea}`,
    status: i % 2 === 0 ? "AVAILABLE" : "EMPTY",
  }));
  const created = JSON.parse((await lab.send("alice", "POST", "stocks/consumables/", bodies)).text) as {
    id: string;
  }[];
  ids = created.map(({ id }) => id);
});

const STORED = "SELECT * FROM consumable WHERE name LIKE 'Tube%' ORDER BY rid";
const rows = (without: string[] = []) =>
  lab.database
    .query(STORED)
    .all()
    .map((row) =>
      Object.fromEntries(Object.entries(row as object).filter(([name]) => !without.includes(name))),
    );

/** The last change of each record, and how its number of versions and what is found agree with it. */
function expectConsistent(): void {
  const { statements } = openStore(lab.database, lab.clock);
  const wrong = statements.all({
    text:
      "SELECT t.rid FROM consumable AS t JOIN record_change AS c ON c.object_kind = 'consumable' AND c.object_rid = t.rid AND c.version = t.version" +
      " WHERE t.name LIKE 'Tube%' AND (c.after ->> 'description', c.after ->> 'status', c.after ->> 'modified', c.after ->> 'version')" +
      " IS NOT (t.description, t.status, t.modified, t.version)",
    args: [],
  });
  expect(wrong).toEqual([]);
  const count = (text: string) => Number(statements.get({ text, args: [] })!.n);
  for (const word of ["Changed", "ther"])
    expect([
      word,
      count(`SELECT count(*) AS n FROM consumable_fts ('description : "${word.toLowerCase()}"')`),
    ]).toEqual([word, count(`SELECT count(*) AS n FROM consumable WHERE description LIKE '%${word}%'`)]);
}

const patch = { description: "Changed", status: "LOW" };
const undo = (as: string, batch: string, body = {}) => lab.send(as, "POST", `batches/${batch}/undo/`, body);

test("a filter writes what a list of ids writes", async () => {
  const kept = ["id", "modified", "created"];
  const filtered = await lab.send("alice", "PATCH", FILTER, patch);
  expect(filtered.status).toBe(200);
  expectConsistent();
  const changes = () =>
    lab.database
      .query(
        "SELECT op, version, before ->> 'description' AS was, after ->> 'description' AS became FROM record_change WHERE batch = (SELECT max(rid) FROM record_batch) ORDER BY object_rid",
      )
      .all();
  const [written, history] = [rows(kept), changes()];
  await undo("alice", filtered.headers.get("batch-id")!);
  lab.database.run("UPDATE consumable SET version = 1");
  const listed = await lab.send("alice", "PATCH", "stocks/consumables/", { items: ids, ...patch });
  expect(listed.status).toBe(200);
  expect(rows(kept)).toEqual(written);
  expect(changes()).toEqual(history);
});

test("a filter deletes what a list of ids deletes", async () => {
  const changing = ["modified", "version"];
  const history = () =>
    lab.database
      .query(
        "SELECT op, version, before, json_remove(after, '$.modified', '$.deleted_date') AS after, after ->> 'deleted_date' = after ->> 'modified' AS dated FROM record_change WHERE batch = (SELECT max(rid) FROM record_batch) ORDER BY object_rid",
      )
      .all();
  const before = rows(changing);
  const filtered = await lab.send("alice", "DELETE", "stocks/consumables/bulk_delete/?name__startswith=Tube");
  expect([filtered.status, filtered.body.deleted]).toEqual([200, RECORDS]);
  const [deleted, written] = [rows(), history()];
  expect(deleted.every((row) => row.deleted === 1 && row.deleted_date === row.modified)).toBe(true);
  expect((await undo("alice", filtered.headers.get("batch-id")!)).status).toBe(200);
  expect(rows(changing)).toEqual(before);
  lab.database.run("UPDATE consumable SET version = 1 WHERE name LIKE 'Tube%'");
  await lab.send("alice", "POST", "stocks/consumables/bulk_delete/", { ids });
  expect(history()).toEqual(written);
  expect(rows()).toEqual(deleted);
});

test("a filter deletes no record that another refers to, and none that the caller may not delete", async () => {
  const boxes = [{ label: "Rack 1" }, { label: "Rack 2" }, { label: "Rack 3" }];
  const racks = JSON.parse((await lab.send("alice", "POST", "locations/", boxes)).text) as { id: string }[];
  await lab.send("alice", "PATCH", `stocks/consumables/${ids[0]}/`, { location: racks[1].id });
  const path = "locations/bulk_delete/?label__startswith=Rack";
  const refused = await lab.send("alice", "DELETE", path);
  expect([refused.status, refused.body.refused]).toEqual([409, 1]);
  expect((await lab.send("alice", "PATCH", `stocks/consumables/${ids[0]}/`, { location: null })).status).toBe(
    200,
  );
  // One inside the other.
  await lab.send("alice", "PATCH", `locations/${racks[2].id}/`, { parent: racks[0].id });
  await lab.send("alice", "PATCH", `locations/${racks[2].id}/`, { public: true });
  expect((await lab.send("bob", "DELETE", path)).status).toBe(403);
  expect((await lab.send("alice", "DELETE", path)).body.deleted).toBe(3);
});

test("undoing gives each record its own values again", async () => {
  const changing = ["modified", "version"];
  const before = rows(changing);
  const batch = (await lab.send("alice", "PATCH", FILTER, patch)).headers.get("batch-id")!;
  expect((await undo("bob", batch)).status).toBe(404);
  const undone = await undo("alice", batch);
  expect(undone.status).toBe(200);
  expect(rows(changing)).toEqual(before);
  expectConsistent();
  expect((await undo("alice", String(undone.body.id))).status).toBe(200);
  expect(rows().every((row) => row.description === "Changed")).toBe(true);
  expectConsistent();
});

test("undoing is refused if one record was changed later, and forced record by record", async () => {
  const batch = (await lab.send("alice", "PATCH", FILTER, patch)).headers.get("batch-id")!;
  await lab.send("alice", "PATCH", `stocks/consumables/${ids[5]}/`, { description: "Later" });
  const refused = await undo("alice", batch);
  expect([refused.status, refused.body.refused]).toEqual([409, 1]);
  expect((await undo("alice", batch, { force: true })).status).toBe(200);
  expect(rows().filter((row) => row.description === "Changed")).toEqual([]);
  expectConsistent();
});

test("a plan that others overtook writes nothing", () => {
  const { uniformUpdates, statements } = openStore(lab.database, lab.clock);
  const consumable = RESOURCES.find(({ name }) => name === "consumable")!;
  const rids = rows().map(({ rid }) => Number(rid));
  const user = lab.accounts.userId("alice");
  const alice = { user, username: "alice", superuser: false, groups: [], primaryGroup: 1 };
  const plan = (body: object) => uniformUpdates.plan(consumable, rids, body as never, "merge", alice);
  const planned = plan(patch)!;
  expect(planned.writes).toHaveLength(RECORDS);
  lab.database.run("UPDATE consumable SET version = version + 1 WHERE rid = ?", [rids[7]]);
  const before = rows();
  expect(statements.writing(() => uniformUpdates.write(planned, alice))).toBe(false);
  expect(rows()).toEqual(before);
  // Rights, references and invalid values are checked record by record.
  for (const body of [{ public: true }, { location: null }, { description: [] }, { nonsense: 1 }, {}])
    expect([body, plan(body) === undefined]).toEqual([body, true]);
});
