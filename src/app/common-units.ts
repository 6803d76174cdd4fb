import {
  type InventorySample,
  loadInventory,
  type RecordSample,
  SYSTEM_USER,
  findUnit,
  UNITS,
} from "../inventory/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";

/** Lists of units besides those of the sample, and the dimensions of all. */
const CATEGORIES: Readonly<Record<string, string>> = {
  volume: "volume",
  mass: "mass",
  substance: "amount of substance",
  "substance/volume": "concentration",
  "mass/volume": "concentration",
  "activity/volume": "concentration",
  activity: "activity",
};
const COUNTS = "count";
/** Units of concentrations besides those of the table and of the sample. */
const QUOTIENTS = ["mg/mL", "ng/µL", "U/µL", "U/mL"].map((text) => findUnit(text)!);

const USED =
  "SELECT 1 FROM location UNION ALL SELECT 1 FROM equipment UNION ALL SELECT 1 FROM consumable UNION ALL SELECT 1 FROM specimen LIMIT 1";

/** The field that titles such as `Conc. (uM)` of spreadsheets mean. */
const CONCENTRATION = {
  name: "concentration",
  label: "Concentration",
  type: "NUMBERUNIT",
  unit_category: "concentration",
  description: "Concentration, with its unit",
};

/**
 * Adds what every laboratory needs, and all may use, to an inventory that has no vocabularies yet: the common units,
 * a field for concentrations, and patterns of codes if it has no records either. On a full disk, the next start adds them.
 */
export async function addCommonUnits(database: Database, clock: Clock): Promise<void> {
  if (database.query("SELECT 1 FROM cv_category LIMIT 1").get() !== null) return;
  const sample = (await import("../sample/inventory.json")).default as InventorySample;
  const codes = database.query(USED).get() === null ? sample.codes! : [];
  try {
    loadInventory(database, clock, { ...commonUnits(sample), codes }, SYSTEM_USER);
  } catch (error) {
    if (!Problem.refusesWrites(error)) throw error;
  }
}

/** The lists of units of the sample with their terms, so that loading it later adds none twice, and all other units. */
export function commonUnits({ categories = [], terms = [] }: InventorySample): InventorySample {
  const lists = categories.filter(({ kind }) => kind === "unit");
  const names = new Set(lists.map(({ name }) => String(name)));
  const own = terms.filter(({ category }) => names.has(String(category)));
  const known = new Set(own.map(({ name }) => String(name)));
  const more = [...UNITS, ...QUOTIENTS].flatMap(({ name, symbol, ucum, dimension }): RecordSample[] => {
    const category = dimension.startsWith("number of ") ? COUNTS : CATEGORIES[dimension];
    if (category === undefined || known.has(name)) return [];
    return [{ name, label: symbol, category, dbxref_id: `UCUM:${ucum}` }];
  });
  const added = [...new Set(more.map(({ category }) => String(category)))].filter((name) => !names.has(name));
  return {
    categories: [...lists, ...added.map((name) => ({ name, kind: "unit", description: `Units of ${name}` }))],
    terms: [...own, ...more],
    annotation_types: [CONCENTRATION],
  };
}
