import { Problem } from "../../problem.ts";

/**
 * The bytes of an XML document as text, while they arrive, whatever the places where the network cut them. The
 * encoding is that of the byte order mark, else of the HTTP charset, else of the XML declaration, else UTF-8 (RFC
 * 7303, section 3; XML 1.0, section 4.3.3 and appendix F).
 */
export interface XmlDecoder {
  /** Text of the next bytes: as much as is complete. Once `fault` is set there is no more. */
  decode(bytes: Uint8Array): string;
  /** Text of what was held back at the end of the message. */
  finish(): string;
  /** What is wrong with the byte after the text that was returned; null while all is well. */
  readonly fault: string | null;
}

type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "iso-8859-1" | "us-ascii";

/** Bytes in which an XML declaration must end. */
const MAX_DECLARATION = 1024;
const ALLOWED = "allowed are UTF-8, UTF-16 with a byte order mark, ISO-8859-1 and US-ASCII";

// Names from the IANA registry of character sets, and what people write for them.
const NAMES: Record<string, Encoding | "utf-16"> = {
  "utf-8": "utf-8",
  utf8: "utf-8",
  "utf-16": "utf-16",
  utf16: "utf-16",
  "utf-16le": "utf-16le",
  "utf-16be": "utf-16be",
  "iso-8859-1": "iso-8859-1",
  iso8859_1: "iso-8859-1",
  "iso_8859-1": "iso-8859-1",
  "iso8859-1": "iso-8859-1",
  latin1: "iso-8859-1",
  "us-ascii": "us-ascii",
  ascii: "us-ascii",
};

/**
 * @param charset from the Content-Type header, in lower case; null where it names none
 * @throws Problem unsupported_media_type, here or at the first bytes; malformed where the declaration contradicts them
 */
export function openXmlDecoder(charset: string | null): XmlDecoder {
  const named = charset === null ? null : nameOf(charset, "charset of Content-Type");
  let held: Uint8Array = new Uint8Array(0);
  let encoding: Encoding | null = null;
  let fault: string | null = null;

  const step = (bytes: Uint8Array, isLast: boolean): string => {
    if (fault !== null) return "";
    let input = held.length === 0 ? bytes : concatenate(held, bytes);
    if (encoding === null) {
      const found = detect(input, named, isLast);
      if (found === null) {
        held = held.length === 0 ? input.slice() : input;
        return "";
      }
      encoding = found.encoding;
      input = input.subarray(found.skip);
    }
    const decoded = DECODERS[encoding](input, isLast);
    fault = decoded.fault;
    held = input.slice(decoded.used);
    return decoded.text;
  };
  return {
    decode: (bytes) => step(bytes, false),
    finish: () => step(new Uint8Array(0), true),
    get fault() {
      return fault;
    },
  };
}

