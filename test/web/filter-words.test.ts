import { expect, test } from "bun:test";
import type { Declaration, FieldInfo } from "../../src/web/inventory/declaration.ts";
import { filterTitle, filterWord } from "../../src/web/inventory/list-toolbar.tsx";

const field = (kind: FieldInfo["kind"], label: string) => ({ kind, label }) as FieldInfo;
const of = {
  key: "name",
  fields: {
    expiry: field("date", "Expiry"),
    amount: field("number", "Amount"),
    category: field("reference", "Choice list"),
  },
  annotations: { annotations__species: { ...field("text", "Species"), annotation: { id: "9856" } } },
} as unknown as Declaration;

test.each([
  ["expiry__gte", "Expiry from"],
  ["expiry__lt", "Expiry before"],
  ["amount__gte", "Amount at least"],
  ["annotations__species__isnull", "Species is empty"],
  ["annotations__species", "Species"],
  ["annotations__9856", "Species"],
  ["category_id", "Choice list"],
  ["mine", "Mine"],
])("the chip of the filter %s is titled %s", (name, title) => {
  expect(filterTitle(of, name)).toBe(title);
});

test.each([
  ["30d", "in 30 days"],
  ["-7d", "7 days ago"],
  ["1d", "in 1 day"],
  ["today", "today"],
  ["true", "yes"],
  ["3da", "3da"],
  ["SYSTEM_GROUP", "Laboratory"],
])("a filter shows %s as %s", (value, word) => {
  expect(filterWord(value)).toBe(word);
});
