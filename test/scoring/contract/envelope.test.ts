import { describe, expect, test } from "bun:test";
import { Problem } from "../../../src/problem.ts";
import {
  type EnvelopeOptions,
  readEnvelope,
  readWholeEnvelope,
} from "../../../src/scoring/contract/envelope.ts";
import { SOAP_11, SOAP_12 } from "../../../src/scoring/contract/namespaces.ts";
import type { RunJobRequest } from "../../../src/scoring/contract/service.ts";

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

interface Parts {
  soap?: string;
  header?: string;
  attributes?: string;
}

const envelope = (body: string, { soap = SOAP_11, header = "", attributes = "" }: Parts = {}): string =>
  `<s:Envelope xmlns:s="${soap}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ` +
  `xmlns:xsd="http://www.w3.org/2001/XMLSchema"${attributes}>${header}<s:Body>${body}</s:Body></s:Envelope>`;

const status = (id: string): string =>
  `<GetStatus xmlns="${NAMESPACE}"><JobIdentifier>${id}</JobIdentifier></GetStatus>`;

const fields = (values: Partial<Record<keyof RunJobRequest, string | string[]>> = {}): string => {
  const all = { identifier: "P38936", querySequence: "MSEPAG", scoringModel: "continuous", ...values };
  return Object.entries(all)
    .flatMap(([name, value]) => [value].flat().map((text) => `<${name}>${text}</${name}>`))
    .join("\n");
};
const runJob = (values: Parameters<typeof fields>[0] = {}): string =>
  `<RunJob xmlns="${NAMESPACE}">${fields(values)}</RunJob>`;

/** What is read, with a refusal as its text. */
const value = (message: string, options?: Partial<EnvelopeOptions>): unknown => {
  const result = read(message, options);
  return result.problem === null ? result.value : result.problem.message;
};

const PLAIN: RunJobRequest = {
  identifier: "P38936",
  querySequence: "MSEPAG",
  scoringModel: "continuous",
  regularExpression: [],
  elmIdentifierName: [],
};

