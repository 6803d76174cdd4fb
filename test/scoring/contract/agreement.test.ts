import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEnvelopeReader } from "../../../src/scoring/contract/envelope.ts";
import { DEFAULT_SERVICE_NAMESPACE, SOAP_11 } from "../../../src/scoring/contract/namespaces.ts";
import { messageSchema, predictionSchema } from "../../../src/scoring/contract/xsd.ts";
import { random, randomRequest } from "./random-message.ts";

/** The outside oracle: libxml2 with our schema must come to the same verdict on every request as our decoder. */

const XMLLINT = Bun.which("xmllint");
const COUNT = 4000;
const folder = mkdtempSync(join(tmpdir(), "contract-"));
afterAll(() => rmSync(folder, { recursive: true }));

const encoder = new TextEncoder();

/** Our verdict on a bare request: it goes through the parser inside an envelope, split so that its own end counts. */
function ours(xml: string): { accepted: boolean; text: string } {
  const reader = openEnvelopeReader({ contentType: null, namespace: DEFAULT_SERVICE_NAMESPACE });
  reader.push(encoder.encode(`<s:Envelope xmlns:s="${SOAP_11}"><s:Body>${xml}</s:Body></s:Envelope>`));
  const { problem } = reader.finish();
  return { accepted: problem === null, text: problem?.message ?? "" };
}

/** True if the document has content outside the root, which an envelope cannot contain. */
const isBareOnly = (xml: string): boolean => /^\s|<\?xml/.test(xml);

/**
 * Intended differences of the two: xsi:type may name the declared type or the string that it is made of, and nothing
 * else; the schema allows types derived from the declared one, and those only. An empty CDATA section leaves an
 * element empty, so that its default counts (XML Schema part 1, section 3.3.4); libxml2 sees content in it.
 */
const isOtherwise = (xml: string): boolean =>
  /xsi:type="(xs:string|t:\w+)"|<(t:)?scoringModel><!\[CDATA\[\]\]></.test(xml);

test.skipIf(XMLLINT === null)(
  `xmllint and the decoder agree on ${COUNT} requests (skipped where xmllint of libxml2 is not installed)`,
  async () => {
    const next = random(20260);
    const requests = Array.from({ length: COUNT }, () =>
      randomRequest(next, DEFAULT_SERVICE_NAMESPACE),
    ).filter((xml) => !isBareOnly(xml));
    writeFileSync(join(folder, "messages.xsd"), messageSchema(DEFAULT_SERVICE_NAMESPACE, "prediction.xsd"));
    writeFileSync(join(folder, "prediction.xsd"), predictionSchema());
    mkdirSync(join(folder, "requests"));
    const names = requests.map((xml, i) => {
      writeFileSync(join(folder, "requests", `${i}.xml`), xml);
      return `requests/${i}.xml`;
    });
    const run = Bun.spawnSync([XMLLINT!, "--noout", "--schema", "messages.xsd", ...names], { cwd: folder });
    const said = run.stderr.toString();
    const valid = new Set([...said.matchAll(/^requests\/(\d+)\.xml validates$/gm)].map(([, i]) => Number(i)));
    // To libxml2 a breach of Namespaces in XML is a remark, after which it goes on.
    for (const [, i] of said.matchAll(/^requests\/(\d+)\.xml:\d+: namespace error(?!.*not a valid URI)/gm))
      valid.delete(Number(i));
    const verdicts = requests.map((xml, i) => ({ xml, theirs: valid.has(i), ours: ours(xml) }));
    const apart = verdicts.filter(({ xml, theirs, ours }) => theirs !== ours.accepted && !isOtherwise(xml));
    expect(apart.slice(0, 10)).toEqual([]);
    // A corpus of one kind would prove nothing.
    expect(valid.size).toBeGreaterThan(COUNT / 4);
    expect(requests.length - valid.size).toBeGreaterThan(COUNT / 4);
  },
  300_000,
);
