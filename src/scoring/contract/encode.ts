import { PROBLEMS, type Problem } from "../../problem.ts";
import { PROBLEM_NAMESPACE, SOAP_11, SOAP_12 } from "./namespaces.ts";
import { type Fields, type OperationName, type ResponseOf, SERVICE } from "./service.ts";
import { escapeAttribute, escapeText, XML_DECLARATION } from "../../platform/xml-text.ts";

export type SoapVersion = "1.1" | "1.2";

/** A SOAP response for HTTP. */
export interface SoapResponse {
  status: number;
  /** Headers, including Content-Type; the same object for responses with no others. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

const ENVELOPES: Record<SoapVersion, { namespace: string; headers: SoapResponse["headers"] }> = {
  "1.1": { namespace: SOAP_11, headers: { "Content-Type": "text/xml; charset=utf-8" } },
  "1.2": { namespace: SOAP_12, headers: { "Content-Type": "application/soap+xml; charset=utf-8" } },
};

/** Name of a header block that is not understood. */
export interface HeaderName {
  uri: string;
  local: string;
}

/** Maximum characters of a fault's text, so that a fault stays small for any input. */
const MAX_FAULT_TEXT = 2000;

/** The response of an operation. */
export function encodeResponse<Name extends OperationName>(
  operation: Name,
  value: ResponseOf<Name>,
  soapVersion: SoapVersion,
  namespace: string,
): SoapResponse {
  const { start, end } = responseEnvelope(operation, soapVersion, namespace);
  const content = printFields(SERVICE.operations[operation].response, value);
  return { status: 200, headers: ENVELOPES[soapVersion].headers, body: start + content + end };
}

/** The text around the fields of a response, such as a prediction that is sent in stored form. */
export function responseEnvelope(
  operation: OperationName,
  soapVersion: SoapVersion,
  namespace: string,
): { start: string; end: string } {
  const name = `tns:${operation}Response`;
  const { start, end } = envelope(soapVersion);
  return { start: `${start}<${name} xmlns:tns="${escapeAttribute(namespace)}">`, end: `</${name}>${end}` };
}

/**
 * A problem as a fault. `unknown_job` is the declared JobIdentifierFault; other faults have their code as detail, except
 * those about headers and envelopes (SOAP 1.1, section 4.4). HTTP status: 500 for SOAP 1.1 (Basic Profile R1126), 400
 * for a sender's fault in SOAP 1.2 (part 2, section 7.4.2.2), 413 and 415 for faults of HTTP.
 */
export function encodeFault(problem: Problem, soapVersion: SoapVersion, namespace: string): SoapResponse {
  const text = escapeText(problem.message.slice(0, MAX_FAULT_TEXT));
  const detail = printDetail(problem, text, namespace);
  const { soapFault } = PROBLEMS[problem.code];
  let status = 500;
  if (problem.code === "too_large" || problem.code === "unsupported_media_type") status = problem.status;
  else if (soapVersion === "1.2" && soapFault === "Client") status = 400;
  const fault =
    soapVersion === "1.1"
      ? `<faultcode>soap:${soapFault}</faultcode><faultstring>${text}</faultstring>` +
        (detail && `<detail>${detail}</detail>`)
      : `<soap:Code><soap:Value>soap:${SOAP_12_CODES[soapFault] ?? soapFault}</soap:Value></soap:Code>` +
        `<soap:Reason><soap:Text xml:lang="en">${text}</soap:Text></soap:Reason>` +
        (detail && `<soap:Detail>${detail}</soap:Detail>`);
  const { start, end } = envelope(soapVersion, soapVersion === "1.2" ? printNotUnderstood(problem) : "");
  const headers = { ...problem.headers, ...ENVELOPES[soapVersion].headers };
  return { status, headers, body: `${start}<soap:Fault>${fault}</soap:Fault>${end}` };
}

const SOAP_12_CODES: Record<string, string> = { Client: "Sender", Server: "Receiver" };

/** Characters that the name of a block may have to be repeated. */
const MAX_NAME = 200;

/** The block that names a header that was not understood (SOAP 1.2 part 1, section 5.4.8). */
function printNotUnderstood({ more }: Problem): string {
  const name = more.notUnderstood as HeaderName | undefined;
  if (name === undefined || name.uri.length + name.local.length > MAX_NAME) return "";
  const { uri, local } = name;
  const qname = uri === "" ? `qname="${local}"` : `qname="n:${local}" xmlns:n="${escapeAttribute(uri)}"`;
  return `<soap:NotUnderstood ${qname}/>`;
}

function printDetail(problem: Problem, text: string, namespace: string): string {
  switch (problem.code) {
    case "version_mismatch":
    case "must_understand":
      return "";
    case "unknown_job": {
      const [[field]] = Object.entries(SERVICE.faults.JobIdentifierFault);
      return (
        `<tns:JobIdentifierFault xmlns:tns="${escapeAttribute(namespace)}">` +
        `<tns:${field}>${text}</tns:${field}></tns:JobIdentifierFault>`
      );
    }
    default:
      return `<p:problem xmlns:p="${PROBLEM_NAMESPACE}"><p:code>${problem.code}</p:code></p:problem>`;
  }
}

/** The text around the content of Body. */
function envelope(soapVersion: SoapVersion, header = ""): { start: string; end: string } {
  const { namespace } = ENVELOPES[soapVersion];
  const start = `${XML_DECLARATION}\n<soap:Envelope xmlns:soap="${namespace}">`;
  return {
    start: `${start}${header && `<soap:Header>${header}</soap:Header>`}<soap:Body>`,
    end: "</soap:Body></soap:Envelope>",
  };
}

function printFields(fields: Fields, value: Readonly<Record<string, unknown>>): string {
  let out = "";
  for (const [name, { type }] of Object.entries(fields)) {
    const item = value[name];
    if (item === null) continue;
    if ("isPrediction" in type) out += item as string;
    else out += `<tns:${name}>${escapeText(item as string)}</tns:${name}>`;
  }
  return out;
}
