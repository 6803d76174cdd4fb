import { create } from "xmlbuilder2";
import type { XMLBuilder } from "xmlbuilder2/lib/interfaces.js";
import { PROBLEM_NAMESPACE, SOAP_OVER_HTTP, WSDL, WSDL_SOAP } from "./namespaces.ts";
import { type FaultName, type OperationName, SERVICE, soapAction } from "./service.ts";
import { addMessageSchema, addPredictionSchema, addProblemSchema, printDocument } from "./xsd.ts";

/**
 * The service's description (WSDL 1.1): one port with SOAP 1.1, document/literal. SOAP 1.2 is not mentioned, not
 * even as a prefix, for some toolkits then speak 1.2 or give up; both schemas are inline, for some do not follow
 * relative addresses or lose `elementFormDefault` on the way.
 * @param endpoint absolute address to which requests are posted
 */
export function wsdl(namespace: string, endpoint: string): string {
  const document = create({ version: "1.0", encoding: "utf-8" });
  const definitions = document.ele("wsdl:definitions", {
    "xmlns:wsdl": WSDL,
    "xmlns:soap": WSDL_SOAP,
    "xmlns:tns": namespace,
    "xmlns:d": PROBLEM_NAMESPACE,
    name: SERVICE.name,
    targetNamespace: namespace,
  });
  definitions.ele("wsdl:documentation").txt(SERVICE.meaning);
  const types = definitions.ele("wsdl:types");
  addPredictionSchema(types);
  addProblemSchema(types);
  addMessageSchema(types, namespace);
  for (const name of Object.keys(SERVICE.operations)) {
    addMessage(definitions, `${name}Request`, `tns:${name}`);
    addMessage(definitions, `${name}Response`, `tns:${name}Response`);
  }
  for (const [name, element] of Object.entries(FAULT_ELEMENTS))
    addMessage(definitions, faultMessage(name), element);
  addPortType(definitions);
  addBinding(definitions, namespace);
  const service = definitions.ele("wsdl:service", { name: SERVICE.name });
  const port = service.ele("wsdl:port", { name: SERVICE.name, binding: `tns:${SERVICE.name}Binding` });
  port.ele("soap:address", { location: endpoint });
  return printDocument(document);
}

const FAULT_ELEMENTS: Record<FaultName, string> = {
  JobIdentifierFault: "tns:JobIdentifierFault",
  Problem: "d:problem",
};

/** Not the name of the element: Axis 1.4 makes a class of each. */
const faultMessage = (name: string): string => `${name}Message`;

function addMessage(definitions: XMLBuilder, name: string, element: string): void {
  definitions.ele("wsdl:message", { name }).ele("wsdl:part", { name: "parameters", element });
}

function addPortType(definitions: XMLBuilder): void {
  const portType = definitions.ele("wsdl:portType", { name: SERVICE.name });
  for (const [name, { meaning, faults }] of Object.entries(SERVICE.operations)) {
    const operation = portType.ele("wsdl:operation", { name });
    operation.ele("wsdl:documentation").txt(meaning);
    operation.ele("wsdl:input", { message: `tns:${name}Request` });
    operation.ele("wsdl:output", { message: `tns:${name}Response` });
    for (const fault of faults)
      operation.ele("wsdl:fault", { name: fault, message: `tns:${faultMessage(fault)}` });
  }
}

function addBinding(definitions: XMLBuilder, namespace: string): void {
  const binding = definitions.ele("wsdl:binding", {
    name: `${SERVICE.name}Binding`,
    type: `tns:${SERVICE.name}`,
  });
  binding.ele("soap:binding", { style: "document", transport: SOAP_OVER_HTTP });
  for (const [name, { faults }] of Object.entries(SERVICE.operations)) {
    const operation = binding.ele("wsdl:operation", { name });
    operation.ele("soap:operation", {
      soapAction: soapAction(namespace, name as OperationName),
      style: "document",
    });
    operation.ele("wsdl:input").ele("soap:body", { use: "literal" });
    operation.ele("wsdl:output").ele("soap:body", { use: "literal" });
    for (const fault of faults) {
      operation.ele("wsdl:fault", { name: fault }).ele("soap:fault", { name: fault, use: "literal" });
    }
  }
}
