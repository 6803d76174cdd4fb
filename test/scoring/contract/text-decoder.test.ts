import { describe, expect, test } from "bun:test";
import { openXmlDecoder } from "../../../src/scoring/contract/text-decoder.ts";
import { random } from "./random-message.ts";

function decode(pieces: Uint8Array[], charset: string | null): { text: string; fault: string | null } {
  const decoder = openXmlDecoder(charset);
  let text = "";
  for (const piece of pieces) text += decoder.decode(piece);
  text += decoder.finish();
  return { text, fault: decoder.fault };
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

function utf16(text: string, littleEndian: boolean, mark = "\uFEFF"): Uint8Array {
  const units = mark + text;
  const view = new DataView(new ArrayBuffer(units.length * 2));
  for (let i = 0; i < units.length; i++) view.setUint16(i * 2, units.charCodeAt(i), littleEndian);
  return new Uint8Array(view.buffer);
}

const TEXT = "<a>Müller 蛋白质 \u{1F9EC}\r\n\u0085</a>";
const declared = (encoding: string, text = TEXT): string =>
  `<?xml version="1.0" encoding="${encoding}"?>${text}`;

describe("the encoding is found", () => {
  const LATIN = "<a>M\u00FCller \u0085 \u00FF</a>";
  const ROWS: [string, Uint8Array, string | null, string][] = [
    ["UTF-8 by default", utf8(TEXT), null, TEXT],
    ["UTF-8 with a mark", utf8(`\uFEFF${TEXT}`), null, TEXT],
    ["UTF-8 declared", utf8(declared("UTF-8")), null, declared("UTF-8")],
    ["UTF-8 declared with a mark", utf8(`\uFEFF${declared("utf-8")}`), null, declared("utf-8")],
    ["UTF-16, little end first", utf16(TEXT, true), null, TEXT],
    ["UTF-16, big end first", utf16(TEXT, false), null, TEXT],
    ["UTF-16 declared", utf16(declared("UTF-16"), false), null, declared("UTF-16")],
    ["UTF-16LE declared", utf16(declared("UTF-16LE"), true), null, declared("UTF-16LE")],
    ["UTF-16 by HTTP, without a mark", utf16(TEXT, false, ""), "utf-16", TEXT],
    ["UTF-16LE by HTTP, without a mark", utf16(TEXT, true, ""), "utf-16le", TEXT],
    ["ISO-8859-1 declared", latin1(declared("ISO-8859-1", LATIN)), null, declared("ISO-8859-1", LATIN)],
    [
      "ISO-8859-1 in single quotes",
      latin1(declared("x", LATIN).replace('"x"', "'latin1'")),
      null,
      declared("x", LATIN).replace('"x"', "'latin1'"),
    ],
    [
      "ISO-8859-1 by HTTP, over the declaration",
      latin1(declared("UTF-8", LATIN)),
      "iso-8859-1",
      declared("UTF-8", LATIN),
    ],
    ["UTF-8 by HTTP, over the declaration", utf8(declared("ISO-8859-1")), "utf-8", declared("ISO-8859-1")],
    ["the mark over HTTP", utf16(TEXT, true), "utf-8", TEXT],
    ["US-ASCII", utf8("<a/>"), "us-ascii", "<a/>"],
    ["a mark inside the text", utf8("<a>\uFEFF</a>"), null, "<a>\uFEFF</a>"],
    ["nothing", new Uint8Array(0), null, ""],
    ["less than a mark", utf8("<a"), null, "<a"],
    [
      "a declaration without an encoding",
      utf8('<?xml version="1.0"?><a b=\' encoding="x"\'/>'),
      null,
      '<?xml version="1.0"?><a b=\' encoding="x"\'/>',
    ],
  ];
  test.each(ROWS)("%s", (_, bytes, charset, text) => {
    expect(decode([bytes], charset)).toEqual({ text, fault: null });
    // Byte by byte, and cut in two at every byte.
    expect(
      decode(
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
        charset,
      ),
    ).toEqual({ text, fault: null });
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(decode([bytes.subarray(0, cut), bytes.subarray(cut)], charset)).toEqual({ text, fault: null });
    }
  });

  const REFUSED: [string, Uint8Array, string | null, string][] = [
    ["an unknown charset of HTTP", utf8(TEXT), "utf-7", "charset of Content-Type"],
    ["a charset named like an object property", utf8(TEXT), "__proto__", "charset of Content-Type"],
    ["an unknown declared encoding", utf8(declared("windows-1252")), null, "XML declaration"],
    ["UTF-32, little end first", Uint8Array.of(0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0), null, "UTF-32"],
    ["UTF-32, big end first", Uint8Array.of(0, 0, 0xfe, 0xff, 0, 0, 0, 0x3c), null, "UTF-32"],
    ["EBCDIC", Uint8Array.of(0x4c, 0x6f, 0xa7, 0x94, 0x93), null, "EBCDIC"],
    ["UTF-16 without a mark", utf16("<a/>", true, ""), null, "byte order mark"],
    ["UTF-8 that HTTP calls UTF-16", utf8("<a/>"), "utf-16", "not UTF-16"],
    [
      "a mark that the declaration contradicts",
      utf8(`\uFEFF${declared("ISO-8859-1")}`),
      null,
      "another encoding",
    ],
    ["UTF-16 of the other end", utf16(declared("UTF-16BE"), true), null, "another encoding"],
  ];
  test.each(REFUSED)("%s is refused", (_, bytes, charset, text) => {
    expect(() => decode([bytes], charset)).toThrow(text);
  });

  test("a declaration that never ends is not waited for", () => {
    const decoder = openXmlDecoder(null);
    expect(decoder.decode(utf8(`<?xml version="1.0"${" ".repeat(900)}`))).toBe("");
    expect(decoder.decode(utf8(" ".repeat(200))).length).toBe(1119);
  });
});

