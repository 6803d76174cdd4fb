import { expect, test } from "bun:test";
import { type Call, type Command } from "../../src/commands/command.ts";
import { formatHelp } from "../../src/commands/help.ts";
import { runCommand } from "../../src/commands/run-command.ts";
import { loadCommands, main } from "../../src/commands/main.ts";
import { labd } from "./labd.ts";

const COMMANDS = await loadCommands();
let call: Call | undefined;
const run = (given: Call): void => void (call = given);
const score: Command = {
  name: "score",
  summary: "Score.",
  flags: {
    "--pattern P": "A pattern; may be repeated.",
    "--once": "A switch.",
    "--count 1-20": "A number.",
    "--format tsv|json": "A format.",
  },
  removedFlags: { "--old": "Use --once." },
  settings: ["port", "data_dir"],
  example: "labd score --pattern P..P",
  run,
};
const corpus: Command = {
  name: "corpus",
  summary: "Manage corpora.",
  settings: [],
  example: "labd corpus list",
  flags: { "--json": "JSON." },
  actions: {
    add: { summary: "Add one.", operands: "FILE [NAME]", flags: { "--use": "Use." }, run },
    merge: { summary: "Join.", operands: "FILE…", run },
    list: { summary: "List.", run: () => 3 },
  },
};
const parsed = async (command: Command, words: string[]): Promise<Call> => {
  await runCommand(command, words, {});
  return call!;
};

test("parses values, repeated flags, switches and settings", async () => {
  const call = await parsed(score, ["--pattern", "P..P", "--pattern=[RK]=", "--once", "--port", "9000"]);
  expect(call.values("--pattern")).toEqual(["P..P", "[RK]="]);
  expect([call.has("--once"), call.has("--help"), call.value("--pattern")]).toEqual([true, false, "[RK]="]);
  expect(call.configuration().config.port).toBe(9000);
  expect((await parsed(score, ["--count", "20"])).number("--count")).toBe(20);
  expect((await parsed(score, ["--count=1"])).number("--count")).toBe(1);
  expect((await parsed(score, [])).number("--count")).toBeUndefined();
});

test("a long flag does not squeeze the descriptions of all flags", () => {
  const flags = {
    "--group domain|ptm|motif|signal|transmembrane": "Group of all features.",
    "--name TEXT": "A name.",
  };
  expect(formatHelp({ ...score, flags, settings: [] })).toContain(`Flags:
  --group domain|ptm|motif|signal|transmembrane
               Group of all features.
  --name TEXT  A name.
`);
});

test("passes operands to the action, and treats words after -- as operands", async () => {
  expect((await parsed(corpus, ["add", "a.fasta"])).operands).toEqual(["a.fasta"]);
  expect((await parsed(corpus, ["--json", "add", "a.fasta", "b", "--use"])).operands).toEqual([
    "a.fasta",
    "b",
  ]);
  expect((await parsed(corpus, ["merge", "a", "b", "c"])).operands).toEqual(["a", "b", "c"]);
  expect((await parsed(corpus, ["add", "--", "--use"])).operands).toEqual(["--use"]);
  expect((await parsed(corpus, ["add", "-"])).operands).toEqual(["-"]);
  expect(await runCommand(corpus, ["list"], {})).toBe(3);
  expect(await runCommand(corpus, ["add", "x"], {})).toBe(0);
});

test.each([
  ["score", ["--patern", "x"], "There is no flag --patern. Did you mean --pattern? See labd score --help."],
  ["score", ["--zzzzzzzz"], "Choose from --pattern, --once"],
  ["score", ["--pattern"], "--pattern needs a value: --pattern P."],
  ["score", ["--once=yes"], "--once takes no value."],
  ["score", ["stray"], "labd score takes no operand, but stray was given. See labd score --help."],
  ["score", ["--count", "0"], "--count: expected a whole number from 1 to 20."],
  ["score", ["--count", "21"], "from 1 to 20"],
  ["score", ["--count", "2.5"], "from 1 to 20"],
  ["score", ["--format", "xml"], '--format: "xml" is not one of tsv, json.'],
  ["score", ["--old"], "--old was removed. Use --once."],
  ["corpus", [], "labd corpus needs an action: add, merge, list. See labd corpus --help."],
  ["corpus", ["lits"], "There is no action of labd corpus lits. Did you mean list?"],
  ["corpus", ["constructor"], "There is no action of labd corpus constructor."],
  ["corpus", ["add"], "labd corpus add needs FILE [NAME]. See labd corpus --help."],
  ["corpus", ["add", "a", "b", "c"], "labd corpus add takes only FILE [NAME], but c was given."],
  ["corpus", ["merge"], "labd corpus merge needs FILE…."],
  ["corpus", ["list", "--use"], "labd corpus list has no flag --use."],
] as ["score" | "corpus", string[], string][])("rejects %s %p", (name, words, text) =>
  expect(runCommand({ score, corpus }[name], words, {})).rejects.toThrow(text),
);

test("prints help with usage, actions, every flag and the example", () => {
  const help = formatHelp(score);
  for (const part of [
    "Usage: labd score [flags]",
    "--pattern P",
    "--count 1-20",
    "--format tsv|json",
    "--port N",
    "--data-dir VALUE",
    "--config FILE",
    "Example:\n  labd score",
  ])
    expect(help).toContain(part);
  expect(help).not.toContain("--old");
  expect(formatHelp(corpus)).toMatch(
    /Usage: labd corpus ACTION.*\nActions:\n {2}add FILE \[NAME\] +Add one\.\n.*Flags of add:\n {2}--use +Use\.\n\nFlags:\n {2}--json/s,
  );
});

test.each(COMMANDS.map(({ name }) => name))(
  "labd %s --help has an example and fits 100 columns",
  async (name) => {
    const { code, stdout } = await labd([name, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: labd ${name}`);
    expect(stdout).toContain("\nExample:\n  ");
    const body = stdout.slice(stdout.indexOf("Usage:"), stdout.indexOf("\nExample:"));
    for (const line of body.split("\n").filter((line) => line.includes("  ")))
      expect(line.length).toBeLessThan(110);
  },
);

test("labd lists all commands, prints its version, and rejects unknown words with exit code 64", async () => {
  const help = await labd([]);
  for (const { name, summary } of COMMANDS) {
    expect(help.stdout).toContain(`  ${name} `);
    expect(help.stdout.replace(/\s+/g, " ")).toContain(summary);
  }
  expect(await labd(["--help"])).toEqual(help);
  expect((await labd(["--version"])).stdout).toMatch(/^labd \d+\.\d+\.\d+\S* \(/);
  expect(await labd(["sevre"])).toMatchObject({ code: 64, stderr: expect.stringContaining("mean serve") });
  expect((await labd(["--prot"])).stderr).toStartWith("labd: There is no flag --prot.");
});

test("an unexpected error is printed with its cause, and without a request id", async () => {
  let printed = "";
  const stdout = {
    write(): never {
      throw new Error("the pipe broke");
    },
  };
  const stderr = { write: (text: string) => (printed += text) };
  expect(await main(["--version"], {}, { stdout, stderr })).toBe(70);
  expect(printed).toStartWith("labd: Unexpected error: the pipe broke. This is a defect of labd");
  expect(printed).not.toContain("request id");
});
