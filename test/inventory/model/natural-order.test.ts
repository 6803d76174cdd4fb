import { Database } from "bun:sqlite";
import { beforeAll, expect, test } from "bun:test";
import { naturalKey } from "../../../src/inventory/model/natural-key.ts";
import { type Lab, openLab } from "../harness.ts";

/** Orderings by `__natural`, which put 2 before 10. */

const NAMES = [
  "-20 drawer 2",
  "-20 drawer 10",
  "7a",
  "007b",
  "12",
  "box",
  "box 2 tube 9",
  "box 2 tube 10",
  "box 10 tube 1",
  "é 9",
  "é 10",
];

test("natural keys order texts as a collator with numbers does", () => {
  const database = new Database(":memory:");
  database.run("CREATE TABLE t(name TEXT)");
  for (const name of NAMES.toReversed()) database.run("INSERT INTO t VALUES (?)", [name]);
  const rows = database.query(`SELECT name FROM t ORDER BY ${naturalKey("t.name")}`).values();
  expect(rows.flat()).toEqual(NAMES);
  const collator = new Intl.Collator("en", { numeric: true });
  expect(NAMES.toSorted(collator.compare)).toEqual(NAMES);
});

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  for (const label of ["Rack 10", "rack 9", "Rack 2"])
    await lab.send("alice", "POST", "locations/", { label, public: true });
});
const racks = async (ordering: string): Promise<unknown> => {
  const { body } = await lab.send(
    "alice",
    "GET",
    `locations/?label__istartswith=rack&fields=label&response_format=flat&ordering=${ordering}`,
  );
  return (body.results as { label: string }[] | undefined)?.map(({ label }) => label) ?? body;
};

test("lists are ordered naturally on demand, and by code points otherwise", async () => {
  expect(await racks("label__natural")).toEqual(["Rack 2", "rack 9", "Rack 10"]);
  expect(await racks("-label__natural")).toEqual(["Rack 10", "rack 9", "Rack 2"]);
  expect(await racks("parent__label__natural,-label")).toEqual(["rack 9", "Rack 2", "Rack 10"]);
  expect(await racks("label")).not.toEqual(["Rack 2", "rack 9", "Rack 10"]);
});

test.each(["created__natural", "owner__natural", "nonsense__natural"])(
  "rejects ordering=%s",
  async (ordering) => {
    expect(await racks(ordering)).toHaveProperty("ordering");
  },
);