function concatenate(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function nameOf(name: string, where: string): Encoding | "utf-16" {
  if (!Object.hasOwn(NAMES, name)) {
    throw new Problem(
      "unsupported_media_type",
      `The ${where} names an encoding that is not read here; ${ALLOWED}.`,
    );
  }
  return NAMES[name];
}

/** The encoding, and how many bytes its mark takes; null where more bytes are needed to tell. */
function detect(
  input: Uint8Array,
  named: Encoding | "utf-16" | null,
  isLast: boolean,
): { encoding: Encoding; skip: number } | null {
  if (input.length < 4 && !isLast) return null;
  const [a, b, c, d] = input;
  if ((a === 0xff && b === 0xfe && c === 0 && d === 0) || (a === 0 && b === 0)) refuse("UTF-32");
  // The mark wins over the charset of HTTP (RFC 7303, section 3).
  if (a === 0xef && b === 0xbb && c === 0xbf) return checked("utf-8", input.subarray(3), 3, named, isLast);
  if (a === 0xff && b === 0xfe) return checked("utf-16le", input.subarray(2), 2, named, isLast);
  if (a === 0xfe && b === 0xff) return checked("utf-16be", input.subarray(2), 2, named, isLast);
  if (named === "utf-16") {
    // Without a mark: a document begins with `<` or white space, whose high byte is zero.
    if (a === 0 && b !== 0) return { encoding: "utf-16be", skip: 0 };
    if (a !== 0 && b === 0) return { encoding: "utf-16le", skip: 0 };
    throw new Problem("malformed", "The message is not UTF-16, which the charset of Content-Type promises.");
  }
  if (named !== null) return { encoding: named, skip: 0 };
  if (a === 0x4c && b === 0x6f && c === 0xa7 && d === 0x94) refuse("EBCDIC");
  if ((a === 0 && b === 0x3c) || (a === 0x3c && b === 0)) {
    throw new Problem("malformed", "Line 1, column 1: UTF-16 must begin with a byte order mark.");
  }
  return checked(null, input, 0, null, isLast);
}

/** Compares the XML declaration with what the mark says, where HTTP does not overrule it. */
function checked(
  mark: "utf-8" | "utf-16le" | "utf-16be" | null,
  input: Uint8Array,
  skip: number,
  named: Encoding | "utf-16" | null,
  isLast: boolean,
): { encoding: Encoding; skip: number } | null {
  const found = { encoding: mark ?? ("utf-8" as Encoding), skip };
  if (named !== null) return found;
  const declaration = declarationOf(input, mark, isLast);
  if (declaration === null) return null;
  const [, , label] =
    /^<\?xml[ \t\r\n][^>]*?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*(["'])(.*?)\1/s.exec(declaration) ?? [];
  if (label === undefined) return found;
  const encoding = nameOf(label.toLowerCase(), "XML declaration");
  if (mark === null) {
    if (encoding.startsWith("utf-16")) contradiction();
    return { encoding: encoding as Encoding, skip };
  }
  if (encoding !== mark && !(encoding === "utf-16" && mark.startsWith("utf-16"))) contradiction();
  return found;
}

/** The document's first characters, up to the end of the XML declaration; empty without one, null where it is cut off. */
function declarationOf(input: Uint8Array, mark: Encoding | null, isLast: boolean): string | null {
  const head = input.subarray(0, mark?.startsWith("utf-16") ? 2 * MAX_DECLARATION : MAX_DECLARATION);
  const text = DECODERS[mark?.startsWith("utf-16") ? mark : "iso-8859-1"](head, false).text;
  const begin = "<?xml";
  if (!text.startsWith(begin.slice(0, text.length))) return "";
  const end = text.indexOf("?>");
  if (end >= 0) return text.slice(0, end);
  return isLast || text.length >= MAX_DECLARATION ? text : null;
}

function refuse(encoding: string): never {
  throw new Problem(
    "unsupported_media_type",
    `The message is in ${encoding}, which is not read here; ${ALLOWED}.`,
  );
}

function contradiction(): never {
  throw new Problem(
    "malformed",
    "The XML declaration names another encoding than that of the message's first bytes; leave it out, or name the true one.",
  );
}

interface Decoded {
  text: string;
  /** Bytes that the text stands for; the rest is the beginning of a character. */
  used: number;
  fault: string | null;
}

const DECODERS: Record<Encoding, (input: Uint8Array, isLast: boolean) => Decoded> = {
  "utf-8": decodeUtf8,
  "utf-16le": (input, isLast) => decodeUtf16(input, isLast, true),
  "utf-16be": (input, isLast) => decodeUtf16(input, isLast, false),
  "iso-8859-1": (input) => ({ text: latin1(input), used: input.length, fault: null }),
  "us-ascii": decodeAscii,
};

// `ignoreBOM` keeps a mark inside the text, where it is an ordinary character.
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(input: Uint8Array, isLast: boolean): Decoded {
  const whole = isLast ? input.length : input.length - unfinished(input);
  try {
    return { text: UTF8.decode(input.subarray(0, whole)), used: whole, fault: null };
  } catch {
    const used = validLength(input.subarray(0, whole));
    return { text: UTF8.decode(input.subarray(0, used)), used, fault: "a byte that is not valid UTF-8" };
  }
}

/** Bytes at the end that begin a character whose last bytes have not come yet. */
function unfinished(input: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, input.length); back++) {
    const byte = input[input.length - back];
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    let length = 2;
    if (byte >= 0xe0) length = byte >= 0xf0 ? 4 : 3;
    return length > back ? back : 0;
  }
  return 0;
}

/** Length of the longest beginning that is whole characters of UTF-8 (Unicode Standard, table 3-7). */
function validLength(input: Uint8Array): number {
  let i = 0;
  while (i < input.length) {
    const lead = input[i];
    const second = input[i + 1];
    let length = 1;
    if (lead >= 0x80) {
      if (lead < 0xc2 || lead > 0xf4) return i;
      length = 2;
      if (lead >= 0xe0) length = lead >= 0xf0 ? 4 : 3;
      const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (!(second >= least && second <= most)) return i;
      for (let k = 2; k < length; k++) if (!(input[i + k] >= 0x80 && input[i + k] < 0xc0)) return i;
    }
    i += length;
  }
  return i;
}

const SLICE = 8192;

function decodeUtf16(input: Uint8Array, isLast: boolean, littleEndian: boolean): Decoded {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const units = new Uint16Array(SLICE);
  let text = "";
  let filled = 0;
  let used = 0;
  let fault: string | null = null;
  const surrogate = "half of a surrogate pair in UTF-16";
  while (used + 2 <= input.length) {
    const unit = view.getUint16(used, littleEndian);
    let size = 2;
    if ((unit & 0xf800) === 0xd800) {
      if (used + 4 > input.length && !isLast && unit < 0xdc00) break;
      const next = used + 4 > input.length ? 0 : view.getUint16(used + 2, littleEndian);
      if (unit >= 0xdc00 || (next & 0xfc00) !== 0xdc00) {
        fault = surrogate;
        break;
      }
      units[filled++] = unit;
      units[filled++] = next;
      size = 4;
    } else {
      units[filled++] = unit;
    }
    used += size;
    if (filled >= SLICE - 1) {
      text += String.fromCharCode(...units.subarray(0, filled));
      filled = 0;
    }
  }
  text += String.fromCharCode(...units.subarray(0, filled));
  if (isLast && fault === null && used < input.length) fault = "half of a character in UTF-16";
  return { text, used, fault };
}

/** Not by TextDecoder: what it calls ISO-8859-1 is Windows-1252. */
function latin1(input: Uint8Array): string {
  let text = "";
  for (let i = 0; i < input.length; i += SLICE) text += String.fromCharCode(...input.subarray(i, i + SLICE));
  return text;
}

function decodeAscii(input: Uint8Array): Decoded {
  const outside = input.findIndex((byte) => byte >= 0x80);
  if (outside < 0) return { text: latin1(input), used: input.length, fault: null };
  return { text: latin1(input.subarray(0, outside)), used: outside, fault: "a byte that is not US-ASCII" };
}
