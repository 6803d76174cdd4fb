import { expect, test } from "bun:test";
import type { MatchRow } from "../../../src/scoring/table/match-row.ts";
import { bestRows, resultRows } from "../../../src/scoring/table/rows.ts";
import { SAMPLE } from "../sample-prediction.ts";

test("the best match of each motif has the number of its matches, and motifs without a match stay", () => {
  const best = bestRows(resultRows(SAMPLE, () => null));
  expect(best).toMatchObject([
    { motif: "F.{1,2}W", number: 1, text: "FSDW", overallVerdict: "likely functional", matches: 3 },
    { motif: "LIG_SH3_1", missing: "no match" },
  ]);
});

test("the best match has the smallest P value, then the largest z; a match without P is last", () => {
  const [row] = resultRows(SAMPLE, () => null) as MatchRow[];
  const match = (number: number, overallPValue: number | null, z: number | null): MatchRow => ({
    ...row,
    number,
    overallPValue,
    z,
  });
  const findBest = (...rows: MatchRow[]) => bestRows(rows)[0].number;
  const [none, weak, weaker, strong] = [
    match(1, null, null),
    match(2, 0.4, 0.2),
    match(3, 0.4, 0.1),
    match(4, 0.02, 1.9),
  ];
  expect([findBest(none), findBest(none, weaker, weak), findBest(none, weak, strong)]).toEqual([1, 2, 4]);
});
