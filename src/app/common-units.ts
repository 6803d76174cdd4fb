import {
  type InventorySample,
  loadInventory,
  type RecordSample,
  SYSTEM_USER,
  UNITS,
} from "../inventory/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/sqlite.ts";

/** Lists of units besides those of the sample, and the dimensions of all. */
const CATEGORIES: Readonly<Record<string, string>> = {
  volume: "volume",
  mass: "mass",
  substance: "amount of substance",
  "substance/volume": "concentration",
  activity: "activity",
};
const COUNTS = "count";

/** Adds the units that every laboratory needs, which all may use, to an inventory that has no vocabularies yet. */
export async function addCommonUnits(database: Database, clock: Clock): Promise<void> {
  if (database.query("SELECT 1 FROM cv_category LIMIT 1").get() !== null) return;
  const sample = (await import("../sample/inventory.json")).default as InventorySample;
  loadInventory(database, clock, commonUnits(sample), SYSTEM_USER);
}

/** The lists of units of the sample with their terms, so that loading it later adds none twice, and all other units. */
export function commonUnits({ categories = [], terms = [] }: InventorySample): InventorySample {
  const lists = categories.filter(({ kind }) => kind === "unit");
  const names = new Set(lists.map(({ name }) => String(name)));
  const own = terms.filter(({ category }) => names.has(String(category)));
  const known = new Set(own.map(({ name }) => String(name)));
  const more = UNITS.flatMap(({ name, symbol, ucum, dimension }): RecordSample[] => {
    const category = dimension.startsWith("number of ") ? COUNTS : CATEGORIES[dimension];
    if (category === undefined || known.has(name)) return [];
    return [{ name, label: symbol, category, dbxref_id: `UCUM:${ucum}` }];
  });
  const added = [...new Set(more.map(({ category }) => String(category)))].filter((name) => !names.has(name));
  return {
    categories: [...lists, ...added.map((name) => ({ name, kind: "unit", description: `Units of ${name}` }))],
    terms: [...own, ...more],
  };
}
