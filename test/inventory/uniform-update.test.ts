import { beforeEach, expect, test } from "bun:test";
import { textIndexErrors } from "./text-index.ts";
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
  await addTubes();
});

async function addTubes(): Promise<void> {
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
}

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
  expect(textIndexErrors(lab.database)).toEqual([]);
}

const patch = { description: "Changed", status: "LOW" };
const undo = (as: string, batch: string, body = {}) => lab.send(as, "POST", `batches/${batch}/undo/`, body);

test("a change by filter writes the same values as a change by ids", async () => {
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

test("a deletion by filter deletes the same records as a deletion by ids", async () => {
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

test("a deletion by filter refuses records in use and records that the caller may not delete", async () => {
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

test("undoing a bulk change restores the values of each record", async () => {
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

const consumable = RESOURCES.find(({ name }) => name === "consumable")!;
const findActor = (username: string) => lab.accounts.readActor(lab.accounts.userId(username)!);

test("a plan writes nothing if a record has changed since", () => {
  const { uniformUpdates, statements } = openStore(lab.database, lab.clock);
  const rids = rows().map(({ rid }) => Number(rid));
  const alice = findActor("alice");
  const plan = (body: object) => uniformUpdates.plan(consumable, rids, body as never, "merge", alice);
  const planned = plan(patch)!;
  expect(planned.writes).toHaveLength(RECORDS);
  lab.database.run("UPDATE consumable SET version = version + 1 WHERE rid = ?", [rids[7]]);
  const before = rows();
  expect(statements.writing(() => planned.write())).toBe(false);
  expect(rows()).toEqual(before);
  // Rights, references and invalid values are checked record by record.
  for (const body of [{ public: true }, { location: null }, { description: [] }, { nonsense: 1 }, {}])
    expect([body, plan(body) === undefined]).toEqual([body, true]);
});

/** Annotations of the records and their history, without what differs between two runs. */
function annotations() {
  const { statements } = openStore(lab.database, lab.clock);
  const all = (text: string) => statements.all({ text, args: [] });
  const record = "(SELECT name FROM consumable WHERE rid = object_rid)";
  return {
    stored: all(
      `SELECT ${record} AS record, value, deleted, version, deleted_by, modified = deleted_date AS dated FROM annotation ORDER BY object_rid, rid`,
    ),
    values: all(`SELECT ${record} AS record, text, fold FROM annotation_value ORDER BY object_rid, rid`),
    found: textIndexErrors(lab.database),
    history: all(
      "SELECT op, version, json_remove(before, '$.deleted_date') AS before, json_remove(after, '$.id', '$.created', '$.modified', '$.deleted_date') AS after," +
        " after ->> 'modified' = (SELECT modified FROM annotation AS a WHERE a.id = after ->> 'id') AS dated, host_kind, host_rid" +
        " FROM record_change WHERE batch = (SELECT max(rid) FROM record_batch) ORDER BY host_rid, seq",
    ),
  };
}

type Previewed = { of: { id: string }; op: string; before: object | null; after: object };

/** Annotation types, and a third of the records with a value of one of them. */
async function addGenotypes(): Promise<void> {
  await lab.send("alice", "POST", "annotationtypes/", { name: "genotype", type: "TEXT" });
  await lab.send("alice", "POST", "annotationtypes/", { name: "litter", type: "TEXT" });
  const some = ids.filter((_, i) => i % 3 === 0);
  const values = some.map((id, i) => ({ id, annotations__genotype: i % 2 === 0 ? "Wild type" : "flox" }));
  expect((await lab.send("alice", "PATCH", "stocks/consumables/", values)).status).toBe(200);
}

test.each([
  { annotations__genotype: "Wild type" },
  { annotations__genotype: null },
  { annotations__genotype: "", annotations__litter: "mouse" },
])("a filter annotates with %j as a list of ids does", async (body) => {
  const outcomes = [];
  for (const listed of [false, true]) {
    if (listed) {
      lab.database.close();
      lab = await openLab();
      await addTubes();
    }
    await addGenotypes();
    const [path, sent] = listed ? ["stocks/consumables/", { items: ids, ...body }] : [`${FILTER}`, body];
    const dry = await lab.send("alice", "PATCH", `${path}${listed ? "?" : "&"}dry_run=1`, sent);
    const { count, records } = dry.body;
    const changes = (dry.body.changes as Previewed[])
      .map(({ of, op, before, after }) => ({ of, op, before, after: { ...after, id: "" } }))
      .toSorted((a, b) => (a.of.id < b.of.id ? -1 : 1));
    const answer = await lab.send(
      "alice",
      "PATCH",
      `${path}${listed ? "?" : "&"}confirm=${String(dry.body.confirm)}`,
      sent,
    );
    expect(answer.status).toBe(200);
    const written = annotations();
    const undone = await undo("alice", answer.headers.get("batch-id")!);
    expect(undone.status).toBe(200);
    outcomes.push({ count, records, changes, written, after: annotations().values });
  }
  expect(outcomes[0].written.history.length).toBeGreaterThan(20);
  expect(outcomes[0]).toEqual(outcomes[1]);
});

test("a plan of annotations writes nothing if a record has changed since", async () => {
  await addGenotypes();
  const { uniformAnnotations, statements } = openStore(lab.database, lab.clock);
  const rids = rows().map(({ rid }) => Number(rid));
  const plan = (as = "alice", body: object = { annotations__genotype: "Wild type" }) =>
    uniformAnnotations.plan(consumable, rids, body as never, findActor(as));
  const overtaken = [
    "UPDATE consumable SET version = version + 1 WHERE name = 'Tube 7'",
    "UPDATE annotation SET version = version + 1 WHERE value = '\"flox\"'",
    "UPDATE field_type SET version = version + 1 WHERE name = 'genotype'",
    `INSERT INTO annotation (id, object_kind, object_rid, annotation_type, value, created, modified, created_by, modified_by)
     SELECT 'new', 'consumable', ${rids[1]}, annotation_type, value, 0, 0, 1, 1 FROM annotation LIMIT 1`,
  ];
  for (const change of overtaken) {
    const planned = plan()!;
    const several = plan("alice", { annotations__litter: "mouse", annotations__genotype: "Wild type" })!;
    expect(planned.writes.length).toBe(RECORDS - RECORDS / 6);
    lab.database.run("SAVEPOINT here");
    lab.database.run(change);
    const before = annotations();
    expect([change, planned.write(), several.write()]).toEqual([change, false, false]);
    expect(annotations()).toEqual(before);
    lab.database.run("ROLLBACK TO here; RELEASE here");
  }
  expect(statements.writing(() => plan()!.write())).toBe(true);
  // These are refused, or checked record by record.
  for (const body of [
    {},
    { annotations__nonsense: 1 },
    { annotations__genotype: 1, status: "LOW" },
    { annotations__genotype: {} },
  ])
    expect([body, plan("alice", body) === undefined]).toEqual([body, true]);
  expect(plan("bob")).toBeUndefined();
  lab.database.run("UPDATE consumable SET deleted = 1 WHERE name = 'Tube 7'");
  expect(plan()).toBeUndefined();
});

test("read-only annotations of many records are refused", async () => {
  await addGenotypes();
  lab.database.run("UPDATE field_type SET readonly = 1 WHERE name = 'genotype'");
  for (const value of ["Wild type", null]) {
    const answer = await lab.send("alice", "PATCH", FILTER, { annotations__genotype: value });
    expect([value, answer.status >= 400, answer.text.includes("read-only")]).toEqual([value, true, true]);
  }
});

test.each(["new and changed", "removed"])(
  "undoes %s annotations together as it does one by one",
  async (what) => {
    const outcomes = [];
    for (const together of [true, false]) {
      if (!together) {
        lab.database.close();
        lab = await openLab();
        await addTubes();
      }
      await addGenotypes();
      if (what === "removed") await lab.send("alice", "PATCH", FILTER, { annotations__genotype: "mixed" });
      const { values } = annotations();
      const value = what === "removed" ? null : "other";
      const answer = await lab.send("alice", "PATCH", FILTER, { annotations__genotype: value });
      const { uniformAnnotations } = openStore(lab.database, lab.clock);
      const reverted: boolean[] = [];
      const revert = uniformAnnotations.revert.bind(uniformAnnotations);
      uniformAnnotations.revert = (...given) => {
        reverted.push(together && revert(...given));
        return reverted.at(-1)!;
      };
      const changed = annotations().values;
      lab.clock.set(lab.clock.now() + 1000);
      const undone = await undo("alice", answer.headers.get("batch-id")!);
      expect(annotations().values).toEqual(values);
      outcomes.push(annotations());
      // Again, and the change once more: versions have changed since, values have not.
      const redone = await undo("alice", undone.headers.get("batch-id")!);
      expect(annotations().values).toEqual(changed);
      const again = await undo("alice", answer.headers.get("batch-id")!);
      expect([undone, redone, again].map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(reverted).toEqual([together, together, together]);
      expect(annotations().values).toEqual(values);
    }
    expect(outcomes[0].history).toHaveLength(RECORDS);
    expect(outcomes[0]).toEqual(outcomes[1]);
  },
);

test("annotations are undone one by one if another write followed", async () => {
  await addGenotypes();
  const answer = await lab.send("alice", "PATCH", FILTER, { annotations__genotype: "other" });
  const { uniformAnnotations, history } = openStore(lab.database, lab.clock);
  const changes = history.changes(
    Number((lab.database.query("SELECT max(rid) AS rid FROM record_batch").get() as { rid: number }).rid),
  );
  const overtaken = [
    "UPDATE consumable SET deleted = 1 WHERE name = 'Tube 7'",
    "UPDATE annotation SET value = '\"later\"' WHERE rid = (SELECT max(rid) FROM annotation)",
    "UPDATE field_type SET readonly = 1 WHERE name = 'genotype'",
    `INSERT INTO annotation (id, object_kind, object_rid, annotation_type, value, created, modified, created_by, modified_by)
     SELECT 'new', object_kind, object_rid, annotation_type, value, 0, 0, 1, 1 FROM annotation LIMIT 1`,
  ];
  for (const change of overtaken) {
    lab.database.run("SAVEPOINT here");
    lab.database.run(change);
    const before = annotations();
    expect([change, uniformAnnotations.revert(changes, findActor("alice"))]).toEqual([change, false]);
    expect(annotations()).toEqual(before);
    lab.database.run("ROLLBACK TO here; RELEASE here");
  }
  expect(uniformAnnotations.revert(changes, findActor("bob"))).toBe(false);
  expect((await undo("bob", answer.headers.get("batch-id")!)).status).toBe(404);
});
