import { describe, expect, test } from "bun:test";
import { XmlDecoder } from "../../../src/scoring/contract/xml-encoding.ts";
import { random } from "./random-message.ts";

function decode(pieces: Uint8Array[], charset: string | null): { text: string; fault: string | null } {
  const decoder = new XmlDecoder(charset);
  let text = "";
  for (const piece of pieces) text += decoder.decode(piece);
  text += decoder.decode(new Uint8Array(0), true);
  return { text, fault: decoder.fault };
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));
function utf16(text: string, order: "LE" | "BE", mark = "\uFEFF"): Uint8Array {
  const bytes = Buffer.from(mark + text, "utf16le");
  return new Uint8Array(order === "LE" ? bytes : bytes.swap16());
}

const TEXT = "<a>Müller 蛋白质 \u{1F9EC}\r\n\u0085</a>";
const LATIN = "<a>M\u00FCller \u00FF</a>";
const declared = (encoding: string, text = TEXT): string =>
  `<?xml version="1.0" encoding="${encoding}"?>${text}`;
const SINGLE_QUOTES = `<?xml version='1.0' encoding='latin1'?>${LATIN}`;
const NO_ENCODING = '<?xml version="1.0"?><a b=\' encoding="x"\'/>';

describe("detects the encoding", () => {
  test.each<[string, Uint8Array, string | null, string]>([
    ["UTF-8 by default", utf8(TEXT), null, TEXT],
    ["UTF-8 with a mark", utf8(`\uFEFF${TEXT}`), null, TEXT],
    ["UTF-8 declared", utf8(declared("UTF-8")), null, declared("UTF-8")],
    ["UTF-8 declared with a mark", utf8(`\uFEFF${declared("utf-8")}`), null, declared("utf-8")],
    ["UTF-16LE", utf16(TEXT, "LE"), null, TEXT],
    ["UTF-16BE", utf16(TEXT, "BE"), null, TEXT],
    ["UTF-16 declared", utf16(declared("UTF-16"), "BE"), null, declared("UTF-16")],
    ["UTF-16LE declared", utf16(declared("UTF-16LE"), "LE"), null, declared("UTF-16LE")],
    ["UTF-16BE by HTTP, without a mark", utf16(TEXT, "BE", ""), "utf-16", TEXT],
    ["UTF-16LE by HTTP, without a mark", utf16(TEXT, "LE", ""), "utf-16", TEXT],
    ["UTF-16LE named by HTTP", utf16(TEXT, "LE", ""), "utf-16le", TEXT],
    ["ISO-8859-1 declared", latin1(declared("ISO-8859-1", LATIN)), null, declared("ISO-8859-1", LATIN)],
    ["ISO-8859-1 in single quotes", latin1(SINGLE_QUOTES), null, SINGLE_QUOTES],
    ["HTTP over the declaration", latin1(declared("UTF-8", LATIN)), "iso-8859-1", declared("UTF-8", LATIN)],
    ["UTF-8 by HTTP over the declaration", utf8(declared("ISO-8859-1")), "utf-8", declared("ISO-8859-1")],
    ["the mark over HTTP", utf16(TEXT, "LE"), "utf-8", TEXT],
    ["ISO-8859-1 as Windows-1252", latin1("<a>\u0085\u0093</a>"), "iso-8859-1", "<a>…“</a>"],
    ["US-ASCII", utf8("<a/>"), "us-ascii", "<a/>"],
    ["a mark inside the text", utf8("<a>\uFEFF</a>"), null, "<a>\uFEFF</a>"],
    ["no bytes", new Uint8Array(0), null, ""],
    [
      "Windows-1252 by its declaration",
      Buffer.from('<?xml version="1.0" encoding="windows-1252"?><a>\x80 \x93M\xfcller\x94</a>', "latin1"),
      null,
      '<?xml version="1.0" encoding="windows-1252"?><a>€ “Müller”</a>',
    ],
    ["fewer bytes than a mark", utf8("<a"), null, "<a"],
    ["a declaration without an encoding", utf8(NO_ENCODING), null, NO_ENCODING],
  ])("detects %s, wherever it is split", (_, bytes, charset, text) => {
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(decode(single, charset)).toEqual({ text, fault: null });
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(decode([bytes.subarray(0, cut), bytes.subarray(cut)], charset)).toEqual({ text, fault: null });
  });

  test.each<[string, Uint8Array, string | null, string]>([
    ["an unknown charset of HTTP", utf8(TEXT), "utf-7", "charset of Content-Type"],
    ["a charset named like an object property", utf8(TEXT), "__proto__", "charset of Content-Type"],
    ["an unknown declared encoding", utf8(declared("windows-1251")), null, "XML declaration"],
    ["UTF-32LE", Uint8Array.of(0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0), null, "UTF-32"],
    ["UTF-32BE", Uint8Array.of(0, 0, 0xfe, 0xff, 0, 0, 0, 0x3c), null, "UTF-32"],
    ["EBCDIC", Uint8Array.of(0x4c, 0x6f, 0xa7, 0x94, 0x93), null, "EBCDIC"],
    ["UTF-16LE without a mark", utf16("<a/>", "LE", ""), null, "byte order mark"],
    ["UTF-16BE without a mark", utf16("<a/>", "BE", ""), null, "byte order mark"],
    ["UTF-8 that HTTP calls UTF-16", utf8("<a/>"), "utf-16", "not UTF-16"],
    ["a mark against the declaration", utf8(`\uFEFF${declared("ISO-8859-1")}`), null, "a different encoding"],
    ["the other byte order declared", utf16(declared("UTF-16BE"), "LE"), null, "a different encoding"],
    ["UTF-16 declared in UTF-8", utf8(declared("utf-16")), null, "a different encoding"],
  ])("rejects %s", (_, bytes, charset, text) => {
    expect(() => decode([bytes], charset)).toThrow(text);
  });

  test("an endless XML declaration is rejected without waiting for its end", () => {
    const decoder = new XmlDecoder(null);
    expect(decoder.decode(utf8(`<?xml version="1.0"${" ".repeat(900)}`))).toBe("");
    expect(decoder.decode(utf8(" ".repeat(200))).length).toBe(1119);
  });
});

