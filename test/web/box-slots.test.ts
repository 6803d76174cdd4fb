import { expect, test } from "bun:test";
import { listPositions } from "../../src/inventory/model/grid.ts";
import { rectangle, type Slots } from "../../src/web/inventory/box/slots.ts";

test("selects the slots of a rectangle, whichever corners it is drawn from", () => {
  const grid = { rows: 3, columns: 3, numbering: "A1" } as const;
  const slots = listPositions(grid).map((position) => ({ position, free: true, record: null }));
  const box = { grid_columns: 3, slots } as unknown as Slots;
  expect(rectangle(box, "A1", "B2")).toEqual(["A1", "A2", "B1", "B2"]);
  expect(rectangle(box, "C1", "A2")).toEqual(["A1", "A2", "B1", "B2", "C1", "C2"]);
  expect(rectangle(box, "B2", "B2")).toEqual(["B2"]);
});
