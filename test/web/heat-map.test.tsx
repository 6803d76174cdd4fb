import { expect, test } from "bun:test";
import { readXlsx } from "hucre/xlsx";
import { renderToString } from "preact-render-to-string";
import type { Batch } from "../../src/web/batch/batch.ts";
import { HeatMap } from "../../src/web/batch/heat-map.tsx";
import { gridOf, levelOf, ordered } from "../../src/web/batch/heat-map-grid.ts";
import { failuresOf, isNamed, type Row, rowsOf } from "../../src/web/batch/rows.ts";
import { namesIn, type Outcome, summarize } from "../../src/web/batch/run.ts";
import { sheetsOf, workbookOf } from "../../src/web/batch/spreadsheet.ts";

const HEAD =
  "query\tpattern\tstart\tend\tmatch\thomologs\teffective_homologs\tcs\texpected\tz\tp\tverdict\tkept\toverall_p\toverall_verdict\tp_is\toverall_p_is\taccession\tgene\tname\torganism\tknown_instance\n";
const NAMES = "P1\t0815\tBeta protein\tMus musculus\tELMI000001";
const match = (query: string, motif: string, z: number, p: number, is: string): string =>
  `${query}\t${motif}\t3\t6\tPAAP\t24\t9.5\t0.8\t0.5\t${z}\t0.1\tconserved\t20\t${p}\tpossible\testimate\t${is}\t${query === "b" ? NAMES : "\t\t\t\t"}\n`;
const none = (query: string, motif: string): string =>
  `${query}\t${motif}${"\t".repeat(10)}no match${"\t".repeat(10)}\n`;

const TABLES = [
  HEAD + match("=A1", "P..P", 2.5, 0.004, "at most") + none("=A1", "SH3"),
  HEAD + match("b", "P..P", -0.3, 0.5, "at least") + match("b", "SH3", 1.2, 0.0523, "estimate"),
];
const batch: Batch = {
  groups: [
    [
      { expression: "P..P", name: null },
      { expression: "P.P", name: "SH3" },
    ],
  ],
  items: ["=A1", "b", "NOSUCH1"].map((name, position) => ({
    position,
    name,
    line: name === "NOSUCH1" ? 3 : null,
    group: 0,
    job: null,
    state: "waiting",
    failure: null,
  })),
};
const outcomes: Outcome[] = [
  ...TABLES.map((table): Outcome => ({
    kind: "done",
    table,
    names: namesIn(table),
    summaries: summarize(table),
  })),
  { kind: "failed", message: "No protein." },
];
batch.items[0].job = "j1";
batch.items[1].job = "j2";
const ROWS = rowsOf(batch, outcomes);

test("a batch knows the bounds of P values", () => {
  expect(ROWS.map(({ summary }) => summary?.best?.overallPValueIs)).toEqual([
    "at most",
    undefined,
    "at least",
    "estimate",
    undefined,
    undefined,
  ]);
  // Tables that were made before have no such column.
  const [before] = summarize(
    "query\tpattern\tstart\tmatch\tz\tverdict\toverall_p\nq\tP\t1\tP\t1\tconserved\t0.5\n",
  );
  expect(before.best?.overallPValueIs).toBeNull();
});

test("failures are listed once per protein, with the line of its list", () => {
  expect(failuresOf(ROWS)).toEqual(["Line 3, NOSUCH1: No protein."]);
});

test("a heat map shows the figures of the result page", () => {
  const html = renderToString(<HeatMap rows={ROWS} />);
  const cells = html
    .match(/<td.*?<\/td>/g)!
    .map((cell) => [
      cell.match(/class="([^"]*)"/)![1],
      cell.replace(/<span class="unseen">.*?<\/span>|<[^>]*>/g, "").replaceAll("\u00a0", " "),
    ]);
  expect(cells).toEqual([
    ["heat heat-4", "≤ 0.004"],
    ["heat", "–"],
    ["heat heat-0", "≥ 0.5"],
    ["heat heat-2", "0.052"],
    ["heat", "failed"],
    ["heat", "failed"],
  ]);
  // Headers, a caption, and one cell that takes the focus by Tab.
  expect(html.match(/<th scope="col"/g)!.length).toBe(3);
  expect(html.match(/<th scope="row"/g)!.length).toBe(3);
  expect(html.match(/data-cell[^>]*tabindex="0"|tabindex="0"[^>]*data-cell/g)!.length).toBe(1);
  expect(html).toContain('href="/score/j1?match=1"');
  expect(html).toContain(" P..P in =A1</span>");
});

