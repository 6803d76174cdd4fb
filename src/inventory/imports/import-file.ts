import { streamCsvRows } from "hucre/csv";
import { streamXlsxRows } from "hucre/xlsx";
import { csvValue } from "../model/page.ts";
import { readableFromFront } from "./zip-layout.ts";
import { Problem } from "../../problem.ts";

/** What a cell holds; times are ISO 8601 text. */
export type Cell = string | number | boolean | null;

/** A file as rows, packed: compressed JSON takes a small fraction of the memory of the rows. */
export interface Table {
  headers: string[];
  /** Rows below the line of names. */
  count: number;
  /** The rows, once more at every call, with the number that a spreadsheet shows. */
  rows(): Generator<{ number: number; cells: Cell[] }>;
}

const ROW_LIMIT = 200_000;
const COLUMN_LIMIT = 200;
const PACK = 500;
/** Bytes that the parts of an XLSX file may unfold to: it is a ZIP archive, and small ones can hold very much. */
const UNFOLDED_LIMIT = 500_000_000;

/**
 * Reads CSV (UTF-8; comma, semicolon or tab) or XLSX (its first sheet), told apart by their first bytes.
 * `report` hears how many rows were read so far.
 * @throws Problem malformed, too_large
 */
export async function readTable(bytes: Uint8Array, report: (rows: number) => void): Promise<Table> {
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b;
  const packs: Uint8Array[] = [];
  let headers: string[] | undefined;
  let pack: Pack = [];
  let count = 0;
  try {
    for await (const { number, cells } of isZip ? xlsxRows(bytes) : csvRows(decode(bytes))) {
      if (cells.every((cell) => cell === null || cell === "")) continue;
      if (cells.length > COLUMN_LIMIT)
        throw new Problem("too_large", `Row ${number} has more than ${COLUMN_LIMIT} columns.`);
      if (!headers) {
        headers = cells.map((cell) => String(cell ?? "").trim());
        continue;
      }
      if (++count > ROW_LIMIT) throw new Problem("too_large", `More than ${ROW_LIMIT} rows.`);
      pack.push({ number, cells });
      if (pack.length < PACK) continue;
      packs.push(packed(pack));
      pack = [];
      report(count);
      // Others are served between two packs.
      await new Promise(setImmediate);
    }
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem("malformed", "The file is neither CSV nor a spreadsheet (XLSX) that can be read.", {
      cause,
    });
  }
  if (pack.length > 0) {
    packs.push(packed(pack));
    report(count);
  }
  if (!headers) throw new Problem("malformed", "The file is empty: its first row names the columns.");
  return {
    headers,
    count,
    *rows() {
      for (const bytes of packs) yield* unpacked(bytes);
    },
  };
}

type Pack = { number: number; cells: Cell[] }[];

const packed = (rows: Pack): Uint8Array => Bun.zstdCompressSync(JSON.stringify(rows), { level: 1 });
const unpacked = (bytes: Uint8Array): Pack =>
  JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(bytes as Uint8Array<ArrayBuffer>))) as Pack;

function* csvRows(text: string): Generator<{ number: number; cells: Cell[] }> {
  let number = 0;
  for (const row of streamCsvRows(text))
    yield { number: ++number, cells: row.map((cell) => csvValue(String(cell ?? ""))) };
}

async function* xlsxRows(bytes: Uint8Array): AsyncGenerator<{ number: number; cells: Cell[] }> {
  const row = { taken: false };
  // The library (hucre 1.0.0) reads on whether its rows are wanted or not; so it gets no more while one is looked at.
  const idle = async (): Promise<void> => {
    do await new Promise(setImmediate);
    while (row.taken);
  };
  for await (const { index, values } of streamXlsxRows(readableFromFront(bytes, UNFOLDED_LIMIT, idle))) {
    const cells = values.map((value): Cell => {
      if (value === null || value === undefined) return null;
      if (value instanceof Date) return value.toISOString();
      return typeof value === "object" ? String(value) : value;
    });
    row.taken = true;
    yield { number: index + 1, cells };
    row.taken = false;
  }
}

/** Text in UTF-8, or in UTF-16 with its mark, which is what spreadsheets call Unicode text. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Problem(
      "malformed",
      "The file is neither XLSX nor text in UTF-8. Save it as XLSX, or as CSV UTF-8.",
      { cause },
    );
  }
}
