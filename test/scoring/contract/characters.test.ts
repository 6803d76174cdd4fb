import { expect, test } from "bun:test";
import {
  disallowedCharacter,
  printXsdPattern,
  describeCharacter,
} from "../../../src/scoring/contract/characters.ts";
import { type Field, SERVICE } from "../../../src/scoring/contract/service.ts";

/** The specification's sets, spelled out: white space is that of XML Schema's \s. */
const SPACE = " \t\r\n";
const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS = "0123456789";
const SETS: Record<string, string> = {
  querySequence: UPPER + SPACE,
  regularExpression: `ACDEFGHIKLMNPQRSTVWY${DIGITS}.,^$*+?|[]{}()${SPACE}`,
  elmIdentifierName: `${UPPER}${UPPER.toLowerCase()}${DIGITS}-_`,
};

const findClass = (name: string) => {
  const { type } = (SERVICE.operations.RunJob.request as Record<string, Field>)[name];
  if ("isPrediction" in type || !type.characters) throw new Error(`${name} has no characters.`);
  return type.characters;
};

test.each(Object.keys(SETS))("%s allows exactly the characters of the specification", (name) => {
  const outsider = disallowedCharacter(findClass(name));
  const allowed: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    if (!outsider.test(character)) allowed.push(character);
  }
  expect(allowed).toEqual([...new Set(SETS[name])].sort());
});

test("derives the patterns of the schema", () => {
  expect(Object.keys(SETS).map((name) => printXsdPattern(findClass(name)))).toEqual([
    String.raw`[A-Z\s]*`,
    String.raw`[0-9ACDEFGHIKLMNPQRSTVWY.,\^$*+?|\[\]{}()\s]*`,
    String.raw`[A-Za-z0-9\-_]*`,
  ]);
});

test("describes characters for messages", () => {
  expect(["a", "\u00A0", "\n", "\u{1D400}x", "é", "\u007F", "<"].map(describeCharacter)).toEqual([
    "U+0061 'a'",
    "U+00A0",
    "U+000A",
    "U+1D400",
    "U+00E9",
    "U+007F",
    "U+003C '<'",
  ]);
});
