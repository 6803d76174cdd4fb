import { afterAll, beforeAll, expect, test } from "bun:test";
import { countNames, expandNames } from "../../src/inventory/model/name-pattern.ts";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Building rooms, freezers, shelves and boxes at once, with names by pattern. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const build = (body: object, query = "", as = "alice") =>
  lab.send(as, "POST", `locations/build/${query}`, body);
const list = async (path: string, as = "alice") => (await lab.send(as, "GET", path)).body;
const FREEZER = [
  { list: "equipment", name: "Upright {1..2}", model_type: "FREEZER" },
  { name: "Shelf {A..B}" },
  { name: "Box {08..10}", grid_rows: 9, grid_columns: 9, numbering: "1" },
];

test.each<[string, string[]]>([
  ["Rack {1..3}", ["Rack 1", "Rack 2", "Rack 3"]],
  ["Box {08..10}", ["Box 08", "Box 09", "Box 10"]],
  ["{A..B}{1..2}", ["A1", "A2", "B1", "B2"]],
  [" Drawer {x..y} left ", ["Drawer x left", "Drawer y left"]],
  ["Only one", ["Only one"]],
])("the pattern %p stands for %p", (pattern, names) => {
  expect(expandNames(pattern, 100)).toEqual(names);
  expect(countNames(pattern)).toBe(names.length);
  expect(expandNames(pattern, 1)).toEqual(names.slice(0, 1));
});

test.each([
  ["Rack {1-5}", "{1-5} is not a range."],
  ["Rack {5..1}", "{5..1} ends before it begins."],
  ["Rack {1..C}", "{1..C} does not end as it begins."],
  ["Rack {a..C}", "{a..C} does not end as it begins."],
])("the pattern %p is refused", async (name, error) => {
  const { status, body } = await build({ levels: [{ name }] });
  expect([status, body.levels]).toEqual([400, [`levels[0]: ${error} Write {1..5}, {01..12} or {A..D}.`]]);
});

test("builds freezers with shelves and boxes in a room, after a dry run, and undoes it as one batch", async () => {
  const plan = { place: IDS.a101, public: true, levels: FREEZER };
  const preview = await build(plan, "?dry_run=1&changes=1");
  expect(preview.body).toMatchObject({ dry_run: true, count: 18 });
  const { status, body, headers } = await build(plan);
  expect(status).toBe(201);
  expect(body.results).toMatchObject({ places: 0, equipment: 2, locations: 16 });
  const boxes = await list(
    "locations/?label__startswith=Box 0&equipment__name=Upright 2&place__room=101&fields=label,parent__label,capacity,numbering&ordering=parent__label,label",
  );
  expect(boxes.results).toEqual(
    ["Shelf A", "Shelf B"].flatMap((parent__label) =>
      ["Box 08", "Box 09"].map((label) => ({ label, parent__label, capacity: 81, numbering: "1" })),
    ),
  );
  const { first_created, last_created } = body.results as Record<string, string>;
  const between = `created__gte=${encodeURIComponent(first_created)}&created__lte=${encodeURIComponent(last_created)}`;
  expect((await list(`locations/?${between}&grid_rows__isnull=false&owner=alice`)).total).toBe(12);
  // The names are taken now.
  expect((await build(plan)).body.levels).toEqual([
    'levels[0]: "Upright 1" exists here. Choose other names.',
  ]);
  expect((await build({ ...plan, place: null })).status).toBe(201);
  const batch = headers.get("Batch-Id")!;
  expect((await lab.send("alice", "POST", `batches/${batch}/undo/`, {})).status).toBe(200);
  expect((await list("equipment/?name__startswith=Upright&place__room=101")).total).toBe(0);
});

test("builds rooms without an address, and inside a location that exists", async () => {
  const levels = [{ list: "places", name: "{201..203}", building: "C" }, ...FREEZER.slice(0, 1)];
  expect((await build({ levels })).body.results).toMatchObject({ places: 3, equipment: 6 });
  expect((await list("places/?building=C&address__isnull=true")).total).toBe(3);
  const { body } = await lab.send("alice", "POST", "locations/", {
    label: "Rack 77",
    equipment: IDS.freezer,
  });
  expect((await build({ parent: body.id, levels: [{ name: "Box {1..2}" }] })).status).toBe(201);
  const inRack = await list(
    `locations/?parent=${String(body.id)}&fields=label,equipment&response_format=flat`,
  );
  expect(inRack.results).toEqual([
    { label: "Box 1", equipment: IDS.freezer },
    { label: "Box 2", equipment: IDS.freezer },
  ]);
});

test.each<[object, string, string]>([
  [
    { levels: [{ name: "{1..2}{11..22}{1..12}" }, { name: "{1..99}" }] },
    "levels",
    "This makes 28,800 records",
  ],
  [{ levels: [{ name: "{1..11}{1..11}" }] }, "levels", 'levels[0]: the pattern gives the name "111" twice.'],
  [
    { levels: [{ name: "A" }, { name: "B", grid_rows: 9 }] },
    "levels",
    "levels[1]: grid_columns: A grid needs",
  ],
  [{ levels: [{ name: "A" }, { list: "equipment", name: "B" }] }, "levels", "levels[1]: equipment cannot be"],
  [{ parent: IDS.shelf, levels: [{ list: "places", name: "B" }] }, "levels", "levels[0]: places cannot be"],
  [{ levels: [{ name: "A", colour: "red" }] }, "levels", 'levels[0]: colour: "colour" is not a field'],
  [
    { place: IDS.gram, levels: [{ name: "A" }] },
    "place",
    "This record does not exist, or you may not view it.",
  ],
])("%j is refused, and nothing is built", async (plan, field, error) => {
  const before = (await list("locations/?page_size=1")).total;
  const { status, body } = await build(plan);
  expect(status).toBe(400);
  expect((body[field] as string[])[0]).toStartWith(error);
  expect((await list("locations/?page_size=1")).total).toBe(before);
});

test("builds nothing for callers without an account, or inside records that they may not view", async () => {
  expect((await lab.ask("POST", "locations/build/", { body: { levels: FREEZER } })).status).toBe(401);
  const { body } = await lab.send("alice", "POST", "locations/", { label: "Private", equipment: null });
  const refused = await build({ parent: body.id, levels: [{ name: "Box" }] }, "", "bob");
  expect([refused.status, refused.body.parent]).toEqual([
    400,
    ["This record does not exist, or you may not view it."],
  ]);
});

test("boxes use the capacity of a rack, and tubes go into boxes", async () => {
  const levels = [
    { name: "Full rack", capacity: 2 },
    { name: "Box {1..2}", grid_rows: 1, grid_columns: 2 },
  ];
  expect((await build({ levels })).status).toBe(201);
  const { results } = await list("locations/?label=Full rack&fields=id");
  const free = await list(`locations/${String((results as { id: string }[])[0].id)}/free_slots/`);
  expect(free).toMatchObject({ capacity: 6, used: 2, free: 4, next: { position: "A1" } });
});
