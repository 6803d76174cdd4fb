import { describe, expect, test } from "bun:test";
import { Problem } from "../../../src/problem.ts";
import { encodeFault } from "../../../src/scoring/contract/encode.ts";
import {
  type Envelope,
  openEnvelopeReader,
  readEnvelope,
  readWholeEnvelope,
} from "../../../src/scoring/contract/envelope.ts";
import { DEFAULT_SERVICE_NAMESPACE } from "../../../src/scoring/contract/namespaces.ts";
import { wsdl } from "../../../src/scoring/contract/wsdl.ts";
import { messageSchema, predictionSchema } from "../../../src/scoring/contract/xsd.ts";
import { CASES as ALL, expectGolden, expectMeta, type GoldenCase } from "./golden-case.ts";

/** Golden messages that are decided by what they are, read by the contract alone. */

const namespace = DEFAULT_SERVICE_NAMESPACE;

const DOCUMENTS = {
  "service.wsdl": () => wsdl(namespace, "http://127.0.0.1:8480/soap/ConservationScorer"),
  "messages.xsd": () => messageSchema(namespace, "prediction.xsd"),
  "prediction.xsd": predictionSchema,
};

describe("documents", () => {
  for (const [file, make] of Object.entries(DOCUMENTS)) {
    test(file, () => expectGolden(file, make()));
  }
});

const CASES = ALL.filter(({ decidedBy }) => decidedBy !== "service");
/** Answers alone do not tell which way a case goes when golden files are written anew; names do. */
const isAccepted = ({ name }: GoldenCase): boolean => /__(?:accepted|finished_job)/.test(name);
const REFUSED = CASES.filter(({ response }) => response.includes(":Fault>"));

/** The fault for a message. One that is well put can only be refused for its job, as the text in the answer says. */
function faultOf(envelope: Envelope, response: string): ReturnType<typeof encodeFault> {
  const described = /<tns:FaultDescription>(.*?)<\/tns:FaultDescription>/.exec(response)?.[1];
  const problem =
    envelope.problem ?? (described === undefined ? null : new Problem("unknown_job", described));
  if (problem === null) throw new Error("The message was accepted.");
  return encodeFault(problem, envelope.soapVersion, namespace);
}

const outcome = ({ soapVersion, problem, ...rest }: Envelope): object =>
  problem ? { soapVersion, code: problem.code, text: problem.message } : { soapVersion, ...rest };

function readCut({ message, contentType }: GoldenCase, cuts: readonly number[]): Envelope {
  const reader = openEnvelopeReader({ contentType, namespace });
  let from = 0;
  for (const cut of [...cuts, message.length]) {
    reader.push(message.subarray(from, cut));
    from = cut;
  }
  return reader.finish();
}

describe("messages", () => {
  test("there are as many as there should be", () => {
    expect(ALL.length).toBeGreaterThanOrEqual(560);
    expect(REFUSED.length).toBeGreaterThanOrEqual(290);
    expect(CASES.filter(isAccepted).length).toBeGreaterThanOrEqual(100);
  });

  for (const golden of CASES) {
    const { name, message, response, contentType, status } = golden;
    test(name, () => {
      const envelope = readWholeEnvelope(message, { contentType, namespace });
      if (!response.includes(":Fault>")) {
        if (envelope.problem) throw envelope.problem;
        const { operation, value } = envelope;
        expectMeta(golden, { means: { operation, value } });
        return;
      }
      expect(isAccepted(golden)).toBe(false);
      const answer = faultOf(envelope, response);
      expectGolden(`${name}/response.xml`, answer.body);
      expect(answer.status).toBe(status);
    });
  }

  test("the network's cuts change nothing: cut at every byte, and into single bytes", () => {
    // Every byte of every message would take half a minute; each fifth message is cut everywhere, others in places.
    for (const [number, golden] of CASES.filter(({ message }) => message.length < 4000).entries()) {
      const whole = { name: golden.name, ...outcome(readCut(golden, [])) };
      const bytes = Array.from({ length: golden.message.length }, (_, i) => i);
      expect({ name: golden.name, ...outcome(readCut(golden, bytes)) }).toEqual(whole);
      const step = number % 5 === 0 ? 1 : 13;
      for (const cut of bytes.filter((byte) => (byte + number) % step === 0)) {
        const { name } = golden;
        expect({ name, cut, ...outcome(readCut(golden, [cut])) }).toEqual({ cut, ...whole });
      }
    }
  }, 300_000);

  test("a stream is read like its bytes", async () => {
    for (const golden of CASES.filter((_, i) => i % 8 === 0)) {
      const { message, contentType } = golden;
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let i = 0; i < message.length; i += 100) controller.enqueue(message.slice(i, i + 100));
          controller.close();
        },
      });
      expect(outcome(await readEnvelope(stream, { contentType, namespace }))).toEqual(
        outcome(readCut(golden, [])),
      );
    }
  });

  test("answers keep to the rules for faults", () => {
    for (const { name, response, message } of ALL.filter((golden) => golden.response.includes(":Fault>"))) {
      expect(response.length).toBeLessThan(1500);
      expect(response.startsWith('<?xml version="1.0" encoding="utf-8"?>')).toBe(true);
      if (response.includes("<faultcode>")) {
        // WS-I Basic Profile 1.1, R1000, R1004, R1031; SOAP 1.1, section 4.4.
        expect(response).toMatch(
          /<soap:Fault><faultcode>soap:[A-Za-z]+<\/faultcode><faultstring>[^<]+<\/faultstring>/,
        );
        expect(response).not.toContain("xml:lang");
      }
      if (/soap:(?:VersionMismatch|MustUnderstand)/.test(response))
        expect(response).not.toMatch(/[dD]etail>/);
      // Nothing of the message is repeated but single characters.
      for (const word of [
        "passwd",
        "DROP",
        "lt;script",
        "threshold",
        "hello",
        "goodbye",
        "urn:x",
        "shadow",
      ]) {
        expect({ name, word, told: response.includes(word) }).toEqual({ name, word, told: false });
      }
      expect(message.length).toBeLessThan(20_000);
    }
  });
});
