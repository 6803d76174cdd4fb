import { expect, test } from "bun:test";
import { loadInventory } from "../../src/inventory/index.ts";
import { fixedClock, openLab } from "./harness.ts";
import { IDS, SAMPLE } from "./sample.ts";
import { openMigrated } from "../database.ts";

const TABLES = [
  "address",
  "place",
  "equipment",
  "location",
  "cv_category",
  "vocabulary_term",
  "field_meta",
  "field_type",
  "user_group",
];

test("loading the sample data twice adds nothing and reverts nothing", async () => {
  const lab = await openLab();
  const snapshot = () => TABLES.map((table) => lab.database.query(`SELECT * FROM ${table}`).all());
  await lab.ask("PATCH", `locations/${IDS.bench}/`, { as: "admin", body: { label: "Mine" } });
  await lab.ask("DELETE", `locations/${IDS.drawer}/`, { as: "admin" });
  const before = snapshot();
  expect(loadInventory(lab.database, lab.clock, SAMPLE, "system")).toBe(0);
  expect(snapshot()).toEqual(before);
  lab.database.close();
});

test("generates the same ids for the sample data in every installation", () => {
  const ids = () => {
    const database = openMigrated();
    const added = loadInventory(database, fixedClock(), SAMPLE, "system");
    const found = database
      .query("SELECT id FROM field_type UNION SELECT id FROM vocabulary_term ORDER BY id")
      .all();
    database.close();
    expect(added).toBe(1 + 3 + 2 + 4 + 2 + 3 + 1 + 6 + 2 + 1 + 1 + 1 + 2 + 2 + 1 + 1);
    return found;
  };
  expect(ids()).toEqual(ids());
});

test("loading the sample data clears cached lists", async () => {
  const lab = await openLab();
  expect((await lab.ask("GET", "locations/")).body.total).toBe(3);
  const more = { ...SAMPLE, locations: [...SAMPLE.locations, { label: "New" }] };
  expect(loadInventory(lab.database, lab.clock, more, "system")).toBe(1);
  expect((await lab.ask("GET", "locations/")).body.total).toBe(4);
  lab.database.close();
});

test("rejects the whole sample if a record violates a rule, and names the record", () => {
  const database = openMigrated();
  const load = (part: object) => () =>
    loadInventory(database, fixedClock(), { ...SAMPLE, ...part }, "system");
  expect(load({ terms: [{ name: "x", category: "Nothing" }] })).toThrow(
    'terms[0]: category: Object with name="Nothing" does not exist.',
  );
  expect(load({ locations: [{ label: "a" }, { label: "a" }] })).toThrow(
    "locations[1]: another record has the same names; give it an id.",
  );
  expect(() => loadInventory(database, fixedClock(), SAMPLE, "nobody")).toThrow("There is no user nobody.");
  expect(database.query("SELECT count(*) AS n FROM location").get()).toEqual({ n: 0 });
  database.close();
});

test("adds annotations and notes of the sample data once, and keeps later changes", async () => {
  const lab = await openLab();
  const more = {
    ...SAMPLE,
    annotations: [
      { list: "specimens" as const, of: SAMPLE.specimens![0].name, type: "note", value: "red" },
      { list: "specimens" as const, of: "nothing of this name", type: "note", value: "x" },
    ],
    notes: [{ list: "specimens" as const, of: SAMPLE.specimens![0].name, content: "Fed" }],
  };
  expect(loadInventory(lab.database, lab.clock, more, "system")).toBe(2);
  expect(loadInventory(lab.database, lab.clock, more, "system")).toBe(0);
  const path = `specimens/${SAMPLE.specimens![0].id}/notes/`;
  const [{ id }] = (await lab.ask("GET", path, { as: "admin" })).body.results as { id: string }[];
  await lab.ask("DELETE", `${path}${id}/`, { as: "admin" });
  expect(loadInventory(lab.database, lab.clock, more, "system")).toBe(0);
  expect(() =>
    loadInventory(
      lab.database,
      lab.clock,
      { ...more, annotations: [{ ...more.annotations[0], type: "nothing" }] },
      "system",
    ),
  ).toThrow("annotations[0]: annotation_type_id: No such annotation type.");
  lab.database.close();
});
