import { Problem } from "../../problem.ts";
import type { SoapVersion } from "./encode.ts";

/** What the Content-Type header says of a message. */
export interface ContentType {
  /** Name of the character encoding, in lower case; null where the header names none. */
  charset: string | null;
  /** Version of SOAP that the media type belongs to: the one in which to refuse what cannot be read. */
  soapVersion: SoapVersion;
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^;\s]*))/i;

/**
 * Reads a Content-Type header. Any XML media type is taken, for the envelope's namespace says what the message is;
 * a missing header too.
 * @throws Problem unsupported_media_type
 */
export function readContentType(header: string | null): ContentType {
  if (header === null || header.trim() === "") return { charset: null, soapVersion: "1.1" };
  const mediaType = header.split(";", 1)[0].trim().toLowerCase();
  if (!/^[a-z0-9.+_-]+\/(?:xml|[a-z0-9._-]+\+xml)$/.test(mediaType)) {
    throw new Problem(
      "unsupported_media_type",
      "Content-Type: the body must be XML, as text/xml (SOAP 1.1) or application/soap+xml (SOAP 1.2).",
    );
  }
  const [, quoted, plain] = CHARSET.exec(header) ?? [];
  const charset = (quoted ?? plain ?? "").trim().toLowerCase();
  return {
    charset: charset === "" ? null : charset,
    soapVersion: mediaType === "application/soap+xml" ? "1.2" : "1.1",
  };
}