describe("what is accepted", () => {
  test("the plain message, with the version it came in", () => {
    expect(read(envelope(status("6f1d")))).toEqual({
      soapVersion: "1.1",
      problem: null,
      operation: "GetStatus",
      value: { JobIdentifier: "6f1d" },
    });
    expect(
      read(envelope(status("6f1d"), { soap: SOAP_12 }), { contentType: "application/soap+xml" }),
    ).toMatchObject({
      soapVersion: "1.2",
      problem: null,
    });
  });

  test("values of every field, in order", () => {
    const regularExpression = ["C..R", "[FILMV].{2,3}[KR]$", "^M", "A|C", " A "];
    const elmIdentifierName = ["LIG_SH3_1", "DOC_WW_Pin1_4"];
    expect(
      value(envelope(runJob({ scoringModel: "discontinuous", regularExpression, elmIdentifierName }))),
    ).toEqual({
      ...PLAIN,
      scoringModel: "discontinuous",
      regularExpression,
      elmIdentifierName,
    });
  });

  test("an empty scoringModel is continuous, empty expressions and names are none", () => {
    const empty = { scoringModel: "", regularExpression: ["", "A", " \n"], elmIdentifierName: ["", "X", ""] };
    expect(value(envelope(runJob(empty)))).toEqual({
      ...PLAIN,
      regularExpression: ["A"],
      elmIdentifierName: ["X"],
    });
  });

  test("an empty sequence and an empty identifier are values too", () => {
    const empty = { identifier: "", querySequence: "" };
    expect(value(envelope(runJob(empty)))).toEqual({ ...PLAIN, ...empty });
  });

  // Each row is a sequence as it may be written, and as it is read.
  const SPELLINGS: [string, string][] = [
    ["MK<!-- x -->L", "MKL"],
    ["MK<![CDATA[L]]>", "MKL"],
    ["M&#75;L", "MKL"],
    ["M&#x4B;&#x4c;", "MKL"],
    ["M<![CDATA[]]>KL", "MKL"],
    ["  MK\n\tL ", "  MK\n\tL "],
    ["MK\r\nL\rM", "MK\nL\nM"],
    ["MK&#13;&#10;L", "MK\r\nL"],
    ["<!-- nothing -->", ""],
  ];
  test.each(SPELLINGS)("sequence %j", (written, meant) => {
    expect(value(envelope(runJob({ querySequence: written })))).toEqual({ ...PLAIN, querySequence: meant });
  });

  test("identifiers with any characters", () => {
    for (const [written, meant] of [
      ["A&amp;B &lt;c&gt; &quot;&apos;", "A&B <c> \"'"],
      ["Müller 蛋白质 \u{1F9EC}", "Müller 蛋白质 \u{1F9EC}"],
      ["<![CDATA[<x>&y;]]>", "<x>&y;"],
      ["__proto__", "__proto__"],
    ]) {
      expect(value(envelope(runJob({ identifier: written })))).toEqual({ ...PLAIN, identifier: meant });
    }
  });

  const MESSAGES: [string, string][] = [
    [
      "prefixes of any name",
      `<SOAP-ENV_1.x:Envelope xmlns:SOAP-ENV_1.x="${SOAP_11}"><SOAP-ENV_1.x:Body>${status("6f1d")}</SOAP-ENV_1.x:Body></SOAP-ENV_1.x:Envelope>`,
    ],
    [
      "a prefix on the request",
      envelope(`<q:GetStatus xmlns:q="${NAMESPACE}"><q:JobIdentifier>6f1d</q:JobIdentifier></q:GetStatus>`),
    ],
    [
      "the default namespace for the envelope",
      `<Envelope xmlns="${SOAP_11}"><Body>${status("6f1d")}</Body></Envelope>`,
    ],
    [
      "a prefix declared anew inside",
      envelope(`<s:GetStatus xmlns:s="${NAMESPACE}"><s:JobIdentifier>6f1d</s:JobIdentifier></s:GetStatus>`),
    ],
    [
      "comments everywhere",
      `<!-- a -->${envelope(`<!-- b -->${status("6<!-- c -->f1d")}<!-- d -->`)}<!-- e -->`,
    ],
    ["processing instructions outside values", `<?a b?>${envelope(`<?c?>${status("6f1d")}<?d e?>`)}<?f?>`],
    [
      "an XML declaration",
      `<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\r\n${envelope(status("6f1d"))}\r\n`,
    ],
    [
      "attributes on Envelope and Body",
      envelope(status("6f1d"), {
        attributes: ' s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/" id="1"',
      }).replace("<s:Body", '<s:Body xml:lang="en" id="2"'),
    ],
    [
      "xsi:schemaLocation",
      envelope(
        status("6f1d").replace(
          "<GetStatus",
          '<GetStatus xsi:schemaLocation="urn:x http://192.0.2.1/never.xsd"',
        ),
      ),
    ],
    [
      "xsi:type of the declared type",
      envelope(status("6f1d").replace("<JobIdentifier", '<JobIdentifier xsi:type="xsd:string"')),
    ],
    ["an empty header", envelope(status("6f1d"), { header: "<s:Header/>" })],
    [
      "unknown headers that are not mandatory",
      envelope(status("6f1d"), {
        header:
          '<s:Header>\n<a:Action xmlns:a="http://www.w3.org/2005/08/addressing" s:mustUnderstand="0">x</a:Action><b xmlns="urn:b">t<c>deep</c></b></s:Header>',
      }),
    ],
    [
      "a mandatory header for another actor",
      envelope(status("6f1d"), {
        header: '<s:Header><b xmlns="urn:b" s:mustUnderstand="1" s:actor="urn:someone-else"/></s:Header>',
      }),
    ],
    [
      "mustUnderstand of another namespace",
      envelope(status("6f1d"), { header: '<s:Header><b xmlns="urn:b" mustUnderstand="1"/></s:Header>' }),
    ],
    [
      "a mandatory header inside another",
      envelope(status("6f1d"), {
        header: '<s:Header><b xmlns="urn:b"><c s:mustUnderstand="1"/></b></s:Header>',
      }),
    ],
  ];
  test.each(MESSAGES)("%s", (_, message) => expect(value(message)).toEqual({ JobIdentifier: "6f1d" }));

  test("xsi:type of the named type, by any prefix", () => {
    const typed = `<q:RunJob xmlns:q="${NAMESPACE}" xmlns="${NAMESPACE}">${fields()}</q:RunJob>`.replace(
      "<scoringModel",
      '<scoringModel xsi:type=" q:ScoringModel "',
    );
    expect(value(envelope(typed))).toEqual(PLAIN);
  });

  test("a role of SOAP 1.2 that is not ours", () => {
    const header = `<s:Header><b xmlns="urn:b" s:mustUnderstand="true" s:role="${SOAP_12}/role/none"/></s:Header>`;
    expect(value(envelope(status("6f1d"), { soap: SOAP_12, header }))).toEqual({ JobIdentifier: "6f1d" });
  });

  test.each([
    null,
    "",
    "text/xml",
    'TEXT/XML; Charset="UTF-8"',
    "application/xml",
    'application/soap+xml; action="x"; charset=utf-8',
    "application/vnd.x+xml",
  ])("Content-Type %j", (contentType) =>
    expect(value(envelope(status("é")), { contentType })).toEqual({ JobIdentifier: "é" }),
  );
});

