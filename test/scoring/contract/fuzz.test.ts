import { afterAll, beforeAll, expect, test } from "bun:test";
import { SaxesParser } from "saxes";
import { DEFAULT_SERVICE_NAMESPACE as namespace } from "../../../src/scoring/contract/namespaces.ts";
import { openScoringAlone, type ScoringAlone } from "../scoring-harness.ts";
import { MESSAGES } from "../soap-messages.ts";
import { pick, random, type Random } from "./random-message.ts";

const COUNT = Number(process.env.LABD_FUZZ ?? 10_000);
const SEED = Number(process.env.LABD_FUZZ_SEED ?? 4);
/** Milliseconds of processor time that count as a hang: a response takes less than one. */
const HANG = 5000;

let service: ScoringAlone;
beforeAll(async () => void (service = await openScoringAlone({ maxMessageBytes: 1_000_000, namespace })));
afterAll(() => service.close());

type Bytes = Buffer<ArrayBuffer>;

const VALID: readonly Bytes[] = MESSAGES.filter(
  ({ name, bytes }) => /: (?:accepted|finished job)/.test(name) && bytes.length < 3000,
).map(({ bytes }) => Buffer.from(bytes));

/** Troublesome for readers of XML, SOAP, encodings and patterns; as Latin-1, a character is a byte. */
const TOKENS = [
  ...`< > </ /> & &amp; &#0; &#x10FFFF; &#xD800; &lol; <!-- --> -- <![CDATA[ ]]> <?x y?> xmlns="" ' " = : (((( {1,9999} (A*)* [^ A{2,1}
 soap:Body soap:Header soap:Envelope soap:Fault tns:RunJob tns:GetStatus tns:JobIdentifier tns:regularExpression __proto__ constructor
 \0 \x01 \x7f \x80 \xff\xfe \xfe\xff \xef\xbb\xbf \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80`.split(/\s+/),
  "<?xml version='1.0'?>",
  '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
  ' xsi:nil="true"',
  ' soap:mustUnderstand="1"',
  "A".repeat(3000),
  "<a>".repeat(150),
  ' a="1"'.repeat(3),
];
const CONTENT_TYPES = [
  ...["utf-8", "utf-16", "iso-8859-1", "us-ascii", '"', "x"].map((charset) => `text/xml; charset=${charset}`),
  ..."text/xml application/soap+xml application/json text/plain ;".split(" "),
];

/** A short random range of the bytes: where it begins and ends. */
function range(next: Random, { length }: Bytes): [number, number] {
  const from = Math.floor(next() * (length + 1));
  return [from, Math.min(length, from + 1 + Math.floor(next() ** 4 * length))];
}

const DAMAGES: ((bytes: Bytes, from: number, to: number, next: Random) => (Uint8Array | string)[])[] = [
  (bytes, from, to) => [bytes.subarray(0, from), bytes.subarray(to)],
  (bytes, from) => [bytes.subarray(0, from)],
  (bytes, from, _, next) => [bytes.subarray(0, from), pick(next, TOKENS), bytes.subarray(from)],
  (bytes, from, to, next) => [bytes.subarray(0, from), pick(next, TOKENS), bytes.subarray(to)],
  (bytes, from, _, next) => [bytes.subarray(0, from), Uint8Array.of(next() * 256), bytes.subarray(from + 1)],
  (bytes, from, to, next) => {
    const part = bytes.subarray(from, to).toString("latin1");
    const times = Math.min(next() ** 6 * 2000, 200_000 / (part.length + 1));
    return [bytes.subarray(0, to), part.repeat(times), bytes.subarray(to)];
  },
  (bytes, from, _, next) => {
    const other = pick(next, VALID);
    return [bytes.subarray(0, from), other.subarray(range(next, other)[0])];
  },
  (bytes, _, __, next) => {
    const wide = Buffer.from(`\uFEFF${bytes.toString("utf8")}`, "utf16le");
    return [next() < 0.5 ? wide : wide.swap16()];
  },
  (bytes, _, __, next) => {
    const text = bytes.toString("latin1");
    const words = text.match(/[A-Za-z:]{3,}/g) ?? ["x"];
    return [text.replace(pick(next, words), pick(next, words))];
  },
];

function damaged(next: Random): Bytes {
  let bytes = pick(next, VALID);
  for (let damages = 1 + Math.floor(next() ** 2 * 5); damages > 0; damages--) {
    const pieces = pick(next, DAMAGES)(bytes, ...range(next, bytes), next);
    bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece as string, "latin1")));
  }
  return bytes;
}

function inPieces(bytes: Bytes, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(new Uint8Array(bytes.subarray(at, (at += size))));
    },
  });
}

/** @throws if it is not well-formed */
function parse(xml: string): void {
  const parser = new SaxesParser({ xmlns: true });
  parser.on("error", (error) => {
    throw error;
  });
  parser.write(xml).close();
}

test(
  `answers ${COUNT} damaged messages quickly, by a response or a fault (LABD_FUZZ=n, LABD_FUZZ_SEED=n)`,
  async () => {
    const next = random(SEED);
    const statuses: Record<number, number> = {};
    for (let i = 0; i < COUNT; i++) {
      const bytes = damaged(next);
      const type = next() < 0.85 ? "text/xml; charset=utf-8" : pick(next, CONTENT_TYPES);
      const body = i % 4 === 0 ? inPieces(bytes, 1 + Math.floor(next() * 300)) : bytes;
      const headers = { "Content-Type": type };
      const started = process.cpuUsage();
      const response = await service.send(
        new Request("http://lab/soap/ConservationScorer", { method: "POST", headers, body }),
      );
      const xml = await response.text();
      const { user, system } = process.cpuUsage(started);
      const outcome = {
        isKnown: [200, 400, 413, 415, 500].includes(response.status),
        isXml: /^(text\/xml|application\/soap\+xml); charset=utf-8$/.test(
          response.headers.get("content-type")!,
        ),
        isFault: /<soap:Fault>.*<\/soap:Fault>/s.test(xml),
        isDefect: xml.includes("<p:code>internal<"),
        isSmall: xml.length <= 4000,
        isQuick: user + system < 1000 * HANG,
      };
      const fine = {
        isKnown: true,
        isXml: true,
        isFault: response.status !== 200,
        isDefect: false,
        isSmall: true,
        isQuick: true,
      };
      if (!Bun.deepEquals(outcome, fine))
        expect({ i, message: bytes.toString("latin1"), ...outcome }).toEqual(fine as never);
      parse(xml);
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    }
    // Damage of one kind, or none, would prove nothing.
    expect(statuses[200]).toBeGreaterThan(COUNT / 50);
    expect(statuses[500]).toBeGreaterThan(COUNT / 2);
    expect(statuses[415]).toBeGreaterThan(0);
  },
  Math.max(300_000, COUNT * 10),
);
