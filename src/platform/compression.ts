import { pipeline } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { Problem } from "../problem.ts";
import { paced } from "./byte-budget.ts";
import { BodyStream } from "./body-stream.ts";

/** Size in bytes from which a body is compressed. */
const THRESHOLD = 1024;

/** Types worth compressing; event streams would be delayed. */
const COMPRESSIBLE = /^(text\/(?!event-stream)|application\/(json|javascript|xml|[a-z.+-]+\+(json|xml)))/i;

/**
 * Compresses a response of at least THRESHOLD bytes and a compressible type for clients that accept gzip. Streams stay
 * streams: only their first bytes are buffered.
 */
export function compress(request: Request, response: Response): Response | Promise<Response> {
  const headers = response.headers;
  if (!COMPRESSIBLE.test(headers.get("content-type") ?? "") || headers.has("content-encoding")) {
    return response;
  }
  headers.append("Vary", "Accept-Encoding");
  if (!acceptsGzip(request.headers.get("accept-encoding"))) return response;
  // Last, because reading `body` turns a text into a stream, which is sent more slowly.
  return response.body ? compressBody(response, response.body) : response;
}

async function compressBody(response: Response, body: ReadableStream<Uint8Array>): Promise<Response> {
  const { headers } = response;
  const reader = body.getReader();
  const head: Uint8Array[] = [];
  let size = 0;
  let ended = false;
  // Most bodies come in one piece, whose end shows only with the next read.
  for (let isFull = false; !ended && !isFull;) {
    isFull = size >= THRESHOLD;
    const { done, value } = await reader.read();
    ended = done;
    if (value) size += head.push(value) && value.byteLength;
  }
  const init = { status: response.status, statusText: response.statusText, headers };
  if (ended && size < THRESHOLD) return new Response(joined(head), init);
  headers.set("Content-Encoding", "gzip");
  // A strong tag stands for other bytes (RFC 9110, section 8.8.1).
  const tag = headers.get("etag");
  if (tag !== null && !tag.startsWith("W/")) headers.set("ETag", `W/${tag}`);
  headers.delete("Content-Length");
  if (!ended) return new Response(gzipStream(head, reader), init);
  if (size <= AT_ONCE) return new Response(Bun.gzipSync(joined(head)), init);
  // Compressed as a whole before it is sent, so that a slow client does not keep the original in memory.
  const pieces: Uint8Array[] = [];
  for await (const piece of gzipPieces(head)) pieces.push(piece);
  return new Response(paced(joined(pieces)), init);
}

type Pieces = AsyncIterable<Uint8Array> & { destroy(): unknown };

/** Up to this size compression takes less time than passing it to another thread. */
const AT_ONCE = 65_536;

const joined = (pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  pieces.length === 1 ? (pieces[0] as Uint8Array<ArrayBuffer>) : Buffer.concat(pieces);

/**
 * Compresses on zlib's threads: 20 MB take a quarter of a second. Bun's CompressionStream would block the main thread
 * (Bun 1.4.5).
 */
function gzipPieces(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Pieces {
  // Errors surface at the reader.
  return pipeline(slices(source), createGzip({ chunkSize: AT_ONCE }), () => {});
}

async function* slices(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source)
    for (let at = 0; at < chunk.byteLength; at += AT_ONCE) yield chunk.subarray(at, at + AT_ONCE);
}

/** Decompresses a body during reading, in pieces of bounded size. @throws Problem malformed while it is read */
export function gunzipped(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const gunzip = createGunzip({ chunkSize: AT_ONCE });
  return pulled(
    pipeline(slices(body), gunzip, () => {}),
    (error) => {
      if (error instanceof Problem) throw error;
      throw new Problem("malformed", "The body is truncated or damaged, or is not gzip.", { cause: error });
    },
  );
}

/** The bytes read so far and the rest of the stream, no faster than the client reads. */
function gzipStream(
  head: readonly Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield* head;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  }
  return pulled(gzipPieces(source()), undefined, (reason) => reader.cancel(reason));
}

/** A stream of pieces that are made when they are read. */
function pulled(
  source: Pieces,
  onError: (error: unknown) => never = (error) => {
    throw error;
  },
  onCancel?: (reason: unknown) => Promise<void>,
): BodyStream {
  const pieces = source[Symbol.asyncIterator]();
  return new BodyStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next().catch(onError);
        if (done) controller.close();
        else controller.enqueue(value as Uint8Array<ArrayBuffer>);
      },
      async cancel(reason) {
        source.destroy();
        await onCancel?.(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** RFC 9110, section 12.5.3: gzip is acceptable where it, or `*`, is named without `q=0`. */
export function acceptsGzip(accept: string | null): boolean {
  if (accept === null) return false;
  const weights = new Map(
    accept.split(",").map((part) => {
      const [name, ...parameters] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      const q = parameters.find((parameter) => parameter.startsWith("q="));
      return [name, q === undefined ? 1 : Number(q.slice(2))] as const;
    }),
  );
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
}
