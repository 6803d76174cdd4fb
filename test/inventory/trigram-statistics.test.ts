import { expect, test } from "bun:test";
import type { Query } from "../../src/inventory/model/operator.ts";
import { TrigramStatistics } from "../../src/inventory/records/trigram-statistics.ts";

/** A table of 1,000 rows, whose trigrams occur as often as `countOf` says. */
function statistics(countOf: (trigram: string) => number) {
  const counted: string[] = [];
  const query: Query = {
    all: () => [],
    get({ text, args: [trigram] }) {
      if (trigram === undefined) return { rows: text.startsWith("SELECT max") ? 1000 : 0 };
      counted.push(String(trigram));
      return { rows: countOf(String(trigram)) };
    },
  };
  const { choose } = new TrigramStatistics(query);
  return { counted, choose: (text: string) => choose({ table: "location_fts", column: "label" }, text) };
}

test("chooses the rarest trigram, and none if all are common", () => {
  const { choose } = statistics((trigram) => ({ box: 900, "ox ": 800, "x 7": 3 })[trigram] ?? 500);
  expect(choose("box 7")).toBe("x 7");
  expect(choose("box")).toBeUndefined();
});

test("looks no further than a trigram that does not occur", () => {
  const { choose, counted } = statistics((trigram) => (trigram === "cde" ? 0 : 100));
  expect(choose("abcdefgh")).toBe("cde");
  expect(counted).toEqual(["abc", "bcd", "cde"]);
});

test("counts few trigrams of a long text", () => {
  const { choose, counted } = statistics(() => 100);
  const long = Array.from({ length: 50_000 }, (_, i) => String.fromCodePoint(0x10000 + i)).join("");
  expect([...choose(long)!]).toEqual([...long].slice(0, 3));
  expect(counted.length).toBe(198);
});
