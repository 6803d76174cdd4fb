import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Slots } from "../../src/inventory/api/route-slots.ts";
import {
  BOX,
  CONSUMABLES,
  readError,
  id,
  openBoxes,
  PLAIN,
  RACK,
  requestsTo,
  SHELF,
  SPECIMEN,
} from "./boxes.ts";
import { expectStatuses, type Lab, letUse } from "./harness.ts";
import { seeded } from "./random.ts";
import { IDS } from "./sample.ts";

/** Boxes with positions: the database keeps each slot for one record, whatever list it is in. */

let lab: Lab;
beforeAll(async () => {
  lab = await openBoxes();
  // Alice may use what else would only be public.
  await letUse(lab, "alice", BOX, RACK, IDS.drawer, IDS.shelf);
});
beforeEach(async () => {
  // Opening an installation takes longer than most tests.
  for (const list of [CONSUMABLES, SPECIMEN]) await patch(`${list}?deleted=false`, { location: null });
  const [grid_rows, grid_columns, numbering, owner] = [3, 3, "A1", "system"];
  await patch(`locations/${BOX}/`, { grid_rows, grid_columns, numbering, public: true });
  const at = (n: number, location: string, position = "") => ({ id: id(n), location, position, owner });
  const tubes = [at(11, BOX, "A1"), at(12, BOX, "A2"), at(13, SHELF), at(14, PLAIN), at(15, PLAIN)];
  expect((await patch(CONSUMABLES, tubes)).status).toBe(200);
  expect((await patch(SPECIMEN, [at(21, BOX, "B2"), at(22, PLAIN)])).status).toBe(200);
});
afterAll(() => lab.database.close());
const { patch, where, slots, fill } = requestsTo(() => lab);

test("stores a position in normal form, and clears it when the record moves without a position", async () => {
  expect((await patch(`${CONSUMABLES}${id(11)}/`, { position: "c-03" })).body.position).toBe("C3");
  await patch(`${CONSUMABLES}${id(11)}/`, { status: "USED" });
  expect(await where(CONSUMABLES, 11)).toBe("Box 1 C3");
  expect((await patch(`${CONSUMABLES}${id(11)}/`, { location: RACK })).body.position).toBe("");
  expect((await patch(`${CONSUMABLES}${id(11)}/`, { location: RACK, position: "4" })).body.position).toBe(
    "4",
  );
  const negative = await patch(`${CONSUMABLES}${id(11)}/`, { position: "-4" });
  expect(readError(negative, "position")).toBe("Expected a position such as A1 or 17.");
  expect((await patch(`${CONSUMABLES}${id(11)}/`, { location: null })).body.position).toBe("");
});

test("reveals nothing about a location that the caller may not view", async () => {
  await patch(`${CONSUMABLES}${id(11)}/`, { owner: "bob" });
  await patch(`locations/${BOX}/`, { public: false });
  const refused = await patch(`${CONSUMABLES}${id(11)}/`, { position: "A2" }, "bob");
  expect(readError(refused, "position")).toBe(
    "You may not view the location, so you cannot choose a position in it.",
  );
  expect((await patch(`${CONSUMABLES}${id(11)}/`, { status: "USED" }, "bob")).status).toBe(200);
});

test("a slot goes to one of many concurrent writes", async () => {
  const bodies = Array.from({ length: 12 }, (_, n) => ({
    name: `New ${n}`,
    model_type: "OTHER",
    location: BOX,
    position: "C1",
  }));
  const answers = await Promise.all(
    bodies.map((body, n) => lab.send("alice", "POST", n % 2 ? CONSUMABLES : SPECIMEN, body)),
  );
  expect(answers.filter(({ status }) => status === 201).length).toBe(1);
  const refused = answers.filter(({ status }) => status === 400);
  expect(refused.map((answer) => readError(answer, "position"))).toEqual(
    Array(11).fill("C1 is occupied. Next free position: A3."),
  );
});

test("the database refuses a second record in a slot, also of another list", () => {
  const move = (table: string, position: string) => () =>
    lab.database.run(`UPDATE ${table} SET position = '${position}' WHERE id IN ('${id(11)}', '${id(21)}')`);
  expect(move("consumable", "B2")).toThrow("UNIQUE");
  expect(move("specimen", "A1")).toThrow("UNIQUE");
  expect(move("specimen", "C3")).not.toThrow();
  expect(move("consumable", "B2")).not.toThrow();
});

