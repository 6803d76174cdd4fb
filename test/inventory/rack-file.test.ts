import { expect, test } from "bun:test";
import { readCells } from "../../src/inventory/imports/import-file.ts";
import { readRackFile } from "../../src/inventory/labels/rack-file.ts";
import type { Grid } from "../../src/inventory/model/grid.ts";
import { Problem } from "../../src/problem.ts";

/** Files of rack scanners in the shapes that common programs write. */

const GRID: Grid = { rows: 8, columns: 12, numbering: "A1" };
const read = async (text: string, grid = GRID) => {
  const { rack, lines } = readRackFile(await readCells(text), grid);
  return [rack, ...lines.map(({ position, code, unread }) => `${position} ${unread ? "?" : (code ?? "-")}`)];
};
const refusal = async (text: string): Promise<string> => {
  try {
    await read(text);
  } catch (error) {
    if (error instanceof Problem) return JSON.stringify({ ...error, message: error.message });
    throw error;
  }
  return "";
};

test.each<[string, string, (string | null)[]]>([
  ["no header, A01", "A01,FX100\nA02,FX101\nB12,FX102\n", [null, "A1 FX100", "A2 FX101", "B12 FX102"]],
  ["no header, A1, semicolons", "A1;100\nA2;101\n", [null, "A1 100", "A2 101"]],
  ["no header, code first, tabs", "FX1\tA01\nFX2\tA02\n", [null, "A1 FX1", "A2 FX2"]],
  [
    "no header, rack in each row",
    "R77,A01,FX1\nR77,A02,FX2\nR77,A03,FX3\n",
    ["R77", "A1 FX1", "A2 FX2", "A3 FX3"],
  ],
  ["header", "Position,Tube ID\nA01,FX1\nA02,FX2\n", [null, "A1 FX1", "A2 FX2"]],
  [
    "header with the rack and more",
    'Rack ID;"Tube Position";Tube Barcode;Date\nR1;A01;FX1;2026-11-28\nR1;B01;FX2;2026-11-28\n',
    ["R1", "A1 FX1", "B1 FX2"],
  ],
  ["row and column", "Row,Column,Barcode\nA,1,FX1\nH,12,FX2\n", [null, "A1 FX1", "H12 FX2"]],
  ["row and column without a header", "A;1;FX1\nA;2;FX2\n", [null, "A1 FX1", "A2 FX2"]],
  ["rack above the header", "Rack Barcode,SA0001\nWell,Sample ID\nA01,FX1\n", ["SA0001", "A1 FX1"]],
  [
    "words for empty positions and unread codes",
    "A01,NO TUBE\nA02,NO READ\nA03,EMPTY\nA04,\nA05,No_Tube\nA06,NOREAD\nA07,0000000000\nA08,FX1\n",
    [null, "A1 -", "A2 ?", "A3 -", "A4 -", "A5 -", "A6 ?", "A7 -", "A8 FX1"],
  ],
  ["blank lines at the end", "A01,FX1\r\nA02,FX2\r\n\r\n\r\n", [null, "A1 FX1", "A2 FX2"]],
])("reads %s", async (_name, text, expected) => {
  expect(await read(text)).toEqual(expected);
});

test("reads positions in the numbering of the box, also from a file in the other one", async () => {
  const counted: Grid = { rows: 2, columns: 3, numbering: "1" };
  expect(await read("1,FX1\n4,FX2\n", counted)).toEqual([null, "1 FX1", "4 FX2"]);
  expect(await read("A01,FX1\nB01,FX2\n", counted)).toEqual([null, "1 FX1", "4 FX2"]);
});

test.each([
  ["A01,FX1\nA01,FX2\n", "The position A1 occurs twice."],
  ["A01,FX1\nA02,FX1\n", "is at A1 and at A2."],
  ["Position,Code\nA01,FX1\nA13,FX2\n", "is not a position of the box. Its positions: A1 to H12."],
  ["nothing,here\n", "Expected rows of a position, such as A01, and the code of a tube."],
  ["", "Expected rows of a position"],
  ["Position\nA01\n", "Expected rows of a position"],
])("refuses %p", async (text, message) => {
  expect(await refusal(text)).toContain(message);
});
