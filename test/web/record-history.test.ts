import { expect, test } from "bun:test";
import { amountsIn } from "../../src/web/inventory/amounts.ts";
import { listDifferences, listVersions } from "../../src/web/inventory/compare-versions.tsx";
import type { Declaration } from "../../src/web/inventory/declaration.ts";
import { type Change, withStates } from "../../src/web/inventory/history.tsx";
import { toRow } from "../../src/web/inventory/record.tsx";

/** The history of a record on pages. */

const RECORD = "stocks/consumables";
const change = (batch: number, changes: Partial<Change>): Change => ({
  cursor: String(batch),
  resource: RECORD,
  id: "1",
  of: null,
  op: "update",
  version: batch,
  at: `2026-11-0${batch}T12:00:00Z`,
  user: "ana",
  full_name: "Ana Archer",
  token: null,
  batch: `batch-${batch}`,
  before: null,
  after: null,
  ...changes,
});

/** Latest first. */
const CHANGES = [
  change(5, { before: { position: "A1" }, after: { position: "B4" } }),
  change(4, {
    resource: "annotations",
    id: "2",
    op: "delete",
    version: 2,
    before: {},
    after: { deleted: true },
  }),
  change(3, { before: { location: "old", unit: "mg" }, after: { location: "new", unit: "g" } }),
  change(2, { resource: "annotations", id: "2", op: "create", version: 1, after: { value: "x" } }),
  change(1, { op: "create", after: { name: "anti-GFP", location: "old", position: "A1", unit: "mg" } }),
];

test("each history entry records the values before and after it", () => {
  const row = toRow({ id: "1", location: { id: "new", name: "Box" }, position: "B4", unit: "g" });
  const known = withStates(CHANGES, row).map(({ was, is }) => [was, is]);
  expect(known[0]).toMatchObject([
    { location: "new", position: "A1" },
    { location: "new", position: "B4" },
  ]);
  expect(known[1][0].value).toBe("x");
  expect(known[2]).toMatchObject([
    { location: "old", position: "A1", unit: "mg" },
    { location: "new", position: "A1", unit: "g" },
  ]);
});

test("a record has a version for each batch that changed it or its metadata", () => {
  const versions = listVersions({ name: RECORD }, CHANGES);
  expect(versions.map(({ batch, version }) => [batch, version])).toEqual([
    ["batch-5", 5],
    ["batch-4", 4],
    ["batch-3", 3],
    ["batch-2", 2],
    ["batch-1", 1],
  ]);
  expect(versions[1].name).toMatch(/^Version 4, 4 Nov 2026.*, Ana Archer$/);
  const note = change(6, { resource: "notes", id: "3" });
  expect(listVersions({ name: RECORD }, [note, ...CHANGES]).length).toBe(5);
  // Of earlier changes that are not loaded, the version is unknown.
  expect(listVersions({ name: RECORD }, CHANGES.slice(0, 2)).length).toBe(1);
  const sameBatch = [change(7, { batch: "batch-5" }), ...CHANGES];
  expect(listVersions({ name: RECORD }, sameBatch)[0]).toMatchObject({ batch: "batch-5", version: 5 });
});

test("versions differ in fields that people change, and in annotations", () => {
  const of = {
    fields: { name: { write: "required" }, modified: { write: "never" }, lot: { write: "optional" } },
    annotations: { annotations__host: { write: "optional", annotation: {} } },
  } as unknown as Declaration;
  const from = toRow({ name: "anti-GFP", modified: "2026", lot: "", annotations__host: "mouse" });
  const to = toRow({ name: "anti-GFP 2", modified: "2027", lot: null });
  expect(listDifferences(of, from, to)).toEqual(["name", "annotations__host"]);
});

const amounts = (...latestFirst: (number | null)[]) =>
  latestFirst.map((amount, i) => ({
    at: `2026-11-0${9 - i}`,
    before: i + 1 < latestFirst.length ? { amount: latestFirst[i + 1] } : null,
    after: { amount },
  }));

test.each([
  [[0.15, 0.2, 0.1], { full: 0.2, lastUsed: "2026-11-09", lastAmount: 0.05 }],
  [[100], { full: 100 }],
  [[5, 3, 4], { full: 5, lastUsed: "2026-11-08", lastAmount: 1 }],
  [[0, 4, null], { full: 4, lastUsed: "2026-11-09", lastAmount: 4 }],
  [[null], {}],
  [[], {}],
])("finds the last refill and use in the amounts %p (latest first): %p", (latestFirst, expected) => {
  expect(amountsIn(amounts(...latestFirst))).toEqual({ full: undefined, lastUsed: undefined, ...expected });
});