test.each<[measure: "p" | "z", levels: (number | null)[]]>([
  ["p", [4, null, 0, 2, null, null]],
  ["z", [3, null, 0, 2, null, null]],
])("colours cells by %p", (measure, levels) => {
  expect(ROWS.map((row) => levelOf(row, measure))).toEqual(levels);
});

test("orders proteins by a motif and motifs by a protein", () => {
  const grid = gridOf(ROWS);
  const names = (order: { proteins?: string; motifs?: string }) => {
    const { proteins, motifs } = ordered(grid, { measure: "p", proteins: "", motifs: "", ...order });
    return [
      proteins.map(({ name }) => name).join(),
      motifs.join(),
      proteins[0].cells.map((row) => row?.motif).join(),
    ];
  };
  expect(names({})).toEqual(["=A1,b,NOSUCH1", "P..P,SH3", "P..P,SH3"]);
  expect(names({ proteins: "SH3" })[0]).toBe("b,=A1,NOSUCH1");
  expect(names({ proteins: "-P..P" })[0]).toBe("NOSUCH1,b,=A1");
  expect(names({ proteins: "-name" })[0]).toBe("NOSUCH1,b,=A1");
  expect(names({ motifs: "b" }).slice(1)).toEqual(["SH3,P..P", "SH3,P..P"]);
  expect(names({ motifs: "gone" })[1]).toBe("P..P,SH3");
});

test("shows and finds proteins by gene, species and name", () => {
  const html = renderToString(<HeatMap rows={ROWS} />);
  expect(html).toContain('title="0815, Mus musculus, Beta protein"');
  const found = (text: string): string[] => [
    ...new Set(ROWS.filter((row) => isNamed(row, text)).map(({ protein }) => protein)),
  ];
  for (const text of ["p1", "0815", "beta", "mus m"]) expect(found(text)).toEqual(["b"]);
  expect(found("sh3")).toEqual(["=A1", "b", "NOSUCH1"]);
});

test("keeps proteins of the same name apart", () => {
  const twice = [...ROWS.slice(0, 2), ...ROWS.slice(0, 2)] as Row[];
  expect(gridOf(twice).proteins.map(({ cells }) => cells.length)).toEqual([2, 2]);
});

test("writes an XLSX file with all matches, the best ones, failures, and tables of P and z", async () => {
  const file = await workbookOf(sheetsOf(ROWS, TABLES));
  const { sheets } = await readXlsx(file);
  expect(sheets.map(({ name }) => name)).toEqual(["Matches", "Best matches", "P", "z"]);
  const [matches, best, p, z] = sheets.map(({ rows }) => rows);
  expect(matches.length).toBe(5);
  expect(matches[1].slice(0, 6)).toEqual(["=A1", "P..P", 3, 6, "PAAP", 24]);
  expect(matches[3].slice(-6)).toEqual([
    "at least",
    "P1",
    "0815",
    "Beta protein",
    "Mus musculus",
    "ELMI000001",
  ]);
  expect(best.length).toBe(7);
  expect(best[5]).toEqual(expect.arrayContaining(["NOSUCH1", "P..P", "failed", "No protein."]));
  expect(best[0].indexOf("problem")).toBe(best[5].indexOf("No protein."));
  expect(p).toEqual([
    ["protein", "gene", "organism", "P..P", "SH3"],
    ["=A1", null, null, 0.004, null],
    ["b", "0815", "Mus musculus", 0.5, 0.0523],
    ["NOSUCH1", null, null, null, null],
  ]);
  expect(z[2]).toEqual(["b", "0815", "Mus musculus", -0.3, 1.2]);
});
