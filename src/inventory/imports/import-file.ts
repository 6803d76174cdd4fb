import { LIMITS } from "../model/limits.ts";
import { csvValue } from "../model/page.ts";
import { type Cell, cellTooLong } from "./check-cells.ts";
import { ElnContents } from "./eln-contents.ts";
import { isArchive } from "./eln-graph.ts";
import { type ElnArchive, readEln } from "./eln-reader.ts";
import { toStreamable, TRUNCATED_MESSAGE } from "./zip-layout.ts";
import { readZip } from "../../platform/zip-file.ts";
import { exceeded } from "../../platform/limits.ts";
import { Problem } from "../../problem.ts";

/** The rows of a file, as compressed JSON, which takes a fraction of the memory. */
export interface Table {
  headers: string[];
  /** Number of rows below the header. */
  count: number;
  /** The rows from the beginning, with the numbers that a spreadsheet shows. */
  rows(): Generator<TableRow>;
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
}

export interface TableRow {
  number: number;
  cells: Cell[];
}

const CHUNK_ROWS = 500;
/** Uncompressed bytes of an XLSX file, which is a ZIP archive. */
const MAX_UNCOMPRESSED = 500_000_000;

/**
 * Reads CSV (comma, semicolon or tab), the first sheet of XLSX, or an archive (.eln), recognised by their content.
 * @throws Problem malformed, too_large
 */
export async function readTable(bytes: Uint8Array, options: ReadOptions): Promise<Table> {
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b;
  if (isZip && isArchive(readZip(bytes, TRUNCATED_MESSAGE))) return archiveTable(bytes, options);
  const { onProgress, check } = options;
  const chunks: Uint8Array[] = [];
  let headers: string[] | undefined;
  let chunk: TableRow[] = [];
  let count = 0;
  try {
    for await (const { number, cells } of isZip ? xlsxRows(bytes, check) : csvRows(decode(bytes))) {
      if (cells.every((cell) => cell === null || cell === "")) continue;
      if (cells.length > LIMITS.columns.max)
        throw new Problem("too_large", `Row ${number}: ${exceeded(LIMITS.columns)}`);
      if (!headers) {
        headers = cells.map((cell) => String(cell ?? "").trim());
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
  if (!headers) throw new Problem("malformed", "The file is empty. Its first row must name the columns.");
  return {
    headers,
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
  for (const row of streamCsvRows(text))
    yield { number: ++number, cells: row.map((cell, i) => fitting(csvValue(String(cell ?? "")), number, i)) };
}

/** The text of a cell. @throws Problem too_large */
function fitting(text: string, row: number, column: number): string {
  if (text.length > LIMITS.cell.max) throw cellTooLong(`Row ${row}, column ${column + 1}: `);
  return text;
}

async function* xlsxRows(bytes: Uint8Array, check: () => void): AsyncGenerator<TableRow> {
  const { streamXlsxRows } = await import("hucre/xlsx");
  const row = { inUse: false };
  // hucre 1.0.0 reads ahead without limit; it gets no more input while a row is being handled.
  const idle = async (): Promise<void> => {
    do await new Promise(setImmediate);
    while (row.inUse);
  };
  for await (const { index, values } of streamXlsxRows(toStreamable(bytes, MAX_UNCOMPRESSED, idle, check))) {
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

/** Text in UTF-8, or in UTF-16 with a byte order mark, as spreadsheets save Unicode text. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Problem("malformed", "The file must be XLSX, or CSV in UTF-8.", { cause });
  }
}
