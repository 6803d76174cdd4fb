import { expect, test } from "bun:test";
import { join } from "node:path";
import { labd, scratch } from "./labd.ts";

test("labd corpus find lists proteins by gene, name and species", async () => {
  using place = scratch();
  const data = ["--data-dir", join(place.directory, "data")];
  const find = (...words: string[]) => labd(["corpus", "find", ...words, ...data]);
  expect((await find("p53")).stderr).toContain("There is no corpus yet");
  await labd(["corpus", "add", "--sample", ...data]);
  const { stdout } = await find("P53_HUMAN");
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/)[0])).toEqual(["accession", "P04637", ""]);
  expect(stdout).toMatch(/P53_HUMAN.*Homo sapiens +393/);
  const json = JSON.parse((await find("human", "--limit", "1", "--format", "json")).stdout);
  expect(json.results).toHaveLength(1);
  expect(json.total).toBeGreaterThan(10);
  expect((await find("human", "--limit", "1")).stderr).toMatch(/\d+ more; raise --limit or add words\./);
  const none = await find("p53", "unicorn");
  expect([none.code, none.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining(
      "No protein of the active corpus (496 proteins) has these words. Near misses: TP53 Homo sapiens P04637; P53_MOUSE Mus musculus P02340;",
    ),
  ]);
  expect(none.code).not.toBe(0);
  expect((await find("tp53", "mouse")).stdout).toContain("P53_MOUSE");
  expect((await find("e7", "papillomavirus")).stdout).toContain("VE7_HPV16");
  expect((await find("TP35")).stderr).toContain("Near misses: TP53 Homo sapiens P04637");
});
