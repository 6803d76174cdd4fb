import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openEnvelopeReader, readWholeEnvelope } from "../../../src/scoring/contract/envelope.ts";
import { MESSAGE_LIMITS, type MessageLimits } from "../../../src/scoring/contract/limits.ts";
import { SOAP_11 } from "../../../src/scoring/contract/namespaces.ts";

const NAMESPACE = "urn:test:scorer";
const encoder = new TextEncoder();

const envelope = (body: string, header = ""): string =>
  `<s:Envelope xmlns:s="${SOAP_11}"><s:Header>${header}</s:Header><s:Body>${body}</s:Body></s:Envelope>`;
const status = (id: string): string =>
  `<GetStatus xmlns="${NAMESPACE}"><JobIdentifier>${id}</JobIdentifier></GetStatus>`;

function read(message: string, limits: Partial<MessageLimits> = {}) {
  return readWholeEnvelope(encoder.encode(message), {
    contentType: "text/xml",
    namespace: NAMESPACE,
    limits: { ...MESSAGE_LIMITS, ...limits },
  });
}

const attributes = (n: number): string => Array.from({ length: n }, (_, i) => ` a${i}="1"`).join("");
const namespaces = (n: number): string =>
  Array.from({ length: n }, (_, i) => `<h xmlns:n${i}="urn:${i}"/>`).join("");
const nested = (n: number): string => "<h>".repeat(n) + "</h>".repeat(n);

/** Per limit the greatest message that it lets through, and the least that it does not. */
const EDGES: Record<keyof MessageLimits, (n: number) => string> = {
  bytes: (n) => envelope(status("")).padEnd(n),
  depth: (n) => envelope(status("1"), nested(n - 2)),
  elements: (n) => envelope(status("1"), "<h/>".repeat(n - 5)),
  attributes: (n) => envelope(status("1"), `<h${attributes(n)}/>`),
  attributeLength: (n) => envelope(status("1"), `<h a="${"&lt;".repeat(n)}"/>`),
  namespaces: (n) => envelope(status("1"), namespaces(n - 2)),
  textLength: (n) => envelope(status("1".repeat(n))),
};
const SMALL: MessageLimits = {
  bytes: 3000,
  depth: 20,
  elements: 60,
  attributes: 10,
  attributeLength: 60,
  namespaces: 12,
  textLength: 300,
};

describe("limits", () => {
  for (const name of Object.keys(EDGES) as (keyof MessageLimits)[]) {
    test(`${name} accepts the limit and rejects one more`, () => {
      const limits = { [name]: SMALL[name] };
      expect(read(EDGES[name](SMALL[name]), limits).problem).toBeNull();
      const { problem } = read(EDGES[name](SMALL[name] + 1), limits);
      expect(problem?.code).toBe("too_large");
      expect(problem?.message).toContain(`more than ${SMALL[name]} `);
    });
  }

  test("limits count comments, CDATA sections and processing instructions as elements", () => {
    const header = "<h><!-- --><![CDATA[]]><?x?></h>";
    expect(read(envelope(status("1"), header), { elements: 9 }).problem).toBeNull();
    expect(read(envelope(status("1"), header), { elements: 8 }).problem?.code).toBe("too_large");
  });

  test("limits apply to the whole of a value that arrives in pieces", () => {
    const pieces = (n: number): string =>
      envelope(status(`${"a".repeat(150)}<!-- -->${"b".repeat(n)}<![CDATA[c]]>`));
    expect(read(pieces(149), { textLength: 300 }).problem).toBeNull();
    expect(read(pieces(150), { textLength: 300 }).problem?.code).toBe("too_large");
  });

  test("limits accept an ordinary large message by default", () => {
    const values = `<identifier/><querySequence>${"MKLV\n".repeat(200_000)}</querySequence><scoringModel/><regularExpression>${"A".repeat(1_000_000)}</regularExpression>`;
    expect(read(envelope(`<RunJob xmlns="${NAMESPACE}">${values}</RunJob>`)).problem).toBeNull();
  });
});

