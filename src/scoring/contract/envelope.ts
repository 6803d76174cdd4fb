import { Problem } from "../../problem.ts";
import { readContentType } from "./content-type.ts";
import type { SoapVersion } from "./encode.ts";
import { type MessageLimits, MESSAGE_LIMITS, limitExceeded } from "./limits.ts";
import { openMessageParser } from "./message-parser.ts";
import type { OperationName, Request } from "./service.ts";
import { atStart } from "./xml-errors.ts";
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
  const source = openSource(body, options.signal);
  try {
    while (!reader.isDone) {
      const chunk = await source.next();
      if (chunk === null) break;
      reader.push(chunk);
    }
  } catch (error) {
    reader.fail(error);
  }
  const envelope = reader.finish();
  // What is left of a refused message the server reads and forgets while the answer is on its way already: were the
  // connection ended while bytes arrive, TCP would tell the client of a reset in its place (RFC 9112, section 9.6).
  if (reader.isDone) source.cancel();
  source.close();
  return envelope;
}

/** The bytes of a body, piece by piece. */
interface Source {
  /** The next bytes; null at the end. Rejects when the signal fires. */
  next(): Promise<Uint8Array | null>;
  /** No more are wanted. */
  cancel(): void;
  /** Forgets the signal. */
  close(): void;
}

function openSource(
  body: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): Source {
  const chunks = "getReader" in body ? body.getReader() : body[Symbol.asyncIterator]();
  const read = (): Promise<{ done?: boolean; value?: Uint8Array | undefined }> =>
    "read" in chunks ? chunks.read() : chunks.next();
  /** Ends the wait that is under way. Not by a race: one that never ends would keep all chunks that came before it. */
  let interrupt: ((reason: unknown) => void) | null = null;
  const onAbort = (): void => interrupt?.(signal!.reason);
  signal?.addEventListener("abort", onAbort);
  return {
    next: () =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        interrupt = reject;
        read().then(({ done, value }) => resolve(done ? null : (value ?? null)), reject);
      }),
    cancel: () => quietly("cancel" in chunks ? chunks.cancel() : chunks.return?.()),
    close: () => signal?.removeEventListener("abort", onAbort),
  };
}

/** The outcome is known; whether the rest could be cancelled changes nothing. */
const quietly = (promise: Promise<unknown> | undefined): void => void promise?.catch(() => {});

/** Reads a request whose bytes are all there; without waiting for anything. */
export function readWholeEnvelope(bytes: Uint8Array, options: EnvelopeOptions): Envelope {
  const reader = openEnvelopeReader(options);
  reader.push(bytes);
  return reader.finish();
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
        if (bytes.length > room) throw limitExceeded(limits, "bytes");
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
