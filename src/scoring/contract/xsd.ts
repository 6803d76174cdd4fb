import { create } from "xmlbuilder2";
import type { XMLBuilder } from "xmlbuilder2/lib/interfaces.js";
import { printXsdPattern } from "./characters.ts";
import { PREDICTION_NAMESPACE } from "../prediction/con-score-prediction.ts";
import { PROBLEM_NAMESPACE, XSD } from "./namespaces.ts";
import {
  type ComplexType,
  complexTypes,
  CON_SCORE_PREDICTION,
  type Part,
} from "../prediction/con-score-prediction.ts";
import { PREDICTION_CHOICES } from "../prediction/prediction.ts";
import { type Field, type Fields, SERVICE, type TextType } from "./service.ts";

/**
 * The schema of the messages, as a document.
 * @param predictionLocation where the prediction's schema is; left out, a processor must know it already
 */
export function messageSchema(namespace: string, predictionLocation?: string): string {
  const document = create({ version: "1.0", encoding: "utf-8" });
  addMessageSchema(document, namespace, predictionLocation);
  return printDocument(document);
}

/** The schema of ConScorePrediction, as a document. */
export function predictionSchema(): string {
  const document = create({ version: "1.0", encoding: "utf-8" });
  addPredictionSchema(document);
  return printDocument(document);
}

export const printDocument = (document: XMLBuilder): string =>
  `${document.end({ prettyPrint: true, wellFormed: true })}\n`;

function addSchema(
  parent: XMLBuilder,
  targetNamespace: string,
  prefixes: Record<string, string>,
): XMLBuilder {
  return parent.ele("xs:schema", {
    "xmlns:xs": XSD,
    ...prefixes,
    targetNamespace,
    elementFormDefault: "qualified",
  });
}

/** Adds the schema of the messages to a document or to `wsdl:types`. */
export function addMessageSchema(parent: XMLBuilder, namespace: string, predictionLocation?: string): void {
  const schema = addSchema(parent, namespace, { "xmlns:tns": namespace, "xmlns:p": PREDICTION_NAMESPACE });
  schema.ele("xs:import", {
    namespace: PREDICTION_NAMESPACE,
    ...(predictionLocation === undefined ? {} : { schemaLocation: predictionLocation }),
  });
  for (const type of namedTypes()) addTextType(schema, type);
  for (const [name, { meaning, request, response }] of Object.entries(SERVICE.operations)) {
    addMessage(schema, name, meaning, request);
    addMessage(schema, `${name}Response`, `Response of ${name}.`, response);
  }
  for (const [name, fields] of Object.entries(SERVICE.faults)) {
    addMessage(schema, name, "Reports that no job has the given identifier.", fields);
  }
}

function namedTypes(): TextType[] {
  const fields = Object.values(SERVICE.operations).flatMap(({ request, response }) =>
    Object.values<Field>(request).concat(Object.values<Field>(response)),
  );
  const types = fields.flatMap(({ type }) => ("isPrediction" in type || type.name === null ? [] : [type]));
  return [...new Set(types)];
}

function addTextType(schema: XMLBuilder, { name, meaning, characters, choices }: TextType): void {
  const type = schema.ele("xs:simpleType", { name: name! });
  addMeaning(type, meaning);
  const restriction = type.ele("xs:restriction", { base: "xs:string" });
  if (characters) restriction.ele("xs:pattern", { value: printXsdPattern(characters) });
  for (const choice of choices ?? []) restriction.ele("xs:enumeration", { value: choice });
}

function addMessage(schema: XMLBuilder, name: string, meaning: string, fields: Fields): void {
  // PySimpleSOAP takes the first child of the element for its type, and Axis wraps no parameters where the type has a
  // second child: the meaning can only be a comment.
  schema.com(` ${meaning} `);
  const sequence = schema.ele("xs:element", { name }).ele("xs:complexType").ele("xs:sequence");
  for (const [name, field] of Object.entries(fields)) addField(sequence, name, field);
}

function addField(sequence: XMLBuilder, name: string, field: Field): void {
  const { type, minOccurs, maxOccurs, meaning } = field;
  const named =
    "isPrediction" in type
      ? { ref: `p:${type.name}` }
      : { name, type: type.name === null ? "xs:string" : `tns:${type.name}` };
  const element = sequence.ele("xs:element", {
    ...named,
    ...(minOccurs === 1 ? {} : { minOccurs: String(minOccurs) }),
    ...(maxOccurs === 1 ? {} : { maxOccurs: String(maxOccurs) }),
    ...(field.default === undefined ? {} : { default: field.default }),
  });
  addMeaning(element, meaning);
}

/** Adds the schema of ConScorePrediction to a document or to `wsdl:types`. */
export function addPredictionSchema(parent: XMLBuilder): void {
  const schema = addSchema(parent, PREDICTION_NAMESPACE, { "xmlns:p": PREDICTION_NAMESPACE });
  for (const [name, choices] of Object.entries(PREDICTION_CHOICES)) {
    const restriction = schema.ele("xs:simpleType", { name }).ele("xs:restriction", { base: "xs:string" });
    for (const choice of choices) restriction.ele("xs:enumeration", { value: choice });
  }
  for (const type of [...complexTypes(), CON_SCORE_PREDICTION as ComplexType<never>])
    addParts(schema.ele("xs:complexType", { name: type.name }), type);
  // A named type: SOAP::WSDL cannot refer to an element with an anonymous type.
  const { name, meaning } = CON_SCORE_PREDICTION;
  addMeaning(schema.ele("xs:element", { name, type: `p:${name}` }), meaning);
}

/** Adds the schema of the detail of faults other than JobIdentifierFault. */
export function addProblemSchema(parent: XMLBuilder): void {
  const schema = addSchema(parent, PROBLEM_NAMESPACE, { "xmlns:d": PROBLEM_NAMESPACE });
  const type = schema.ele("xs:complexType", { name: "Problem" });
  addMeaning(type, "The kind of error or the reason for a missing prediction, for programs.");
  const code = type.ele("xs:sequence").ele("xs:element", { name: "code", type: "xs:string" });
  addMeaning(
    code,
    "The kind of error, such as invalid_request; codes are never renamed, but new ones may be added.",
  );
  const root = schema.ele("xs:element", { name: "problem", type: "d:Problem" });
  addMeaning(root, "The detail of a fault; the faultstring describes the error and the allowed values.");
}

function addParts(complex: XMLBuilder, { meaning, parts }: ComplexType<never>): void {
  addMeaning(complex, meaning);
  const sequence = complex.ele("xs:sequence");
  for (const part of parts) {
    const element = sequence.ele("xs:element", {
      name: part.name,
      type: typeName(part),
      ...(part.occurs === "once" ? {} : { minOccurs: "0" }),
      ...(part.occurs === "any number" ? { maxOccurs: "unbounded" } : {}),
    });
    addMeaning(element, part.meaning);
  }
}

function typeName({ type }: Part<never>): string {
  if (typeof type !== "string") return `p:${type.name}`;
  return type in PREDICTION_CHOICES ? `p:${type}` : `xs:${type}`;
}

function addMeaning(element: XMLBuilder, meaning: string): void {
  element.ele("xs:annotation").ele("xs:documentation").txt(meaning);
}
