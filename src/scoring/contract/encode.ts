import { PROBLEMS, type Problem } from "../../problem.ts";
import { type Addressing, anonymousAddress, responseAction } from "./addressing.ts";
import { PREDICTION_NAMESPACE, PROBLEM_NAMESPACE, SOAP_11, SOAP_12 } from "./namespaces.ts";
import { type ComplexType, CON_SCORE_PREDICTION } from "./con-score-prediction.ts";
import type { PredictionReport } from "./prediction.ts";
import { type FaultName, type Fields, type OperationName, type ResponseOf, SERVICE } from "./service.ts";
import { escapeAttribute, escapeText, printNumber, XML_DECLARATION } from "./xml-text.ts";

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

/** What is known of a request, where its response is a fault. */
export interface Rejected {
  operation: OperationName | null;
  addressing: Addressing | null;
}

/** Name of a header block that is not understood. */
export interface HeaderName {
  uri: string;
  local: string;
}

/** Characters of a fault's text: a fault stays small whatever was sent. */
const MAX_FAULT_TEXT = 2000;

/** The response of an operation. */
export function encodeResponse<Name extends OperationName>(
  operation: Name,
  value: ResponseOf<Name>,
  soapVersion: SoapVersion,
  namespace: string,
  addressing: Addressing | null = null,
): SoapResponse {
  const content = printFields(SERVICE.operations[operation].response, value);
  const name = `tns:${operation}Response`;
  const element = `<${name} xmlns:tns="${escapeAttribute(namespace)}">${content}</${name}>`;
  const header = addressing && printAddressing(addressing, responseAction(addressing, namespace, operation));
  return envelope(200, soapVersion, element, header ?? "");
}

/**
 * A problem as a fault. `unknown_job` is the declared JobIdentifierFault; other faults have their code as detail, except
 * those about headers and envelopes (SOAP 1.1, section 4.4). HTTP status: 500 for SOAP 1.1 (Basic Profile R1126), 400
 * for a sender's fault in SOAP 1.2 (part 2, section 7.4.2.2), 413 and 415 for faults of HTTP.
 */
export function encodeFault(
  problem: Problem,
  soapVersion: SoapVersion,
  namespace: string,
  { operation, addressing }: Rejected = { operation: null, addressing: null },
): SoapResponse {
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
  const name = declaredFault(problem, operation);
  const action = addressing && responseAction(addressing, namespace, operation, name);
  const header =
    (soapVersion === "1.2" ? printNotUnderstood(problem) : "") +
    (addressing ? printAddressing(addressing, action!) : "");
  const response = envelope(status, soapVersion, `<soap:Fault>${fault}</soap:Fault>`, header);
  return { ...response, headers: { ...problem.headers, ...response.headers } };
}

const SOAP_12_CODES: Record<string, string> = { Client: "Sender", Server: "Receiver" };

/** The fault as the WSDL declares it for the operation; null if it does not. */
function declaredFault({ code }: Problem, operation: OperationName | null): FaultName | null {
  if (operation === null || code === "version_mismatch" || code === "must_understand") return null;
  const name = code === "unknown_job" ? "JobIdentifierFault" : "Problem";
  const declared: readonly FaultName[] = SERVICE.operations[operation].faults;
  return declared.includes(name) ? name : null;
}

/** Characters that the name of a block may have to be repeated. */
const MAX_NAME = 200;

/** The block that names what was not understood (SOAP 1.2 part 1, section 5.4.8). */
function printNotUnderstood({ more }: Problem): string {
  const name = more.notUnderstood as HeaderName | undefined;
  if (name === undefined || name.uri.length + name.local.length > MAX_NAME) return "";
  const { uri, local } = name;
  const qname = uri === "" ? `qname="${local}"` : `qname="n:${local}" xmlns:n="${escapeAttribute(uri)}"`;
  return `<soap:NotUnderstood ${qname}/>`;
}

function printAddressing(addressing: Addressing, action: string): string {
  const { namespace, messageId } = addressing;
  const block = (name: string, value: string): string =>
    `<wsa:${name} xmlns:wsa="${namespace}">${escapeText(value)}</wsa:${name}>`;
  return (
    block("Action", action) +
    block("To", anonymousAddress(addressing)) +
    (messageId === null ? "" : block("RelatesTo", messageId))
  );
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

function envelope(status: number, soapVersion: SoapVersion, content: string, header = ""): SoapResponse {
  const { namespace, headers } = ENVELOPES[soapVersion];
  return {
    status,
    headers,
    body:
      `${XML_DECLARATION}\n<soap:Envelope xmlns:soap="${namespace}">` +
      (header && `<soap:Header>${header}</soap:Header>`) +
      `<soap:Body>${content}</soap:Body></soap:Envelope>`,
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

/**
 * The element ConScorePrediction in its own namespace.
 * @throws the error of `tooLong` once more than `limit` characters have been printed
 */
export function encodePrediction(
  report: PredictionReport,
  limit = Number.POSITIVE_INFINITY,
  tooLong?: () => Error,
): string {
  let length = 0;
  const printParts = (type: ComplexType<never>, source: unknown): string => {
    let out = "";
    for (const { name, type: inner, read } of type.parts)
      for (const item of read(source as never, report)) {
        const text = typeof inner === "string" ? printValue(item) : printParts(inner, item);
        const element = `<p:${name}>${text}</p:${name}>`;
        length += typeof inner === "string" ? element.length : element.length - text.length;
        if (length > limit && tooLong) throw tooLong();
        out += element;
      }
    return out;
  };
  const name = `p:${CON_SCORE_PREDICTION.name}`;
  const content = printParts(CON_SCORE_PREDICTION as ComplexType<never>, report);
  return `<${name} xmlns:p="${PREDICTION_NAMESPACE}">${content}</${name}>`;
}

const printValue = (item: unknown): string =>
  typeof item === "number" ? printNumber(item) : escapeText(String(item));
