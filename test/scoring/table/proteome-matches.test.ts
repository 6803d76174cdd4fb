import { expect, test } from "bun:test";
import type { ProteomeRow } from "../../../src/scoring/proteome/table.ts";
import { viewMatches } from "../../../src/scoring/results/proteome-matches.ts";
import { facetRows, type FilterValues } from "../../../src/scoring/table/filters.ts";
import { MATCH_TABLES } from "../../../src/scoring/table/match-tables.ts";
import { orderRows } from "../../../src/scoring/table/view.ts";
import { SAMPLE } from "../sample-prediction.ts";

const [{ atHomologs: _atHomologs, ...match }] = SAMPLE.prediction.patterns[0].matches;

/** A row with a gene, taxon and verdict, kept by so many of ten homologs. */
const row = (
  gene: string | null,
  [taxon, organism]: [number | null, string],
  verdict: ProteomeRow["verdict"],
  [kept, disorder, q]: [number, number, number | null],
): ProteomeRow => {
  const protein = { accession: `A-${gene}`, entryName: null, name: "", gene, organism, taxon, length: 9 };
  const ranked = {
    rank: 1,
    motif: "P..P",
    protein,
    verdict,
    kept,
    homologs: 10,
    disorder,
    q,
    qIs: q === null ? null : ("estimate" as const),
  };
  return Object.assign({}, match, ranked);
};
const HUMAN: [number, string] = [9606, "Homo sapiens"];
const MOUSE: [number, string] = [10090, "Mus musculus"];
const PHAGE: [null, string] = [null, "Phage, T4"];
const ROWS = [
  row("B10", HUMAN, "likely functional", [10, 0.9, 0.01]),
  row("B9", MOUSE, "possible", [9, 0.5, 0.1]),
  row("A1", HUMAN, "possible", [5, 0.51, 0.2]),
  row(null, PHAGE, "not scored", [0, 0.1, null]),
];
for (const [i, one] of ROWS.entries()) one.rank = i + 1;
const TABLE = MATCH_TABLES.proteome;
const filterMatches = (rows: readonly ProteomeRow[], values: FilterValues) =>
  facetRows(rows, TABLE.filters, values);
const genes = (rows: readonly ProteomeRow[]) => rows.map(({ protein }) => protein.gene);

test.each([
  [{}, ["B10", "B9", "A1", null]],
  [{ verdict: ["possible", "not scored"] }, ["B9", "A1", null]],
  [{ species: ["9606", "Phage T4"] }, ["B10", "A1", null]],
  [{ region: ["ordered"] }, ["B9", null]],
  [{ kept: ["90-100"] }, ["B10", "B9"]],
  [{ kept: ["50-89"], region: ["disordered"] }, ["A1"]],
  [{ max_q: 0.1 }, ["B10", "B9"]],
] as const)("lists the matches of %p", (filter, expected) => {
  expect(genes(filterMatches(ROWS, filter).passing)).toEqual([...expected]);
});

test("counts for each choice the matches that pass the other filters", () => {
  const { facets } = filterMatches(ROWS, { verdict: ["possible"], species: ["9606"] });
  expect(facets.label).toEqual([
    { value: "likely functional", name: "likely functional", count: 1 },
    { value: "possible", name: "possible", count: 1 },
    { value: "not scored", name: "not scored", count: 0 },
  ]);
  expect(facets.species).toEqual([
    { value: "9606", name: "Homo sapiens", count: 1 },
    { value: "10090", name: "Mus musculus", count: 1 },
    { value: "Phage T4", name: "Phage, T4", count: 0 },
  ]);
  expect(facets.region.map(({ value, count }) => [value, count])).toEqual([
    ["disordered", 1],
    ["ordered", 0],
  ]);
});

test("lists the most frequent choices, and the chosen ones", () => {
  const many = Array.from({ length: 60 }, (_, i) =>
    row("X", [i + 1, `Species ${i}`], "not scored", [0, 0, null]),
  );
  const { facets } = filterMatches([...ROWS, ...many], { species: ["60"] });
  expect(facets.species).toHaveLength(26);
  expect(facets.species[0].name).toBe("Homo sapiens");
  expect(facets.species.at(-1)!.value).toBe("60");
});

test.each([
  ["rank", ["B10", "B9", "A1", null]],
  ["-rank", [null, "A1", "B9", "B10"]],
  ["protein", [null, "A1", "B9", "B10"]],
  ["q", ["B10", "B9", "A1", null]],
  ["-q", ["A1", "B9", "B10", null]],
  ["kept", [null, "A1", "B9", "B10"]],
  ["species", ["B10", "A1", "B9", null]],
])("orders by %p", (order, expected) => {
  expect(genes(orderRows(TABLE, ROWS, order))).toEqual(expected);
});

test("counts the matches in each range of P values, and the matches expected by chance", () => {
  const values: [p: number | null, is: ProteomeRow["overallPValueIs"]][] = [
    [0.0001, "at most"],
    [0.00012, "estimate"],
    [0.05, "estimate"],
    [0.051, "estimate"],
    [0.6, "estimate"],
    [0.99, "at least"],
    [null, null],
  ];
  const rows = values.map(([overallPValue, overallPValueIs]) =>
    Object.assign({}, ROWS[0], { overallPValue, overallPValueIs }),
  );
  const { pValues } = viewMatches(rows, { values: {} });
  expect(pValues.filter(({ matches }) => matches > 0)).toEqual([
    { p: 0.1, matches: 1, expected: 0.3 },
    { p: 0.05, matches: 1, expected: 0.18 },
    { p: 0.0002, matches: 1, expected: 0 },
    { p: 0.0001, matches: 1, expected: 0 },
  ]);
});

const VIEW = { values: { verdict: ["possible"] }, order: "protein" };

test("a view of proteome matches keeps ranks, and the next page keeps the order", () => {
  const view = viewMatches(ROWS, VIEW);
  expect(genes(view.passing)).toEqual(["A1", "B9"]);
  expect(view.passing.map(({ rank }) => rank)).toEqual([3, 2]);
  expect(view.labels.map(({ value, count }) => [value, count])).toEqual([
    ["possible", 2],
    ["likely functional", 1],
    ["not scored", 1],
  ]);
  expect(viewMatches(ROWS, VIEW).passing).toBe(view.passing);
  for (let start = 0; start < 20; start++) viewMatches(ROWS, { values: { max_q: start / 20 } });
  expect(viewMatches(ROWS, VIEW).passing).not.toBe(view.passing);
});
