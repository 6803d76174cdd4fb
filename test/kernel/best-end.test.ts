import { expect, test } from "bun:test";
import { bestEnd } from "../../src/kernel/scalar.ts";

test.each<[row: number[], column: number[], [score: number, row: number, column: number]]>([
  // The last row and the last column share their last cell.
  [
    [1, 5, 2],
    [0, 0, 2],
    [5, 2, 1],
  ],
  [
    [1, 2, 3],
    [4, 1, 3],
    [4, 0, 2],
  ],
  [
    [1, 2, 9],
    [9, 9, 9],
    [9, 2, 2],
  ],
  [
    [5, 1, 1],
    [1, 5, 1],
    [5, 1, 2],
  ],
  [
    [5, 1, 1],
    [5, 1, 1],
    [5, 2, 0],
  ],
  [
    [1, 5, 1],
    [5, 1, 1],
    [5, 2, 1],
  ],
  [
    [1, 5, 1],
    [1, 5, 1],
    [5, 2, 1],
  ],
  [
    [5, 5, 1],
    [5, 5, 1],
    [5, 2, 1],
  ],
  [
    [-1, -2, -3],
    [-1, -2, -3],
    [0, -1, -1],
  ],
  [
    [0, 0, 0],
    [0, 0, 0],
    [0, -1, -1],
  ],
  [
    [-1, -1, -1],
    [1, -1, -1],
    [1, 0, 2],
  ],
])("the last row %j and the last column %j give the cell %j", (lastRow, lastColumn, [score, row, column]) => {
  const end = bestEnd(
    3,
    3,
    (at) => lastRow[at],
    (at) => lastColumn[at],
  );
  expect(end).toEqual({ score, row, column });
});
