import { expect, test } from "bun:test";
import { SaxesParser } from "saxes";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_SERVICE_NAMESPACE } from "../../../src/scoring/contract/namespaces.ts";
import { OPERATION_NAMES } from "../../../src/scoring/contract/service.ts";
import { wsdl } from "../../../src/scoring/contract/wsdl.ts";
import { messageSchema, predictionSchema } from "../../../src/scoring/contract/xsd.ts";
import { FOLDER, UPDATE } from "../soap-messages.ts";

const NAMESPACE = "http://lab.example/scorer";
const ENDPOINT = "http://host:1/soap?a=1&b=2";
const DOCUMENT = wsdl(NAMESPACE, ENDPOINT);
const XSD = "http://www.w3.org/2001/XMLSchema";

interface Found {
  attributes: Record<string, string>;
  /** Attribute values that are QNames, as {namespace}local. */
  references: string[];
  /** targetNamespace of the nearest element that has one. */
  target: string;
}

function findElements(document: string): Found[] {
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
    found.push({ attributes, references, target: targets.at(-1)! });
  });
  parser.on("closetag", () => void targets.pop());
  parser.write(document).close();
  return found;
}

const ELEMENTS = findElements(DOCUMENT);

test("declares only SOAP 1.1, as even an unused prefix makes gSOAP use 1.2", () => {
  expect(DOCUMENT).toContain('location="http://host:1/soap?a=1&amp;b=2"');
  expect(DOCUMENT).toContain(`soapAction="${NAMESPACE}/ConservationScorer/RunJob"`);
  expect(DOCUMENT).not.toMatch(/soap12|wsdl\/soap12/);
  expect(DOCUMENT).not.toContain("schemaLocation");
});

test.each(OPERATION_NAMES)("declares the fault Problem of %s, which any operation can return", (name) => {
  for (const section of ["portType", "binding"]) {
    const [, content] = DOCUMENT.split(`<wsdl:${section} `)[1].split(`<wsdl:operation name="${name}">`);
    expect(content.split("</wsdl:operation>")[0]).toContain('<wsdl:fault name="Problem"');
  }
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

test("writes one slash between a namespace that ends with a slash and the rest of an action", () => {
  const action = 'soapAction="http://lab.example/scorer/ConservationScorer/RunJob"';
  expect(wsdl("http://lab.example/scorer/", ENDPOINT)).toContain(action);
});

test("names messages differently from elements and elements like types, as Axis and SOAP::WSDL require", () => {
  const messages = [...DOCUMENT.matchAll(/<wsdl:message name="(\w+)"/g)].map(([, name]) => name);
  const elements = new Set([...DOCUMENT.matchAll(/<xs:element name="(\w+)"/g)].map(([, name]) => name));
  expect(messages.filter((name) => elements.has(name) && !name.endsWith("Response"))).toEqual([]);
  expect(DOCUMENT).toContain('<xs:element name="ConScorePrediction" type="p:ConScorePrediction">');
  expect(DOCUMENT.match(/<wsdl:part name="(?!parameters")/)).toBeNull();
});

/** The elements of a match that generated clients know from earlier schemas, in their order. */
const KNOWN_OF_MATCH = `firstResidue lastResidue matchedText verdict conservationScore expectedScore zScore pValue
  pValueKind homologCount effectiveHomologs localIdentity informationContent position homologAtMatch warning`;

test("extends the sequence of a match with optional elements at its end only", () => {
  const [, sequence] = predictionSchema()
    .split('<xs:complexType name="MotifMatch">')[1]
    .split(/<\/?xs:sequence>/);
  const elements = findElements(`<sequence xmlns:xs="${XSD}" xmlns:p="urn:p">${sequence}</sequence>`);
  const parts = elements.flatMap(({ attributes: { name, minOccurs } }) =>
    name ? [{ name, minOccurs }] : [],
  );
  const known = KNOWN_OF_MATCH.split(/\s+/);
  expect(parts.slice(0, known.length).map(({ name }) => name)).toEqual(known);
  const added = parts.slice(known.length);
  expect(added).toEqual(
    [
      "overallVerdict",
      "overallPValue",
      "overallPValueKind",
      "keptCount",
      "nearbyCount",
      "probability",
      "scoreVerdict",
    ].map((name) => ({
      name,
      minOccurs: "0",
    })),
  );
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
