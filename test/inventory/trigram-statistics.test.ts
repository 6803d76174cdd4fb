import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { Query } from "../../src/inventory/model/operator.ts";
import { Statements } from "../../src/inventory/records/statements.ts";
import { TrigramStatistics } from "../../src/inventory/records/trigram-statistics.ts";

/** A table of 1,000 rows, whose trigrams occur as often as `countItem` says. */
function statistics(chooseCount: (trigram: string) => number) {
  const counted: string[] = [];
  const query: Query = {
    all: () => [],
    get({ args: [quoted] }) {
      if (quoted === undefined) return { rows: 1000 };
      const trigram = String(quoted).slice(1, -1);
      counted.push(trigram);
      return { rows: chooseCount(trigram), oldest: 1 };
    },
  };
  const { choose } = new TrigramStatistics(query);
  return { counted, choose: (text: string) => choose("location", text) };
}

test("chooses the rarest trigrams first, and none if all are common", () => {
  const { choose } = statistics((trigram) => ({ box: 900, "ox ": 800, "x 7": 3 })[trigram] ?? 500);
  expect(choose("box 7")).toEqual(["x 7", "ox ", "box"]);
  expect(choose("box")).toBeUndefined();
});

test("stops at a trigram that does not occur", () => {
  const { choose, counted } = statistics((trigram) => (trigram === "cde" ? 0 : 100));
  expect(choose("abcdefgh")).toEqual(["cde"]);
  expect(counted).toEqual(["abc", "bcd", "cde"]);
});

test("counts few trigrams of a long text", () => {
  const { choose, counted } = statistics(() => 100);
  const long = Array.from({ length: 50_000 }, (_, i) => String.fromCodePoint(0x10000 + i)).join("");
  expect([...choose(long)![0]]).toEqual([...long].slice(0, 3));
  expect(counted.length).toBe(24);
});

test("estimates the frequency of common trigrams by the newest rows", () => {
  const database = new Database(":memory:");
  database.run("CREATE TABLE box (rid INTEGER PRIMARY KEY)");
  database.run(
    "CREATE VIRTUAL TABLE record_text_box USING fts5 (text, tokenize = 'trigram case_sensitive 1')",
  );
  database.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
     INSERT INTO record_text_box (rowid, text) SELECT i, iif(i % 4 = 0, 'four', iif(i % 100 = 1, 'rare', 'none')) FROM n`,
  );
  database.run("INSERT INTO box SELECT rowid FROM record_text_box");
  const statistics = new TrigramStatistics(new Statements(database));
  const count = (trigram: string): number => statistics.count("box", trigram);
  expect([count("rar"), count("xyz")]).toEqual([120, 0]);
  expect(count("fou")).toBeCloseTo(3000, -1);
});
