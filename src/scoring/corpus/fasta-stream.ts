import { Problem } from "../../problem.ts";

/** FASTA of proteins: plain, or compressed with gzip or zstd, detected by the first bytes. */
export type FastaSource = ReadableStream<Uint8Array> | Blob | string;

/** Magic numbers, none longer than HEAD. */
const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];
const UTF8_MARK = [0xef, 0xbb, 0xbf];
const UTF16_MARKS = { "utf-16le": [0xff, 0xfe], "utf-16be": [0xfe, 0xff] };
const HEAD = 4;

/** Formats that users mistake for text, and what to do about them. */
const UNSUPPORTED_FORMATS: [first: number[], is: string][] = [
  [
    [0x50, 0x4b, 0x03, 0x04],
    "a ZIP archive, or a Word or Excel document: unpack it, or save it as plain text",
  ],
  [[0xd0, 0xcf, 0x11, 0xe0], "a Word or Excel document: save it as plain text"],
  [[0x7b, 0x5c, 0x72, 0x74], "an RTF document: save it as plain text"],
  [[0x25, 0x50, 0x44, 0x46], "a PDF document: save it as plain text"],
  [[0x42, 0x5a, 0x68], "compressed with bzip2: unpack it first"],
  [[0xfd, 0x37, 0x7a, 0x58], "compressed with xz: unpack it first"],
];

/**
 * The text as UTF-8 without a byte order mark: decompressed from gzip (RFC 1952) or zstd (RFC 8878), and converted from
 * UTF-16 if it has that byte order mark, as Windows editors write it.
 * @param count called with the numbers of bytes that were read of the source
 * @throws Problem invalid_request for a damaged file or another format
 */
export async function* decompressed(
  source: FastaSource,
  count: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const stream = source instanceof ReadableStream ? source : new Blob([source]).stream();
  const { head, rest } = await opened(stream as ReadableStream<Uint8Array>, count);
  const format = begins(head, GZIP) ? "gzip" : begins(head, ZSTD) ? "zstd" : null;
  if (!format) return yield* toUtf8(head, rest);
  try {
    const unpacked = rest.pipeThrough(
      new DecompressionStream(format as CompressionFormat) as unknown as ReadableWritablePair<
        Uint8Array,
        Uint8Array
      >,
    );
    const text = await opened(unpacked);
    yield* toUtf8(text.head, text.rest);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("invalid_request", `The ${format} file is truncated or damaged.`, { cause: error });
  }
}

/** The text of UTF-8. @throws Problem invalid_request for other bytes */
export async function* decodeText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let bytes = 0;
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (error) {
      const message = `The file is not UTF-8 text: see byte ${bytes} and those before.`;
      throw new Problem("invalid_request", message, { cause: error });
    } finally {
      bytes += chunk?.length ?? 0;
    }
  };
  for await (const chunk of chunks) yield decode(chunk);
  yield decode();
}

const begins = (head: Uint8Array, first: number[]): boolean => first.every((byte, i) => head[i] === byte);

/** A stream and its first bytes, which the stream still contains. A pipe may deliver them one by one. */
async function opened(
  stream: ReadableStream<Uint8Array>,
  count: (bytes: number) => void = () => {},
): Promise<{ head: Uint8Array; rest: ReadableStream<Uint8Array> }> {
  const reader = stream.getReader();
  const read = async (): Promise<{ done: boolean; value: Uint8Array | undefined }> => {
    const { done, value } = await reader.read();
    count(value?.length ?? 0);
    return { done, value };
  };
  let head: Uint8Array = new Uint8Array(0);
  let ended = false;
  while (!ended && head.length < HEAD) {
    const { done, value } = await read();
    ended = done;
    if (value) head = Buffer.concat([head, value]);
  }
  const rest = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(head),
    async pull(controller) {
      const { done, value } = ended ? { done: true, value: undefined } : await read();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { head, rest };
}

async function* toUtf8(head: Uint8Array, stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const foreign = UNSUPPORTED_FORMATS.find(([first]) => begins(head, first));
  if (foreign) {
    throw new Problem(
      "invalid_request",
      `The file is ${foreign[1]}. Expected plain text, or text compressed with gzip or zstd.`,
    );
  }
  const [utf16] = Object.entries(UTF16_MARKS).find(([, mark]) => begins(head, mark)) ?? [];
  if (utf16 !== undefined) {
    const decoder = new TextDecoder(utf16 as Bun.Encoding);
    const encoder = new TextEncoder();
    for await (const piece of stream) yield encoder.encode(decoder.decode(piece, { stream: true }));
    return;
  }
  let marked = begins(head, UTF8_MARK);
  for await (const piece of stream) {
    yield marked ? piece.subarray(UTF8_MARK.length) : piece;
    marked = false;
  }
}
