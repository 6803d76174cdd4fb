import { afterAll, beforeAll, describe, expect, test } from "bun:test";
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
import type { Lab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Slots of locations: what is refused, and what is shown. */

let lab: Lab;
beforeAll(async () => {
  lab = await openBoxes();
});
afterAll(() => lab.database.close());
const { patch, where, slots, fill } = requestsTo(() => lab);

describe("refuses", () => {
  test.each<[object, string, string]>([
    [{ position: "J1" }, "position", '"J1" is not a position of the location. Its positions: A1 to C3.'],
    [{ position: "1" }, "position", '"1" is not a position of the location. Its positions: A1 to C3.'],
    [{ position: "?" }, "position", "Expected a position such as A1 or 17."],
    [{ position: "A2" }, "position", "A2 is occupied. Next free position: A3."],
    [{ position: "b 02" }, "position", "B2 is occupied. Next free position: A3."],
    [
      { location: RACK, position: "5" },
      "position",
      '"5" is not a position of the location. Its positions: 1 to 4.',
    ],
    [
      { location: PLAIN, position: "A1" },
      "position",
      "The location has no grid. Leave the position empty, or give the location rows and columns.",
    ],
    [{ location: null, position: "A1" }, "position", "Give a location too, or leave the position empty."],
  ])("the position %p", async (body, field, error) => {
    for (const path of [`${CONSUMABLES}${id(11)}/`, `${SPECIMEN}${id(21)}/`]) {
      const own = path.includes(id(21)) && /B2|b 02/.test(JSON.stringify(body));
      if (!own) expect(readError(await patch(path, body), field)).toBe(error);
    }
    expect(await where(CONSUMABLES, 11)).toBe("Box 1 A1");
  });

  test.each<[object, string, string]>([
    [{ grid_rows: 0 }, "grid_rows", "Expected a whole number from 1 to 100, or null."],
    [{ grid_columns: 101 }, "grid_columns", "Expected a whole number from 1 to 100, or null."],
    [{ grid_rows: null }, "grid_rows", "A grid needs both rows and columns."],
    [{ numbering: "B1" }, "numbering", '"B1" is not a valid choice. Choices: A1, 1.'],
    [{ capacity: 10 }, "capacity", "A grid of 3 × 3 has 9 slots. Leave the capacity empty, or give 9."],
    [
      { grid_rows: 1 },
      "grid_rows",
      "The new grid lacks positions that are occupied: B2. Move these items first.",
    ],
    [
      { numbering: "1" },
      "numbering",
      "The new grid lacks positions that are occupied: A1, A2, B2. Move these items first.",
    ],
    [
      { grid_rows: null, grid_columns: null },
      "grid_rows",
      "The new grid lacks positions that are occupied: A1, A2, B2. Move these items first.",
    ],
  ])("the grid %p", async (body, field, error) => {
    expect(readError(await patch(`locations/${BOX}/`, body), field)).toBe(error);
  });

  test.each<[string, object, string, string]>([
    [
      `locations/${BOX}`,
      { records: [id(22)], start: "D1" },
      "start",
      '"D1" is not a position of the location. Its positions: A1 to C3.',
    ],
    [
      `locations/${SHELF}`,
      { records: [id(22)], start: "A1" },
      "start",
      "Only a location with a grid has positions.",
    ],
    [
      `locations/${BOX}`,
      { records: [id(22)], positions: ["A3", "B1"] },
      "positions",
      "Give one position for each of the 1 records.",
    ],
    [
      `locations/${BOX}`,
      { records: [id(22), id(22)] },
      "records",
      "A record occurs more than once. Name each record once.",
    ],
    [
      `locations/${BOX}`,
      { records: [id(22), IDS.shelf] },
      "records",
      `[1]: "${IDS.shelf}" is not the id of a record of stocks/consumables or stocks/specimen.`,
    ],
    [`locations/${SHELF}`, { records: [id(22), id(15)] }, "records", "2 records, but one free slot."],
    [
      `locations/${PLAIN}`,
      { records: [id(22)] },
      "records",
      "No location there has a grid or a capacity. Give one rows and columns, or a capacity.",
    ],
    [
      `locations/${BOX}`,
      { records: [id(22), id(15)], positions: ["A3", "A2"] },
      "[1].position",
      "A2 is occupied. Next free position: B1.",
    ],
  ])("to fill %s with %p", async (path, body, field, error) => {
    expect(readError(await fill(path, body), field)).toBe(error);
    expect(await where(SPECIMEN, 22)).toBe("Heap");
  });
});

describe("shows", () => {
  test("the free slots of each location, where they are named", async () => {
    const free = async (as: string) => {
      const { body } = await lab.send(as, "GET", "locations/?fields=id,free_slots&page_size=100");
      const results = body.results as unknown as { id: string; free_slots: number | null }[];
      return [BOX, RACK, SHELF, PLAIN].map((of) => results.find((each) => each.id === of)!.free_slots);
    };
    for (const as of ["admin", "bob"]) expect(await free(as)).toEqual([6, 4, 1, null]);
    expect((await lab.send("admin", "GET", `locations/${BOX}/?fields=*`)).body).not.toHaveProperty(
      "free_slots",
    );
  });

  test("records of the specification keep their form", async () => {
    const { body } = await lab.send("admin", "GET", `locations/${BOX}/`);
    expect(Object.keys(body)).toEqual([
      "id",
      "created_by",
      "modified_by",
      "created",
      "modified",
      "label",
      "equipment",
      "place",
    ]);
  });

  test("shows the slot of a hidden record as occupied, without its content", async () => {
    const shown = async (as?: string) => {
      const { slots: all, space, next } = await slots(as);
      return [
        all.map(({ position, free, record }) => `${position} ${free ? "free" : (record?.name ?? "?")}`),
        space,
        next,
      ];
    };
    const rest = ["A3 free", "B1 free", "B2 Tube 21", "B3 free", "C1 free", "C2 free", "C3 free"];
    const usage = { capacity: 9, used: 3, free: 6 };
    expect(await shown("alice")).toEqual([["A1 Tube 11", "A2 Tube 12", ...rest], usage, "A3"]);
    expect(await shown("bob")).toEqual([["A1 Tube 11", "A2 ?", ...rest], usage, "A3"]);
    expect(await shown()).toEqual([["A1 Tube 11", "A2 ?", ...rest], usage, "A3"]);
    expect((await slots("bob", PLAIN)).others.map(({ name }) => name)).toEqual([
      "Tube 14",
      "Tube 15",
      "Tube 22",
    ]);
    expect((await slots("bob", PLAIN)).space).toBeNull();
    expect((await lab.send("bob", "GET", `locations/${IDS.secret}/slots/`)).status).toBe(404);
  });

  test("lists the free slots under a freezer in the order of the tree", async () => {
    const { body } = await lab.send("bob", "GET", `equipment/${IDS.freezer}/free_slots/?count=8`);
    expect(body).toMatchObject({
      capacity: 15,
      used: 4,
      free: 11,
      next: { location: { id: BOX, label: "Box 1" }, position: "A3" },
    });
    expect(
      (body.slots as unknown as { location: { label: string }; position: string }[]).map(
        ({ location, position }) => `${location.label} ${position}`,
      ),
    ).toEqual(["Box 1 A3", "Box 1 B1", "Box 1 B3", "Box 1 C1", "Box 1 C2", "Box 1 C3", "Box 2 ", "Box 10 1"]);
    expect((body.locations as unknown as { path: string[] }[]).map(({ path }) => path.join(" / "))).toEqual([
      "Freezer 1 / Shelf 1 / drawer / Box 1",
      "Freezer 1 / Shelf 1 / drawer / Box 2",
      "Freezer 1 / Shelf 1 / drawer / Box 10",
    ]);
    const next = await lab.send("bob", "GET", `places/${IDS.a101}/free_slots/?count=1`);
    expect(next.body.next).toEqual({
      location: { id: BOX, label: "Box 1", unique_path: "Box 1" },
      position: "A3",
    });
    const none = await lab.send("bob", "GET", `equipment/${IDS.cabinet}/free_slots/`);
    expect(none.body).toEqual({ capacity: 0, used: 0, free: 0, next: null, locations: [], slots: [] });
  });

  test("the tree shows the space of its records", async () => {
    const { body } = await lab.send("bob", "GET", `locations/tree/?of=locations/${IDS.drawer}`);
    const [level] = body.levels as unknown as { results: { name: string; space: unknown }[] }[];
    expect(level.results.map(({ name, space }) => [name, space])).toEqual([
      ["Box 1", { capacity: 9, used: 3, free: 6 }],
      ["Box 2", { capacity: 2, used: 1, free: 1 }],
      ["Box 10", { capacity: 4, used: 0, free: 4 }],
      ["Heap", null],
    ]);
    const rooms = await lab.send("bob", "GET", "locations/tree/");
    expect(JSON.stringify(rooms.body)).toContain('"space":{"capacity":15,"used":4,"free":11}');
  });
});
