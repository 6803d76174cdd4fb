import { expect, test } from "bun:test";
import {
  type Envelope,
  openEnvelopeReader,
  readWholeEnvelope,
} from "../../../src/scoring/contract/envelope.ts";
import { MESSAGE_LIMITS } from "../../../src/scoring/contract/limits.ts";
import { DEFAULT_SERVICE_NAMESPACE, SOAP_11, SOAP_12 } from "../../../src/scoring/contract/namespaces.ts";
import { readPlainMessage } from "../../../src/scoring/contract/plain-message.ts";
import { CASES } from "./golden-case.ts";
import { mutant } from "./mutated-message.ts";
import { pick, random, randomRequest } from "./random-message.ts";

/** The quick reader against the parser: what it takes, the parser takes with the same values. */

const namespace = DEFAULT_SERVICE_NAMESPACE;
const encoder = new TextEncoder();

function parsed(bytes: Uint8Array, contentType: string | null): Envelope {
  const reader = openEnvelopeReader({ contentType, namespace });
  reader.push(bytes);
  return reader.finish();
}

const plainly = (bytes: Uint8Array): ReturnType<typeof readPlainMessage> =>
  readPlainMessage(new TextDecoder("latin1").decode(bytes), namespace, MESSAGE_LIMITS);

/** Both readers on one message. @returns whether the quick one took it */
function compare(bytes: Uint8Array, contentType: string | null): boolean {
  const [whole, slow] = [readWholeEnvelope(bytes, { contentType, namespace }), parsed(bytes, contentType)];
  const plain = whole.problem === null;
  expect(plain).toBe(slow.problem === null);
  if (whole.problem !== null) {
    expect(whole.problem.message).toBe(slow.problem!.message);
    return false;
  }
  expect<unknown>(whole).toEqual(slow);
  return plainly(bytes) !== null;
}

test("golden messages", () => {
  const taken = CASES.filter(({ message, contentType }) => compare(message, contentType));
  expect(taken.length).toBeGreaterThan(40);
});

test("damaged messages", () => {
  const next = random(31);
  let taken = 0;
  for (let i = 0; i < 8000; i++) {
    const { message, headers } = mutant(next);
    if (compare(message, headers["Content-Type"] ?? null)) taken++;
  }
  expect(taken).toBeGreaterThan(80);
}, 300_000);

test("requests at random, in envelopes as toolkits write them", () => {
  const next = random(32);
  let taken = 0;
  for (let i = 0; i < 6000; i++) {
    const request = randomRequest(next, namespace);
    const soap = pick(next, [SOAP_11, SOAP_12]);
    const space = pick(next, ["", "\n", " ", "\r\n", "\t\n "]);
    const prefix = pick(next, ["soap:", "s:", ""]);
    const declared = prefix === "" ? "xmlns" : `xmlns:${prefix.slice(0, -1)}`;
    const xml = [
      pick(next, [
        "",
        '<?xml version="1.0" encoding="utf-8"?>',
        "<?xml version='1.0' encoding='UTF-8'?>",
        "<?xml version='1.0'?>",
        '<?xml  version="1.0"?>',
      ]),
      `<${prefix}Envelope ${declared}="${soap}">`,
      pick(next, ["", "", "", `<${prefix}Header/>`]),
      `<${prefix}Body>`,
      request,
      `</${prefix}Body>`,
      `</${prefix}Envelope>`,
      "",
    ].join(space);
    if (compare(encoder.encode(xml), "text/xml; charset=utf-8")) taken++;
  }
  expect(taken).toBeGreaterThan(300);
});

test("what is odd is left to the parser", () => {
  const message = (inside: string, around = ""): string =>
    `<e:Envelope xmlns:e="${SOAP_11}"${around}><e:Body><GetStatus xmlns="${namespace}"><JobIdentifier>${inside}</JobIdentifier></GetStatus></e:Body></e:Envelope>`;
  expect(plainly(encoder.encode(message("x")))?.value).toEqual({ JobIdentifier: "x" });
  for (const odd of ["&#65;", "é", "\r", "<!---->", "<![CDATA[x]]>", "]]>", "<?x?>", "\u007F", "\0"]) {
    expect(plainly(encoder.encode(message(odd)))).toBe(null);
  }
  for (const odd of [
    ' a="1"',
    ' xmlns:xml="urn:x"',
    ' xmlns:xmlns="urn:x"',
    ' xmlns:a=""',
    " xmlns:a='u'",
    ` xmlns:e="${SOAP_11}"`,
    ' xmlns:a=" u"',
    ' xmlns:a="u"xmlns:b="u"',
    ' xmlns:a="http://www.w3.org/XML/1998/namespace"',
  ])
    expect(plainly(encoder.encode(message("x", odd)))).toBe(null);
});

test("limits hold in both", () => {
  const bytes = CASES.find(({ name }) => name === "RunJob__accepted")!.message;
  for (const limits of [{ bytes: 100 }, { elements: 4 }, { textLength: 10 }]) {
    const read = readWholeEnvelope(bytes, { contentType: "text/xml", namespace, limits });
    expect(read.problem?.code).toBe("too_large");
  }
});
