import { expect, test } from "bun:test";
import { shardHeader, type NamedQuestion } from "../../src/scoring/index.ts";
import { shardRange } from "../../src/scoring/batch/shard-range.ts";

/** Lengths as those of proteins, some of them giants, by a generator with a seed (Park and Miller). */
function drawLengths(count: number, seed: number): number[] {
  let state = seed;
  const next = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return Array.from({ length: count }, () => Math.round(30 * Math.exp(5 * next() * next()) ** 1.3));
}

test.each([
  [1, 1],
  [7, 3],
  [3, 8],
  [0, 4],
  [1000, 16],
  [5000, 1000],
])("divides %d queries into %d shards of consecutive queries with nearly equal costs", (count, of) => {
  const lengths = drawLengths(count, 11 + of);
  const ranges = Array.from({ length: of }, (_, i) => shardRange(lengths, { shard: i + 1, of }));
  expect(ranges[0].from).toBe(0);
  expect(ranges.at(-1)!.to).toBe(count);
  for (const [i, { from, to }] of ranges.entries()) {
    expect(to).toBeGreaterThanOrEqual(from);
    if (i > 0) expect(from).toBe(ranges[i - 1].to);
  }
  const costs = lengths.map((length) => length + 50);
  const mean = costs.reduce((sum, cost) => sum + cost, 0) / of;
  const most = Math.max(0, ...costs);
  for (const { from, to } of ranges) {
    const own = costs.slice(from, to).reduce((sum, cost) => sum + cost, 0);
    // A query is not cut: at both ends at most half of one is too much or too little.
    expect(Math.abs(own - mean)).toBeLessThanOrEqual(most);
  }
});

test("puts a giant query into its own shard", () => {
  const lengths = [...Array<number>(50).fill(100), 30_000, ...Array<number>(50).fill(100)];
  const ranges = [1, 2, 3].map((shard) => shardRange(lengths, { shard, of: 3 }));
  expect(ranges).toEqual([
    { from: 0, to: 50 },
    { from: 50, to: 51 },
    { from: 51, to: 101 },
  ]);
});

test("describes a run only by names, descriptions, sequences and patterns", () => {
  const pattern = { expression: "P..P", name: null, dialect: "plain" as const };
  const questions: NamedQuestion[] = ["MKLT", "MKLV"].map((sequence, i) => ({
    name: `q${i}`,
    description: "",
    sequence,
    patterns: [pattern],
  }));
  const run = {
    labd: "1",
    format: "tsv",
    model: "continuous",
    options: "{}",
    corpus: "c",
    method: "labd-4",
  };
  const of = (questions: NamedQuestion[]) => shardHeader(questions, { shard: 1, of: 2 }, run).run;
  const same = of(questions.map((question) => ({ ...question, patterns: [{ ...pattern }] })));
  expect(same).toEqual(of(questions));
  const changed = (change: Partial<NamedQuestion>) => of([questions[0], { ...questions[1], ...change }]);
  for (const change of [{ name: "q" }, { description: "d" }, { sequence: "MKLI" }]) {
    expect(changed(change).queries).not.toBe(same.queries);
    expect(changed(change).patterns).toBe(same.patterns);
  }
  for (const other of [
    { ...pattern, expression: "P.P" },
    { ...pattern, name: "N" },
  ]) {
    expect(changed({ patterns: [other] }).patterns).not.toBe(same.patterns);
    expect(changed({ patterns: [other] }).queries).toBe(same.queries);
  }
  expect(of([...questions].reverse()).queries).not.toBe(same.queries);
});
