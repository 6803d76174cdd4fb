import { expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { setQueryValues } from "../../src/web/address.ts";
import {
  type Match,
  offsetIn,
  pageQuery,
  type Search,
  searchAnswer,
  searchTitle,
} from "../../src/web/score/proteome.ts";
import { estimateText } from "../../src/web/score/proteome-builds.tsx";
import { chartText } from "../../src/web/score/p-value-chart.tsx";
import { ProteomeMatches } from "../../src/web/score/proteome-matches.tsx";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const [{ atHomologs: _atHomologs, ...numbers }] = SAMPLE.prediction.patterns[0].matches;
const match = (more: Partial<Match>): Match => ({
  ...numbers,
  rank: 1,
  protein: {
    accession: "P04637",
    entryName: "P53_HUMAN",
    name: "Cellular tumor antigen p53",
    gene: "TP53",
    organism: "Homo sapiens",
    taxon: 9606,
    length: 1393,
  },
  before: "MEEP",
  after: "DPSV",
  q: 0.04,
  verdict: "likely functional",
  disorder: 0.8125,
  motif: "P..P",
  notes: null,
  ...more,
});
const count = (value: string, matches: number) => ({ value, name: value, count: matches });
const search = (more: Partial<Search>): Search => ({
  id: "0".repeat(64),
  state: "finished",
  place: null,
  mayChange: true,
  submitted: "2026-11-23T06:00:00Z",
  failure: null,
  provenance: { labd: "0.2.0", date: "2026-11-23" },
  corpus: { name: "swissprot", hash: "0".repeat(64) },
  expression: "P..P",
  motifClass: null,
  scoringModel: "continuous",
  organism: "9606",
  organismName: "Homo sapiens",
  searched: 3,
  total: 3,
  missing: 0,
  matches: 3,
  matching: 2,
  labels: [],
  pValues: [],
  facets: { verdict: [], species: [], region: [], kept: [] },
  passing: 3,
  results: [match({})],
  links: { self: "", matches: "" },
  ...more,
});

test.each([
  [{ matches: 0 }, "No protein has this motif."],
  [
    {},
    "3 matches in 2 proteins: none is likely functional or possible. The first ones are the best candidates.",
  ],
  [
    { labels: [count("no evidence", 1), count("possible", 2)] },
    "3 matches in 2 proteins: 0 likely functional, 2 possible.",
  ],
  [
    { labels: [count("known instance", 1), count("no evidence", 2)] },
    "3 matches in 2 proteins: 1 known instance, 0 likely functional, 0 possible.",
  ],
  [
    { matches: 1, matching: 1, labels: [count("likely functional", 1)] },
    "1 match in 1 protein: 1 likely functional, 0 possible.",
  ],
])("says of %p: %p", (more, sentence) => {
  expect(searchAnswer(search(more))).toBe(sentence);
});

test.each([
  [{}, "P..P in Homo sapiens"],
  [{ motifClass: "LIG_SH3_1", organismName: null }, "LIG_SH3_1 in 9606"],
  [{ organism: null, organismName: null }, "P..P in swissprot"],
])("the title of %p is %p", (more, title) => {
  expect(searchTitle(search(more))).toBe(title);
});

test.each([
  ["", "offset=0&limit=50"],
  ["from=51&order=-q", "order=-q&offset=50&limit=50"],
  ["from=-3", "offset=0&limit=50"],
  ["known=true&phosphosite=5&domain=outside", "known=true&domain=outside&phosphosite=5&offset=0&limit=50"],
  ["from=x&verdict=possible&verdict=not+scored", "verdict=possible%2Cnot+scored&offset=0&limit=50"],
])("requests for the address %p the page %p", (query, expected) => {
  const parameters = new URLSearchParams();
  setQueryValues(parameters, pageQuery(new URLSearchParams(query)));
  expect(String(parameters)).toBe(expected);
});

test.each([
  [
    { missing: 18_349, existing: 0, carry_over: 0, seconds: 4000, bytes: 7e7 },
    "Expected: about 1 h 6 min of processor time and 70.0 MB of disk. Idle workers compute them, and jobs come first.",
  ],
  [
    { missing: 2, existing: 1000, carry_over: 1, seconds: 1, bytes: 8000 },
    "1,000 exist. Expected: about 1 s of processor time and 8.00 kB of disk. Up to 1 are taken over from another corpus. Idle workers compute them, and jobs come first.",
  ],
  [{ missing: 0, existing: 5, carry_over: 0, seconds: 0, bytes: 0 }, "5 exist. No family is missing."],
])("describes the size of the build %p", (estimate, text) => {
  expect(estimateText(estimate)).toBe(text);
});

test("describes ranges with more matches than expected by chance", () => {
  const bins = [
    { p: 0.5, matches: 900, expected: 300 },
    { p: 0.05, matches: 1, expected: 0.3 },
    { p: 0.001, matches: 1500, expected: 12.5 },
  ];
  expect(chartText(bins)).toBe("Numbers of matches by P value. P ≤ 0.001: 1,500, expected 13.");
  expect(chartText(bins.slice(0, 2))).toContain("No bin up to 0.05 has twice the expected number.");
});

test("counts matches of a page from 1", () => {
  expect(offsetIn(new URLSearchParams("from=101"))).toBe(100);
});

const readCells = (of: Search): string[] =>
  renderToString(<ProteomeMatches search={of} />)
    .split(/<t[hd][ >]/)
    .slice(1)
    .map((cell) => cell.replace(/<[^>]*>|^[^<>]*>/g, ""));

test("the table names protein, place and numbers, and leads to scoring the protein", () => {
  const html = renderToString(<ProteomeMatches search={search({})} />);
  expect(html).toContain('href="/score?protein=P04637&amp;pattern=P..P"');
  expect(html).toContain('href="/proteins/P04637"');
  for (const text of ["TP53", "Cellular tumor antigen p53", "Likely functional", "of 1,393", "disorder 0.81"])
    expect(html).toContain(text);
  expect(html).not.toContain("Homo sapiens");
  const residues = (text: string) =>
    renderToString(<ProteomeMatches search={search({ results: [match({ text })] })} />)
      .replace(/.*<code[^>]*>|<\/code>.*/g, "")
      .replace(/<[^>]*>/g, " ")
      .trim()
      .split(/ +/);
  expect(residues("PQSP")).toEqual(["MEEP", "PQSP", "DPSV"]);
  expect(residues("P".repeat(12))).toEqual(["P", "P".repeat(12), "D"]);
  expect(residues("P".repeat(20))).toEqual([`${"P".repeat(14)}…`]);
  expect(html).not.toContain("Known instance");
  const byClass = search({ motifClass: "LIG_SH3_1", organism: null, organismName: null });
  const other = renderToString(<ProteomeMatches search={byClass} />);
  expect(other).toContain('href="/score?protein=P04637&amp;class=LIG_SH3_1"');
  expect(other).toContain("<i>Homo sapiens</i>");
});

test("the table shows known instances once features are imported", () => {
  const instance = {
    group: "motif",
    type: "",
    start: 1,
    end: 4,
    name: "LIG_X",
    id: "ELMI000001",
    source: "ELM",
  };
  const notes = { instances: [instance], domains: [], phosphosite: null } as Match["notes"];
  const cells = readCells(search({ results: [match({ notes }), match({ rank: 2 })] }));
  expect(cells).toContain("Known instance");
  expect(cells).toContain("ELMI000001");
});
