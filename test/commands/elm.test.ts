import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { labd } from "./labd.ts";

const TABLE = join(import.meta.dir, "../fixtures/elm-classes.tsv");

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-elm-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const elm = async (...words: string[]) => {
  const { stdout, stderr } = await labd(["elm", ...words, "--data-dir", join(directory, "data")]);
  return stdout + stderr;
};

test("imports, lists and removes a table", async () => {
  expect(await elm("list")).toMatch(/^48 motif classes, all built in\.\n/);
  const imported = await elm("import", TABLE);
  expect(imported).toBe("51 motif classes, 4 of them from elm-classes.tsv, version 1.4 of 2026-01-02.\n");
  expect(await elm("import", TABLE)).toBe(imported);
  const list = await elm("list");
  expect(list).toContain("LIG_SH3_1,ELME900001,SH3-class-I\t[RKY]..P..P\n");
  expect(list.split("\n").length).toBe(1 + 51 + 1);
  expect(await elm("remove")).toStartWith("48 motif classes");
  expect(await elm("remove")).toStartWith("No table was imported.\n");
});

test("names an invalid row and imports nothing", async () => {
  const file = join(directory, "bad.tsv");
  writeFileSync(file, "ELMIdentifier\tRegex\nA_1\tK\nA_2\tK{2,1}\n");
  expect(await elm("import", file)).toContain("Line 3: A_2, Regex, character");
  expect(await elm("list")).toStartWith("48 motif classes, all");
  expect(await elm("import", "/nowhere/to/be/found")).toContain("and no directory /nowhere/to/be.");
});
