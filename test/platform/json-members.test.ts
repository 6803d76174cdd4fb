import { expect, test } from "bun:test";
import { checkFields, checkMembers } from "../../src/platform/json-members.ts";
import { LIMITS } from "../../src/platform/limits.ts";

const makeObject = (members: number) =>
  `{${Array.from({ length: members }, (_, i) => `"${i}":1`).join(",")}}`;
const makeList = (containers: number) =>
  `[${Array(containers - 1)
    .fill("{}")
    .join(",")}]`;
const makeForm = (fields: number) => Array(fields).fill("a=1").join("&");
const { members, containers } = LIMITS;

test.each([
  ["5", 0],
  ["[]", 1],
  ['{"a":{"b":[1]},"c":[]}', 3],
  ['"[[[{"', 0],
  ['["\\"[[", "\\\\", [1]]', 2],
  ['["[[', 1],
  ['["\\\\\\"[[", "\\\\\\\\", [1]]', 2],
  ['"\\', 0],
])("%s nests %d deep", (text, depth) => {
  expect(checkMembers(text)).toBe(depth);
});

test("limits the members of each object, and of all lists and objects together", () => {
  for (const text of [
    makeObject(members.max),
    `[${makeObject(members.max)},${makeObject(members.max)}]`,
    JSON.stringify(":".repeat(members.max + 1)),
    makeList(containers.max),
  ])
    expect(checkMembers(text)).toBeLessThan(3);
  for (const text of [makeObject(members.max + 1), makeList(containers.max + 1)])
    expect(() => checkMembers(text)).toThrow(expect.objectContaining({ code: "too_large" }));
});

test("continues counting the members of an object after a nested object", () => {
  const inner = `{"x":{"y":1},${makeObject(members.max).slice(1)}`;
  expect(() => checkMembers(inner)).toThrow();
});

test("forms have a limit of fields", () => {
  expect(checkFields(makeForm(members.max))).toBeUndefined();
  expect(() => checkFields(makeForm(members.max + 1))).toThrow();
});
