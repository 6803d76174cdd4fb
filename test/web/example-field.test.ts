import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Field, number, text } from "../../src/inventory/model/field.ts";
import { DECLARED } from "../../src/inventory/resources/index.ts";
import { CONSTANT } from "../../src/inventory/resources/model-type.ts";
import { type Declaration, defaultColumns } from "../../src/web/inventory/declaration.ts";
import { listFacets } from "../../src/web/inventory/filter-panel.tsx";
import { offeredColumns } from "../../src/web/inventory/list-menus.tsx";
import { shownFields } from "../../src/web/inventory/properties.tsx";
import { parseInput, toRow } from "../../src/web/inventory/record.tsx";
import { groupFields, pairFields, sentValues } from "../../src/web/inventory/record-form.tsx";
import { type Lab, openLab } from "../inventory/harness.ts";

/** A worked example: three fields of projects are three declarations and three columns, without a change of the pages. */

const ADDED: Record<string, Field> = {
  hazard: text("Hazard class, such as FLAMMABLE.", { pattern: CONSTANT, form: { group: "Safety" } }),
  volume: number("Volume of the waste.", { form: { group: "Safety", suffix: "volume_unit" } }),
  volume_unit: text("Unit of the volume.", { form: { group: "Safety" } }),
};

const fields = DECLARED.get("project")!.fields as Record<string, Field>;
let lab: Lab;
let of: Declaration;
beforeAll(async () => {
  // Without records, so that no statement is prepared before the columns are there.
  lab = await openLab({ sample: { places: [] } });
  Object.assign(fields, ADDED);
  lab.database.run("ALTER TABLE project ADD COLUMN hazard TEXT NOT NULL DEFAULT ''");
  lab.database.run("ALTER TABLE project ADD COLUMN volume REAL");
  lab.database.run("ALTER TABLE project ADD COLUMN volume_unit TEXT NOT NULL DEFAULT ''");
  of = (await lab.ask("OPTIONS", "core/projects/", { as: "alice" })).body as unknown as Declaration;
});
afterAll(() => {
  for (const name of Object.keys(ADDED)) delete fields[name];
  lab.database.close();
});

test("the form shows the fields in their group, with the unit beside its amount", () => {
  const groups = groupFields(of, {}, false);
  expect(groups.map(({ title }) => title)).toEqual(["Properties", "Safety", "Access"]);
  expect(pairFields(of, groups[1].names)).toEqual([["hazard"], ["volume", "volume_unit"]]);
});

test("lists show the fields as columns, and offer the unit", () => {
  expect(defaultColumns(of)).toEqual(["name", "hazard", "volume", "description", "modified"]);
  expect(offeredColumns(of, ["name"]).slice(0, 4)).toEqual([
    "description",
    "hazard",
    "volume",
    "volume_unit",
  ]);
});

test("the filter panel counts the values of the constant, and conditions reach all of them", () => {
  expect(listFacets(of)).toEqual(["hazard"]);
  expect(Object.keys(ADDED).filter((name) => of.fields[name].lookups.length === 0)).toEqual([]);
});

test("the values of the form are stored, found, shown on the record and exported", async () => {
  const typed = { name: "Solvents", hazard: "Flammable", volume: "2.5", volume_unit: "liter" };
  const sent = Object.entries(sentValues(of, typed)).filter(([, value]) => value !== "");
  const body = Object.fromEntries(sent.map(([name, value]) => [name, parseInput(value, of.fields[name])]));
  const created = await lab.send("alice", "POST", "core/projects/", body);
  expect(created.status).toBe(201);
  await lab.send("alice", "POST", "core/projects/", { name: "Others" });
  const nested = `core/projects/${created.body.id}/?response_format=nested`;
  const row = toRow((await lab.ask("GET", nested, { as: "alice" })).body as Parameters<typeof toRow>[0]);
  expect(shownFields(of, row).main).toEqual(["hazard", "volume"]);
  const csv = await lab.ask("GET", "core/projects/?hazard=FLAMMABLE&fields=name,hazard,volume&format=csv", {
    as: "alice",
  });
  expect(csv.text.replace("\ufeff", "")).toBe("name,hazard,volume\r\nSolvents,FLAMMABLE,2.5\r\n");
});