describe("which answer comes first", () => {
  const code = (message: string): string | undefined => read(message).problem?.code;

  test("the version before all else, mandatory headers before the body, syntax as it is met", () => {
    expect(code(`<s:Envelope xmlns:s="urn:x"><s:Header><b`)).toBe("version_mismatch");
    expect(
      code(envelope("<broken", { header: '<s:Header><b xmlns="urn:b" s:mustUnderstand="1"/></s:Header>' })),
    ).toBe("must_understand");
    expect(code(envelope("<a><broken"))).toBe("invalid_request");
    expect(code(envelope("<a:b/>"))).toBe("malformed");
    expect(code(envelope(status("6f1d")).slice(0, -1))).toBe("malformed");
    expect(code(`<!DOCTYPE s:Envelope [${"<!ENTITY a 'b'>".repeat(10)}`)).toBe("malformed");
  });

  test("the version to answer in is the envelope's, else that of the media type", () => {
    expect(read("<", { contentType: "application/soap+xml" }).soapVersion).toBe("1.2");
    expect(read("<").soapVersion).toBe("1.1");
    expect(read(envelope("", { soap: SOAP_12 })).soapVersion).toBe("1.2");
    expect(read(envelope(""), { contentType: "application/soap+xml" }).soapVersion).toBe("1.1");
    expect(read("x", { contentType: "text/plain" }).soapVersion).toBe("1.1");
  });

  test("the operation is told where it was known", () => {
    expect(read(envelope(`<GetResult xmlns="${NAMESPACE}"/>`))).toMatchObject({ operation: "GetResult" });
    expect(read(envelope(""))).toMatchObject({ operation: null });
  });
});

describe("streams", () => {
  const options = { contentType: "text/xml", namespace: NAMESPACE };

  test("are read byte by byte", async () => {
    const bytes = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of encoder.encode(envelope(status("6f1d")))) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await readEnvelope(bytes, options)).toMatchObject({ value: { JobIdentifier: "6f1d" } });
  });

  test("no body at all", async () => {
    expect((await readEnvelope(null, options)).problem?.code).toBe("malformed");
  });

  test("a refused message is not read on, and its stream is cancelled", async () => {
    let pulled = 0;
    const cancelled = Promise.withResolvers<void>();
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(encoder.encode(pulled === 1 ? "<!DOCTYPE x [" : " ".repeat(1000)));
      },
      cancel: () => cancelled.resolve(),
    });
    const { problem } = await readEnvelope(endless, options);
    expect(problem?.message).toContain("DOCTYPE");
    await cancelled.promise;
    expect(pulled).toBeLessThan(5);
  });

  test("a stream that breaks off is a problem, not a throw", async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new Error("connection reset")),
    });
    const { problem } = await readEnvelope(broken, options);
    expect(problem?.message).toBe("The message was cut off before its end.");
  });

  test("a message that never arrives ends with the signal", async () => {
    const never = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    const controller = new AbortController();
    const reading = readEnvelope(never, { ...options, signal: controller.signal });
    controller.abort(new Problem("busy", "Too slow."));
    expect((await reading).problem?.message).toBe("Too slow.");
  });
});
