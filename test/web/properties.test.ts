import { expect, test } from "bun:test";
import { daysUntil } from "../../src/web/format.tsx";
import type { Declaration, FieldInfo } from "../../src/web/inventory/declaration.ts";
import { shownFields } from "../../src/web/inventory/properties.tsx";
import { toRow, stateText, findStockState } from "../../src/web/inventory/record.tsx";

const field = (changes: Partial<FieldInfo> = {}) => changes as FieldInfo;
const of = {
  key: "name",
  fields: {
    id: field({ form: { shownIn: "details" } }),
    name: field(),
    status: field({ form: { shownIn: "head" } }),
    supplier: field(),
    price: field({ form: { suffix: "currency" } }),
    currency: field(),
    location: field({ form: { shownIn: "location" } }),
    client: field({ for_clients: true }),
    widget: field({ form: { advanced: true } }),
    choices: field({ form: { when: { field: "kind", values: ["TEXT"] } } }),
  },
} as unknown as Declaration;
const BASE = { id: "1", name: "anti-GFP", status: "LOW", supplier: "Metabion", price: 5, currency: "EUR" };

test("a page lists the fields with values that it does not show elsewhere", () => {
  const placed = toRow({
    ...BASE,
    location: { id: "2", name: "Box" },
    client: "None",
    widget: "TEXT",
    choices: [["a", "a"]],
  });
  expect(shownFields(of, placed)).toEqual({ main: ["supplier", "price"], advanced: ["widget"] });
  const ofKind = toRow({ ...BASE, location: null, client: "x", choices: [["a", "a"]], kind: "TEXT" });
  expect(shownFields(of, ofKind)).toEqual({
    main: ["supplier", "price", "client", "choices"],
    advanced: [],
  });
});

test.each([
  ["2027-06-30", "in 7 months"],
  ["2026-12-05", "in 12 days"],
  ["2026-11-23", "today"],
  ["2026-11-20", "3 days ago"],
  ["2030-11-23", "in 4 years"],
])("a day of expiry of %s is %s", (day, words) => {
  expect(daysUntil(day, Date.UTC(2026, 10, 23, 15))).toBe(words);
});

test.each([
  [{ status: "AVAILABLE", amount: 5 }, "Available", "ok"],
  [{ status: "AVAILABLE", amount: 0 }, "Empty", "empty"],
  [{ status: "FROZEN", below_minimum: true }, "Frozen, low", "low"],
  [{ status: "MISSING" }, "Missing", "expired"],
  [{ expiry: "2020-01-31", amount: 0 }, "Empty", "empty"],
  [{ status: "", amount: null }, "", "other"],
])("stock with %p is %p", (values, words, state) => {
  expect([stateText(values), findStockState(values)]).toEqual([words, state]);
});
