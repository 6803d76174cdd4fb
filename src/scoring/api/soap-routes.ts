import { Elysia } from "elysia";
import { gunzipped } from "../../platform/compression.ts";
import { OPTIONAL_CREDENTIALS } from "../../platform/security-schemes.ts";
import { checkInput } from "../../platform/declared-input.ts";
import { errorResponses } from "../../platform/error-responses.ts";
import { SECURITY_HEADERS, requestPlugin } from "../../platform/http.ts";
import { findCause, type Log } from "../../platform/log.ts";
import { EXAMPLE_ID } from "../../platform/openapi-example.ts";
import { HOST } from "../../platform/origin.ts";
import type { RequestContext } from "../../platform/request-context.ts";
import { holdBody, reserveBody } from "../../platform/byte-budget.ts";
import type { Guards } from "../../platform/operation.ts";
import { Problem } from "../../problem.ts";
import {
  encodeFault,
  encodeResponse,
  responseEnvelope,
  type SoapResponse,
  type SoapVersion,
} from "../contract/encode.ts";
import {
  type Envelope,
  type EnvelopeOptions,
  readEnvelope,
  readWholeEnvelope,
} from "../contract/envelope.ts";
import type { MessageLimits } from "../contract/limits.ts";
import { SOAP_11 } from "../contract/namespaces.ts";
import { escapeAttribute } from "../../platform/xml-text.ts";
import { namesTag } from "../corpus/corpus-download.ts";
import type { Ownership } from "../../accounts/owner.ts";
import type { Handlers } from "../jobs/handlers.ts";
import { readJobRequest, type ReadingContext } from "../jobs/job-request.ts";
import { printElement, toSubmission } from "./soap-terms.ts";
import type { FeatureSource } from "../features/annotation.ts";
import { readResult } from "./read-result.ts";
import { makeBody, GZIP, isSentInGzip } from "../jobs/stored-result.ts";

interface SoapOptions extends ReadingContext {
  handlers: Handlers;
  featureSource: () => FeatureSource;
  log: Log;
  namespace: string;
  /** Limits of a message; its bytes are the setting max_message_bytes. */
  limits: MessageLimits;
  /** Milliseconds within which a message must arrive. */
  receiveTimeout: number;
  /** The client of a request, as a key for fair scheduling. */
  identifyClient: (request: Request) => string;
  guards: Guards;
  ownership: Ownership;
  /** True if public_url is set, so that the Host header does not matter. */
  hasPublicUrl: boolean;
}

export const ENDPOINT = "/soap/ConservationScorer";
const METHODS = "GET, HEAD, OPTIONS, POST";
const XML = "text/xml; charset=utf-8";
/** The guide to the service, for people. */
const GUIDE = "help/soap";

/** Bytes up to which a message is read in one piece. */
const SMALL_MESSAGE = 65_536;

const TEXT = { type: "string" as const };
/** Messages of SOAP 1.1 and 1.2. */
const xml = (example?: string) => ({
  "text/xml": { schema: TEXT, ...(example === undefined ? {} : { example }) },
  "application/soap+xml": { schema: TEXT },
});
const exampleIn = (namespace: string): string => `<Envelope xmlns="${SOAP_11}"><Body>
  <GetStatus xmlns="${escapeAttribute(namespace)}"><JobIdentifier>${EXAMPLE_ID}</JobIdentifier></GetStatus>
</Body></Envelope>`;

