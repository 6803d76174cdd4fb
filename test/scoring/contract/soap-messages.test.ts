import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, open } from "../../../src/app/open.ts";
import { resolveConfig } from "../../../src/config.ts";
import {
  type Envelope,
  openEnvelopeReader,
  readEnvelope,
  readWholeEnvelope,
} from "../../../src/scoring/contract/envelope.ts";
import { DEFAULT_SERVICE_NAMESPACE as namespace } from "../../../src/scoring/contract/namespaces.ts";
import {
  expected,
  FINISHED,
  FOLDER,
  messageNamed,
  MESSAGES,
  readOutcome,
  makeRequest,
  type SoapMessage,
  UPDATE,
  updateRow,
  withoutVariableParts,
} from "../soap-messages.ts";
import { waitFor } from "../../wait.ts";

let directory: string;
let app: App;
let finished: string;

const send = async (message: SoapMessage): Promise<Response> =>
  app.answer(new Request("http://127.0.0.1:8480/soap/ConservationScorer", makeRequest(message, finished)));

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-golden-"));
  const flags = { data_dir: directory, log: "off", workers: "1" };
  app = await open(resolveConfig({ flags, environment: {} }).config);
  finished = FINISHED;
  const accepted = await (await send(messageNamed("RunJob: accepted"))).text();
  finished = /<tns:JobIdentifier>([^<]+)</.exec(accepted)![1];
  const status = messageNamed("GetStatus: finished job");
  await waitFor(async () => (await (await send(status)).text()).includes(">finished<"));
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true, force: true });
});

const USUAL_VALUES: Record<string, Record<string, unknown>> = {
  RunJob: {
    identifier: "P38936",
    querySequence: "MSEPAGDVRQNPCGSKACRRLFGP",
    scoringModel: "continuous",
    regularExpression: ["C..R"],
    elmIdentifierName: [],
  },
  GetStatus: { JobIdentifier: FINISHED },
  GetResult: { JobIdentifier: FINISHED },
};

/** The values of a message that is read, as far as they are unusual. */
function readValues(message: SoapMessage): Record<string, unknown> {
  const envelope = readWholeEnvelope(message.bytes, { contentType: message.contentType, namespace });
  if (envelope.problem) throw envelope.problem;
  const usual = USUAL_VALUES[envelope.operation];
  expect(Object.keys(envelope.value)).toEqual(Object.keys(usual));
  expect(message.name).toStartWith(envelope.operation);
  return Object.fromEntries(
    Object.entries(envelope.value).filter(([name, value]) => !Bun.deepEquals(value, usual[name])),
  );
}

function expectGolden(file: string, actual: string): void {
  const path = join(FOLDER, file);
  if (UPDATE) writeFileSync(path, actual);
  expect(actual).toBe(readFileSync(path, "utf8"));
}

for (const message of MESSAGES) {
  test(message.name, async () => {
    const response = await send(message);
    const xml = withoutVariableParts(await response.text());
    const outcome = readOutcome(response.status, xml);
    const isAccepted = outcome.fault === undefined;
    const values = isAccepted ? readValues(message) : {};
    if (UPDATE) updateRow(message.name, outcome, values);
    expect(outcome).toEqual(expected(message));
    expect(values).toEqual(message.values ?? {});
    expect(isAccepted).toBe(/: (?:accepted|finished job)/.test(message.name));
    const type = outcome.soap === "1.2" ? "application/soap+xml" : "text/xml";
    expect(response.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
    if (!isAccepted) expectFaultRules(xml);
    if (message.response)
      expectGolden(`responses/${message.name.replaceAll(/\W+/g, "-").toLowerCase()}.xml`, xml);
  });
}

/** WS-I Basic Profile 1.1, R1000, R1004, R1031; SOAP 1.1, section 4.4; and no value of the message comes back; names of elements do. */
function expectFaultRules(xml: string): void {
  expect(xml.length).toBeLessThan(1500);
  if (xml.includes("<faultcode>")) {
    expect(xml).toMatch(
      /<soap:Fault><faultcode>soap:[A-Za-z]+<\/faultcode><faultstring>[^<]+<\/faultstring>/,
    );
    expect(xml).not.toContain("xml:lang");
  }
  if (/soap:(?:VersionMismatch|MustUnderstand)/.test(xml)) expect(xml).not.toMatch(/[dD]etail>/);
  expect(xml).not.toMatch(/passwd|DROP|lt;script|hello|goodbye|urn:x|shadow/);
}

describe("reading in pieces", () => {
  const MESSAGES_ALONE = MESSAGES.filter(({ decidedBy, bytes }) => !decidedBy && bytes.length < 4000);
  const summary = ({ soapVersion, problem, ...rest }: Envelope): object =>
    problem ? { soapVersion, code: problem.code, text: problem.message } : { soapVersion, ...rest };

  function readCut({ bytes, contentType }: SoapMessage, cuts: readonly number[]): object {
    const reader = openEnvelopeReader({ contentType, namespace });
    let from = 0;
    for (const cut of [...cuts, bytes.length]) {
      reader.push(bytes.subarray(from, cut));
      from = cut;
    }
    return summary(reader.finish());
  }

  test("the result does not depend on how the network splits a message", () => {
    // Every byte of every message would take half a minute: each fifth message is cut at every byte.
    for (const [number, message] of MESSAGES_ALONE.entries()) {
      const { name } = message;
      const whole = readCut(message, []);
      const places = Array.from({ length: message.bytes.length }, (_, i) => i);
      expect({ name, ...readCut(message, places) }).toEqual({ name, ...whole });
      const step = number % 5 === 0 ? 1 : 13;
      for (const cut of places.filter((place) => (place + number) % step === 0)) {
        const read = readCut(message, [cut]);
        if (!Bun.deepEquals(read, whole)) expect({ name, cut, ...read }).toEqual({ name, cut, ...whole });
      }
    }
  }, 300_000);

  test("reads a stream like the same bytes in one piece", async () => {
    for (const message of MESSAGES_ALONE.filter((_, i) => i % 8 === 0)) {
      const { bytes, contentType } = message;
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let i = 0; i < bytes.length; i += 100) controller.enqueue(bytes.slice(i, i + 100));
          controller.close();
        },
      });
      expect(summary(await readEnvelope(stream, { contentType, namespace }))).toEqual(readCut(message, []));
    }
  });
});
