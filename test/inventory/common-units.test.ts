import { afterAll, beforeAll, expect, test } from "bun:test";
import { addCommonUnits, commonUnits } from "../../src/app/common-units.ts";
import { loadInventory } from "../../src/inventory/index.ts";
import type { InventorySample } from "../../src/inventory/records/sample.ts";
import { findUnit } from "../../src/inventory/model/unit.ts";
import SAMPLE from "../../src/sample/inventory.json";
import type { Database } from "../../src/platform/sqlite.ts";
import { openMigrated } from "../database.ts";
import { fixedClock } from "./harness.ts";

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
  for (const text of ["µL", "ml", "L", "ng", "nmol", "uM", "kU", "tubes", "rxn"])
    expect(units).toContain(findUnit(text)!.name);
  await addCommonUnits(database, clock);
  expect(names()).toEqual(units);
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