/** The valid beginning of UTF-8 by its definition (RFC 3629), one character at a time. */
function validUtf8(bytes: Uint8Array): { text: string; isWhole: boolean } {
  let text = "";
  let i = 0;
  while (i < bytes.length) {
    const lead = bytes[i];
    const length = lead < 0x80 ? 1 : lead >> 5 === 6 ? 2 : lead >> 4 === 14 ? 3 : lead >> 3 === 30 ? 4 : 0;
    const tail = bytes.subarray(i + 1, i + length);
    if (length === 0 || tail.length !== length - 1 || tail.some((byte) => byte >> 6 !== 2)) break;
    const first = length === 1 ? lead : lead & (0x7f >> length);
    const code = tail.reduce((sum, byte) => sum * 64 + (byte & 63), first);
    const least = [0, 0, 0x80, 0x800, 0x10000][length];
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) break;
    text += String.fromCodePoint(code);
    i += length;
  }
  return { text, isWhole: i === bytes.length };
}

test("decodes everything before the first invalid byte of UTF-8, wherever it is split", () => {
  const next = random(3629);
  const edges = [
    0x3c, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef,
    0xf0, 0xf4, 0xf5, 0xff,
  ];
  let invalid = 0;
  for (let round = 0; round < 20_000; round++) {
    const length = 1 + Math.floor(next() * 6);
    const random = Array.from({ length }, () => edges[Math.floor(next() * edges.length)]);
    const bytes = Uint8Array.from([0x3c, 0x61, 0x62, 0x63, ...random]);
    const cut = Math.floor(next() * (bytes.length + 1));
    const { text, fault } = decode([bytes.subarray(0, cut), bytes.subarray(cut)], "utf-8");
    expect({ bytes, cut, text, isWhole: fault === null }).toEqual({ bytes, cut, ...validUtf8(bytes) });
    if (fault) invalid++;
  }
  expect(invalid).toBeGreaterThan(5000);
  expect(invalid).toBeLessThan(19_900);
});

test.each<[string, number[], string]>([
  ["half a surrogate pair", [0x41, 0, 0, 0xd8, 0x42, 0], "A"],
  ["a low surrogate alone", [0x41, 0, 0, 0xdc], "A"],
  ["half a character", [0x41, 0, 0x42], "A"],
])("reports %s in UTF-16", (_, bytes, text) => {
  const pieces = [[0xff, 0xfe, ...bytes], []].map((piece) => Uint8Array.from(piece));
  expect(decode(pieces, null)).toEqual({ text, fault: "a byte that is not valid UTF-16" });
});
