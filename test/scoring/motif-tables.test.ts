import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readPatterns } from "../../src/scoring/corpus/patterns.ts";
import { findClassFacts } from "../../src/scoring/corpus/class-facts.ts";
import { starterClasses } from "../../src/scoring/corpus/motif-classes.ts";
import { MotifTables } from "../../src/scoring/corpus/motif-tables.ts";
import type { Database } from "../../src/platform/sqlite.ts";
import { openMigrated } from "../database.ts";

const TABLE = readFileSync(join(import.meta.dir, "../fixtures/elm-classes.tsv"));
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

let directory: string;
let database: Database;
let tables: MotifTables;
let now = 1000;
const clock = { now: () => now, newId: () => "" };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-motifs-"));
  database = openMigrated(join(directory, "labd.sqlite"));
  tables = new MotifTables(database, clock);
});
afterEach(() => {
  database.close();
  rmSync(directory, { recursive: true, force: true });
});

test("lists only the built-in classes without an imported table", () => {
  expect(tables.classes).toEqual(starterClasses());
  expect(tables.imported()).toBeNull();
  expect(tables.remove()).toBe(false);
});

test("finds an imported class by identifier and accession before the built-in class of that name", () => {
  const before = tables.find("LIG_SH3_1");
  expect(before.name).toBe("SH3-class-I");
  tables.import("elm.tsv", TABLE);
  expect(tables.find("LIG_SH3_1")).toMatchObject({ expression: "[RKY]..P..P", dialect: "elm" });
  expect(tables.find("ELME900001")).toBe(tables.find("LIG_SH3_1"));
  expect(tables.find("SH3-class-I")).toBe(tables.find("LIG_SH3_1"));
  expect(tables.find("DEG_MDM2_SWIB_1").dialect).toBe("plain");
  expect(tables.classes.length).toBe(starterClasses().length + 3);
  const named = tables.classes.flatMap(({ name, aliases }) => [name, ...aliases]);
  expect(new Set(named).size).toBe(named.length);
  expect(readPatterns({ patterns: [], motifClasses: ["LIG_LAB_1"] }, tables)).toEqual([
    { expression: "(?<![DE])RGD(?=[ST])", name: "LIG_LAB_1", dialect: "elm" },
  ]);
});

test("a scan tests the built-in classes, or only the classes of an imported table", () => {
  expect(tables.scanned).toEqual(starterClasses());
  tables.import("elm.tsv", TABLE);
  expect(tables.scanned.map(({ name }) => name)).toEqual(tables.importedClasses().map(({ name }) => name));
  tables.remove();
  expect(tables.scanned).toEqual(starterClasses());
});

test("notices immediately when another process imports or removes a table", () => {
  const other = openMigrated(join(directory, "labd.sqlite"));
  const importer = new MotifTables(other, clock);
  expect(() => tables.find("LIG_LAB_1")).toThrow(expect.objectContaining({ code: "unknown_motif_class" }));
  importer.import("elm.tsv", TABLE);
  expect(tables.find("LIG_LAB_1").expression).toContain("RGD");
  importer.import("own.tsv", bytes("ELMIdentifier\tRegex\nLIG_LAB_1\tKKK\n"));
  expect(tables.find("LIG_LAB_1").expression).toBe("KKK");
  expect(() => tables.find("MOD_LAB_2")).toThrow();
  importer.remove();
  expect(() => tables.find("LIG_LAB_1")).toThrow();
  expect(tables.find("LIG_SH3_1").name).toBe("SH3-class-I");
  other.close();
});

test("ignores a repeated import, and replaces the table by a different one", () => {
  const first = tables.import("elm.tsv", TABLE);
  expect(first).toMatchObject({
    name: "elm.tsv",
    version: "1.4",
    published: "2026-01-02 03:04:05.678901",
    imported: 1000,
    size: 4,
  });
  now = 2000;
  expect(tables.import("again.tsv", TABLE)).toEqual(first);
  expect(tables.import("own.tsv", bytes("ELMIdentifier\tRegex\nA_1\tKKK\n"))).toMatchObject({
    name: "own.tsv",
    version: null,
    imported: 2000,
    size: 1,
  });
  expect(tables.remove()).toBe(true);
  expect(tables.classes).toEqual(starterClasses());
});

test("a built-in pattern means the same before and after its class is replaced", () => {
  const stored = readPatterns({ patterns: [], motifClasses: ["WW-PIN1", "DOC_WW_Pin1_4"] }, tables);
  const before = findClassFacts(stored, tables);
  tables.import("elm.tsv", bytes("ELMIdentifier\tRegex\nDOC_WW_Pin1_4\t...([ST])P.\n"));
  expect(findClassFacts(stored, tables)).toEqual(before);
  expect(before[0]).toEqual({ compartments: ["inside"], phosphosite: { letters: "ST", at: 1 } });
  expect(readPatterns({ patterns: [], motifClasses: ["WW-PIN1"] }, tables)).toEqual([
    { expression: "...([ST])P.", name: "WW-PIN1", dialect: "elm" },
  ]);
  tables.remove();
  expect(readPatterns({ patterns: [], motifClasses: ["WW-PIN1"] }, tables)).toEqual([stored[0]]);
});

test("the same table adds the titles that an earlier version did not store", () => {
  tables.import("elm.tsv", TABLE);
  database.run("UPDATE motif_class SET title = ''");
  now = 3000;
  expect(tables.import("elm.tsv", TABLE)).toMatchObject({ imported: 3000, size: 4 });
  expect(tables.importedClasses().map(({ title }) => title)).toContain("SH3 ligand");
});

test("keeps the previous table if a row is invalid", () => {
  tables.import("elm.tsv", TABLE);
  const bad = bytes("ELMIdentifier\tRegex\nA_1\tKKK\nA_2\t((\n");
  expect(() => tables.import("bad.tsv", bad)).toThrow(
    expect.objectContaining({ message: expect.stringContaining("Line 3: A_2, Regex, character") }),
  );
  expect(() => tables.import("bad.tsv", new Uint8Array([0xff, 0xfe, 0x41]))).toThrow("UTF-8");
  expect(tables.imported()).toMatchObject({ name: "elm.tsv", size: 4 });
  expect(() => tables.find("A_1")).toThrow();
});

test("keeps the previous table if the disk is full", () => {
  tables.import("elm.tsv", TABLE);
  database.run(
    "CREATE TEMP TRIGGER full BEFORE INSERT ON motif_class BEGIN SELECT RAISE(ABORT, 'disk full'); END",
  );
  expect(() => tables.import("own.tsv", bytes("ELMIdentifier\tRegex\nA_1\tKKK\n"))).toThrow("disk full");
  expect(tables.imported()).toMatchObject({ name: "elm.tsv", size: 4 });
  expect(tables.importedClasses().length).toBe(4);
});
