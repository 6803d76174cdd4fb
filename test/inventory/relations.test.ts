import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { SHOWN_LISTS, type Lab, letUse, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** References, values of fields and the location tree, counted over the records that the caller may view. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  for (const user of ["alice", "bob"]) await letUse(lab, user, IDS.drawer);
  for (const [name, as] of Object.entries({ "Tube 1": "alice", "Tube 2": "alice", "Tube 3": "bob" })) {
    const body = { name, model_type: "OTHER", location: IDS.drawer };
    expect((await lab.send(as, "POST", "stocks/consumables/", body)).status).toBe(201);
  }
});
afterAll(() => lab.database.close());

const get = async (path: string, as?: string) =>
  (await lab.ask("GET", path, as === undefined ? {} : { as })).body;
const listed = (body: Record<string, Json>) =>
  (body.results as { segment: string; field: string; total: number; records: { name: string }[] }[]).map(
    ({ segment, field, total, records }) => [segment, field, total, records.map(({ name }) => name)],
  );

test("counts the references that the caller may view", async () => {
  expect(listed(await get(`locations/${IDS.drawer}/references/`, "alice"))).toEqual([
    ["stocks/consumables", "location", 2, ["Tube 1", "Tube 2"]],
  ]);
  expect((await get(`locations/${IDS.drawer}/references/`, "bob")).total).toBe(1);
  expect((await get(`locations/${IDS.drawer}/references/`)).total).toBe(0);
  const room = await get(`places/${IDS.a101}/references/`);
  expect(listed(room).map(([segment, field, total]) => [segment, field, total])).toEqual([
    ["locations", "place", 2],
    ["equipment", "place", 1],
  ]);
  for (const { list, total } of room.results as { list: string; total: number }[])
    expect((await lab.ask("GET", list)).body.total).toBe(total);
});

test("includes references by annotations", async () => {
  const body = { annotation_type_id: "stored_in", value: "Cabinet" };
  for (const id of [IDS.fish, IDS.hidden])
    expect((await lab.send("admin", "POST", `stocks/specimen/${id}/annotations/`, body)).status).toBe(201);
  const seen = async (as?: string) => {
    const { results } = await get(`equipment/${IDS.cabinet}/references/`, as);
    return (results as Record<string, Json>[]).filter(({ field }) => field === null);
  };
  expect(await seen("alice")).toEqual([
    {
      segment: "stocks/specimen",
      field: null,
      annotation: "stored_in",
      total: 2,
      list: expect.stringContaining("stocks/specimen/?annotations__"),
      records: [
        { id: IDS.fish, name: "Fish 12" },
        { id: IDS.hidden, name: "Fish 13" },
      ],
    },
  ]);
  expect((await seen("bob")).map(({ total }) => total)).toEqual([1]);
  expect((await lab.send("alice", "GET", String((await seen("alice"))[0].list))).body.total).toBe(2);
});

test("returns 404 for a record the caller may not view", async () => {
  for (const as of ["bob", undefined])
    expect((await lab.ask("GET", `places/${IDS.cellar}/references/`, as ? { as } : {})).status).toBe(404);
  expect((await get(`places/${IDS.cellar}/references/`, "alice")).total).toBe(1);
});

test("counts the values of a field with the filters of the list", async () => {
  const values = async (query: string, as?: string) =>
    (await get(`stocks/consumables/values/?${query}`, as)).results;
  expect(await values("field=model_type", "alice")).toEqual([
    { value: "OTHER", label: "OTHER", total: 3 },
    { value: "ANTIBODY", label: "ANTIBODY", total: 1 },
  ]);
  expect(await values("field=location&model_type=OTHER", "bob")).toEqual([
    { value: null, label: null, total: 1 },
    { value: IDS.drawer, label: "drawer", total: 1 },
  ]);
  expect(await values("field=location__equipment__name&name=Tube", "alice")).toEqual([
    { value: "Freezer 1", label: "Freezer 1", total: 2 },
  ]);
  expect(await values("field=owner&name=Tube", "alice")).toEqual([
    { value: "alice", label: "alice", total: 2 },
  ]);
  const hidden = await get("locations/values/?field=place&label=Secret", "admin");
  expect(hidden.results).toEqual([{ value: IDS.cellar, label: "Cellar", total: 1 }]);
  for (const query of ["", "field=nothing", "field=permissions", "field=name&nothing=1"])
    expect((await lab.ask("GET", `stocks/consumables/values/?${query}`)).status).toBe(400);
});

interface Level {
  segment: string;
  results: { name: string; inside: number; contents: number }[];
}
/** The levels of the tree: `segment: name inside/contents, …`. */
const readLevels = (body: Record<string, Json>): string[] =>
  (body.levels as unknown as Level[]).map(
    ({ segment, results }) =>
      `${segment}: ${results.map(({ name, inside, contents }) => `${name} ${inside}/${contents}`).join(", ")}`,
  );

