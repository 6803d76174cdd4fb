import { MESSAGES } from "../soap-messages.ts";
import { pick, type Random } from "./random-message.ts";

/** Messages made of valid ones by random damage, and what is said of them in HTTP. */

export interface Mutant {
  message: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
}

type Bytes = Buffer<ArrayBuffer>;

/** What breaks readers of XML, of SOAP, of encodings and of patterns. */
const TOKENS = [
  ...`< > </ /> & &amp; &#0; &#x10FFFF; &#xD800; &lol; <!-- --> -- <![CDATA[ ]]> <?x y?> xmlns="" ' " = : (((( {1,9999} (A*)* [^ A{2,1}`.split(
    " ",
  ),
  ...`soap:Body soap:Header soap:Envelope soap:Fault tns:RunJob tns:GetStatus tns:JobIdentifier tns:regularExpression __proto__ constructor`.split(
    " ",
  ),
  ..."\0 \x01 \x7f \x80 \xff\xfe \xfe\xff \xef\xbb\xbf \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80".split(" "),
  ..."\r\n \t",
  "<?xml version='1.0'?>",
  "<!DOCTYPE x>",
  '<!ENTITY a SYSTEM "file:///etc/passwd">',
  'xmlns:tns="urn:x"',
  ' xsi:nil="true"',
  ' soap:mustUnderstand="1"',
  ' soap:mustUnderstand="2"',
  ' xml:space="x"',
  "0".repeat(40),
  "A".repeat(3000),
  "<a>".repeat(150),
  ' a="1"'.repeat(3),
];

const CONTENT_TYPES = [
  "text/xml",
  "text/xml; charset=utf-8",
  "text/xml; charset=utf-16",
  "text/xml; charset=iso-8859-1",
  "text/xml; charset=us-ascii",
  'text/xml; charset="',
  "text/xml; charset=x",
  "application/soap+xml",
  "application/soap+xml; charset=utf-8",
  "application/json",
  ";",
  "text/plain",
];

const SEEDS: readonly Bytes[] = MESSAGES.filter(
  ({ name, bytes }) => /: (?:accepted|finished job)/.test(name) && bytes.length < 3000,
).map(({ bytes }) => Buffer.from(bytes));

const spot = (next: Random, length: number): number => Math.floor(next() * (length + 1));

/** A stretch of bytes: mostly short. */
function stretch(next: Random, length: number): [number, number] {
  const from = spot(next, length);
  return [from, Math.min(length, from + 1 + Math.floor(next() ** 4 * length))];
}

const joined = (...parts: Uint8Array[]): Bytes => Buffer.concat(parts) as Bytes;
const put = (bytes: Bytes, at: number, more: Uint8Array, until = at): Bytes =>
  joined(bytes.subarray(0, at), more, bytes.subarray(until));

const MUTATIONS: ((next: Random, bytes: Bytes) => Bytes)[] = [
  function flipBit(next, bytes) {
    if (bytes.length === 0) return bytes;
    const copy = Buffer.from(bytes);
    copy[Math.floor(next() * copy.length)] ^= 1 << Math.floor(next() * 8);
    return copy;
  },
  function setByte(next, bytes) {
    if (bytes.length === 0) return bytes;
    const copy = Buffer.from(bytes);
    copy[Math.floor(next() * copy.length)] = Math.floor(next() * 256);
    return copy;
  },
  function insertToken(next, bytes) {
    return put(bytes, spot(next, bytes.length), Buffer.from(pick(next, TOKENS), "latin1"));
  },
  function replaceByToken(next, bytes) {
    const [from, to] = stretch(next, bytes.length);
    return put(bytes, from, Buffer.from(pick(next, TOKENS), "latin1"), to);
  },
  function remove(next, bytes) {
    const [from, to] = stretch(next, bytes.length);
    return put(bytes, from, new Uint8Array(0), to);
  },
  function repeat(next, bytes) {
    const [from, to] = stretch(next, bytes.length);
    const times = 1 + Math.floor(next() ** 6 * 2000);
    const part = bytes.subarray(from, to);
    return put(
      bytes,
      to,
      joined(...Array.from({ length: Math.min(times, 1 + 200_000 / (part.length + 1)) }, () => part)),
    );
  },
  function move(next, bytes) {
    const [from, to] = stretch(next, bytes.length);
    const part = Buffer.from(bytes.subarray(from, to));
    const rest = put(bytes, from, new Uint8Array(0), to);
    return put(rest, spot(next, rest.length), part);
  },
  function cut(next, bytes) {
    return Buffer.from(bytes.subarray(0, spot(next, bytes.length)));
  },
  function cross(next, bytes) {
    const other = pick(next, SEEDS);
    return joined(bytes.subarray(0, spot(next, bytes.length)), other.subarray(spot(next, other.length)));
  },
  function encode(next, bytes) {
    const text = bytes.toString("utf8");
    const wide = Buffer.from(`\uFEFF${text}`, "utf16le") as Bytes;
    return next() < 0.5 ? wide : (wide.swap16() as Bytes);
  },
  function swapWord(next, bytes) {
    const text = bytes.toString("latin1");
    const words = text.match(/[A-Za-z:]{3,}/g) ?? ["x"];
    return Buffer.from(text.replace(pick(next, words), pick(next, words)), "latin1");
  },
];

/** The next damaged message. Equal random numbers give equal ones. */
export function mutant(next: Random): Mutant {
  let bytes = pick(next, SEEDS);
  const damages = 1 + Math.floor(next() ** 2 * 5);
  for (let i = 0; i < damages; i++) bytes = pick(next, MUTATIONS)(next, bytes);
  const headers: Record<string, string> = {
    "Content-Type": next() < 0.85 ? "text/xml; charset=utf-8" : pick(next, CONTENT_TYPES),
  };
  if (next() < 0.1) headers.SOAPAction = pick(next, ['""', "x", '"urn:x"', "'"]);
  return { message: new Uint8Array(bytes), headers };
}

/** What is wrong with an answer to a mutant; null where it is as it has to be. */
export function complaint(status: number, type: string | null, body: string): string | null {
  if (![200, 400, 413, 415, 500].includes(status)) return `status ${status}`;
  if (type !== "text/xml; charset=utf-8" && type !== "application/soap+xml; charset=utf-8")
    return `type ${type}`;
  const hasFault = /<soap:Fault>.*<\/soap:Fault>/s.test(body);
  if ((status === 200) === hasFault) return `status ${status}, ${hasFault ? "a" : "no"} fault`;
  if (/<p:code>internal</.test(body)) return "a defect";
  if (body.length > 4000) return `an answer of ${body.length} characters`;
  return null;
}
