import { expect, test } from "bun:test";
import { orderRows } from "../../src/scoring/table/view.ts";
import { makeScan } from "../../src/scoring/results/scan.ts";
import { MATCH_TABLES } from "../../src/scoring/table/match-tables.ts";
import { facetRows, filtersIn, filterRows, readFilters } from "../../src/scoring/table/filters.ts";
import { setQueryValues } from "../../src/web/address.ts";
import { viewParameters } from "../../src/web/score/match-view.ts";
import { shortNumber } from "../../src/web/score/result.ts";
import { namePlaces, type ScanMatch, scanAnswer } from "../../src/web/score/scan.ts";
import type { AnnotatedReport, MatchNotes } from "../../src/scoring/features/annotation.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const [SAMPLE_MATCH] = makeScan(SAMPLE).matches;
const match = (more: Partial<ScanMatch>): ScanMatch => ({ ...SAMPLE_MATCH, isBest: true, ...more });
function notes(domain: string, phosphosite: number, logic?: string): MatchNotes {
  const place = { start: 1, end: 4, name: "X", id: "ELMI1", type: "", source: "ELM" };
  const instances = logic === undefined ? [] : [{ group: "motif" as const, ...place, logic }];
  return { instances, homologs: [], domains: domain === "" ? [] : [domain], phosphosite, sentence: null };
}
const MATCHES = [
  match({
    number: 1,
    type: "LIG",
    q: 0.01,
    verdict: "likely functional",
    disorder: 0.9,
    notes: notes("SH3", 5),
  }),
  match({
    number: 2,
    type: "DEG",
    q: 0.1,
    verdict: "possible",
    disorder: 0.1,
    isBest: false,
    notes: notes("", 0, "true positive"),
  }),
  match({
    number: 3,
    type: null,
    q: 0.5,
    verdict: "no evidence",
    disorder: 0.9,
    notes: notes("", 6, "false positive"),
  }),
  match({ number: 4, type: "LIG", q: null, verdict: "not scored", disorder: null }),
];

const TABLE = MATCH_TABLES.scan;
const FILTERS = TABLE.filters;
const listValues = (query: string) => filtersIn(FILTERS, new URLSearchParams(query));
const listed = (matches: readonly ScanMatch[], query: string) =>
  filterRows(matches, FILTERS, listValues(query));

/** The sample with classes of several types, P values and regions. */
const VARIED: AnnotatedReport = structuredClone(SAMPLE);
VARIED.notes = VARIED.prediction.patterns
  .flatMap(({ matches }) => matches)
  .map((_, i) => notes(i % 2 === 0 ? "SH3" : "", i * 2, ["true positive", "unknown"][i % 3]));
Object.assign(VARIED.prediction.alignment, {
  disorder: Array.from({ length: 393 }, (_, i) => (i % 30) / 30),
});
for (const [i, pattern] of VARIED.prediction.patterns.entries()) {
  pattern.name = [null, "LIG_A_1", "DEG_B_1"][i % 3];
  for (const [k, each] of pattern.matches.entries())
    each.overallPValue = each.z === null ? null : [0.005, 0.03, 0.2, 0.4][(i + k) % 4];
}

test.each([
  ["", [1, 2, 3, 4]],
  ["type=LIG", [1, 4]],
  ["type=DEG&type=other", [2, 3]],
  ["region=disordered", [1, 3]],
  ["region=disordered&region=ordered", [1, 2, 3]],
  ["verdict=no+evidence&verdict=not+scored", [3, 4]],
  ["max_q=0.1", [1, 2]],
  ["max_q=0.5", [1, 2, 3]],
  ["max_q=low", [1, 2, 3, 4]],
  ["best_of_group=true&type=LIG&type=DEG", [1, 4]],
  ["domain=inside", [1]],
  ["domain=outside", [2, 3]],
  ["known=true", [2]],
  ["known=false&domain=outside", [3]],
  ["phosphosite=5", [1, 2]],
  ["known=perhaps", [1, 2, 3, 4]],
])("the filter %p keeps the matches %p", (query, numbers) => {
  expect(listed(MATCHES, query).map(({ number }) => number)).toEqual(numbers);
});

test("the counts of a facet ignore the filter of the facet", () => {
  const { facets } = facetRows(MATCHES, FILTERS, listValues("type=LIG&region=disordered"));
  expect(facets.type.map(({ value, count }) => [value, count])).toEqual([
    ["LIG", 1],
    ["other", 1],
    ["DEG", 0],
  ]);
  // A match without a region has no choice of it.
  expect(facets.region.map(({ value, count }) => [value, count])).toEqual([
    ["disordered", 1],
    ["ordered", 0],
  ]);
});

test.each([
  "",
  "type=LIG&type=DEG&max_q=0.2&order=-start",
  "region=ordered&type=other",
  "region=ordered&region=disordered&order=q",
  "label=possible&label=not+scored",
  "best_of_group=true&label=no+evidence",
  "domain=outside&known=false",
  "phosphosite=5&region=disordered",
])("the download for the address %p has the matches that the page shows, in its order", (query) => {
  const parameters = new URLSearchParams();
  const address = new URLSearchParams(query);
  setQueryValues(parameters, viewParameters(TABLE, address));
  const given = Object.fromEntries([...parameters].map(([name, text]) => [name, text.split(",")]));
  const order = parameters.get("order") ?? undefined;
  const { matches } = makeScan(VARIED, { values: readFilters(FILTERS, given), order });
  expect(orderRows(TABLE, listed(makeScan(VARIED).matches, query), order)).toEqual(matches);
});

test("0.5 is the largest q of scans: a P value of at least 0.5 counts as 0.5", () => {
  const bounded = structuredClone(SAMPLE);
  for (const each of bounded.prediction.patterns.flatMap(({ matches }) => matches))
    Object.assign(each, { overallPValue: 0.5, overallPValueIs: "at least" });
  expect(Math.max(...makeScan(bounded).matches.map(({ q }) => q!))).toBe(0.5);
});

test("says what is most likely in one sentence; known instances count once", () => {
  expect(scanAnswer(MATCHES, 3)).toBe(
    "1 known instance; of the other 3 matches, 1 is likely functional, 1 stands out.",
  );
  expect(scanAnswer(MATCHES.slice(2), 1)).toBe("None of 2 matches is likely functional, none stands out.");
  expect(scanAnswer([MATCHES[0]], 1)).toBe("The only match is likely functional.");
  expect(scanAnswer([MATCHES[1]], 1)).toBe("The only match is a known instance.");
  expect(scanAnswer([MATCHES[1], MATCHES[1]], 2)).toBe("2 known instances.");
  expect(scanAnswer([], 0)).toBe("No match has a P value.");
  expect([0.0123, 0.5, 0.005, null].map(shortNumber)).toEqual(["0.012", "0.5", "0.005", "–"]);
});

test("names the best places of a verdict, and counts the rest", () => {
  const at = (start: number) => match({ start, end: start + 3, verdict: "likely functional", notes: null });
  const name = (count: number) =>
    namePlaces(
      [1, 11, 21, 31, 41].slice(0, count).map((start) => ({ best: at(start), others: [] })),
      "likely functional",
      () => "LIG",
    );
  expect(name(0)).toBe("");
  expect(name(1)).toBe("LIG at 1–4");
  expect(name(3)).toBe("LIG at 1–4, LIG at 11–14, LIG at 21–24");
  expect(name(5)).toBe("LIG at 1–4, LIG at 11–14, LIG at 21–24 and 2 more");
  expect(namePlaces([{ best: at(1), others: [] }], "known instance", () => "LIG")).toBe("");
});
