import { Problem } from "../../problem.ts";

/** Encodings as TextDecoder names them. */
type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";
type EncodingName = Encoding | "utf-16";

/**
 * Accepted encodings, by their names in the IANA registry and by common variants. ISO-8859-1 is read as Windows-1252
 * (Encoding Standard of the WHATWG), which differs only where ISO-8859-1 has control characters.
 */
const ENCODINGS: Record<string, EncodingName> = {
  "utf-8": "utf-8",
  utf8: "utf-8",
  "utf-16": "utf-16",
  utf16: "utf-16",
  "utf-16le": "utf-16le",
  "utf-16be": "utf-16be",
  "windows-1252": "windows-1252",
  cp1252: "windows-1252",
  "iso-8859-1": "windows-1252",
  iso8859_1: "windows-1252",
  "iso_8859-1": "windows-1252",
  "iso8859-1": "windows-1252",
  latin1: "windows-1252",
  "us-ascii": "utf-8",
  ascii: "utf-8",
};

const BYTE_ORDER_MARKS: readonly { encoding: Encoding; bytes: readonly number[] }[] = [
  { encoding: "utf-8", bytes: [0xef, 0xbb, 0xbf] },
  { encoding: "utf-16le", bytes: [0xff, 0xfe] },
  { encoding: "utf-16be", bytes: [0xfe, 0xff] },
];

/** Bytes within which an XML declaration must end. */
const MAX_DECLARATION = 1024;

/**
 * Decodes an XML document as it arrives, however the network cuts it. The encoding is that of the byte order mark, else of the
 * HTTP charset, else of the XML declaration, else UTF-8 (RFC 7303, section 3; XML 1.0, section 4.3.3 and appendix F).
 */
export class XmlDecoder {
  /** Describes the invalid byte after the text returned so far; null while the bytes are valid. */
  fault: string | null = null;
  readonly #charset: EncodingName | null;
  #head: Uint8Array = new Uint8Array(0);
  #encoding: Encoding | null = null;
  #decoder: TextDecoder | null = null;
  /** Bytes of a character that has not arrived completely. */
  #incomplete: Uint8Array = new Uint8Array(0);

  /** @param charset of the Content-Type header, in lower case. @throws Problem unsupported_media_type */
  constructor(charset: string | null) {
    this.#charset = charset === null ? null : lookUp(charset, "charset of Content-Type");
  }