test("a deleted record leaves its slot, and is restored into it while it is free", async () => {
  const path = `${CONSUMABLES}${id(11)}/`;
  await expectStatuses(lab, "admin", [
    [`DELETE ${path}`, 204],
    [`PATCH ${SPECIMEN}${id(21)}/`, 200, { position: "A1" }],
    [`POST ${path}restore/`, 409, { version: 1 }],
    [`POST ${path}restore/?dry_run=1`, 200, {}],
    [`PATCH ${SPECIMEN}${id(21)}/`, 200, { position: "C3" }],
    [`POST ${path}restore/`, 200, {}],
  ]);
  expect(await where(CONSUMABLES, 11)).toBe("Box 1 A1");
});

test("a record whose slot was taken or removed is restored without a position", async () => {
  const path = `${CONSUMABLES}${id(11)}/`;
  await expectStatuses(lab, "admin", [
    [`DELETE ${path}`, 204],
    [`PATCH ${SPECIMEN}${id(21)}/`, 200, { position: "A1" }],
    [`POST ${path}restore/`, 200, {}],
  ]);
  expect(await where(CONSUMABLES, 11)).toBe("Box 1");
  expect(await where(SPECIMEN, 21)).toBe("Box 1 A1");
  await expectStatuses(lab, "admin", [
    [`PATCH ${path}`, 200, { position: "C2" }],
    [`DELETE ${path}`, 204],
    [`PATCH locations/${BOX}/`, 200, { grid_rows: 2 }],
    [`POST ${path}restore/`, 200, {}],
  ]);
  expect(await where(CONSUMABLES, 11)).toBe("Box 1");
});

test("two records exchange positions in one batch, and its undo exchanges them again", async () => {
  const swapped = await patch(CONSUMABLES, [
    { id: id(11), position: "A2" },
    { id: id(12), position: "A1" },
  ]);
  expect(swapped.status).toBe(200);
  expect([await where(CONSUMABLES, 11), await where(CONSUMABLES, 12)]).toEqual(["Box 1 A2", "Box 1 A1"]);
  const undone = await lab.send("admin", "POST", `batches/${swapped.headers.get("Batch-Id")}/undo/`, {});
  expect(undone.status).toBe(200);
  expect([await where(CONSUMABLES, 11), await where(CONSUMABLES, 12)]).toEqual(["Box 1 A1", "Box 1 A2"]);
  const both = await patch(CONSUMABLES, [
    { id: id(11), position: "A2" },
    { id: id(12), position: "A2" },
  ]);
  expect([both.status, await where(CONSUMABLES, 12)]).toEqual([409, "Box 1 A2"]);
  expect(both.body.message).toBe(`consumable ${id(12)} and another record would both be in A2.`);
});

test("a change by filter gives a position to one record only, and takes positions from all", async () => {
  const filter = `${CONSUMABLES}?location=${BOX}`;
  const refused = await patch(filter, { position: "C1" });
  expect([refused.status, readError(refused, "[1].position")]).toEqual([
    400,
    "C1 is occupied. Next free position: A1.",
  ]);
  expect((await patch(filter, { position: "" })).status).toBe(200);
  expect(await where(CONSUMABLES, 12)).toBe("Box 1");
  expect((await slots("admin")).space).toEqual({ capacity: 9, used: 1, free: 8 });
});

test("the capacity of a grid follows its size", async () => {
  const path = `locations/${BOX}/?fields=*`;
  const { body } = await lab.send("admin", "GET", path);
  expect(body.capacity).toBe(9);
  const changed = await lab.send("admin", "PUT", path, { ...body, grid_columns: 12 });
  expect([changed.status, changed.body.capacity]).toEqual([200, 36]);
});

test("moves records in the order of the dry run, and undo moves them back", async () => {
  const records = [id(22), id(15), id(11), id(13)];
  const before = await Promise.all([
    where(SPECIMEN, 22),
    where(CONSUMABLES, 15),
    where(CONSUMABLES, 11),
    where(CONSUMABLES, 13),
  ]);
  const path = `equipment/${IDS.freezer}/free_slots/`;
  const tried = await lab.send("admin", "POST", `${path}?dry_run=1`, { records });
  expect(await where(SPECIMEN, 22)).toBe("Heap");
  const preview = (tried.body.changes as unknown as { id: string; after: { position?: string } }[]).map(
    ({ id, after }) => [id, after.position],
  );
  const done = await lab.send("admin", "POST", `${path}?confirm=${String(tried.body.confirm)}`, {
    records,
  });
  expect(done.status).toBe(200);
  const results = done.body.results as unknown as { id: string; position: string }[];
  // Tube 11 was in A1, which is free for the first of them.
  expect(results.map(({ position }) => position)).toEqual(["A1", "A3", "B1", "B3"]);
  expect(results.map(({ id, position }) => [id, position])).toEqual(preview as [string, string][]);
  expect((await slots("admin")).slots.flatMap(({ record }) => record?.name ?? [])).toEqual([
    "Tube 22",
    "Tube 12",
    "Tube 15",
    "Tube 11",
    "Tube 21",
    "Tube 13",
  ]);
  expect((await lab.send("admin", "POST", `batches/${done.headers.get("Batch-Id")}/undo/`, {})).status).toBe(
    200,
  );
  expect(
    await Promise.all([
      where(SPECIMEN, 22),
      where(CONSUMABLES, 15),
      where(CONSUMABLES, 11),
      where(CONSUMABLES, 13),
    ]),
  ).toEqual(before);
  const { body } = await lab.send("admin", "POST", `${path}?confirm=${String(tried.body.confirm)}`, {
    records: [id(22)],
  });
  expect(body.message).toContain("changed since the dry run");
});

