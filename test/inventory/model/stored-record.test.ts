import { expect, test } from "bun:test";
import {
  changedFields,
  isShown,
  printStored,
  type StoredRecord,
} from "../../../src/inventory/model/stored-record.ts";
import { DECLARED } from "../../../src/inventory/resources/index.ts";

const location = DECLARED.get("location")!;

test.each<[StoredRecord | undefined, StoredRecord, string[]]>([
  [
    undefined,
    { rid: 1, version: 1, modified: 5, modified_by: 2, label: "a", place: null },
    ["label", "place"],
  ],
  [{ label: "a", place: null }, { label: "a", place: 3 }, ["place"]],
  [{ label: "a" }, { label: "b" }, ["label"]],
  [{ version: 1, modified: 5 }, { version: 2, modified: 6 }, []],
  [{ label: "a", place: 3 }, { label: "a", place: 3 }, []],
])("from %j to %j the fields %j changed", (before, after, names) => {
  expect(changedFields(before, after)).toEqual(names);
});

test.each([
  ["label", "Box", "Box"],
  ["label", null, null],
  ["public", 1, true],
  ["place", 3, "place id 3"],
  ["owner", 3, "user username 3"],
  ["place", 9, null],
] as const)("%s: the stored value %p is printed as %p", (name, stored, printed) => {
  const named = (far: { name: string }, column: string, rid: number) =>
    rid === 9 ? undefined : `${far.name} ${column} ${rid}`;
  const query = { all: () => [], get: () => null };
  const actor = { user: null, username: null, superuser: false, groups: [], primaryGroup: null, token: null };
  const reader = { query, resources: DECLARED, actor };
  expect<unknown>(printStored(location, name, stored, named, reader)).toBe(printed);
});

test.each([
  ["label", true],
  ["deleted_by", true],
  ["rid", false],
  ["permissions", false],
  ["toString", false],
])("histories show %s as %p", (name, shown) => {
  expect(isShown(location, name)).toBe(shown);
});
