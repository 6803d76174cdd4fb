import { expect, test } from "bun:test";
import { isPatch, patchRecord, pointerParts } from "../../../src/inventory/model/apply-json-patch.ts";
import type { Json, JsonObject } from "../../../src/inventory/model/field.ts";

const RECORD = { id: "1", name: "box", note: "", list: [["a"], ["b"]], map: { x: 1, "y/z": { "~": 2 } } };
const WRITABLE = new Set(["name", "note", "list", "map"]);

test.each<[operations: Json[], changed: JsonObject]>([
  [[{ op: "replace", path: "/name", value: "rack" }], { name: "rack" }],
  [[{ op: "add", path: "/note", value: "new" }], { note: "new" }],
  [[{ op: "remove", path: "/name" }], { name: null }],
  [[{ op: "copy", from: "/name", path: "/note" }], { note: "box" }],
  [[{ op: "copy", from: "/id", path: "/note" }], { note: "1" }],
  [[{ op: "move", from: "/name", path: "/note" }], { name: null, note: "box" }],
  [[{ op: "move", from: "/list/0", path: "/list/1" }], { list: [["b"], ["a"]] }],
  [[{ op: "move", from: "/list/0", path: "/list/0" }], { list: [["a"], ["b"]] }],
  [[{ op: "move", from: "/map/x", path: "/map/y~1z" }], { map: { "y/z": 1 } }],
  [[{ op: "add", path: "/list/-", value: 3 }], { list: [["a"], ["b"], 3] }],
  [[{ op: "add", path: "/list/2", value: 3 }], { list: [["a"], ["b"], 3] }],
  [[{ op: "add", path: "/list/0", value: 3 }], { list: [3, ["a"], ["b"]] }],
  [[{ op: "add", path: "/list/1/0", value: 3 }], { list: [["a"], [3, "b"]] }],
  [[{ op: "replace", path: "/list/1", value: 3 }], { list: [["a"], 3] }],
  [[{ op: "replace", path: "/list/1/0", value: "c" }], { list: [["a"], ["c"]] }],
  [[{ op: "remove", path: "/list/0" }], { list: [["b"]] }],
  [[{ op: "remove", path: "/list/1/0" }], { list: [["a"], []] }],
  [[{ op: "add", path: "/map/new", value: null }], { map: { ...RECORD.map, new: null } }],
  [[{ op: "add", path: "/map/y~1z/~0", value: 3 }], { map: { x: 1, "y/z": { "~": 3 } } }],
  [[{ op: "remove", path: "/map/x" }], { map: { "y/z": { "~": 2 } } }],
  [[{ op: "remove", path: "/map/y~1z/~0" }], { map: { x: 1, "y/z": {} } }],
  [[{ op: "test", path: "/map", value: { "y/z": { "~": 2 }, x: 1 } }], {}],
  [[{ op: "test", path: "/id", value: "1" }], {}],
  [
    [
      { op: "remove", path: "/list/0" },
      { op: "test", path: "/list/0/0", value: "b" },
    ],
    { list: [["b"]] },
  ],
])("the patch %j changes %j", (operations, changed) => {
  const before = structuredClone(RECORD);
  expect(patchRecord(RECORD, WRITABLE, operations)).toEqual(changed);
  expect(RECORD).toEqual(before);
});

test.each<[operation: Json, text: string]>([
  [5, "[0]: Expected an operation with op, path and value."],
  [{ path: "/name" }, "[0].op: Choices: add, remove, replace, move, copy, test."],
  [{ op: "add", path: "name", value: 1 }, "[0].path: Expected /<field>."],
  [{ op: "add", path: "/", value: 1 }, "[0].path: Expected /<field>."],
  [{ op: "add", path: "", value: 1 }, "[0].path: Expected /<field>."],
  [{ op: "add", path: 5, value: 1 }, "[0].path: Expected /<field>."],
  [{ op: "copy", path: "/name" }, "[0].from: Expected /<field>."],
  [{ op: "test", path: "/name" }, "[0].value: This field is required."],
  [{ op: "replace", path: "/name" }, "[0].value: This field is required."],
  [{ op: "test", path: "/name", value: "rack" }, "The test of operation 0 failed."],
  [{ op: "test", path: "/list/-", value: 1 }, "The test of operation 0 failed."],
  [{ op: "add", path: "/size", value: 1 }, "[0].path: No such field."],
  [{ op: "add", path: "/id", value: 1 }, "[0].path: This field is read-only."],
  [{ op: "move", from: "/id", path: "/note" }, "[0].from: This field is read-only."],
  [{ op: "move", from: "/map", path: "/map/x" }, "[0].path: A value cannot be moved into itself."],
  [{ op: "copy", from: "/map/none", path: "/note" }, "[0].from: There is nothing at this path."],
  [{ op: "replace", path: "/map/none", value: 1 }, "[0].path: There is nothing at this path."],
  [{ op: "replace", path: "/list/2", value: 1 }, "[0].path: There is nothing at this path."],
  [{ op: "replace", path: "/list/-", value: 1 }, "[0].path: There is nothing at this path."],
  [{ op: "remove", path: "/list/00" }, "[0].path: There is nothing at this path."],
  [{ op: "remove", path: "/map/toString" }, "[0].path: There is nothing at this path."],
  [{ op: "add", path: "/list/3", value: 1 }, "[0].path: No value can be added at this path."],
  [{ op: "add", path: "/list/01", value: 1 }, "[0].path: No value can be added at this path."],
  [{ op: "add", path: "/list/-/0", value: 1 }, "[0].path: No value can be added at this path."],
  [{ op: "add", path: "/name/x", value: 1 }, "[0].path: No value can be added at this path."],
  [{ op: "add", path: "/map/none/x", value: 1 }, "[0].path: No value can be added at this path."],
  [{ op: "add", path: "/map/x/y", value: 1 }, "[0].path: No value can be added at this path."],
])("install rejects %j: %s", (operation, text) => {
  expect(() => patchRecord(RECORD, WRITABLE, [operation])).toThrow(text);
});

test.each<[Json, boolean]>([
  [[{ op: "add" }], true],
  [[{ op: "add" }, { label: "x" }], false],
  [[{ label: "x" }], false],
  [[5], false],
  [[], false],
  [{ op: "add" }, false],
])("%j is a JSON Patch: %p", (body, is) => {
  expect(isPatch(body)).toBe(is);
});

test.each<[Json, string[] | undefined]>([
  ["/a/b", ["a", "b"]],
  ["/a~1b/~01", ["a/b", "~1"]],
  ["a", undefined],
  [null, undefined],
  [`/${"x".repeat(999)}`, ["x".repeat(999)]],
  [`/${"x".repeat(1000)}`, undefined],
])("splits %j into %j", (pointer, parts) => {
  expect(pointerParts(pointer)).toEqual(parts as string[]);
});