/** Endless messages: what comes first, and what then comes again and again. */
const FLOODS: Record<string, [string, string]> = {
  "white space before the root": ["", " \n"],
  "white space in Body": [envelope("").split("</s:Body>")[0], " \n"],
  "one comment": ["<!--", "x"],
  "comments by the million": [envelope("").split("</s:Body>")[0], "<!-- x -->"],
  "one processing instruction": ["<?x ", "y"],
  "a name without end": ["<", "a"],
  "attributes by the million": ["<a", ' a="1"'],
  "different attributes by the million": ["<a", " §=''"],
  "one attribute value": ['<a b="', "x"],
  "namespace declarations by the million": ["<a", " xmlns:§='urn:§'"],
  "depth by the hundred thousand": [envelope("", "<h>").split("</s:Header>")[0], "<h>"],
  "depth with namespaces": [envelope("", "<h>").split("</s:Header>")[0], "<h xmlns='urn:§'>"],
  "siblings by the million": [envelope("", "<h>").split("</s:Header>")[0], "<h/>"],
  "text of one value": [envelope(status("")).split("</JobIdentifier>")[0], "1"],
  "CDATA sections by the million": [envelope(status("")).split("</JobIdentifier>")[0], "<![CDATA[1]]>"],
  "character references by the million": [envelope(status("")).split("</JobIdentifier>")[0], "&#65;"],
  "a reference without end": [envelope(status("&")).split("</JobIdentifier>")[0], "a"],
  "a declaration without end": ["<?xml version='1.0'", " "],
  "a DOCTYPE without end": ["<!DOCTYPE a [", "<!ENTITY § 'x'>"],
  "a closing tag without end": [`<s:Envelope xmlns:s="${SOAP_11}"></s:Envelope`, " "],
  "CDATA without end": [envelope(status("<![CDATA[")).split("</JobIdentifier>")[0], "]"],
  "patterns by the million": [
    `${envelope(`<RunJob xmlns="${NAMESPACE}"><identifier/><querySequence/><scoringModel/>`).split("</s:Body>")[0]}`,
    "<regularExpression/>",
  ],
};

function* flood([first, again]: [string, string], total: number): Generator<Uint8Array> {
  yield encoder.encode(first);
  let made = first.length;
  for (let n = 0; made < total;) {
    let chunk = again.includes("§") ? "" : again.repeat(Math.ceil(65_536 / again.length));
    while (chunk.length < 65_536) chunk += again.replaceAll("§", `n${n++}`);
    made += chunk.length;
    yield encoder.encode(chunk);
  }
}

describe("rejects floods immediately", () => {
  for (const [name, parts] of Object.entries(FLOODS)) {
    test(name, () => {
      const before = process.cpuUsage();
      const reader = openEnvelopeReader({ contentType: "text/xml", namespace: NAMESPACE });
      let bytes = 0;
      for (const chunk of flood(parts, 2 * MESSAGE_LIMITS.bytes)) {
        reader.push(chunk);
        bytes += chunk.length;
        if (reader.isDone) break;
      }
      const { problem } = reader.finish();
      expect(["too_large", "malformed", "invalid_request", "version_mismatch"]).toContain(
        problem?.code ?? "accepted",
      );
      expect(problem!.message.length).toBeLessThan(400);
      expect(bytes).toBeLessThan(MESSAGE_LIMITS.bytes + 100_000);
      // Processor time, for the clock counts what other programs do as well.
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1e6).toBeLessThan(3);
    });
  }
});

const MEGABYTE = 1_048_576;
const [head, tail] = envelope(status("6f1d"), "@").split("@");

/** In a process of its own: in this one the tests before and beside it move the memory more than any message. */
test.each([
  ["header blocks", '<w:Security xmlns:w="urn:w" a="1">text of some length<x/></w:Security>\n'],
  ["comments", `<!-- ${"x".repeat(1000)} -->`],
  ["text in a header block", `<h>${"Lorem ipsum &amp; dolor. ".repeat(100)}</h>`],
])("memory stays flat over 50 MB of %s", async (_, again) => {
  const run = Bun.spawn([process.execPath, join(import.meta.dir, "message-memory.ts")], {
    stdin: new Blob([JSON.stringify({ head, again, tail, total: 50 * MEGABYTE, namespace: NAMESPACE })]),
    stdout: "pipe",
  });
  const { problem, grown } = (await new Response(run.stdout).json()) as { problem: unknown; grown: number };
  expect(problem).toBeNull();
  expect(grown / MEGABYTE).toBeLessThan(40);
});
