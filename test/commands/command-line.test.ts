import { expect, test } from "bun:test";
import { helpOf, parseCall, type Command } from "../../src/commands/command-line.ts";

const verb: Command = {
  name: "score",
  summary: "Score.",
  flags: [
    { name: "--pattern", value: "P", sentence: "A pattern; may be repeated." },
    { name: "--once", sentence: "A switch." },
  ],
  settings: ["port", "data_dir"],
  example: "labd score --pattern P..P",
  run: async () => 0,
};

test("values by space or equals sign, repeated flags in order, settings among them", () => {
  const call = parseCall(verb, ["--pattern", "P..P", "--pattern=[RK]=", "--once", "--port", "9000"], {});
  expect(call.values("--pattern")).toEqual(["P..P", "[RK]="]);
  expect([call.has("--once"), call.has("--help")]).toEqual([true, false]);
  expect(call.configuration().config.port).toBe(9000);
});

test.each([
  [["--patern", "x"], "There is no flag --patern. Did you mean --pattern?"],
  [["--zzzzzzzz"], "There are --pattern, --once"],
  [["--pattern"], "--pattern needs a value: --pattern P."],
  [["--once=yes"], "--once takes no value."],
  [["stray"], "takes no operand, but stray was given"],
])("%p is refused", (words, text) => {
  expect(() => parseCall(verb, words, {})).toThrow(text);
});

test("behind -- everything is an operand", () => {
  expect(parseCall({ ...verb, operands: "FILE" }, ["--once", "--", "--pattern"], {}).operands).toEqual([
    "--pattern",
  ]);
});

test("help has usage, every flag and the example", () => {
  const help = helpOf(verb);
  for (const part of [
    "Usage: labd score [flags]",
    "--pattern P",
    "--once",
    "--port N",
    "--data-dir VALUE",
    "--config FILE",
    "Example:\n  labd score",
  ]) {
    expect(help).toContain(part);
  }
});
