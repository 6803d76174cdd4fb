import { BodyStream } from "../../platform/body-stream.ts";
import { paced } from "../../platform/byte-budget.ts";
import { CLOSING_TAG, encodeProvenance } from "../prediction/encode-prediction.ts";
import { escapeText } from "../../platform/xml-text.ts";
import { acceptsGzip } from "../../platform/compression.ts";
import { gzipMember, MemberJoiner } from "../../platform/gzip-members.ts";
import type { NamedQuery } from "../prediction/prediction.ts";
import type { Form, Parts } from "./packed-prediction.ts";

/** The place of the client's name of the query: it is not stored, because identical questions share their result. */
const NAME = Buffer.from("<p:identifier></p:identifier>");
const NAME_START = NAME.indexOf("</");

/** A result of which one part is in memory at a time. */
export type StoredResult = Omit<Parts, "compressed">;

/** A stored prediction with the name of the query and its provenance. */
export function withNames(
  { count, read, member }: StoredResult,
  form: Form,
  { identifier, protein, provenance }: NamedQuery,
): StoredResult {
  const name = (first: Uint8Array): Uint8Array => {
    if (form === "json")
      return joined(
        `${JSON.stringify({ identifier, protein, provenance }).slice(0, -1)},`,
        first.subarray(1),
      );
    const at = Buffer.from(first.buffer, first.byteOffset, first.byteLength).indexOf(NAME) + NAME_START;
    return joined(first.subarray(0, at), escapeText(identifier), first.subarray(at));
  };
  const last = form === "json" ? 0 : count - 1;
  const complete = (part: number): Uint8Array<ArrayBuffer> => {
    const bytes = part === 0 ? name(read(0)) : read(part);
    if (form === "json" || part < last || !provenance) return joined(bytes);
    return joined(bytes.subarray(0, -CLOSING_TAG.length), encodeProvenance(provenance), CLOSING_TAG);
  };
  const isChanged = (part: number): boolean => part === 0 || part === last;
  return {
    count,
    read: (part) => (isChanged(part) ? complete(part) : read(part)),
    member: (part) => (isChanged(part) ? gzipMember(complete(part)) : member(part)),
  };
}

/**
 * The body of a response: `head`, the parts and `tail`. One part is sent as a whole; several are read as the client takes
 * them, so that no response is in memory as a whole. With `gzip`, the parts are sent as they are stored.
 */
export function makeBody(result: StoredResult, { head = "", tail = "", gzip = false } = {}): BodyInit {
  if (result.count === 1 && !gzip) return paced(joined(head, result.read(0), tail));
  const pieces = gzip ? gzipPieces(result, head, tail) : plainPieces(result, head, tail);
  return new BodyStream(
    {
      async pull(controller) {
        await nextTurn();
        const { done, value } = pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

type Pieces = Generator<Uint8Array<ArrayBuffer>, void>;

function* plainPieces({ count, read }: StoredResult, head: string, tail: string): Pieces {
  yield joined(head, read(0));
  for (let part = 1; part < count; part++) yield read(part);
  if (tail !== "") yield joined(tail);
}

function* gzipPieces({ count, member }: StoredResult, head: string, tail: string): Pieces {
  const joiner = new MemberJoiner();
  yield joiner.add(gzipMember(joined(head)));
  for (let part = 0; part < count; part++) yield joiner.add(member(part));
  yield joined(joiner.add(gzipMember(joined(tail))), joiner.end());
}

/**
 * True if a result is sent in its stored gzip form; one part is sent as a whole, and compressed like other responses.
 */
export const isSentInGzip = ({ count }: StoredResult, { headers }: Request): boolean =>
  count > 1 && acceptsGzip(headers.get("accept-encoding"));

/** Headers of a body in gzip. */
export const GZIP = { "Content-Encoding": "gzip", Vary: "Accept-Encoding" };

let turn: Promise<unknown> = Promise.resolve();

/**
 * A turn of the event loop for one part, so that other requests are served between two parts of any number of streams.
 */
const nextTurn = (): Promise<unknown> => (turn = turn.then(() => new Promise(setImmediate)));

const joined = (...pieces: (string | Uint8Array)[]): Uint8Array<ArrayBuffer> =>
  Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
