import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readElmTable } from "../../src/scoring/corpus/elm-table.ts";

const TABLE = readFileSync(join(import.meta.dir, "../fixtures/elm-classes.tsv"), "utf8");
const HEAD = `"Accession"\t"ELMIdentifier"\t"Description"\t"Regex"`;

/** The message of a refusal, line by line. */
function refusal(text: string): string[] {
  try {
    readElmTable(text);
  } catch (error) {
    expect(error).toMatchObject({ code: "invalid_request" });
    return (error as Error).message.split("\n");
  }
  throw new Error("it was not refused");
}

describe("a table in ELM's format", () => {
  test("a table may have comments, quoted and plain cells, and lookarounds", () => {
    const { version, published, classes } = readElmTable(TABLE);
    expect([version, published]).toEqual(["1.4", "2026-01-02 03:04:05.678901"]);
    expect(classes.map(({ name, aliases, expression }) => [name, ...aliases, expression])).toEqual([
      ["LIG_SH3_1", "ELME900001", "[RKY]..P..P"],
      ["LIG_LAB_1", "ELME900002", "(?<![DE])RGD(?=[ST])"],
      ["MOD_LAB_2", "ELME900003", "^M[^P].{0,1}(K|R)$"],
      ["DEG_LAB_3", "ELME900004", "(?:D|E)(?!P)."],
    ]);
    expect(classes.map(({ description }) => description)).toEqual([
      'A proline helix, said to "like" arginine.',
      "Laboratory site",
      "Without quotation marks",
      "Ends: [DE]-|-X.",
    ]);
    expect(new Set(classes.map(({ dialect }) => dialect))).toEqual(new Set(["elm"]));
  });

  test("HTML in descriptions becomes text, once", () => {
    const describe = (text: string) =>
      readElmTable(`ELMIdentifier\tRegex\tDescription\nA_1\tK.\t${text}\n`).classes[0].description;
    expect(describe("An &alpha;-helix, Zn<sup>2+</sup>, &#946; &#x3b3; &amp;alpha; &what; a < b")).toBe(
      "An α-helix, Zn2+, β γ &alpha; &what; a < b",
    );
  });

  test("a table may have a byte order mark, CRLF and empty lines", () => {
    expect(readElmTable(`\uFEFF${TABLE.replaceAll("\n", "\r\n\r\n")}`)).toEqual(readElmTable(TABLE));
  });

  test("a table may have its columns in any order; only name and expression are required", () => {
    const { version, published, classes } = readElmTable("Regex\tELMIdentifier\nK.\tA_1\n");
    expect([version, published]).toEqual([null, null]);
    expect(classes).toMatchObject([{ name: "A_1", aliases: [], expression: "K.", description: "" }]);
  });
});

describe("invalid tables", () => {
  test.each([
    ["nothing", ""],
    ["only comments", "#Type: tsv\n"],
    ["another page", "<!DOCTYPE html>\n<html>"],
    ["other columns", "Name\tRegex\nA\tK"],
    ["commas", "ELMIdentifier,Regex\nA,K"],
  ])("rejects %s because it has no column names", (_, text) => {
    expect(refusal(text)[0]).toContain(
      "expected tab-separated column names that include ELMIdentifier and Regex",
    );
  });

  test.each([
    ["a missing cell", `"1"\t"A"\t"K"`, "3 cells for 4 columns"],
    ["a cell too many", `"1"\t"A"\t""\t"K"\t""`, "5 cells"],
    ["an open quotation mark", `"1"\t"A"\t"K\t"R"`, "quotation mark"],
    ["a quotation mark inside", `"1"\t"A"\t"a "b" c"\t"R"`, "quotation mark"],
    ["no name", `"1"\t""\t""\t"K"`, "ELMIdentifier: expected"],
    ["a name with other characters", `"1"\t"A B"\t""\t"K"`, "ELMIdentifier: expected"],
    ["an accession with other characters", `"<x>"\t"A"\t""\t"K"`, "A, Accession: expected"],
    ["no expression", `"1"\t"A"\t""\t""`, "A, Regex: empty"],
    ["an expression without meaning", `"1"\t"A"\t""\t"K(("`, "A, Regex, character 3:"],
    ["a name twice", `"1"\t"B"\t""\t"K"\n"2"\t"B"\t""\t"K"`, "B is also in line 2"],
    ["an accession twice", `"1"\t"B"\t""\t"K"\n"1"\t"C"\t""\t"K"`, "1 is also in line 2"],
    ["an accession that is another's name", `"1"\t"B"\t""\t"K"\n"B"\t"C"\t""\t"K"`, "B is also in line 2"],
    ["no row", "", "no class"],
  ])("%s", (_, rows, words) => {
    const [first, ...bad] = refusal(`${HEAD}\n${rows}\n`);
    expect(first).toBe("The table is not imported.");
    expect(bad.length).toBe(1);
    expect(bad[0]).toContain(words);
  });

  test("names the line of each invalid row", () => {
    const rows = ["1\tA\t\tK", "2\tB\t\t[", "3\tC\t\tR", "4\t\t\tR", "5\tD\t\t*"];
    const [, ...bad] = refusal(`#comment\n${HEAD}\n${rows.join("\n")}`);
    expect(bad.map((line) => line.slice(0, 7))).toEqual(["Line 4:", "Line 6:", "Line 7:"]);
  });

  test("lists twenty invalid rows and counts the others", () => {
    const rows = Array.from({ length: 300 }, (_, i) => `${i}\tN${i}\t\t(`);
    const [, ...bad] = refusal(`${HEAD}\n${rows.join("\n")}`);
    expect(bad.length).toBe(21);
    expect(bad[20]).toBe("… and 280 more.");
  });

  test("rejects a truncated file that announces more classes than it contains", () => {
    const cut = TABLE.split("\n").slice(0, -2).join("\n");
    expect(refusal(cut)[1]).toContain("announces 4 classes but contains 3");
  });
});