const callIn = (namespace: string) => ({
  operationId: "callSoap",
  summary: "Call RunJob, GetStatus or GetResult over SOAP",
  description: `SOAP 1.1, document/literal; SOAP 1.2 requests get SOAP 1.2 responses. [WSDL](${ENDPOINT.slice(1)}?wsdl)`,
  security: OPTIONAL_CREDENTIALS,
  requestBody: { required: true, content: xml(exampleIn(namespace)) },
  responses: {
    200: { description: "The response envelope of the operation.", content: xml() },
    401: { description: "A SOAP fault: the credentials are not valid.", content: xml() },
    500: {
      description: "A SOAP fault that states the error, its place, and the allowed values.",
      content: xml(),
    },
    default: { description: "Another SOAP fault: 400 of SOAP 1.2, 408, 413, 415, 429, 503.", content: xml() },
  },
});
const SHOW = {
  summary: "Get the WSDL (`?wsdl`)",
  operationId: "getWsdl",
  security: [],
  parameters: [
    {
      name: "wsdl",
      in: "query" as const,
      description: "The WSDL; also `xsd` for a schema.",
      allowEmptyValue: true,
      schema: { type: "string" as const },
      example: "",
    },
  ],
  responses: {
    200: { description: "The document.", content: xml() },
    302: { description: "Without a parameter, the guide to the service." },
    ...errorResponses(404),
  },
};

type MakeDocument = (endpoint: string, request: Request) => Response | Promise<Response>;

// Loaded at first use: the XML builder takes a tenth of the time to start.
const loadWsdl = () => import("../contract/wsdl.ts");
const loadXsd = () => import("../contract/xsd.ts");

/** The SOAP endpoint, its WSDL and its schemas. Every error is a SOAP fault. */
export function soapRoutes(options: SoapOptions) {
  const { namespace } = options;
  const documentAt: MakeDocument = async (endpoint, request) => {
    const parameters = [...new URL(request.url).searchParams.keys()];
    if (parameters.length === 0)
      return new Response(null, {
        status: 302,
        headers: { Location: new URL(`../${GUIDE}`, endpoint).pathname },
      });
    if (!parameters.some((name) => WSDL_PARAMETER.test(name))) throw documentNotFound(endpoint);
    const { wsdl } = await loadWsdl();
    return document(request, wsdl(namespace, endpoint), XML);
  };
  /** Makes a document that contains the absolute address of the endpoint. */
  const answer =
    (make: MakeDocument) =>
    ({ request, requestContext }: Context) => {
      checkHost(request, options);
      return make(requestContext.baseUrl + ENDPOINT, request);
    };
  const hidden = { detail: { hide: true } };
  return new Elysia({ name: "soap", detail: { tags: ["scoring"] } })
    .use(requestPlugin)
    .post(ENDPOINT, ({ request }) => perform(options, request), { parse: "none", detail: callIn(namespace) })
    .get(ENDPOINT, answer(documentAt), { detail: SHOW })
    .get(
      `${ENDPOINT}/messages.xsd`,
      answer(async (endpoint, request) => {
        const { messageSchema } = await loadXsd();
        return document(request, messageSchema(namespace, `${endpoint}/prediction.xsd`), XML);
      }),
      hidden,
    )
    .get(
      `${ENDPOINT}/prediction.xsd`,
      answer(async (_, request) => document(request, (await loadXsd()).predictionSchema(), XML)),
      hidden,
    )
    .all(ENDPOINT, ({ request }) => otherMethod(options, request), { parse: "none", ...hidden });
}

/** The fault for a message that is rejected before it is routed, or that is posted below the endpoint. */
export const soapRejection =
  (options: SoapOptions) =>
  (request: Request, problem: Problem): Response | undefined => {
    const { pathname } = new URL(request.url);
    if (request.method !== "POST" || !pathname.startsWith(ENDPOINT)) return undefined;
    const text = `No SOAP service at this address. Post the message to ${ENDPOINT}, without a slash at its end.`;
    const shown = problem.code === "not_found" ? new Problem("not_found", text) : problem;
    return faultResponse(options, shown, parseVersion(request));
  };

interface Context {
  request: Request;
  requestContext: RequestContext;
}

function otherMethod(options: SoapOptions, request: Request): Response {
  if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { Allow: METHODS } });
  const text = `Method not allowed. Allowed: ${METHODS}.`;
  const problem = new Problem("method_not_allowed", text, { allow: METHODS });
  return faultResponse(options, problem, parseVersion(request));
}

