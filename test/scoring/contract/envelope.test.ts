import { describe, expect, test } from "bun:test";
import { Problem } from "../../../src/problem.ts";
import {
  type EnvelopeOptions,
  readEnvelope,
  readWholeEnvelope,
} from "../../../src/scoring/contract/envelope.ts";
import { SOAP_11, SOAP_12 } from "../../../src/scoring/contract/namespaces.ts";

const NAMESPACE = "urn:test:scorer";
const encoder = new TextEncoder();

function read(message: string | Uint8Array, options: Partial<EnvelopeOptions> = {}) {
  const bytes = typeof message === "string" ? encoder.encode(message) : message;
  return readWholeEnvelope(bytes, {
    contentType: "text/xml; charset=utf-8",
    namespace: NAMESPACE,
    ...options,
  });
}

const envelope = (body: string, { soap = SOAP_11, header = "" } = {}): string =>
  `<s:Envelope xmlns:s="${soap}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${header}<s:Body>${body}</s:Body></s:Envelope>`;

const status = (id: string): string =>
  `<GetStatus xmlns="${NAMESPACE}"><JobIdentifier>${id}</JobIdentifier></GetStatus>`;

const fields = (values: Record<string, string | string[]> = {}): string => {
  const all = { identifier: "P38936", querySequence: "MSEPAG", scoringModel: "continuous", ...values };
  return Object.entries(all)
    .flatMap(([name, value]) => [value].flat().map((text) => `<${name}>${text}</${name}>`))
    .join("\n");
};
const runJob = (values: Parameters<typeof fields>[0] = {}): string =>
  `<RunJob xmlns="${NAMESPACE}">${fields(values)}</RunJob>`;

/** Further messages are in test/golden/soap. */
test.each<[string, string]>([
  ["MK<!-- x -->L", "MKL"],
  ["MK<![CDATA[L]]>", "MKL"],
  ["M&#75;&#x4c;", "MKL"],
  ["M<![CDATA[]]>KL", "MKL"],
  ["  MK\n\tL ", "  MK\n\tL "],
  ["MK\r\nL\rM", "MK\nL\nM"],
  ["MK&#13;&#10;L", "MK\r\nL"],
  ["<!-- nothing -->", ""],
])("reads the sequence %j", (written, meant) => {
  const values = {
    querySequence: written,
    regularExpression: ["", "A", " \n"],
    elmIdentifierName: ["", "X"],
  };
  expect(read(envelope(runJob(values)))).toEqual({
    soapVersion: "1.1",
    problem: null,
    operation: "RunJob",
    value: {
      identifier: "P38936",
      querySequence: meant,
      scoringModel: "continuous",
      regularExpression: ["", "A", " \n"],
      elmIdentifierName: ["", "X"],
    },
  });
});

test("accepts xsi:type of the named type, by any prefix", () => {
  const typed = `<q:RunJob xmlns:q="${NAMESPACE}" xmlns="${NAMESPACE}">${fields()}</q:RunJob>`;
  const message = envelope(typed.replace("<scoringModel", '<scoringModel xsi:type=" q:ScoringModel "'));
  expect(read(message)).toMatchObject({ problem: null, value: { querySequence: "MSEPAG" } });
});

describe("errors", () => {
  const mandatory = '<s:Header><b xmlns="urn:b" s:mustUnderstand="1"/></s:Header>';
  test.each([
    ["version_mismatch", `<s:Envelope xmlns:s="urn:x"><s:Header><b`],
    ["must_understand", envelope("<broken", { header: mandatory })],
    ["invalid_request", envelope("<a><broken")],
    ["malformed", envelope("<a:b/>")],
    ["malformed", envelope(status("6f1d")).slice(0, -1)],
    ["malformed", `<!DOCTYPE s:Envelope [${"<!ENTITY a 'b'>".repeat(10)}`],
  ])("reports the first error of the message: %s", (code, message) => {
    expect(read(message).problem?.code as string).toBe(code);
  });

  test.each([
    ["", "expected `identifier`."],
    ["<identifier>a</identifier>", "expected `querySequence`."],
    [fields(), "expected one of `regularExpression`, `elmIdentifierName`."],
    [fields({ regularExpression: "A" }), "expected one of `regularExpression`, `elmIdentifierName`."],
    [fields({ regularExpression: ["A", "C", "D", "E", "F"] }), "expected `elmIdentifierName`."],
  ])("names the elements that may follow %s", (elements, expected) => {
    const message = envelope(`<RunJob xmlns="${NAMESPACE}">${elements}<x/></RunJob>`);
    expect(read(message).problem?.message).toContain(expected);
  });

  test.each([
    ["1.2", "<", "application/soap+xml"],
    ["1.1", "<", "text/xml"],
    ["1.2", envelope("", { soap: SOAP_12 }), "text/xml"],
    ["1.1", envelope(""), "application/soap+xml"],
    ["1.1", "x", "text/plain"],
  ] as const)("responds with SOAP version %s to %s as %s", (version, message, contentType) => {
    expect(read(message, { contentType }).soapVersion).toBe(version);
  });
});

test.each([
  ["utf-8", 'text/xml; boundary="; charset=utf-16"; charset=utf-8', null],
  ["ISO-8859-1", 'text/xml; charset="\\iso-8859-1"', null],
  ["a charset of another parameter", "text/xml; x=1;charset=utf-7", "unsupported_media_type"],
  ["two media types", "text/xml, text/xml; charset=utf-8", "unsupported_media_type"],
  ["no media type", "; charset=utf-8", "unsupported_media_type"],
])("reads %s in a Content-Type as RFC 9110 defines it: %s", (_, contentType, code) => {
  expect(read(envelope(status("é")), { contentType }).problem?.code ?? null).toBe(code as never);
});

describe("streams", () => {
  const options = { contentType: "text/xml", namespace: NAMESPACE };

  test("rejects a request without a body", async () => {
    expect((await readEnvelope(null, options)).problem?.code).toBe("malformed");
  });

  test("cancels the stream once the message is rejected", async () => {
    let pulled = 0;
    const cancelled = Promise.withResolvers<void>();
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(encoder.encode(pulled === 1 ? "<!DOCTYPE x>" : " ".repeat(1000)));
      },
      cancel: () => cancelled.resolve(),
    });
    const { problem } = await readEnvelope(endless, options);
    expect(problem?.message).toContain("DOCTYPE");
    await cancelled.promise;
    expect(pulled).toBeLessThan(5);
  });

  test("rejects a message that was cut off", async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new Error("connection reset")),
    });
    const { problem } = await readEnvelope(broken, options);
    expect(problem?.message).toBe("The message was cut off before its end.");
  });

  test("a stream that never arrives ends with the signal", async () => {
    const never = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    const controller = new AbortController();
    const reading = readEnvelope(never, { ...options, signal: controller.signal });
    controller.abort(new Problem("busy", "Too slow."));
    expect((await reading).problem?.message).toBe("Too slow.");
  });
});

test("a message is read equally after complete, cut-off and refused messages", () => {
  const good = envelope(runJob());
  const others = [
    good,
    good.slice(0, -20),
    `<!DOCTYPE a>${good}`,
    envelope("&"),
    `${good}<a/>`,
    "\uFEFF\uFEFF",
  ];
  const problems = others.map((message) => read(message).problem?.message);
  for (const [i, message] of others.entries()) {
    for (let n = 0; n < 20; n++) expect(read(message).problem?.message).toBe(problems[i]);
    expect(read(good).problem).toBeNull();
  }
  expect(problems.map((problem) => problem === undefined)).toEqual([true, false, false, false, false, false]);
});