test.each<[string, string | undefined, string[], string[]]>([
  ["", undefined, [], ["places: A 101 1/0, A 102 2/0"]],
  ["", "alice", [], ["places: Cellar 1/0, A 101 1/0, A 102 2/0"]],
  [`places/${IDS.a102}`, undefined, ["A 102"], ["equipment: Cabinet 0/0", "locations: Bench ÄÖ 0/0"]],
  [`equipment/${IDS.freezer}`, undefined, ["A 101", "Freezer 1"], ["locations: Shelf 1 1/0"]],
  [`locations/${IDS.shelf}`, "alice", ["A 101", "Freezer 1", "Shelf 1"], ["locations: drawer 0/2"]],
  [`locations/${IDS.drawer}`, "alice", ["A 101", "Freezer 1", "Shelf 1", "drawer"], []],
])("reads the tree below %p as %s", async (of, as, path, levels) => {
  const body = await get(`locations/tree/?of=${of}`, as);
  expect((body.path as { name: string }[]).map(({ name }) => name)).toEqual(path);
  expect(readLevels(body)).toEqual(levels);
  const tubes = [{ segment: "stocks/consumables", field: "location", total: 2 }];
  expect(body.contents).toEqual(path.includes("drawer") ? tubes : []);
});

test.each<[string, string | undefined, number]>([
  [`of=locations/${IDS.secret}`, "bob", 404],
  ["of=terms/1", undefined, 400],
  ["page=0", undefined, 400],
  ["page_size=1001", undefined, 400],
  ["page_size=1000", undefined, 200],
])("GET locations/tree/?%s as %s returns %d", async (query, as, status) => {
  expect((await lab.ask("GET", `locations/tree/?${query}`, as ? { as } : {})).status).toBe(status);
});

test("names in the tree are in natural order, in which free slots are filled", async () => {
  for (const label of ["Box 10", "box 2", "Box 1"])
    await lab.send("admin", "POST", "locations/", { label, parent: IDS.shelf, capacity: 1 });
  const { levels } = await get(`locations/tree/?of=locations/${IDS.shelf}`, "admin");
  const order = ["Box 1", "box 2", "Box 10"];
  expect((levels as unknown as Level[])[0].results.map(({ name }) => name)).toEqual([...order, "drawer"]);
  const { slots } = await get(`locations/${IDS.shelf}/free_slots/`, "admin");
  expect((slots as unknown as { location: { label: string } }[]).map((slot) => slot.location.label)).toEqual(
    order,
  );
});

test("shows a location inside an invisible one at the top level", async () => {
  const inner = { label: "Inner", parent: IDS.secret, public: true };
  expect((await lab.send("admin", "POST", "locations/", inner)).status).toBe(201);
  const locations = async (as: string) =>
    readLevels(await get("locations/tree/", as)).filter((level) => level.startsWith("locations"));
  expect(await locations("bob")).toEqual(["locations: Inner 0/0"]);
  expect(await locations("alice")).toEqual([]);
});

test("returns the metadata for forms and filters to every caller", async () => {
  for (const { segment } of SHOWN_LISTS) {
    const { body } = await lab.ask("OPTIONS", `${segment}/`);
    const fields = body.fields as Record<
      string,
      { reference: { segment: string; key: string } | null; lookups: string[] }
    >;
    expect(Object.keys(fields)).toContain(String(body.key));
    for (const [name, { reference, lookups }] of Object.entries(fields)) {
      const sortable = (fields[name] as unknown as { sortable: boolean }).sortable;
      if (sortable) expect((await lab.send("admin", "GET", `${segment}/?ordering=${name}`)).status).toBe(200);
      for (const lookup of lookups) {
        const asked = await lab.send("admin", "GET", `${segment}/?${name}__${lookup}=x`);
        // Values of other kinds are refused; the lookup itself is not.
        expect({ segment, name, lookup, text: asked.text }).not.toMatchObject({
          text: expect.stringMatching(/does not apply|not a parameter/),
        });
      }
      if (!reference) continue;
      const choices = await lab.send("admin", "GET", `${reference.segment}/?fields=id,${reference.key}`);
      expect({ name, status: choices.status }).toEqual({ name, status: 200 });
    }
  }
});

test("reads all nodes at any depth below one, as far as the caller may view them", async () => {
  const names = async (of: string, as?: string) => {
    const { below } = await get(`locations/tree/?of=${of}&below=true`, as);
    return (below as { name: string; inside: string }[]).map(({ name }) => name);
  };
  expect(await names(`places/${IDS.a101}`)).toEqual(["Freezer 1", "Shelf 1", "drawer"]);
  expect(await names(`places/${IDS.cellar}`, "alice")).toEqual(["Secret", "Inner"]);
  expect(await names(`locations/${IDS.drawer}`)).toEqual([]);
  const rack = { label: "Rack A", parent: IDS.shelf, box_capacity: 5, public: true };
  const made = await lab.send("admin", "POST", "locations/", rack);
  const inside = String((made.body.results as Record<string, Json> | undefined)?.id ?? made.body.id);
  const grid = { grid_rows: 3, grid_columns: 3 };
  for (const [label, more] of Object.entries({ "Box 10": grid, "Box 2": grid, Hidden: { public: false } }))
    expect(
      (await lab.send("admin", "POST", "locations/", { label, parent: inside, public: true, ...more }))
        .status,
    ).toBe(201);
  const { below } = await get(`locations/tree/?of=locations/${IDS.shelf}&below=true`, "bob");
  const space = { capacity: 9, used: 0, free: 9 };
  const box = { segment: "locations", id: expect.any(String), inside, ...grid, box_capacity: null, space };
  const [, ...racks] = below as Json[];
  expect(racks).toEqual([
    {
      segment: "locations",
      id: inside,
      name: "Rack A",
      inside: IDS.shelf,
      grid_rows: null,
      grid_columns: null,
      box_capacity: 5,
      space: null,
    },
    { ...box, name: "Box 2" },
    { ...box, name: "Box 10" },
  ]);
  expect((await get(`locations/tree/?of=locations/${IDS.shelf}`)).below).toBeUndefined();
});
