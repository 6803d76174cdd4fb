import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "../../src/commands/command.ts";
import { formatHelp } from "../../src/commands/help.ts";
import { runCommand } from "../../src/commands/run-command.ts";
import { scratch } from "./labd.ts";

/**
 * Steps to add a command: one file such as `src/commands/residues.ts` with this declaration, and its name in the list of
 * `src/commands/main.ts`. Help, parsing, usage errors and docs come from the declaration.
 */
const residues: Command = {
  name: "residues",
  summary: "Count the residues of a FASTA file.",
  settings: ["log"],
  flags: { "--format text|json": "Output format; text by default." },
  example: "labd residues count proteins.fasta --least 100",
  actions: {
    count: {
      summary: "Count the residues of every sequence.",
      operands: "FILE",
      flags: { "--least 1-100000": "Only sequences of at least so many residues." },
      async run(call) {
        const records = readFileSync(call.operands[0], "utf8").split(/^>/m).slice(1);
        const counts = records.map((record) => record.split("\n").slice(1).join("").length);
        const found = counts.filter((count) => count >= (call.number("--least") ?? 1));
        if (call.value("--format") === "json") await call.printJson(found);
        else await call.print(`${found.join("\n")}\n`);
        return found.length > 0 ? 0 : 1;
      },
    },
  },
};

async function run(...words: string[]): Promise<[number, string]> {
  let printed = "";
  const write = (text: string | Uint8Array, done?: () => void): void => {
    printed += String(text);
    done?.();
  };
  return [await runCommand(residues, words, {}, { stdout: { write }, stderr: { write } }), printed];
}

test("a declaration provides a command's parsing, errors and help", async () => {
  using place = scratch();
  const file = join(place.directory, "proteins.fasta");
  writeFileSync(file, ">A\nMKLV\n>B\nMK\nLVAA\n");
  expect(await run("count", file)).toEqual([0, "4\n6\n"]);
  expect(await run("count", file, "--least=5", "--format", "json")).toEqual([0, "[\n  6\n]\n"]);
  expect((await run("count", file, "--least", "7"))[0]).toBe(1);
  expect(run("count")).rejects.toThrow("labd residues count needs FILE. See labd residues --help.");
  expect(run("count", file, "--least", "0")).rejects.toThrow(
    "--least: expected a whole number from 1 to 100000.",
  );
  expect(run("cout", file)).rejects.toThrow("Did you mean count?");
  expect(formatHelp(residues)).toContain("Flags of count:\n  --least 1-100000");
});
