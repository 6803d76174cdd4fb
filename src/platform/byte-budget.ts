import { Problem } from "../problem.ts";
import { exceeded, type Limit, LIMITS, SMALL_BODY } from "./limits.ts";
import { BodyStream } from "./body-stream.ts";
import { currentRequest } from "./request-context.ts";

/** Bytes in memory over all requests. Half of them at most are those of one client, so that others can go on. */
export class ByteBudget {
  readonly #held = new Map<object, { network: string; bytes: number }>();

  constructor(private readonly limit: Limit) {}

  /**
   * Checks that there is room for so many bytes. `least` is the size that must always be possible.
   * @throws Problem busy
   */
  check(bytes: number, least = 0): void {
    const network = currentRequest()?.network ?? "";
    const max = Math.max(this.limit.max, least * 2);
    let [all, own] = [bytes, bytes];
    for (const held of this.#held.values()) {
      all += held.bytes;
      if (held.network === network) own += held.bytes;
    }
    if (all <= max && own <= max / 2) return;
    const limit =
      own > max / 2
        ? { ...this.limit, max: max / 2, of: `${this.limit.of} for one client` }
        : { ...this.limit, max };
    throw new Problem("busy", exceeded(limit), { headers: { "Retry-After": "5" } });
  }

  /** Counts bytes until `release`. */
  hold(holder: object, bytes: number, network = currentRequest()?.network ?? ""): void {
    const held = this.#held.get(holder);
    if (held) held.bytes += bytes;
    else this.#held.set(holder, { network, bytes });
  }

  release(holder: object): void {
    this.#held.delete(holder);
  }
}

const bodies = new ByteBudget(LIMITS.bodies);

/**
 * Counts the declared length of the body of the current request before it is read, until the response exists: one for
 * which there is no room is refused before it arrives.
 * @throws Problem busy
 */
export function reserveBody({ headers }: Request): void {
  const context = currentRequest();
  const declared = Number(headers.get("content-length") ?? 0);
  if (!context || !(declared > SMALL_BODY)) return;
  bodies.check(declared - SMALL_BODY, context.limits?.maxMessageBytes);
  bodies.hold(context, declared - SMALL_BODY);
  context.uncountedBytes = declared;
}

/** Counts bytes of the body of the current request that were not reserved, until the response exists. @throws Problem busy */
export function holdBody(bytes: number): void {
  const context = currentRequest();
  if (!context) return;
  const counted = bytes - context.uncountedBytes;
  context.uncountedBytes = Math.max(0, -counted);
  if (counted <= 0) return;
  bodies.check(counted, context.limits?.maxMessageBytes);
  bodies.hold(context, counted);
}

export const releaseBody = (context: object): void => bodies.release(context);

const responses = new ByteBudget(LIMITS.responses);

/** Rejects a response of about so many bytes before it is made. @throws Problem busy */
export function checkRoom(bytes: number): void {
  if (bytes > SMALL_BODY) responses.check(bytes);
}

/**
 * A body in pieces that follow the client's reading, with all of it counted until it is sent. Small ones are sent as
 * they are, which is faster.
 * @throws Problem busy
 */
export function paced(body: string | Uint8Array<ArrayBuffer>): BodyInit {
  if (body.length <= SMALL_BODY) return body;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  checkRoom(bytes.length);
  const network = currentRequest()?.network;
  let at = 0;
  return new BodyStream(
    {
      pull(sink) {
        // Not before: a response to HEAD, or one that is replaced by an error, is never pulled.
        if (at === 0) responses.hold(bytes, bytes.length, network);
        if (at < bytes.length) return sink.enqueue(bytes.subarray(at, (at += SMALL_BODY)));
        responses.release(bytes);
        sink.close();
      },
      cancel: () => responses.release(bytes),
    },
    { highWaterMark: 0 },
  );
}
