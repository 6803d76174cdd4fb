import { afterAll, beforeAll, expect, test } from "bun:test";
import { addCommonUnits, commonUnits } from "../../src/app/common-units.ts";
import { loadInventory } from "../../src/inventory/index.ts";
import type { InventorySample } from "../../src/inventory/records/sample.ts";
import { findUnit } from "../../src/inventory/model/unit.ts";
import SAMPLE from "../../src/sample/inventory.json";
import type { Database } from "../../src/platform/sqlite.ts";
import { openMigrated } from "../database.ts";
import { fixedClock, openLab } from "./harness.ts";

/** A fresh server knows the common units. */

let database: Database;
const clock = fixedClock();
beforeAll(async () => {
  database = openMigrated();
  await addCommonUnits(database, clock);
});
afterAll(() => database.close());

const names = (): string[] =>
  (
    database.query("SELECT name FROM vocabulary_term WHERE public = 1 ORDER BY name").all() as {
      name: string;
    }[]
  ).map(({ name }) => name);

test("a database without vocabularies gets the common units once, which all may view", async () => {
  const units = names();
  for (const text of ["µL", "ml", "L", "ng", "nmol", "uM", "kU", "U/µl", "tubes", "rxn"])
    expect(units).toContain(findUnit(text)!.name);
  await addCommonUnits(database, clock);
  expect(names()).toEqual(units);
});

test("a record takes a unit by symbol and alias, in the same term", async () => {
  const lab = await openLab({ sample: {} });
  await addCommonUnits(lab.database, lab.clock);
  const term = lab.database.query("SELECT id FROM vocabulary_term WHERE name = 'microliter'").get() as {
    id: string;
  };
  for (const unit of ["µL", "ul", "\u03bcl", "microliter", term.id]) {
    const { status } = await lab.send("alice", "POST", "consumables/", { name: unit, amount: 1, unit });
    const stored =
      "SELECT t.id FROM consumable AS c JOIN vocabulary_term AS t ON t.rid = c.unit WHERE c.name = ?";
    expect([unit, status, lab.database.query(stored).get(unit)]).toEqual([unit, 201, term]);
  }
  const unknown = await lab.send("alice", "POST", "consumables/", { name: "x", amount: 1, unit: "blobs" });
  expect(unknown.body.unit).toEqual(['Object with name="blobs" does not exist.']);
  lab.database.close();
});

test("loading the sample later adds no unit twice", () => {
  const sample = SAMPLE as InventorySample;
  const { categories, terms } = commonUnits(sample);
  const before = names().length;
  expect(before).toBe(terms!.length);
  loadInventory(database, clock, { categories: sample.categories!, terms: sample.terms! }, "system");
  const own = new Set(categories!.map(({ name }) => name));
  const others = sample.terms!.filter(({ category }) => !own.has(category));
  expect(names()).toHaveLength(before + others.length);
});
