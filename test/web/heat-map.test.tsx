import { expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import type { Batch } from "../../src/web/batch/batch.ts";
import { HeatMap } from "../../src/web/batch/heat-map.tsx";
import { makeGrid, findLevel, ordered } from "../../src/web/batch/heat-map-grid.ts";
import { listFailures, isNamed, type Row, makeRows } from "../../src/web/batch/rows.ts";
import type { Outcome } from "../../src/web/batch/run.ts";
import type { ScanMatch } from "../../src/web/score/scan.ts";

const P1 = {
  accession: "P1",
  entryName: null,
  gene: "0815",
  name: "Beta protein",
  organism: "Mus musculus",
  taxon: 10090,
  length: 9,
};
const match = (
  motif: string,
  number: number,
  z: number,
  p: number,
  is: "estimate" | "at most" | "at least",
): ScanMatch => ({
  motif,
  number,
  start: 3,
  end: 6,
  text: "PAAP",
  homologs: 24,
  kept: 20,
  verdict: "likely functional",
  conservationLevel: "conserved",
  z,
  overallPValue: p,
  overallPValueIs: is,
  overallVerdict: "possible",
});

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
  { kind: "done", protein: null, best: [match("P..P", 1, 2.5, 0.004, "at most")] },
  {
    kind: "done",
    protein: P1,
    best: [match("P..P", 1, -0.3, 0.5, "at least"), match("SH3", 2, 1.2, 0.0523, "estimate")],
  },
  { kind: "failed", message: "No protein." },
];
batch.items[0].job = "j1";
batch.items[1].job = "j2";
const ROWS = makeRows(batch, outcomes);

test("failures are listed once per protein, with the line of its list", () => {
  expect(listFailures(ROWS)).toEqual(["Line 3, NOSUCH1: No protein."]);
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
  expect(ROWS.map((row) => findLevel(row, measure))).toEqual(levels);
});

test("orders proteins by a motif and motifs by a protein", () => {
  const grid = makeGrid(ROWS);
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
    ...new Set(ROWS.filter((row) => isNamed(row, text)).map(({ query }) => query)),
  ];
  for (const text of ["p1", "0815", "beta", "mus m"]) expect(found(text)).toEqual(["b"]);
  expect(found("sh3")).toEqual(["=A1", "b", "NOSUCH1"]);
});

test("proteins with the same name have separate rows", () => {
  const twice = [...ROWS.slice(0, 2), ...ROWS.slice(0, 2)] as Row[];
  expect(makeGrid(twice).proteins.map(({ cells }) => cells.length)).toEqual([2, 2]);
});
