import { Problem } from "../problem.ts";
import { holdBody, reserveBody } from "./byte-budget.ts";
import { type Json, parseJson } from "./parse-json.ts";
import { currentRequest } from "./request-context.ts";

export const bodyTooLarge = (maxBytes: number): Problem =>
  new Problem("too_large", `The body has more than ${maxBytes} bytes (setting max_message_bytes).`);

/** Seconds in which a body must arrive. */
export const RECEIVE_TIMEOUT = 120;

/** Seconds without a byte after which an upload of any size is aborted. */
export const MAX_SILENCE = 60;

/**
 * Passes the body of a request to `take` piece by piece. It must arrive within the time limit of the request, or, with
 * `maxPause`, without a pause of so many seconds.
 * @throws Problem timeout; what `take` throws
 */
export async function receive(
  request: Request,
  take: (chunk: Uint8Array) => void,
  maxPause?: number,
): Promise<void> {
  const reader = request.body?.getReader();
  if (!reader) return;
  const seconds = maxPause ?? currentRequest()?.limits?.receiveTimeout;
  let isLate = false;
  const timeOut = (): void => {
    isLate = true;
    // This ends a pending read.
    void reader.cancel().catch(() => {});
  };
  const start = (): Timer | undefined =>
    seconds === undefined ? undefined : setTimeout(timeOut, seconds * 1000);
  let timer = start();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) throw tooSlowProblem(seconds!, maxPause !== undefined);
      if (done) return;
      take(value);
      if (maxPause === undefined) continue;
      clearTimeout(timer);
      timer = start();
    }
  } catch (error) {
    void reader.cancel().catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const tooSlowProblem = (seconds: number, isPause: boolean): Problem =>
  new Problem(
    "timeout",
    isPause
      ? `No data of the body arrived for ${seconds} seconds.`
      : `The body did not arrive within ${seconds} seconds.`,
  );

/** The whole body of a request. @throws Problem too_large, timeout, busy */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  reserveBody(request);
  await receive(request, (chunk) => {
    size += chunk.byteLength;
    if (size > maxBytes) throw bodyTooLarge(maxBytes);
    holdBody(chunk.byteLength);
    chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}

/**
 * The body as text in strict UTF-8; request.text() would replace wrong bytes.
 * @throws Problem too_large, timeout, malformed
 */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  const bytes = await readBytes(request, maxBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Problem("malformed", "The body must be UTF-8.", { cause });
  }
}

/** The media type of a body in lower case, without parameters; empty if the request does not name one. */
export const mediaType = (request: Request): string =>
  (request.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();

interface JsonOptions {
  /** Time limit; by default the limit of the current request. */
  maxBytes?: number;
  /** Media types to accept; an empty text stands for bodies without one. By default any body is taken for JSON. */
  types?: readonly string[];
}

/**
 * The body as JSON; an empty body is an empty object, so that the error names the missing members.
 * @throws Problem unsupported_media_type, too_large, timeout, malformed
 */
export async function readJson(request: Request, { maxBytes, types }: JsonOptions = {}): Promise<Json> {
  const type = mediaType(request);
  if (types && !types.includes(type)) {
    const shown = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? `"${type}"` : "of this name";
    throw new Problem(
      "unsupported_media_type",
      `Unsupported media type ${shown} in request. Send application/json.`,
    );
  }
  const limit = maxBytes ?? currentRequest()?.limits?.maxMessageBytes ?? Number.POSITIVE_INFINITY;
  const text = await readText(request, limit);
  return text.trim() === "" ? {} : parseJson(text);
}