test("fills slots from a position, or puts records into the named positions", async () => {
  await fill(`locations/${BOX}`, { records: [id(14), id(15)], start: "b1" });
  expect([await where(CONSUMABLES, 14), await where(CONSUMABLES, 15)]).toEqual(["Box 1 B1", "Box 1 B3"]);
  await fill(`locations/${BOX}`, { records: [id(14), id(21)], positions: ["B2", "B1"] });
  expect([await where(CONSUMABLES, 14), await where(SPECIMEN, 21)]).toEqual(["Box 1 B2", "Box 1 B1"]);
  await fill(`locations/${SHELF}`, { records: [id(21)] });
  expect(await where(SPECIMEN, 21)).toBe("Box 2");
});

test("exchanges records once with an Idempotency-Key, and only in the versions that the caller saw", async () => {
  const path = `locations/${BOX}/free_slots/`;
  const records = [id(11), id(21)];
  const versions = (await slots("admin")).slots.flatMap(({ record }) =>
    records.includes(record?.id ?? "") ? record!.version : [],
  );
  const body = { records, positions: ["B2", "A1"], versions };
  const headers = { "Idempotency-Key": "exchange" };
  const done = await lab.ask("POST", path, { as: "admin", body, headers });
  const results = done.body.results as unknown as { version: number }[];
  expect(results.map(({ version }) => version)).toEqual(versions.map((version) => version + 1));
  const again = await lab.ask("POST", path, { as: "admin", body, headers });
  expect([again.status, again.body]).toEqual([200, done.body]);
  const stale = await lab.send("admin", "POST", path, body);
  expect([stale.status, stale.body.message]).toEqual([412, expect.stringContaining("has version")]);
  const short = await fill(`locations/${BOX}`, { records, versions: [1] });
  expect(readError(short, "versions")).toBe("Give one version for each of the 2 records.");
  expect([await where(CONSUMABLES, 11), await where(SPECIMEN, 21)]).toEqual(["Box 1 B2", "Box 1 A1"]);
});

test("moves nothing if the caller may not change one of the records", async () => {
  const refused = await fill(`locations/${BOX}`, { records: [id(14), id(22)] }, "bob");
  expect([refused.status, await where(CONSUMABLES, 14)]).toEqual([403, "Heap"]);
});

test("imports and exports include positions, and rows of one import may swap positions", async () => {
  const read = async () =>
    (
      await lab.send(
        "admin",
        "GET",
        `${CONSUMABLES}?format=csv&fields=id,location__label,position&location=${BOX}`,
      )
    ).text;
  const csv = await read();
  expect(csv).toContain(`${id(11)},A1,Box 1`);
  const send = async (text: string, query = "") =>
    (
      await lab.ask("POST", `${CONSUMABLES}import/${query}`, {
        as: "admin",
        body: text,
        headers: { "Content-Type": "text/csv" },
      })
    ).body;
  const rows = (first: string, second: string) =>
    `id,location,position\n${id(11)},Box 1,${first}\n${id(12)},Box 1,${second}\n`;
  expect(await send(rows("A2", "A1"))).toMatchObject({ updated: 2, errors: [] });
  expect([await where(CONSUMABLES, 11), await where(CONSUMABLES, 12)]).toEqual(["Box 1 A2", "Box 1 A1"]);
  expect(await send(rows("A1", "A1"))).toMatchObject({
    errors: [
      { row: 2, column: "position", message: "A1 is occupied. Next free position: A2.", fixes: ["A2"] },
    ],
  });
  expect(await send(rows("B2", "Z9"))).toMatchObject({
    errors: [
      { row: 2, column: "position" },
      {
        row: 3,
        column: "position",
        message: '"Z9" is not a position of the location. Its positions: A1 to C3.',
      },
    ],
  });
  // The position column is the same in both boxes.
  await patch(`${CONSUMABLES}${id(13)}/`, { location: RACK, position: "1" });
  await patch(`locations/${BOX}/`, { description: "x" });
  expect(await send(`id,location,position\n${id(13)},Box 10,2\n${id(11)},Box 10,1\n`)).toMatchObject({
    updated: 2,
  });
  expect(await where(CONSUMABLES, 11)).toBe("Box 10 1");
});

