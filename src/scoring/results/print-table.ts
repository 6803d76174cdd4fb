import { type XlsxCell, xlsxFile, type XlsxSheet, xlsxText } from "../../platform/xlsx.ts";
import { matchObject, readBound, readCell } from "../table/column.ts";
import type { TableRow } from "../table/match-row.ts";
import { listProvenance, type Provenance, PROVENANCE_SHEET } from "../table/provenance.ts";
import { MATCH_TABLES, type MatchTable } from "../table/match-tables.ts";
import { listHeads, printBounded, roundNumber } from "../table/print-tsv.ts";
import type { TablePart } from "../table/rows.ts";
import type { ProteomeRow } from "../proteome/table.ts";
import { TABLE_FORMATS, type TableFormat } from "../table/table-formats.ts";
import type { ProteomeFormatName } from "./file-formats.ts";

/** A workbook of parts that are made while it is read. */
export function tableWorkbook(
  table: MatchTable,
  parts: Iterable<TablePart> | AsyncIterable<TablePart>,
  provenance?: Provenance,
): ReadableStream<Uint8Array> {
  const makeCells = (row: TableRow): XlsxCell[] =>
    table.columns.map((column) => {
      const [cell, is] = [readCell(column, row), readBound(column, row)];
      return typeof cell === "number" && is !== "estimate" ? printBounded(cell, is) : workbookCell(cell);
    });
  function* rows(all: Iterable<TablePart>): Generator<XlsxCell[]> {
    for (const part of all) for (const row of part.rows) yield makeCells(row);
  }
  async function* laterRows(all: AsyncIterable<TablePart>): AsyncGenerator<XlsxCell[]> {
    for await (const part of all) yield* rows([part]);
  }
  const sheet = { title: "Matches", names: listHeads(table) };
  const matches = { ...sheet, rows: Symbol.iterator in parts ? rows(parts) : laterRows(parts) };
  return xlsxFile(provenance ? [matches, provenanceSheet(provenance)] : [matches]);
}

/** Long values are divided among the cells of a row. */
const provenanceSheet = (provenance: Provenance): XlsxSheet => ({
  title: PROVENANCE_SHEET,
  names: ["name", "value"],
  rows: listProvenance(provenance).map(([name, value]) => [name].concat(value.match(/.{1,32000}/gsu) ?? [])),
});

/** Numbers are rounded as in TSV. A bound is a text instead, because a workbook is for people. */
function workbookCell(cell: XlsxCell): XlsxCell {
  if (typeof cell === "number") return roundNumber(cell);
  return typeof cell === "string" ? xlsxText(cell) || null : cell;
}

/** Parts of a table as a file: text at once, a workbook as bytes. */
export function printTable(
  format: TableFormat,
  table: MatchTable,
  parts: readonly TablePart[],
  provenance?: Provenance,
): string | Promise<Uint8Array<ArrayBuffer>> {
  if ("isWorkbook" in format)
    return new Response(tableWorkbook(table, parts, provenance)).bytes() as Promise<Uint8Array<ArrayBuffer>>;
  return format.head(table, provenance) + parts.map((part) => format.print(table, part)).join("");
}

/** The matches of a proteome search as a file. */
export function printProteome(
  format: ProteomeFormatName,
  rows: readonly ProteomeRow[],
  provenance: Provenance,
): string | Promise<Uint8Array<ArrayBuffer>> {
  const { proteome } = MATCH_TABLES;
  if (format !== "json") {
    const named = rows.map((row) => Object.assign({}, row, { method: provenance.method }));
    return printTable(TABLE_FORMATS[format], proteome, [{ rows: named, sequences: [] }], provenance);
  }
  const lines = rows.map((row) => JSON.stringify(Object.assign({}, row, matchObject(proteome.columns, row))));
  return lines.map((line) => `${line}\n`).join("");
}
