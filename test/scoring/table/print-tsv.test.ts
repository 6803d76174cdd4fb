import { expect, test } from "bun:test";
import { printCell } from "../../../src/scoring/table/print-tsv.ts";

test.each([
  [null, ""],
  [true, "yes"],
  [0, "0"],
  [0.25, "0.25"],
  [1.23456, "1.2346"],
  [-2.00004, "-2"],
  [0.00123, "0.0012"],
  // Smallest P values.
  [0.000694, "0.00069"],
  [0.00001, "0.00001"],
  ["P..P", "P..P"],
])("the table prints %p as %p", (value, text) => expect(printCell(value)).toBe(text));
