import { BodyStream } from "../../platform/body-stream.ts";
import { type XlsxCell, xlsxFile as writeXlsx, xlsxText } from "../../platform/xlsx.ts";
import type { Json } from "../model/field.ts";
import { csvLine, csvValue } from "../model/page.ts";

/** Values of one record by column. */
export type Row = Record<string, Json>;

/** Records for a file that is written while it is sent. */
export interface Sheet {
  title: string;
  names: readonly string[];
  chunks: Iterable<readonly Row[]>;
}

/** Texts in UTF-8, produced on demand. */
export function streamTexts(texts: Iterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const source = texts[Symbol.iterator]();
  return new BodyStream({
    pull(sink) {
      const { done, value } = source.next();
      if (done) sink.close();
      else sink.enqueue(encoder.encode(value));
    },
  });
}

/** Bytes that are produced on demand. */
export function streamBytes(pieces: Iterable<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array> {
  const source = pieces[Symbol.iterator]();
  return new BodyStream({
    pull(sink) {
      const { done, value } = source.next();
      if (done) sink.close();
      else sink.enqueue(value);
    },
  });
}

/** Lets other requests run between the pieces of a stream. `end` is called once it ends or is cancelled. */
export function yieldBetweenChunks(
  stream: ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>,
  end = (): void => {},
): ReadableStream<Uint8Array> {
  const opened = Promise.resolve(stream).then((stream) => stream.getReader());
  return new BodyStream(
    {
      async pull(sink) {
        await new Promise(setImmediate);
        try {
          const reader = await opened;
          const { done, value } = await reader.read();
          if (!done) return sink.enqueue(value as Uint8Array<ArrayBuffer>);
          end();
          sink.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      async cancel(reason) {
        await opened.then((reader) => reader.cancel(reason)).finally(end);
      },
    },
    { highWaterMark: 0 },
  );
}

const csvRows = (names: readonly string[], rows: readonly Row[]): string =>
  rows.map((row) => csvLine(names.map((name) => row[name]))).join("");

/** RFC 4180, with a header. */
export const csvText = (names: readonly string[], rows: readonly Row[]): string =>
  csvLine([...names]) + csvRows(names, rows);

/** A CSV file in UTF-8, for any number of records. */
export function csvFile({ names, chunks }: Sheet): ReadableStream<Uint8Array> {
  function* texts(): Generator<string> {
    yield csvLine([...names]);
    for (const rows of chunks) yield csvRows(names, rows);
  }
  return streamTexts(texts());
}

/** Office Open XML; objects and lists are JSON. */
export function xlsxFile({ title, names, chunks }: Sheet): ReadableStream<Uint8Array> {
  const cell = (value: Json): XlsxCell => {
    if (value === null || typeof value === "number" || typeof value === "boolean") return value;
    return xlsxText(typeof value === "string" ? value : JSON.stringify(value));
  };
  function* rows(): Generator<XlsxCell[]> {
    for (const records of chunks)
      for (const record of records) yield names.map((name) => cell(record[name] ?? null));
  }
  return writeXlsx([{ title, names, rows: rows() }]);
}

/** A CSV file as a workbook, whose cells are text. */
export async function csvToXlsx(csv: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const { streamCsvRows } = await import("hucre/csv");
  const [names, ...rows] = streamCsvRows(await new Response(csv).text());
  const cells = rows.map((row) => row.map((cell) => xlsxText(csvValue(String(cell ?? "")))));
  return writeXlsx([{ title: "waiting", names: names.map(String), rows: cells }]);
}