/** Some toolkits send messages to the address of the WSDL. */
const ADDRESS = { parameters: ["wsdl", "WSDL", "singleWsdl"], ifMatch: true };

/** Everything is caught here, without further awaits: clients poll through this function. */
async function perform(options: SoapOptions, request: Request): Promise<Response> {
  let envelope: Envelope | undefined;
  try {
    checkInput(request, ADDRESS);
    envelope = await receive(options, request);
    if (envelope.problem) return faultResponse(options, envelope.problem, envelope.soapVersion);
    const response = handle(options, request, envelope);
    return respond(response instanceof Promise ? await response : response);
  } catch (error) {
    return faultResponse(
      options,
      error,
      envelope?.soapVersion ?? parseVersion(request),
      envelope !== undefined,
    );
  }
}

/** True if the message is compressed. @throws Problem unsupported_media_type */
function isGzip({ headers }: Request): boolean {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "gzip" || encoding === "x-gzip") return true;
  if (encoding === "" || encoding === "identity") return false;
  throw new Problem("unsupported_media_type", "Content-Encoding: expected gzip, identity or none.");
}

/** Reads the message as it arrives, within the receive timeout. */
async function receive(options: SoapOptions, request: Request): Promise<Envelope> {
  const { limits, namespace, receiveTimeout } = options;
  // `request.body` makes a stream, which small messages do without.
  const body = isGzip(request) && request.body ? gunzipped(request.body) : undefined;
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limits.bytes) {
    const text = `The message has ${declared} bytes; at most ${limits.bytes} are allowed (setting max_message_bytes).`;
    throw new Problem("too_large", text);
  }
  const contentType = request.headers.get("content-type");
  const reading: EnvelopeOptions = { contentType, namespace, limits };
  // Reading a small message in one piece is faster than as a stream of one chunk.
  if (body === undefined && declared > 0 && declared <= SMALL_MESSAGE)
    return readWholeEnvelope(await readBody(request, receiveTimeout), reading);
  if (body === undefined) reserveBody(request);
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(tooSlow(receiveTimeout)), receiveTimeout);
  try {
    return await readEnvelope(body ?? request.body, { ...reading, signal: abort.signal, onBytes: holdBody });
  } finally {
    clearTimeout(timer);
  }
}

/** The body in one piece. @throws Problem timeout; malformed if the client disconnects before its end */
function readBody(request: Request, timeout: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const timer = setTimeout(() => reject(tooSlow(timeout)), timeout);
  const done = request.bytes().then(resolve, (cause: unknown) => {
    reject(new Problem("malformed", "The message was cut off before its end.", { cause }));
  });
  void done.then(() => clearTimeout(timer));
  return promise;
}

const tooSlow = (milliseconds: number): Problem =>
  new Problem("timeout", `The message did not arrive within ${milliseconds / 1000} seconds.`);

type Answer = Omit<SoapResponse, "body"> & { body: string | ReturnType<typeof makeBody> };

async function sendResult(
  options: SoapOptions,
  request: Request,
  job: string,
  soapVersion: SoapVersion,
): Promise<Answer> {
  const { namespace } = options;
  const parts = await readResult(options, job, "xml");
  const response = encodeResponse("GetResult", { ConScorePrediction: null }, soapVersion, namespace);
  if (!parts) return response;
  const { start: head, end: tail } = responseEnvelope("GetResult", soapVersion, namespace);
  const gzip = isSentInGzip(parts, request);
  const headers = { ...response.headers, ...(gzip ? GZIP : {}) };
  return { ...response, headers, body: makeBody(parts, { head, tail, gzip }) };
}

