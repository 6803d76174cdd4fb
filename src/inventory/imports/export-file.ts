import { writeXlsxStream } from "hucre/xlsx";
import type { Json } from "../model/field.ts";
import { csvLine } from "../model/page.ts";

/** Values of one record in the order of the names. */
export type Line = Record<string, Json>;

/** Records as a file, made while it is read: one chunk of lines at a time is in memory. */
export interface Sheet {
  title: string;
  names: readonly string[];
  /** Lists of records, in order. */
  chunks: Iterable<readonly Line[]>;
}

/**
 * The same stream, with a turn for others between two pieces. `end` is called once it is through, or no longer wanted.
 */
export function inTurns(stream: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream(
    {
      async pull(sink) {
        await new Promise((turn) => setImmediate(turn));
        try {
          const { done, value } = await reader.read();
          if (!done) return sink.enqueue(value);
          end();
          sink.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      async cancel(reason) {
        // First the end of who reads, then of what it reads from.
        await reader.cancel(reason).finally(end);
      },
    },
    { highWaterMark: 0 },
  );
}

/** RFC 4180, with a line of names. */
export const csvText = (names: readonly string[], records: readonly Line[]): string =>
  [csvLine([...names]), ...records.map((record) => csvLine(names.map((name) => record[name])))].join("");

/** The same in UTF-8, for any number of records. */
export function csvFile({ names, chunks }: Sheet): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const source = chunks[Symbol.iterator]();
  let first = true;
  return new ReadableStream({
    pull(controller) {
      const { done, value } = source.next();
      if (done) return controller.close();
      const lines = value.map((record) => csvLine(names.map((name) => record[name])));
      const head = first ? csvLine([...names]) : "";
      first = false;
      controller.enqueue(encoder.encode(head + lines.join("")));
    },
  });
}

/** Characters that a cell of a spreadsheet may have. */
const CELL_LENGTH = 32_767;

/** Office Open XML. Text stays text, whatever it begins with; objects and lists as JSON. */
export function xlsxFile({ title, names, chunks }: Sheet): ReadableStream<Uint8Array> {
  const cell = (value: Json): string | number | boolean | null => {
    if (value === null || typeof value === "number" || typeof value === "boolean") return value;
    return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, CELL_LENGTH);
  };
  function* rows(): Generator<(string | number | boolean | null)[]> {
    for (const records of chunks)
      for (const record of records) yield names.map((name) => cell(record[name] ?? null));
  }
  return writeXlsxStream(rows(), {
    // Excel allows 31 characters, and none of []:*?/\.
    name: title.replaceAll(/[[\]:*?/\\]/g, " ").slice(0, 31),
    columns: names.map((header) => ({ header })),
    freezePane: { rows: 1 },
  });
}
