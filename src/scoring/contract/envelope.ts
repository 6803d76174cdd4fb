import { MIMEType } from "node:util";
import { Problem } from "../../problem.ts";
import type { SoapVersion } from "./encode.ts";
import { limitExceeded, type MessageLimits, MESSAGE_LIMITS } from "./limits.ts";
import { MessageParser } from "./message-parser.ts";
import type { Request } from "./service.ts";
import { XmlDecoder } from "./xml-encoding.ts";
import { printPlace } from "./xml-errors.ts";

export interface EnvelopeOptions {
  /** Content-Type header of the HTTP request; null if it has none. */
  contentType: string | null;
  /** Target namespace of the service. */
  namespace: string;
  /** Limits; by default the documented limits. */
  limits?: MessageLimits;
  /** Stops reading a message that does not arrive; its reason becomes the problem. */
  signal?: AbortSignal;
  /** Called with the size of each piece that arrives; an error ends the message. */
  onBytes?: (count: number) => void;
}

/** The request of a message, or the problem with it, and the form in which to respond. */
export type Envelope = { soapVersion: SoapVersion } & (({ problem: null } & Request) | { problem: Problem });

/** Reads a message while it arrives. Never throws for its content: that is the `problem`. */
export async function readEnvelope(
  body: ReadableStream<Uint8Array> | null,
  options: EnvelopeOptions,
): Promise<Envelope> {
  const envelope = openEnvelopeReader(options);
  if (body === null) return envelope.finish();
  const source = body.getReader();
  const cancel = (): void => void source.cancel().catch(() => {});
  const onAbort = (): void => {
    envelope.fail(options.signal!.reason);
    cancel();
  };
  options.signal?.addEventListener("abort", onAbort);
  try {
    while (!envelope.isDone) {
      const { done, value } = await source.read();
      if (done) break;
      options.onBytes?.(value.byteLength);
      envelope.push(value);
    }
  } catch (error) {
    envelope.fail(error);
  }
  options.signal?.removeEventListener("abort", onAbort);
  // The server discards the rest of a refused message while the response is on its way: closing the connection while
  // bytes arrive would reset it before the client has read the response (RFC 9112, section 9.6).
  if (envelope.isDone) cancel();
  return envelope.finish();
}

/** Reads a message whose bytes are all there. */
export function readWholeEnvelope(bytes: Uint8Array, options: EnvelopeOptions): Envelope {
  const reader = openEnvelopeReader(options);
  reader.push(bytes, true);
  return reader.finish();
}

/** Reads the bytes of one message piece by piece. */
interface EnvelopeReader {
  /** @param isWhole whether these are all bytes of the message */
  push(bytes: Uint8Array, isWhole?: boolean): void;
  /** Ends the message with an error of the transport. */
  fail(error: unknown): void;
  /** Ends the message. */
  finish(): Envelope;
  /** True if a problem has been found already. */
  readonly isDone: boolean;
}

/** Bytes that are decoded and parsed at a time, so that limits take effect soon. */
const SLICE = 16_384;

export function openEnvelopeReader(options: EnvelopeOptions): EnvelopeReader {
  const { limits = MESSAGE_LIMITS } = options;
  const parser = new MessageParser(options.namespace, limits);
  let soapVersion: SoapVersion = "1.1";
  let problem: Problem | null = null;
  let received = 0;
  let isDecoded = false;
  let decoder: XmlDecoder;

  const attempt = (action: () => void): void => {
    if (problem !== null) return;
    try {
      action();
    } catch (error) {
      problem = Problem.from(error);
    }
  };
  const parse = (bytes: Uint8Array, isLast = false): void => {
    parser.write(decoder.decode(bytes, isLast));
    if (decoder.fault !== null)
      throw new Problem("malformed", `${printPlace(parser.place)}: ${decoder.fault}.`);
  };
  attempt(() => {
    const contentType = readContentType(options.contentType);
    ({ soapVersion } = contentType);
    decoder = new XmlDecoder(contentType.charset);
  });

  return {
    push(bytes, isWhole = false) {
      attempt(() => {
        if (isWhole && bytes.length <= limits.bytes) {
          isDecoded = true;
          return parse(bytes, true);
        }
        const end = Math.min(bytes.length, limits.bytes - received);
        received += bytes.length;
        for (let i = 0; i < end; i += SLICE) parse(bytes.subarray(i, Math.min(end, i + SLICE)));
        if (end < bytes.length) throw limitExceeded(limits, "bytes");
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
        if (!isDecoded) parse(new Uint8Array(0), true);
        parser.finish();
      });
      const form = { soapVersion: parser.soapVersion ?? soapVersion };
      return problem === null ? { ...form, problem, ...parser.request! } : { ...form, problem };
    },
    get isDone() {
      return problem !== null;
    },
  };
}

interface ContentType {
  /** Character encoding in lower case; null if the header names none. */
  charset: string | null;
  /** SOAP version of the media type: the one to respond in if the message cannot be read. */
  soapVersion: SoapVersion;
}

/**
 * Any XML media type is accepted, because the envelope's namespace decides, and so is a missing header.
 * @throws Problem unsupported_media_type
 */
function readContentType(header: string | null): ContentType {
  if (header === null || header.trim() === "") return { charset: null, soapVersion: "1.1" };
  const type = parseMediaType(header);
  if (type === null || !/\/(?:xml|[^/]+\+xml)$/.test(type.essence)) {
    throw new Problem(
      "unsupported_media_type",
      "Content-Type: the body must be XML. Send text/xml (SOAP 1.1) or application/soap+xml (SOAP 1.2).",
    );
  }
  const charset = type.params.get("charset")?.trim().toLowerCase() ?? "";
  return {
    charset: charset === "" ? null : charset,
    soapVersion: type.essence === "application/soap+xml" ? "1.2" : "1.1",
  };
}

function parseMediaType(header: string): MIMEType | null {
  try {
    return new MIMEType(header);
  } catch {
    return null;
  }
}
