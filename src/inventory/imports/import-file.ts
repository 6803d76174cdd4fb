import { LIMITS } from "../model/limits.ts";
import { csvValue } from "../model/page.ts";
import { type Cell, cellTooLong } from "./check-cells.ts";
import { ElnContents } from "./eln-contents.ts";
import { isArchive } from "./eln-graph.ts";
import { type ElnArchive, readEln } from "./eln-reader.ts";
import { decodeEntities } from "./plain-text.ts";
import { toStreamable, TRUNCATED_MESSAGE } from "./zip-layout.ts";
import { shownName } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { readZip, unzip } from "../../platform/zip-file.ts";
import { exceeded } from "../../platform/limits.ts";
import { Problem } from "../../problem.ts";

/** The rows of a file, as compressed JSON, which takes a fraction of the memory. */
export interface Table {
  headers: string[];
  /** Number of rows below the header. */
  count: number;
  /** The rows from the beginning, with the numbers that a spreadsheet shows. */
  rows(): Generator<TableRow>;
  /** The sheet of a workbook that was read, and all that are not hidden; absent from other files. */
  sheet?: string;
  sheets?: readonly string[];
  /** The archive of which the rows are records, one after the other, and the contents of its files. */
  archive?: ElnArchive;
  contents?: ElnContents;
  /** Frees the memory reserved for writing. */
  close(): void;
}

/** Options of reading a file. */
export interface ReadOptions {
  /** Called with the number of rows read so far. */
  onProgress: (rows: number) => void;
  /** Called every few MB; an error that it throws ends the import. */
  check: () => void;
  /** True if files of an archive are to be stored; their checksums are known anyway. */
  stores: boolean;
  /** Name of the sheet; by default the first one with a table. */
  sheet?: string | undefined;
}

export interface TableRow {
  number: number;
  cells: Cell[];
}

const CHUNK_ROWS = 500;
/** Uncompressed bytes of an XLSX file, which is a ZIP archive. */
const MAX_UNCOMPRESSED = 500_000_000;

/**
 * Reads CSV (comma, semicolon or tab), a sheet of XLSX, or an archive (.eln), recognised by their content.
 * @throws Problem malformed, too_large, invalid_request for an unknown sheet
 */
export async function readTable(bytes: Uint8Array, options: ReadOptions): Promise<Table> {
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b;
  if (isZip && isArchive(readZip(bytes, TRUNCATED_MESSAGE))) return archiveTable(bytes, options);
  const table = isZip ? await readWorkbook(bytes, options) : await readRows(csvRows(decode(bytes)), options);
  if (table.headers.length > 0) return table;
  throw new Problem("malformed", "The file is empty. Its first row must name the columns.");
}

/** Sheets that are tried, each of which takes as long as the whole file, and bytes of their list. */
const MAX_TRIED = 5;
const MAX_LIST = 1_000_000;

/** The chosen sheet of a workbook, or the first one with several columns, which instructions do not have. */
async function readWorkbook(bytes: Uint8Array, options: ReadOptions): Promise<Table> {
  const all = await listSheets(bytes);
  const sheets = all.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
  const { sheet: chosen, check } = options;
  if (chosen !== undefined && !sheets.includes(chosen))
    throw parameterProblem("sheet", `There is no sheet ${shownName(chosen)}. Choices: ${sheets.join(", ")}.`);
  let first: Table | undefined;
  for (const sheet of chosen === undefined ? sheets.slice(0, MAX_TRIED) : [chosen]) {
    const at = all.findIndex(({ name }) => name === sheet);
    const table = { ...(await readRows(xlsxRows(bytes, at, check), options)), sheet, sheets };
    if (table.headers.length > 1) return table;
    if (!first || first.headers.length === 0) first = table;
  }
  return first ?? readRows(xlsxRows(bytes, 0, check), options);
}

/** The sheets of a workbook in their order; empty if it names none where others do. */
async function listSheets(bytes: Uint8Array): Promise<{ name: string; isHidden: boolean }[]> {
  const member = readZip(bytes, TRUNCATED_MESSAGE).find(({ name }) => name === "xl/workbook.xml");
  if (!member || member.size > MAX_LIST) return [];
  const text = new TextDecoder().decode(await unzip(member));
  return [...text.matchAll(/<(?:\w+:)?sheet\s[^>]*>/g)].map(([tag]) => ({
    name: decodeEntities(/\sname="([^"]*)"/.exec(tag)?.[1] ?? ""),
    isHidden: /\sstate="(?:very)?hidden"/i.test(tag),
  }));
}

/** Rows at the beginning of a file among which the titles of its columns are. */
const FIRST_ROWS = 10;

/** The rows that are not blank, from the titles of the columns on: what stands above fills less than half of the columns. */
async function* fromTitles(rows: AsyncIterable<TableRow>): AsyncGenerator<TableRow> {
  const widthOf = ({ cells }: TableRow): number =>
    cells.filter((cell) => cell !== null && cell !== "").length;
  const first: TableRow[] = [];
  let isBegun = false;
  function* begin(): Generator<TableRow> {
    isBegun = true;
    const widest = Math.max(...first.map(widthOf));
    yield* first.slice(first.findIndex((row) => widthOf(row) * 2 >= widest));
  }
  for await (const row of rows) {
    if (row.cells.length > LIMITS.columns.max)
      throw new Problem("too_large", `Row ${row.number}: ${exceeded(LIMITS.columns)}`);
    if (widthOf(row) === 0) continue;
    if (isBegun) yield row;
    else if (first.push(row) === FIRST_ROWS) yield* begin();
  }
  if (!isBegun) yield* begin();
}