test("labels and stocktakes name the position", async () => {
  const label = await lab.bytes("GET", `${CONSUMABLES}labels/?format=zpl&sheet=100x50&id=${id(11)}`, {
    as: "admin",
  });
  expect(new TextDecoder().decode(label.bytes)).toContain("Box 1 › A1");
  const made = await lab.send("admin", "POST", "stocktakes/", { name: "Box", location: BOX });
  const report = await lab.send("admin", "GET", `stocktakes/${String(made.body.id)}/count/`);
  expect(
    (report.body.missing as { name: string; position: string }[]).map(
      ({ name, position }) => `${name} ${position}`,
    ),
  ).toContain("Tube 11 A1");
});

/** Locations, records and rights at random; free slots by counting what the lists show, with occupied slots from administrators. */
test("lists the unoccupied slots of locations that the caller may view", async () => {
  const random = seeded(20);
  const boxes: string[] = [BOX, RACK];
  for (let n = 0; n < 12; n++) {
    const parent = random.pick([IDS.drawer, IDS.shelf, ...boxes]);
    const size = { grid_rows: 1 + random.below(3), grid_columns: 1 + random.below(3) };
    const { body } = await lab.send("alice", "POST", "locations/", {
      label: `Random ${n}`,
      parent,
      public: random.chance(0.6),
      ...size,
    });
    boxes.push(String(body.id));
  }
  for (let n = 0; n < 25; n++) {
    const target = await lab.send("alice", "GET", `locations/${random.pick(boxes)}/slots/`);
    const free = (target.body as unknown as Slots).slots.filter((slot) => slot.free);
    if (free.length === 0) continue;
    const body = {
      name: `R ${n}`,
      model_type: "OTHER",
      location: target.body.id,
      position: random.pick(free).position,
      public: random.chance(0.5),
    };
    expect((await lab.send("alice", "POST", random.pick([CONSUMABLES, SPECIMEN]), body)).status).toBe(201);
  }
  type Box = {
    id: string;
    parent: string | null;
    grid_rows: number;
    grid_columns: number;
    numbering: string;
    equipment: string | null;
  };
  // Each list has some of these fields.
  const fields =
    "fields=id,parent,equipment,grid_rows,grid_columns,numbering,location,position&page_size=max&response_format=flat&strict=0";
  const list = async <T>(as: string | undefined, segment: string) =>
    (await lab.ask("GET", `${segment}?${fields}`, as ? { as } : {})).body.results as T[];
  const stored = [
    ...(await list<{ location: string; position: string }>("admin", CONSUMABLES)),
    ...(await list<{ location: string; position: string }>("admin", SPECIMEN)),
  ];
  const taken = new Set(stored.map(({ location, position }) => `${location} ${position}`));
  for (const as of [undefined, "bob", "alice", "admin"]) {
    const visible = await list<Box>(as, "locations/");
    const byId = new Map(visible.map((box) => [box.id, box]));
    const isInside = (box: Box): boolean => {
      const outer = box.parent === null ? undefined : byId.get(box.parent);
      return outer ? outer.id === IDS.shelf || isInside(outer) : false;
    };
    const expected = visible
      .filter((box) => box.grid_rows && isInside(box))
      .flatMap(({ id, grid_rows, grid_columns, numbering }) =>
        Array.from({ length: grid_rows * grid_columns }, (_, i) =>
          numbering === "1" ? `${i + 1}` : `${"ABC"[Math.floor(i / grid_columns)]}${(i % grid_columns) + 1}`,
        ).flatMap((position) => (taken.has(`${id} ${position}`) ? [] : `${id} ${position}`)),
      );
    const { body } = await lab.ask("GET", `locations/${IDS.shelf}/free_slots/?count=1000`, as ? { as } : {});
    const found = (body.slots as unknown as { location: { id: string }; position: string }[])
      .filter(({ position }) => position !== "")
      .map(({ location, position }) => `${location.id} ${position}`);
    expect(found.length).toBeGreaterThan(5);
    expect(found.toSorted()).toEqual(expected.toSorted());
  }
});
