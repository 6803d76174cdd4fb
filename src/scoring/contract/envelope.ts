import { Problem } from "../../problem.ts";
import { readContentType } from "./content-type.ts";
import type { SoapVersion } from "./encode.ts";
import { type MessageLimits, MESSAGE_LIMITS, pastLimit } from "./limits.ts";
import { openMessageParser } from "./message-parser.ts";
import type { OperationName, Request } from "./service.ts";
import { atStart } from "./syntax.ts";
import { openXmlDecoder } from "./text-decoder.ts";

export interface EnvelopeOptions {
  /** The header of the HTTP request; null where there is none. */
  contentType: string | null;
  /** Target namespace of the service. */
  namespace: string;
  /** Limits other than the documented ones. */
  limits?: Partial<MessageLimits>;
  /** Ends the reading of a message that does not arrive; its reason is the problem, if it is one. */
  signal?: AbortSignal;
}

/** What a message says, or why it cannot be read; either way the version of SOAP in which to answer. */
export type Envelope =
  | ({ soapVersion: SoapVersion; problem: null } & Request)
  | { soapVersion: SoapVersion; problem: Problem; operation: OperationName | null };

export type MessageBody = Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null;

/** Reads a request while it arrives. Never throws for what the message holds: that is the `problem`. */
export async function readEnvelope(body: MessageBody, options: EnvelopeOptions): Promise<Envelope> {
  if (body === null || body instanceof Uint8Array)
    return readWholeEnvelope(body ?? new Uint8Array(0), options);
  const reader = openEnvelopeReader(options);
  const source = openSource(body);
  const aborted = whenAborted(options.signal);
  try {
    while (!reader.isDone) {
      const chunk = await Promise.race([source.next(), aborted.promise]);
      if (chunk === null) break;
      reader.push(chunk);
    }
  } catch (error) {
    reader.fail(error);
  } finally {
    aborted.release();
  }
  // What is left of a refused message is not waited for.
  if (reader.isDone) source.cancel();
  return reader.finish();
}

/** The next bytes, null at the end; and how to say that no more are wanted. */
interface Source {
  next(): Promise<Uint8Array | null>;
  cancel(): void;
}

function openSource(body: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>): Source {
  if ("getReader" in body) {
    const reader = body.getReader();
    return { next: async () => orNull(await reader.read()), cancel: () => quietly(reader.cancel()) };
  }
  const chunks = body[Symbol.asyncIterator]();
  return { next: async () => orNull(await chunks.next()), cancel: () => quietly(chunks.return?.()) };
}

const orNull = ({ done, value }: { done?: boolean | undefined; value?: Uint8Array | undefined }) =>
  done ? null : (value ?? null);

/** The outcome is known; whether the rest could be cancelled changes nothing. */
const quietly = (promise: Promise<unknown> | undefined): void => void promise?.catch(() => {});

/** Reads a request whose bytes are all there; without waiting for anything. */
export function readWholeEnvelope(bytes: Uint8Array, options: EnvelopeOptions): Envelope {
  const reader = openEnvelopeReader(options);
  reader.push(bytes);
  return reader.finish();
}

/** A promise that rejects when the signal fires, and a way to forget it. */
function whenAborted(signal: AbortSignal | undefined): { promise: Promise<never>; release: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  // Without a race that listens, a late rejection would count as unhandled.
  promise.catch(() => {});
  const onAbort = (): void => reject(signal!.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  return { promise, release: () => signal?.removeEventListener("abort", onAbort) };
}

/** Takes the bytes of one message piece by piece. */
export interface EnvelopeReader {
  push(bytes: Uint8Array): void;
  /** Ends the message with an error of the transport. */
  fail(error: unknown): void;
  /** The message has ended. */
  finish(): Envelope;
  /** Whether the outcome is known already: a problem has been found. */
  readonly isDone: boolean;
}

/** Characters that the parser gets at a time, so that limits are noticed soon. */
const SLICE = 16_384;

export function openEnvelopeReader(options: EnvelopeOptions): EnvelopeReader {
  const limits = { ...MESSAGE_LIMITS, ...options.limits };
  const parser = openMessageParser(options.namespace, limits);
  let soapVersion: SoapVersion = "1.1";
  let problem: Problem | null = null;
  let received = 0;
  let decoder: ReturnType<typeof openXmlDecoder> | null = null;

  const attempt = (action: () => void): void => {
    if (problem !== null) return;
    try {
      action();
    } catch (error) {
      problem = Problem.from(error);
    }
  };
  const parse = (text: string): void => {
    if (text.length <= SLICE) parser.write(text);
    else for (let i = 0; i < text.length; i += SLICE) parser.write(text.slice(i, i + SLICE));
    if (decoder!.fault !== null) {
      throw new Problem("malformed", `${atStart(parser.place)}: ${decoder!.fault}.`);
    }
  };
  attempt(() => {
    const contentType = readContentType(options.contentType);
    ({ soapVersion } = contentType);
    decoder = openXmlDecoder(contentType.charset);
  });

  return {
    push(bytes) {
      attempt(() => {
        const room = limits.bytes - received;
        received += bytes.length;
        parse(decoder!.decode(bytes.length > room ? bytes.subarray(0, room) : bytes));
        if (bytes.length > room) throw pastLimit(limits, "bytes");
      });
    },
    fail(error) {
      attempt(() => {
        if (error instanceof Problem) throw error;
        throw new Problem("malformed", "The message was cut off before its end.", { cause: error });
      });
    },
    finish() {
      attempt(() => {
        parse(decoder!.finish());
        parser.finish();
      });
      const version = parser.soapVersion ?? soapVersion;
      if (problem !== null) return { soapVersion: version, problem, operation: parser.operation };
      return { soapVersion: version, problem: null, ...parser.request! };
    },
    get isDone() {
      return problem !== null;
    },
  };
}
