import { expect, test } from "bun:test";
import type { FieldInfo } from "../../src/web/inventory/declaration.ts";
import { changeText } from "../../src/web/inventory/last-change.tsx";

const PLACE = "Box oligos 1, A3";

test.each([
  [{ op: "create", before: null, after: { name: "a" } }, PLACE, "added it"],
  [{ op: "restore", before: null, after: null }, PLACE, "restored it"],
  [
    { before: { location: "1" }, after: { location: "2", position: "A3", version: 2 } },
    PLACE,
    "moved it to Box oligos 1, A3",
  ],
  [{ before: { location: "1" }, after: { location: null } }, "", "took it out"],
  [{ before: { location: "1" }, after: { location: "2" } }, "", "moved it"],
  [{ before: { version: 1 }, after: { version: 2 } }, PLACE, "changed it"],
  [{ before: { amount: 50 }, after: { amount: 37.7, modified: "" } }, PLACE, "used 12.3 µL"],
  [
    { before: { amount: 0, status: "EMPTY" }, after: { amount: 40, status: "AVAILABLE" } },
    PLACE,
    "added 40 µL",
  ],
  [
    { before: { lot: "" }, after: { lot: "7", freeze_thaw_count: 1 } },
    PLACE,
    "changed lot, freeze–thaw cycles",
  ],
] as const)("says of the change %p in %p: %p", (change, place, text) => {
  const fields = { freeze_thaw_count: { label: "Freeze–thaw cycles" } as FieldInfo };
  expect(changeText({ op: "update", ...change }, "µL", place, fields)).toBe(text);
});