  /** @throws Problem unsupported_media_type, malformed where declaration and bytes contradict each other */
  decode(bytes: Uint8Array, isLast = false): string {
    if (this.fault !== null) return "";
    if (this.#encoding !== null) return this.#decodeText(bytes, isLast);
    this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
    const found = detectEncoding(this.#head, this.#charset, isLast);
    if (found === null) return "";
    this.#encoding = found.encoding;
    const { bomLength } = found;
    return this.#decodeText(bomLength === 0 ? this.#head : this.#head.subarray(bomLength), isLast);
  }

  #decodeText(bytes: Uint8Array, isLast: boolean): string {
    const encoding = this.#encoding!;
    const pending = this.#incomplete.length > 0 ? Buffer.concat([this.#incomplete, bytes]) : bytes;
    try {
      if (isLast && this.#decoder === null) return documentDecoders[encoding].decode(bytes);
      this.#decoder ??= strictDecoder(encoding);
      const text = this.#decoder.decode(bytes, { stream: !isLast });
      const used = encoding === "utf-8" ? Buffer.byteLength(text) : 2 * text.length;
      this.#incomplete = pending.slice(used);
      return text;
    } catch {
      this.fault = `a byte that is not valid ${encoding === "utf-8" ? "UTF-8" : "UTF-16"}`;
      return validBeginning(pending, encoding);
    }
  }
}

// `ignoreBOM` keeps a second mark, which is an ordinary character.
const strictDecoder = (encoding: string): TextDecoder =>
  new TextDecoder(encoding, { fatal: true, ignoreBOM: true });

/**
 * Decoders for messages in one piece; streamed messages have their own decoder, which remembers incomplete characters.
 */
const documentDecoders = {
  "utf-8": strictDecoder("utf-8"),
  "utf-16le": strictDecoder("utf-16le"),
  "utf-16be": strictDecoder("utf-16be"),
  "windows-1252": strictDecoder("windows-1252"),
};

function validBeginning(bytes: Uint8Array, encoding: string): string {
  const decoder = strictDecoder(encoding);
  let text = "";
  try {
    for (let i = 0; i < bytes.length; i++) text += decoder.decode(bytes.subarray(i, i + 1), { stream: true });
  } catch {
    // The invalid byte: the text ends here.
  }
  return text;
}

function lookUp(name: string, where: string): EncodingName {
  if (Object.hasOwn(ENCODINGS, name)) return ENCODINGS[name];
  throw unsupported(`The ${where} names an unsupported encoding`);
}

const unsupported = (what: string): Problem =>
  new Problem(
    "unsupported_media_type",
    `${what}. Use UTF-8, UTF-16 with a byte order mark, ISO-8859-1, Windows-1252 or US-ASCII.`,
  );

const startsWith = (bytes: Uint8Array, start: readonly number[]): boolean =>
  start.every((byte, i) => bytes[i] === byte);

/** The encoding and the length of the byte order mark; null if more bytes are needed. */
function detectEncoding(
  bytes: Uint8Array,
  charset: EncodingName | null,
  isLast: boolean,
): { encoding: Encoding; bomLength: number } | null {
  if (bytes.length < 4 && !isLast) return null;
  if (startsWith(bytes, [0xff, 0xfe, 0, 0]) || startsWith(bytes, [0, 0]))
    throw unsupported("The message is in UTF-32");
  const mark = BYTE_ORDER_MARKS.find((one) => startsWith(bytes, one.bytes));
  if (mark === undefined) {
    const encoding =
      charset === "utf-16" ? detectUtf16(bytes) : (charset ?? detectWithoutMark(bytes, isLast));
    return encoding === null ? null : { encoding, bomLength: 0 };
  }
  const found = { encoding: mark.encoding, bomLength: mark.bytes.length };
  // The mark and HTTP overrule the declaration.
  if (charset !== null) return found;
  const declared = declaredEncoding(bytes.subarray(found.bomLength), mark.encoding, isLast);
  if (declared === undefined) return null;
  const isWide = mark.encoding.startsWith("utf-16");
  if (declared !== null && declared !== mark.encoding && !(declared === "utf-16" && isWide))
    throw contradiction();
  return found;
}

/** The encoding without a byte order mark or a charset of HTTP: the declared one, or UTF-8. */
function detectWithoutMark(bytes: Uint8Array, isLast: boolean): Encoding | null {
  if (startsWith(bytes, [0x4c, 0x6f, 0xa7, 0x94])) throw unsupported("The message is in EBCDIC");
  if (startsWith(bytes, [0, 0x3c]) || startsWith(bytes, [0x3c, 0]))
    throw new Problem("malformed", "Line 1, column 1: UTF-16 must begin with a byte order mark.");
  const declared = declaredEncoding(bytes, null, isLast);
  if (declared === undefined) return null;
  if (declared?.startsWith("utf-16")) throw contradiction();
  return (declared as Encoding | null) ?? "utf-8";
}

const contradiction = (): Problem =>
  new Problem(
    "malformed",
    "The XML declaration names a different encoding than the first bytes of the message indicate. Remove or correct it.",
  );

/** Byte order of UTF-16 without a mark: a document begins with `<` or white space, whose high byte is zero. */
function detectUtf16([first, second]: Uint8Array): Encoding {
  if (first === 0 && second !== 0) return "utf-16be";
  if (first !== 0 && second === 0) return "utf-16le";
  throw new Problem("malformed", "The charset of Content-Type is UTF-16, but the message is not UTF-16.");
}

/** The encoding that the XML declaration names; null if it names none, undefined if more bytes are needed. */
function declaredEncoding(
  bytes: Uint8Array,
  mark: Encoding | null,
  isLast: boolean,
): EncodingName | null | undefined {
  const isWide = mark?.startsWith("utf-16") ?? false;
  const head = bytes.subarray(0, isWide ? 2 * MAX_DECLARATION : MAX_DECLARATION);
  const text = new TextDecoder(isWide ? mark! : "windows-1252").decode(head, { stream: true });
  if (!text.startsWith("<?xml".slice(0, text.length))) return null;
  if (!text.includes("?>") && text.length < MAX_DECLARATION && !isLast) return undefined;
  const [, , label] =
    /^<\?xml[ \t\r\n][^>]*?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*(["'])(.*?)\1/s.exec(text.split("?>")[0]) ??
    [];
  return label === undefined ? null : lookUp(label.toLowerCase(), "XML declaration");
}
