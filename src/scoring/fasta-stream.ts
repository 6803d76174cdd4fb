import { Problem } from "../problem.ts";

/** A FASTA file of proteins: plain, or compressed with gzip or zstd, told apart by its first bytes. */
export type FastaSource = ReadableStream<Uint8Array> | Blob | string;

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** The bytes of a FASTA file, decompressed where its first bytes are those of gzip (RFC 1952) or zstd (RFC 8878). */
export async function* decompressed(source: FastaSource): AsyncGenerator<Uint8Array> {
  const stream = source instanceof ReadableStream ? source : new Blob([source]).stream();
  const reader = (stream as ReadableStream<Uint8Array>).getReader();
  // A pipe may hand over its first bytes one by one.
  let head: Uint8Array = new Uint8Array(0);
  let ended = false;
  while (!ended && head.length < ZSTD.length) {
    const { done, value } = await reader.read();
    ended = done;
    if (value) head = Buffer.concat([head, value]);
  }
  const begins = (magic: number[]): boolean => magic.every((byte, i) => head[i] === byte);
  const rest = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(head as Uint8Array<ArrayBuffer>),
    async pull(controller) {
      const { done, value } = ended ? { done: true } : await reader.read();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const format = begins(GZIP) ? "gzip" : begins(ZSTD) ? "zstd" : null;
  if (!format) return yield* rest;
  try {
    yield* rest.pipeThrough(new DecompressionStream(format as CompressionFormat));
  } catch (error) {
    // Errors of the consumer never arrive here: a generator sees only its own.
    throw new Problem("invalid_request", `The ${format} file is cut short or damaged.`, { cause: error });
  }
}
