import { bestP, kindOf, type Row } from "./rows.ts";
import { gridOf } from "./heat-map-grid.ts";

type Value = string | number | null;

/** A sheet of a workbook; its first row has the names of the columns. */
export interface Sheet {
  name: string;
  rows: Value[][];
}

/** Columns of numbers; all others are texts, although they may look like numbers. */
const NUMBERS = new Set([
  "start",
  "end",
  "homologs",
  "effective_homologs",
  "cs",
  "expected",
  "z",
  "p",
  "kept",
  "overall_p",
  "q",
  "disorder",
  "phosphosite_distance",
]);
/** Excel's limit of a cell, in characters. */
const CELL_LENGTH = 32_767;

/** All matches, the best match of each motif in each protein with jobs that failed, and P and z as tables of proteins and motifs. */
export function sheetsOf(rows: readonly Row[], tables: readonly string[]): Sheet[] {
  return [
    { name: "Matches", rows: matchRows(tables) },
    { name: "Best matches", rows: bestRows(rows) },
    { name: "P", rows: gridRows(rows, ({ summary }) => summary?.best?.overallPValue ?? null) },
    { name: "z", rows: gridRows(rows, ({ summary }) => summary?.best?.z ?? null) },
  ];
}

/** Rows of tables in TSV with the same columns, whose names come first. */
export function matchRows(tables: readonly string[]): Value[][] {
  const names = tables[0]?.slice(0, tables[0].indexOf("\n")).split("\t") ?? [];
  const lines = tables.flatMap((table) => table.trimEnd().split("\n").slice(1));
  const valueOf = (cell: string, i: number): Value =>
    cell === "" ? null : NUMBERS.has(names[i]) ? Number(cell) : cell.slice(0, CELL_LENGTH);
  return [names, ...lines.map((line) => line.split("\t").map(valueOf))];
}

function bestRows(rows: readonly Row[]): Value[][] {
  const head = [
    "protein",
    "gene",
    "name",
    "organism",
    "motif",
    "verdict",
    "overall_p",
    "overall_p_is",
    "z",
    "start",
    "match",
    "kept",
    "homologs",
  ];
  return [
    [...head, "conservation", "cs", "expected", "matches", "problem"],
    ...rows.map((row): Value[] => {
      const { protein, names, motif, outcome, summary } = row;
      const named = [protein, names?.gene ?? null, names?.name ?? null, names?.organism ?? null, motif];
      const problem = outcome.kind === "failed" ? outcome.message : null;
      const best = summary?.best;
      if (!best) return [...named, kindOf(row), ...Array(10).fill(null), summary?.matches ?? null, problem];
      const { p = null, is = null } = bestP(best);
      const { z = null, start, text, kept, homologs, conservation, score, expected } = best;
      const figures = [
        p,
        is,
        z,
        start,
        text.slice(0, CELL_LENGTH),
        kept,
        homologs,
        conservation,
        score,
        expected,
      ];
      return [...named, best.verdict, ...figures, summary.matches, problem];
    }),
  ];
}

function gridRows(rows: readonly Row[], valueOf: (row: Row) => number | null): Value[][] {
  const { proteins, motifs } = gridOf(rows);
  return [
    ["protein", "gene", "organism", ...motifs],
    ...proteins.map(({ name, names, cells }) => {
      const row: Value[] = [name, names?.gene ?? null, names?.organism ?? null];
      return row.concat(cells.map((cell) => (cell ? valueOf(cell) : null)));
    }),
  ];
}

/** The sheets as an XLSX file. The writer is loaded when it is needed. */
export async function workbookOf(sheets: readonly Sheet[]): Promise<Uint8Array<ArrayBuffer>> {
  const { writeXlsx } = await import("hucre/xlsx");
  const bytes = await writeXlsx({
    sheets: sheets.map(({ name, rows }) => ({ name, rows, freezePane: { rows: 1, columns: 1 } })),
  });
  return Uint8Array.from(bytes);
}
