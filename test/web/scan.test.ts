import { expect, test } from "bun:test";
import { SCAN_FORMATS } from "../../src/scoring/results/file-formats.ts";
import { scanOf } from "../../src/scoring/results/scan.ts";
import { MATCH_TABLES } from "../../src/scoring/table/match-tables.ts";
import { readFilters } from "../../src/scoring/table/filters.ts";
import { setQueryValues } from "../../src/web/address.ts";
import {
  downloadQuery,
  filtered,
  filterIn,
  MAX_Q,
  type ScanMatch,
  scanAnswer,
  shortNumber,
} from "../../src/web/score/scan.ts";
import type { AnnotatedReport, MatchNotes } from "../../src/scoring/features/annotation.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const [SAMPLE_MATCH] = scanOf(SAMPLE).matches;
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
    label: "likely functional",
    disorder: 0.9,
    notes: notes("SH3", 5),
  }),
  match({
    number: 2,
    type: "DEG",
    q: 0.1,
    label: "possible",
    disorder: 0.1,
    isBest: false,
    notes: notes("", 0, "true positive"),
  }),
  match({
    number: 3,
    type: null,
    q: 0.5,
    label: "no evidence",
    disorder: 0.9,
    notes: notes("", 6, "false positive"),
  }),
  match({ number: 4, type: "LIG", q: null, label: null, disorder: null }),
];

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
  ["label=possible&label=not+scored", [2, 4]],
  ["q=0.1", [1, 2]],
  ["q=0.5", [1, 2, 3, 4]],
  ["q=low", [1, 2, 3, 4]],
  ["best=yes&type=LIG&type=DEG", [1, 4]],
  ["domain=inside", [1]],
  ["domain=outside", [2, 3]],
  ["known=known", [2]],
  ["known=other&domain=outside", [3]],
  ["phosphosite=near", [1, 2]],
])("the filter %p leaves the matches %p", (query, numbers) => {
  const filter = filterIn(new URLSearchParams(query));
  expect(filtered(MATCHES, filter).map(({ number }) => number)).toEqual(numbers);
});

test("the choices of a facet are counted without its own filter", () => {
  const filter = filterIn(new URLSearchParams("type=LIG&region=disordered"));
  expect(filtered(MATCHES, filter, "type").map(({ number }) => number)).toEqual([1, 3]);
});

test.each([
  "",
  "type=LIG&type=DEG&q=0.2",
  "region=ordered&type=other",
  "region=ordered&region=disordered",
  "label=possible&label=not+scored",
  "best=yes&label=no+evidence",
  "domain=inside",
  "domain=outside&known=other",
  "domain=inside&domain=outside&known=known",
  "phosphosite=near&region=disordered",
])("the download for the filter %p has the matches that the page shows", async (query) => {
  const filter = filterIn(new URLSearchParams(query));
  const parameters = new URLSearchParams();
  setQueryValues(parameters, downloadQuery(filter, "json"));
  const { filters } = MATCH_TABLES.scan;
  const given = Object.fromEntries([...parameters].map(([name, text]) => [name, text.split(",")]));
  const { matches } = scanOf(VARIED, { values: readFilters(filters, given) });
  expect(filtered(scanOf(VARIED).matches, filter)).toEqual(matches);
});

test("MAX_Q is the largest q of scans: a P value of at least 0.5 counts as 0.5", () => {
  const bounded = structuredClone(SAMPLE);
  for (const each of bounded.prediction.patterns.flatMap(({ matches }) => matches))
    Object.assign(each, { overallPValue: 0.5, overallPValueIs: "at least" });
  expect(Math.max(...scanOf(bounded).matches.map(({ q }) => q!))).toBe(MAX_Q);
});

test("summarizes a scan in one sentence", () => {
  expect(scanAnswer({ matches: MATCHES, tested: 3 })).toBe(
    "1 of 3 matches is likely functional, 1 possible.",
  );
  expect(scanAnswer({ matches: MATCHES.slice(2), tested: 1 })).toStartWith("No match stands out against 1");
  expect(scanAnswer({ matches: [], tested: 0 })).toBe("No match has a P value.");
  expect([0.0123, 0.5, 0.005, null].map(shortNumber)).toEqual(["0.012", "0.5", "0.005", "–"]);
});

test("the formats that the page links to exist", () => {
  expect(Object.keys(SCAN_FORMATS)).toEqual(expect.arrayContaining(["gff3", "json", "tsv"]));
});
