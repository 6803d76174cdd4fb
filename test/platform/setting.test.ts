import { expect, test } from "bun:test";
import { bool, choice, integer, text } from "../../src/platform/setting.ts";

const wording = { sentence: "For a test." };
const word = text("x", "a word", /^[a-z]+$/, wording);
const port = integer(5, 2, 10, wording);
const flag = bool(false, wording);
const level = choice("low", ["low", "high"], wording);

test.each([
  [word, "lab", "lab"],
  [word, "Lab", undefined],
  [word, 5, undefined],
  [port, "2", 2],
  [port, "10", 10],
  [port, 7, 7],
  [port, "1", undefined],
  [port, "11", undefined],
  [port, 2.5, undefined],
  [port, "2.5", undefined],
  [port, " 5", undefined],
  [port, true, undefined],
  [flag, true, true],
  [flag, "yes", true],
  [flag, "On", true],
  [flag, "1", true],
  [flag, "true", true],
  [flag, false, false],
  [flag, "no", false],
  [flag, "OFF", false],
  [flag, "0", false],
  [flag, "false", false],
  [flag, "maybe", undefined],
  [level, "high", "high"],
  [level, "High", undefined],
] as const)("the type %j reads %p as %p", (setting, value, read) => {
  expect<unknown>(setting.read(value)).toBe(read);
});

test.each([
  [word, "a word", "x"],
  [port, "a whole number from 2 to 10", 5],
  [flag, "true or false", false],
  [level, "one of low, high", "low"],
] as const)("a field with %j allows %p and has a default", (setting, allowed, fallback) => {
  expect([setting.allowed, setting.fallback, setting.sentence]).toEqual([allowed, fallback, "For a test."]);
});
