import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCall } from "../../src/commands/command-line.ts";
import { elm } from "../../src/commands/elm.ts";

const TABLE = join(import.meta.dir, "../fixtures/elm-classes.tsv");

let directory: string;
let written: string;
let stdout: ReturnType<typeof spyOn<typeof process.stdout, "write">>;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-elm-"));
  written = "";
  stdout = spyOn(process.stdout, "write").mockImplementation((text) => {
    written += String(text);
    return true;
  });
});
afterEach(() => {
  stdout.mockRestore();
  rmSync(directory, { recursive: true, force: true });
});

/** What the verb prints. */
async function run(...words: string[]): Promise<string> {
  written = "";
  const call = parseCall(elm, [...words, "--data-dir", join(directory, "data")], {});
  expect(await elm.run(call)).toBe(0);
  return written;
}

test("import, list, remove", async () => {
  expect(await run("list")).toMatch(/^48 motif classes, all of them those that come with the program\.\n/);
  const imported = await run("import", TABLE);
  expect(imported).toBe("52 motif classes, 4 of them from elm-classes.tsv, version 1.4 of 2026-01-02.\n");
  expect(await run("import", TABLE)).toBe(imported);
  const list = await run("list");
  expect(list).toContain("LIG_SH3_1,ELME900001\t[RKY]..P..P\n");
  expect(list.split("\n").length).toBe(1 + 52 + 1);
  expect(await run("remove")).toStartWith("48 motif classes");
  expect(await run("remove")).toStartWith("No table was imported.\n");
});

test("a bad row is named, and nothing is imported", async () => {
  const file = join(directory, "bad.tsv");
  writeFileSync(file, "ELMIdentifier\tRegex\nA_1\tK\nA_2\tK{2,1}\n");
  await expect(run("import", file)).rejects.toThrow("Line 3: A_2, Regex, character");
  expect(await run("list")).toStartWith("48 motif classes, all");
});

test.each([
  [["import"], "Usage: labd elm import FILE | list | remove."],
  [["list", "file"], "Usage"],
  [["remove", "file"], "Usage"],
  [["import", "a", "b"], "Usage"],
  [[], "labd elm needs an action: import, list, remove."],
  [["imprt", "a"], "Did you mean import?"],
  [
    ["import", "/nowhere/to/be/found"],
    "There is no file /nowhere/to/be/found, nor its directory /nowhere/to/be.",
  ],
])("%p is refused", async (words, text) => {
  await expect(run(...words)).rejects.toThrow(text);
});