describe("UTF-8 at fault", () => {
  /** The twin: UTF-8 by its definition (RFC 3629), one character at a time. */
  function twin(bytes: Uint8Array): { text: string; isWhole: boolean } {
    let text = "";
    let i = 0;
    while (i < bytes.length) {
      const lead = bytes[i];
      const length = lead < 0x80 ? 1 : lead >> 5 === 6 ? 2 : lead >> 4 === 14 ? 3 : lead >> 3 === 30 ? 4 : 0;
      const tail = bytes.subarray(i + 1, i + length);
      if (length === 0 || tail.length !== length - 1 || tail.some((byte) => byte >> 6 !== 2)) break;
      const code = tail.reduce(
        (sum, byte) => sum * 64 + (byte & 63),
        length === 1 ? lead : lead & (0x7f >> length),
      );
      const least = [0, 0, 0x80, 0x800, 0x10000][length];
      if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) break;
      text += String.fromCodePoint(code);
      i += length;
    }
    return { text, isWhole: i === bytes.length };
  }

  test("everything before the first bad byte is decoded, as by the twin, wherever it is cut", () => {
    const next = random(3629);
    const edges = [
      0x3c, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef,
      0xf0, 0xf4, 0xf5, 0xff,
    ];
    let bad = 0;
    for (let round = 0; round < 20_000; round++) {
      const random = Array.from(
        { length: 1 + Math.floor(next() * 6) },
        () => edges[Math.floor(next() * edges.length)],
      );
      const bytes = Uint8Array.from([0x3c, 0x61, 0x62, 0x63, ...random]);
      const cut = Math.floor(next() * (bytes.length + 1));
      const found = decode([bytes.subarray(0, cut), bytes.subarray(cut)], "utf-8");
      const { text, isWhole } = twin(bytes);
      expect({ bytes, cut, text: found.text, isWhole: found.fault === null }).toEqual({
        bytes,
        cut,
        text,
        isWhole,
      });
      if (!isWhole) bad++;
    }
    expect(bad).toBeGreaterThan(5000);
    expect(bad).toBeLessThan(19_900);
  });
});

test("large texts come through every decoder unchanged", () => {
  const text = `<a>${"Mü\u{10FFFF}\r\n".repeat(20_000)}</a>`;
  expect(decode([utf8(text)], null).text).toBe(text);
  expect(decode([utf16(text, true)], null).text).toBe(text);
  expect(decode([utf16(text, false)], null).text).toBe(text);
  const narrow = text.replaceAll("\u{10FFFF}", "\u0093");
  expect(decode([latin1(narrow)], "iso-8859-1").text).toBe(narrow);
});
