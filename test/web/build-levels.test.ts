import { expect, test } from "bun:test";
import {
  toLevel,
  newLevel,
  PRESETS,
  previewLevels,
  shownNames,
} from "../../src/web/inventory/build/levels.ts";

test("previews how many records each level makes, with their first names and slots", () => {
  const levels = PRESETS[0].levels.map(newLevel);
  expect(
    previewLevels(levels).map((each) => [shownNames(each), each.inEach, each.total, each.slots]),
  ).toEqual([
    ["Freezer 1", 1, 1, 0],
    ["Shelf 1, Shelf 2, Shelf 3, …", 4, 4, 0],
    ["Rack 1, Rack 2, Rack 3, …", 5, 20, 0],
    ["Box 1, Box 2, Box 3, …", 5, 100, 8100],
  ]);
});

test.each([
  ["", "Give a name."],
  ["Rack {1-5}", "{1-5} is not a range. Write {1..5}, {01..12} or {A..D}."],
])("explains the error in the name %p", (name, error) => {
  expect(previewLevels([newLevel({ name })])[0]).toMatchObject({ total: 0, error });
});

test("sends the kind of equipment that a name suggests, and the grid of boxes", () => {
  expect(toLevel(newLevel({ list: "equipment", name: "-80 Freezer North" }))).toEqual({
    list: "equipment",
    name: "-80 Freezer North",
    model_type: "FREEZER",
  });
  const grids = [
    newLevel({ name: "Box", grid: "8x12", numbering: "1" }),
    newLevel({ name: "Box", grid: "other", rows: "7", columns: "3" }),
    newLevel({ name: "Shelf" }),
  ];
  expect(grids.map(toLevel)).toEqual([
    { list: "locations", name: "Box", grid_rows: 8, grid_columns: 12, numbering: "1" },
    { list: "locations", name: "Box", grid_rows: 7, grid_columns: 3, numbering: "A1" },
    { list: "locations", name: "Shelf" },
  ]);
});

test.each(PRESETS.map((preset) => [preset.name, preset] as const))(
  "the example “%s” is complete, from the outermost list inwards",
  (_name, { levels }) => {
    const drafts = levels.map(newLevel);
    expect(previewLevels(drafts).flatMap(({ error }) => error ?? [])).toEqual([]);
    const order = drafts.map(({ list }) => ["places", "equipment", "locations"].indexOf(list));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  },
);
