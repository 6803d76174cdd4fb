import { expect, test } from "bun:test";
import { currentMatch } from "../../../src/scoring/table/earlier-match.ts";
import { readBound } from "../../../src/scoring/table/column.ts";
import type { MatchRow } from "../../../src/scoring/table/match-row.ts";
import { MATCH_TABLES, type MatchTable } from "../../../src/scoring/table/match-tables.ts";
import { tableWorkbook } from "../../../src/scoring/results/print-table.ts";
import { printTsv } from "../../../src/scoring/table/print-tsv.ts";
import { findVerdict, standsOut } from "../../../src/scoring/table/verdict.ts";
import { resultRows } from "../../../src/scoring/table/rows.ts";
import { orderRows } from "../../../src/scoring/table/view.ts";
import { SAMPLE } from "../sample-prediction.ts";

const ROWS = resultRows(SAMPLE, () => null) as MatchRow[];
const notesWith = (logic: string): MatchRow["notes"] => ({
  instances: [
    { group: "instance", type: "DEG", name: "X", id: "ELMI1", start: 1, end: 4, source: "", logic } as never,
  ],
  domains: [],
  phosphosite: null,
});

test.each<[string, MatchRow["notes"], string]>([
  ["no features", null, "no evidence"],
  ["a known instance", notesWith("true positive"), "known instance"],
  ["a false positive", notesWith("false positive"), "no evidence"],
])("the verdict on a match with %s", (_, notes, expected) => {
  const row: MatchRow = { ...ROWS[0], verdict: "no evidence", notes, q: 0.01 };
  expect(findVerdict(row)).toBe(expected as MatchRow["verdict"]);
  const { columns } = MATCH_TABLES.scan;
  const cells = printTsv(MATCH_TABLES.scan, { rows: [row], sequences: [] })
    .trimEnd()
    .split("\t");
  for (const name of ["verdict", "overall_verdict", "label"])
    expect(cells[columns.findIndex((column) => column.name === name)]).toBe(expected);
});

test.each([
  [null, null],
  [0.05, "q ≤ 0.05"],
  [0.0501, "q ≤ 0.2"],
  [0.2001, null],
])("a match with q %p stands out by %p", (q, expected) => expect(standsOut({ q })).toBe(expected));

test("tables are ordered by verdict, then by z; those of proteomes by z, and all by another order", () => {
  const judged = [0.2, 0.01, 0.05, null].map((overallPValue, i) =>
    Object.assign({}, ROWS[0], { overallPValue, z: overallPValue === null ? null : 9 - i }),
  );
  const order = (table: MatchTable, asked?: string) => orderRows(table, judged, asked).map(({ z }) => z);
  for (const table of [MATCH_TABLES.result, MATCH_TABLES.scan, MATCH_TABLES.batch]) {
    expect(order(table)).toEqual([8, 7, 9, null]);
    expect(order(table, "-z")).toEqual([9, 8, 7, null]);
  }
  expect(order(MATCH_TABLES.proteome)).toEqual([9, 8, 7, null]);
  expect(order(MATCH_TABLES.proteome, "evidence")).toEqual([8, 7, 9, null]);
});

test("rows without z come last", () => {
  for (const table of Object.values(MATCH_TABLES)) {
    const rows = [ROWS[2], ROWS[1], ROWS[0]];
    expect(orderRows(table, rows, undefined).map(({ z }) => z)).toEqual([1.827_15, 0.9, null]);
  }
});

test("bounds are text in workbooks, and numbers with a kind in TSV", async () => {
  const row: MatchRow = {
    ...ROWS[0],
    overallPValue: 0.5,
    overallPValueIs: "at least",
    q: 0.0005,
    qIs: "at most",
  };
  const table = MATCH_TABLES.scan;
  const find = (name: string) => table.columns.find((column) => column.name === name)!;
  expect(["overall_p", "q", "cs"].map((name) => readBound(find(name), row))).toEqual([
    "at least",
    "at most",
    "estimate",
  ]);
  const stream = await tableWorkbook(table, [{ rows: [row], sequences: [] }]);
  const { readXlsx } = await import("hucre/xlsx");
  const { sheets } = await readXlsx(await new Response(stream).bytes());
  const cells = sheets[0].rows[1];
  const at = (name: string) => cells[table.columns.indexOf(find(name))];
  expect([at("overall_p"), at("overall_p_is"), at("q"), at("q_is"), at("p"), at("z")]).toEqual([
    "≥ 0.5",
    "at least",
    "≤ 0.0005",
    "at most",
    "≤ 0.005",
    1.8272,
  ]);
});

test("matches of earlier methods get the level of conservation as such, and nearby homologs apart", () => {
  const [match] = SAMPLE.prediction.patterns[0].matches;
  const { conservationLevel, nearby: _nearby, ...rest } = match;
  const states = ["conserved", "shifted", "missing"] as const;
  const atHomologs = match.atHomologs.map((at, i) => ({ ...at, state: states[i] }));
  const earlier = { ...rest, verdict: conservationLevel, kept: 2, atHomologs } as never;
  expect(currentMatch(earlier)).toMatchObject({
    verdict: "likely functional",
    conservationLevel: "conserved",
    kept: 1,
    nearby: 1,
  });
  expect(currentMatch(match)).toBe(match);
});

test("columns that came later follow those of earlier versions", () => {
  for (const [name, last] of [
    [
      "result",
      "method conservation nearby probability kept_in_orthologs orthologs kept_in_paralogs paralogs",
    ],
    [
      "scan",
      "method conservation nearby q_is stands_out probability kept_in_orthologs orthologs kept_in_paralogs paralogs",
    ],
    ["proteome", "method conservation nearby q_is stands_out probability"],
    ["batch", "method conservation nearby probability kept_in_orthologs orthologs kept_in_paralogs paralogs"],
  ] as const)
    expect(MATCH_TABLES[name].columns.map((column) => column.name).join(" ")).toEndWith(` ${last}`);
});
