import { expect, test } from "bun:test";
import { SaxesParser } from "saxes";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_SERVICE_NAMESPACE } from "../../../src/scoring/contract/namespaces.ts";
import { wsdl } from "../../../src/scoring/contract/wsdl.ts";
import { messageSchema, predictionSchema } from "../../../src/scoring/contract/xsd.ts";
import { FOLDER, UPDATE } from "../soap-messages.ts";

const NAMESPACE = "http://lab.example/scorer";
const ENDPOINT = "http://host:1/soap?a=1&b=2";
const DOCUMENT = wsdl(NAMESPACE, ENDPOINT);
const WSDL = "http://schemas.xmlsoap.org/wsdl/";
const SOAP = `${WSDL}soap/`;
const XSD = "http://www.w3.org/2001/XMLSchema";

interface Found {
  name: string;
  attributes: Record<string, string>;
  /** Attribute values that are QNames, as {namespace}local. */
  references: string[];
  /** targetNamespace of the nearest element that has one. */
  target: string;
}

function elementsOf(document: string): Found[] {
  const found: Found[] = [];
  const targets = [""];
  const parser = new SaxesParser({ xmlns: true });
  parser.on("opentag", (tag) => {
    const attributes = Object.fromEntries(
      Object.values(tag.attributes).map(({ name, value }) => [name, value]),
    );
    targets.push(attributes.targetNamespace ?? targets.at(-1)!);
    const references = ["type", "ref", "base", "element", "message", "binding"].flatMap((name) => {
      if (attributes[name] === undefined) return [];
      const [prefix, local] = attributes[name].split(":");
      return [`{${parser.resolve(prefix)}}${local}`];
    });
    found.push({ name: `{${tag.uri}}${tag.local}`, attributes, references, target: targets.at(-1)! });
  });
  parser.on("closetag", () => void targets.pop());
  parser.write(document).close();
  return found;
}

const ELEMENTS = elementsOf(DOCUMENT);
const all = (namespace: string, local: string): Found[] =>
  ELEMENTS.filter(({ name }) => name === `{${namespace}}${local}`);
const values = (namespace: string, local: string, attribute: string): string[] =>
  all(namespace, local).map(({ attributes }) => attributes[attribute]);

test("has one service with one port for SOAP 1.1, document/literal", () => {
  expect(values(WSDL, "service", "name")).toEqual(["ConservationScorer"]);
  expect(values(WSDL, "portType", "name")).toEqual(["ConservationScorer"]);
  expect(values(WSDL, "binding", "name")).toEqual(["ConservationScorerBinding"]);
  expect(all(WSDL, "port").length).toBe(1);
  expect(values(SOAP, "address", "location")).toEqual([ENDPOINT]);
  expect(values(SOAP, "binding", "style")).toEqual(["document"]);
  expect([...new Set([...values(SOAP, "body", "use"), ...values(SOAP, "fault", "use")])]).toEqual([
    "literal",
  ]);
  expect(values(SOAP, "operation", "soapAction")).toEqual(
    ["RunJob", "GetStatus", "GetResult"].map((name) => `${NAMESPACE}/ConservationScorer/${name}`),
  );
  // Even an unused prefix makes gSOAP speak 1.2.
  expect(DOCUMENT).not.toMatch(/soap12|wsdl\/soap12/);
});

test("has messages of one part, `parameters` except for the fault", () => {
  const parts = all(WSDL, "part").map(({ attributes }) => attributes);
  expect(parts.filter(({ name }) => name === "parameters").map(({ element }) => element)).toEqual([
    "tns:RunJob",
    "tns:RunJobResponse",
    "tns:GetStatus",
    "tns:GetStatusResponse",
    "tns:GetResult",
    "tns:GetResultResponse",
  ]);
  expect(parts.filter(({ name }) => name !== "parameters").map(({ element }) => element)).toEqual([
    "tns:JobIdentifierFault",
  ]);
  expect(all(WSDL, "message").length).toBe(parts.length);
  // Two in the port type, two in the binding: RunJob declares none.
  expect(values(WSDL, "fault", "name")).toEqual(Array.from({ length: 4 }, () => "JobIdentifierFault"));
});

test("has both schemas inline and qualified, without external locations", () => {
  expect(all(XSD, "schema").map(({ attributes }) => attributes.elementFormDefault)).toEqual([
    "qualified",
    "qualified",
  ]);
  expect(DOCUMENT).not.toContain("schemaLocation");
});

test("resolves every reference", () => {
  const named = new Set(
    ELEMENTS.flatMap(({ attributes, target }) =>
      attributes.name === undefined ? [] : [`{${target}}${attributes.name}`],
    ),
  );
  const references = ELEMENTS.flatMap(({ references }) => references).filter(
    (name) => !name.startsWith(`{${XSD}}`),
  );
  expect(references.length).toBeGreaterThan(30);
  expect(references.filter((name) => !named.has(name))).toEqual([]);
});

const DOCUMENTS = {
  "service.wsdl": wsdl(DEFAULT_SERVICE_NAMESPACE, "http://127.0.0.1:8480/soap/ConservationScorer"),
  "messages.xsd": messageSchema(DEFAULT_SERVICE_NAMESPACE, "prediction.xsd"),
  "prediction.xsd": predictionSchema(),
};
test.each(Object.entries(DOCUMENTS))("prints %s like the golden file", (file, document) => {
  const path = join(FOLDER, file);
  if (UPDATE) writeFileSync(path, document);
  expect(document).toBe(readFileSync(path, "utf8"));
});