/** A table without headers if there are no rows. @throws Problem malformed, too_large */
async function readRows(rows: AsyncIterable<TableRow>, { onProgress }: ReadOptions): Promise<Table> {
  const chunks: Uint8Array[] = [];
  let headers: string[] | undefined;
  let chunk: TableRow[] = [];
  let count = 0;
  try {
    for await (const { number, cells } of fromTitles(rows)) {
      if (!headers) {
        headers = cells.map((cell) => String(cell ?? "").trim());
        while (headers.at(-1) === "") headers.pop();
        continue;
      }
      if (++count > LIMITS.fileRows.max) throw new Problem("too_large", exceeded(LIMITS.fileRows));
      chunk.push({ number, cells });
      if (chunk.length < CHUNK_ROWS) continue;
      chunks.push(compress(chunk));
      chunk = [];
      onProgress(count);
      // Let other requests run.
      await new Promise(setImmediate);
    }
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem("malformed", "The file must be CSV, XLSX or an archive (.eln).", { cause });
  }
  if (chunk.length > 0) {
    chunks.push(compress(chunk));
    onProgress(count);
  }
  return {
    headers: headers ?? [],
    count,
    *rows() {
      for (const bytes of chunks) yield* decompress(bytes);
    },
    close() {},
  };
}

async function archiveTable(bytes: Uint8Array, options: ReadOptions): Promise<Table> {
  const archive = await readEln(bytes);
  const contents = await ElnContents.read(archive, options);
  const headers = archive.columns.map(({ header }) => header);
  return {
    headers,
    count: archive.records.length,
    archive,
    contents,
    close: () => contents.close(),
    *rows() {
      for (const [i, { cells }] of archive.records.entries())
        yield { number: i + 1, cells: headers.map((header) => cells.get(header)?.[0] ?? null) };
    },
  };
}

const compress = (rows: readonly TableRow[]): Uint8Array =>
  Bun.zstdCompressSync(JSON.stringify(rows), { level: 1 });
const decompress = (bytes: Uint8Array): TableRow[] =>
  JSON.parse(
    new TextDecoder().decode(Bun.zstdDecompressSync(bytes as Uint8Array<ArrayBuffer>)),
  ) as TableRow[];

/** Trimmed cells of CSV (comma, semicolon or tab), without blank rows. */
export async function readCells(text: string): Promise<string[][]> {
  const { streamCsvRows } = await import("hucre/csv");
  return [...streamCsvRows(text.replace(/^\uFEFF/, ""))]
    .map((row) => row.map((cell) => String(cell ?? "").trim()))
    .filter((row) => row.some((cell) => cell !== ""));
}

async function* csvRows(text: string): AsyncGenerator<TableRow> {
  const { streamCsvRows } = await import("hucre/csv");
  let number = 0;
  // Excel writes the delimiter into a line of its own.
  const [line = "", delimiter = undefined] = /^\uFEFF?sep=(.)\r?\n/.exec(text) ?? [];
  for (const row of streamCsvRows(text.slice(line.length), delimiter === undefined ? {} : { delimiter }))
    yield { number: ++number, cells: row.map((cell, i) => fitting(csvValue(String(cell ?? "")), number, i)) };
}

/** The text of a cell. @throws Problem too_large */
function fitting(text: string, row: number, column: number): string {
  if (text.length > LIMITS.cell.max) throw cellTooLong(`Row ${row}, column ${column + 1}: `);
  return text;
}

async function* xlsxRows(bytes: Uint8Array, sheet: number, check: () => void): AsyncGenerator<TableRow> {
  const { streamXlsxRows } = await import("hucre/xlsx");
  const row = { inUse: false };
  // hucre 1.0.0 reads ahead without limit; it gets no more input while a row is being handled.
  const idle = async (): Promise<void> => {
    do await new Promise(setImmediate);
    while (row.inUse);
  };
  const source = toStreamable(bytes, MAX_UNCOMPRESSED, idle, check);
  for await (const { index, values } of streamXlsxRows(source, { sheet })) {
    const cells = values.map((value, i): Cell => {
      if (typeof value === "string") return fitting(value, index + 1, i);
      if (value === null || value === undefined) return null;
      if (value instanceof Date) return value.toISOString();
      return typeof value === "object" ? String(value) : value;
    });
    row.inUse = true;
    yield { number: index + 1, cells };
    row.inUse = false;
  }
}

/** The first bytes of workbooks before XLSX. */
const OLD_EXCEL = "d0cf11e0";

/** Text in UTF-8, UTF-16 or Windows-1252, as spreadsheets save it. @throws Problem malformed */
function decode(bytes: Uint8Array): string {
  if (bytes.subarray(0, 4).toHex() === OLD_EXCEL)
    throw new Problem("malformed", "This is a workbook of an old Excel (.xls). Save it as XLSX or CSV.");
  const text = new TextDecoder(findEncoding(bytes)).decode(bytes);
  if (text.includes("\0")) throw new Problem("malformed", "The file must be XLSX, or CSV in UTF-8.");
  return text;
}

/** Of UTF-16, a byte order mark or one of the two bytes of the first character tells it. */
function findEncoding(bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | "windows-1252" {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (second === 0 && first !== 0)) return "utf-16le";
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return "utf-16be";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}
