import { expect, setDefaultTimeout, test } from "bun:test";
import {
  type ProteomePart,
  type ProteomeRequest,
  searchFamilies,
} from "../../src/scoring/proteome/search.ts";
import { makeTable } from "../../src/scoring/proteome/table.ts";
import { proteomeStage, storeFamilies } from "./proteome-stage.ts";

setDefaultTimeout(60_000);

test("yields the matches of a few proteins first, and ranks any part of them", async () => {
  const stage = proteomeStage();
  storeFamilies(stage.corpus, [...Array(20).keys()]);
  const request: ProteomeRequest = {
    corpus: stage.corpus,
    pattern: { expression: "P..P", name: null, dialect: "plain" },
    model: "continuous",
    selection: {},
    workers: 1,
  };
  const parts: ProteomePart[] = [];
  for await (const part of searchFamilies(request)) parts.push(part);
  const counts = parts.map(({ searched, total, missing }) => ({ searched, total, missing }));
  expect(counts).toEqual([
    { searched: 16, total: 20, missing: 4 },
    { searched: 20, total: 20, missing: 4 },
  ]);
  const matches = parts.flatMap((part) => part.matches);
  const all = makeTable(request, matches, parts[1]);
  expect(makeTable(request, matches.toReversed(), parts[1])).toEqual(all);
  const first = makeTable(request, parts[0].matches, parts[0]);
  expect(first).toMatchObject({ searched: 16, missing: 4 });
  expect(first.rows.length).toBeGreaterThan(0);
  expect(first.rows.length).toBeLessThan(all.rows.length);
  stage.remove();
});
