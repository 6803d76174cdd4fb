import { Problem } from "../problem.ts";
import { currentRequest } from "./request-context.ts";

/** A body of more than the setting max_message_bytes, told before it is read where its length is declared. */
export const bodyTooLarge = (maxBytes: number): Problem =>
  new Problem("too_large", `The body has more than ${maxBytes} bytes (setting max_message_bytes).`);

/** Seconds in which a body must arrive. */
export const RECEIVE_TIMEOUT = 120;

/** Seconds without a byte after which a body of any size is given up. */
export const SILENCE = 60;

/**
 * Hands on the body of a request piece by piece, and gives up on one that does not come: by default one that is not
 * whole within the time that was allowed; with `silence` one that rests for so many seconds, however long it takes.
 * @throws Problem timeout; what `take` throws
 */
export async function receive(
  request: Request,
  take: (chunk: Uint8Array) => void,
  silence?: number,
): Promise<void> {
  const reader = request.body?.getReader();
  if (!reader) return;
  const seconds = silence ?? currentRequest()?.limits?.receiveTimeout;
  let isLate = false;
  const giveUp = (): void => {
    isLate = true;
    // A read that is under way ends by it. What is left of the body is not waited for.
    void reader.cancel().catch(() => {});
  };
  const start = (): Timer | undefined =>
    seconds === undefined ? undefined : setTimeout(giveUp, seconds * 1000);
  let timer = start();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) throw tooSlow(seconds!, silence !== undefined);
      if (done) return;
      take(value);
      if (silence === undefined) continue;
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

const tooSlow = (seconds: number, rested: boolean): Problem =>
  new Problem(
    "timeout",
    rested
      ? `Nothing of the body arrived for ${seconds} seconds.`
      : `The body did not arrive within ${seconds} seconds.`,
  );

/** The body of a request, whole. @throws Problem too_large, timeout */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  await receive(request, (chunk) => {
    size += chunk.byteLength;
    if (size > maxBytes) throw bodyTooLarge(maxBytes);
    chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}

/**
 * The body as text. Strict UTF-8: request.text() would put replacement characters in the place of wrong bytes.
 * @throws Problem too_large, timeout, malformed
 */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  const bytes = await readBytes(request, maxBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Problem("malformed", "The body is not UTF-8.", { cause });
  }
}

/**
 * The body as JSON; an empty body as an empty object. The limit of its size is that of the current request.
 * @throws Problem too_large, timeout, malformed
 */
export async function readJson(request: Request): Promise<unknown> {
  const text = await readText(request, currentRequest()?.limits?.maxMessageBytes ?? Number.POSITIVE_INFINITY);
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Problem("malformed", "The body must be valid JSON.", { cause });
  }
}