/** A promise only where the disk has to be waited for, or a result to be read. */
function handle(
  options: SoapOptions,
  request: Request,
  { operation, value, soapVersion }: Envelope & { problem: null },
): Answer | Promise<Answer> {
  const { handlers, namespace, identifyClient, guards, ownership } = options;
  switch (operation) {
    case "RunJob":
      guards.anyone(request);
      return handlers
        .runJob(
          readJobRequest(toSubmission(value), options),
          identifyClient(request),
          request.headers.get("idempotency-key"),
          ownership.claim(request, false).key,
        )
        .then((JobIdentifier) => encodeResponse("RunJob", { JobIdentifier }, soapVersion, namespace));
    case "GetStatus": {
      const { status, details } = handlers.getStatus(value.JobIdentifier.trim());
      const response = { Status: status, StatusDetails: details };
      return encodeResponse("GetStatus", response, soapVersion, namespace);
    }
    case "GetResult":
      return sendResult(options, request, value.JobIdentifier.trim(), soapVersion);
  }
}

/** The version to respond in if the message does not say. */
const parseVersion = (request: Request): SoapVersion =>
  /^\s*application\/soap\+xml\b/i.test(request.headers.get("content-type") ?? "") ? "1.2" : "1.1";

/** Statuses of faults of HTTP itself, which keep them. */
const HTTP_FAULTS = new Set([401, 405, 408, 413, 415, 429]);

function faultResponse(
  { log, namespace }: SoapOptions,
  error: unknown,
  version: SoapVersion,
  isRead = false,
): Response {
  const problem = Problem.from(error).translatePaths(printElement);
  const cause = findCause(problem) ?? (problem.code === "busy" ? problem.cause : undefined);
  if (cause !== undefined) log.problem("soap", { code: problem.code, cause: String(cause) });
  const fault = encodeFault(problem, version, namespace);
  // A full queue is a fault of SOAP, with status 500; too many bodies in flight are one of HTTP.
  const isOfHttp = HTTP_FAULTS.has(problem.status) || problem.code === "not_found";
  if (isOfHttp || (problem.code === "busy" && !isRead)) fault.status = problem.status;
  // The rest of the message is not read.
  if (problem.code === "timeout") fault.headers = { ...fault.headers, Connection: "close" };
  return respond(fault);
}

const respond = ({ status, headers, body }: Answer): Response =>
  new Response(body, { status, headers: preparedHeaders(headers) });

/** All headers of a response. Copying those of an earlier one takes a third of the time of making them. */
function preparedHeaders(headers: SoapResponse["headers"]): Headers {
  let all = prepared.get(headers);
  if (!all) prepared.set(headers, (all = new Headers({ ...SECURITY_HEADERS, ...headers })));
  return all;
}

const prepared = new WeakMap<SoapResponse["headers"], Headers>();

/** A document that clients may keep as long as it has the same tag. */
function document({ headers }: Request, text: string, contentType: string): Response {
  const tag = `"${Bun.hash(text).toString(36)}"`;
  const all = { "Content-Type": contentType, "Cache-Control": "no-cache", ETag: tag };
  if (namesTag(headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers: all });
  return new Response(text, { headers: all });
}

/** `?wsdl` in any case, alone or with other parameters; some toolkits request `?singleWsdl`. */
const WSDL_PARAMETER = /^(single)?wsdl$/i;

const documentNotFound = (endpoint: string): Problem =>
  new Problem(
    "not_found",
    `No such document. The WSDL is ${endpoint}?wsdl, which contains all schemas; they are also at ${endpoint}/messages.xsd and ${endpoint}/prediction.xsd.`,
  );

/** @throws Problem invalid_request for an invalid Host, which would end up in addresses */
function checkHost(request: Request, { hasPublicUrl }: SoapOptions): void {
  if (hasPublicUrl) return;
  const url = URL.canParse(request.url) ? new URL(request.url) : null;
  if (!url || !HOST.test(url.host) || !HOST.test(request.headers.get("host") ?? url.host))
    throw new Problem("invalid_request", "Host: expected a host name or address, and optionally a port.");
}
