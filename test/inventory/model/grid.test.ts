import { expect, test } from "bun:test";
import {
  type Grid,
  normalPosition,
  NUMBERINGS,
  positionAt,
  listPositions,
  formatRange,
  findSlot,
} from "../../../src/inventory/model/grid.ts";

test.each<[Grid, string]>([
  [{ rows: 9, columns: 9, numbering: "A1" }, "A1 to I9"],
  [{ rows: 9, columns: 9, numbering: "1" }, "1 to 81"],
  [{ rows: 32, columns: 48, numbering: "A1" }, "A1 to AF48"],
  [{ rows: 1, columns: 1, numbering: "A1" }, "A1 to A1"],
])("the positions of %p are %s", (grid, range) => {
  expect(formatRange(grid)).toBe(range);
});

test("counts slots row by row, and finds each by its position", () => {
  expect(listPositions({ rows: 2, columns: 3, numbering: "A1" })).toEqual([
    "A1",
    "A2",
    "A3",
    "B1",
    "B2",
    "B3",
  ]);
  for (const numbering of NUMBERINGS)
    for (const [rows, columns] of [
      [1, 12],
      [8, 12],
      [60, 7],
      [100, 100],
    ]) {
      const grid = { rows, columns, numbering };
      const positions = listPositions(grid);
      expect(new Set(positions).size).toBe(rows * columns);
      expect(positions.map((position) => findSlot(grid, position))).toEqual(positions.map((_, slot) => slot));
      expect(findSlot(grid, positionAt(grid, rows * columns))).toBeUndefined();
    }
});

test.each(["", "A", "0", "A0", "A10", "J1", "A01", "1A", "a1", "1", "AA1", "A1 ", "Ä1", "A1.5"])(
  "%p is not a position of a 9 × 9 box",
  (position) => {
    expect(findSlot({ rows: 9, columns: 9, numbering: "A1" }, position)).toBeUndefined();
  },
);

test.each([
  ["a1", "A1"],
  ["A 01", "A1"],
  ["b-12", "B12"],
  ["007", "7"],
  ["100", "100"],
  ["", ""],
  ["A0", "A0"],
])("%p is stored as %p", (typed, stored) => {
  expect(normalPosition(typed)).toBe(stored);
});
