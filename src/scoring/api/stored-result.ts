import { escapeText } from "../contract/xml-text.ts";
import type { Form, Parts } from "../jobs/packed-prediction.ts";

/** Where the client's name of the query belongs: it is not stored, because identical questions share their result. */
const NAME = Buffer.from("<p:identifier></p:identifier>");
const NAME_START = NAME.indexOf("</");

/** A result of which one part is in memory at a time. */
export type StoredResult = Pick<Parts, "count" | "read">;

/** A stored prediction with the client's name of the query. */
export function withIdentifier(
  { count, read }: Pick<Parts, "count" | "read">,
  form: Form,
  identifier: string,
): StoredResult {
  const name = (first: Uint8Array): Uint8Array<ArrayBuffer> => {
    if (form === "json") return joined(`{"identifier":${JSON.stringify(identifier)},`, first.subarray(1));
    const at = Buffer.from(first.buffer, first.byteOffset, first.byteLength).indexOf(NAME) + NAME_START;
    return joined(first.subarray(0, at), escapeText(identifier), first.subarray(at));
  };
  return { count, read: (part) => (part === 0 ? name(read(0)) : read(part)) };
}

/**
 * The body of a response: `head`, the parts and `tail`. One part is sent as a whole; several are read and decompressed as
 * the client takes them, so that no response is in memory as a whole.
 */
export function bodyOf(
  { count, read }: StoredResult,
  head = "",
  tail = "",
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> {
  if (count === 1) return joined(head, read(0), tail);
  let next = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        await nextTurn();
        const part = next++;
        if (part === 0) controller.enqueue(joined(head, read(0)));
        else if (part < count) controller.enqueue(read(part));
        if (next < count) return;
        if (tail !== "") controller.enqueue(joined(tail));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

let turn: Promise<unknown> = Promise.resolve();

/** A turn of the event loop for one part, so that others are served between two parts, whatever the number of streams. */
const nextTurn = (): Promise<unknown> => (turn = turn.then(() => new Promise(setImmediate)));

const joined = (...pieces: (string | Uint8Array)[]): Uint8Array<ArrayBuffer> =>
  Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
