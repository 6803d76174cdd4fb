import { Elysia } from "elysia";
import { Problem } from "../../problem.ts";
import { SECURITY_HEADERS } from "../../platform/http.ts";
import { causeOf, type Log } from "../../platform/log.ts";
import { baseOf, HOST, type PublicUrlOptions } from "../../platform/origin.ts";
import { encodeFault, encodeResponse, type SoapResponse, type SoapVersion } from "../contract/encode.ts";
import {
  type Envelope,
  type EnvelopeOptions,
  readEnvelope,
  readWholeEnvelope,
} from "../contract/envelope.ts";
import type { MessageLimits } from "../contract/limits.ts";
import type { Request as Asked } from "../contract/service.ts";
import { wsdl } from "../contract/wsdl.ts";
import { messageSchema, predictionSchema } from "../contract/xsd.ts";
import { endpointPage } from "./endpoint-page.ts";
import type { Handlers } from "./handlers.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";

export interface RouteOptions {
  handlers: Handlers;
  classes: MotifClasses;
  log: Log;
  namespace: string;
  /** What a message may hold; `bytes` is the setting max_message_bytes. */
  limits: Partial<MessageLimits> & { bytes: number };
  /** Milliseconds that a message may take to arrive. */
  receiveTimeout: number;
  /** Who asks, as a key by which clients take turns. */
  clientOf: (request: Request) => string;
  /** How clients reach the service. */
  reach: PublicUrlOptions;
}

/** Where the service is called; its schemas stand below. */
export const ENDPOINT = "/soap/ConservationScorer";
const MESSAGES = `${ENDPOINT}/messages.xsd`;
const PREDICTION = `${ENDPOINT}/prediction.xsd`;

const METHODS = "GET, HEAD, OPTIONS, POST";
const DOCUMENT_METHODS = "GET, HEAD, OPTIONS";
const XML = "text/xml; charset=utf-8";
const HTML = "text/html; charset=utf-8";

/** Bytes up to which a message is read in one piece. */
const SMALL = 65_536;

const CALL = {
  parse: "none" as const,
  detail: {
    tags: ["scoring"],
    summary: "RunJob, GetStatus and GetResult over SOAP",
    description: `SOAP 1.1 (1.2 is answered in kind), document/literal. [WSDL](${ENDPOINT.slice(1)}?wsdl)`,
    responses: {
      200: { description: "The operation's response envelope." },
      500: { description: "A SOAP fault that says what was wrong, where, and what is allowed." },
    },
  },
};
const SHOW = {
  detail: {
    tags: ["scoring"],
    summary: "The WSDL (`?wsdl`), or a page for people",
    responses: { 200: { description: "The document." } },
  },
};
const HIDDEN = { parse: "none" as const, detail: { hide: true } };

/** The SOAP endpoint, its WSDL and schemas, and a page for people. Whatever goes wrong is answered by a SOAP fault. */
export function scoringRoutes(options: RouteOptions) {
  const { namespace } = options;
  const call = (request: Request) => perform(options, request);
  const show = (request: Request) =>
    guarded(options, request, () => {
      const endpoint = endpointOf(request, options.reach);
      if (wantsWsdl(request)) return document(wsdl(namespace, endpoint), XML);
      return document(endpointPage({ endpoint, namespace, classes: options.classes.classes }), HTML);
    });
  const messages = (request: Request) =>
    guarded(options, request, () => {
      const location = `${endpointOf(request, options.reach)}/prediction.xsd`;
      return document(messageSchema(namespace, location), XML);
    });
  const prediction = (request: Request) => guarded(options, request, () => document(predictionSchema(), XML));
  const other = (methods: string) => (request: Request) =>
    guarded(options, request, () => {
      if (request.method === "OPTIONS")
        return new Response(null, { status: 204, headers: { Allow: methods } });
      throw new Problem("method_not_allowed", `Method not allowed. Allowed: ${methods}.`, { allow: methods });
    });
  const otherCall = other(METHODS);
  const otherDocument = other(DOCUMENT_METHODS);
  return new Elysia()
    .post(ENDPOINT, ({ request }) => call(request), CALL)
    .get(ENDPOINT, ({ request }) => show(request), SHOW)
    .head(ENDPOINT, ({ request }) => show(request), HIDDEN)
    .all(ENDPOINT, ({ request }) => otherCall(request), HIDDEN)
    .get(MESSAGES, ({ request }) => messages(request), HIDDEN)
    .head(MESSAGES, ({ request }) => messages(request), HIDDEN)
    .all(MESSAGES, ({ request }) => otherDocument(request), HIDDEN)
    .get(PREDICTION, ({ request }) => prediction(request), HIDDEN)
    .head(PREDICTION, ({ request }) => prediction(request), HIDDEN)
    .all(PREDICTION, ({ request }) => otherDocument(request), HIDDEN);
}

/** One function with few awaits, and everything that is thrown caught in it: clients ask again and again by this way. */
async function perform(options: RouteOptions, request: Request): Promise<Response> {
  let version: SoapVersion | undefined;
  try {
    const encoding = request.headers.get("content-encoding");
    if (encoding !== null && !/^\s*(identity)?\s*$/i.test(encoding)) {
      throw new Problem(
        "unsupported_media_type",
        "Content-Encoding: only identity is read; send the message as it is.",
      );
    }
    const envelope = await receive(options, request);
    version = envelope.soapVersion;
    if (envelope.problem) return fault(options, envelope.problem, version);
    const answer = handle(options, request, envelope, version);
    return respond(answer instanceof Promise ? await answer : answer);
  } catch (error) {
    return fault(options, error, version ?? versionOf(request));
  }
}

/** Reads the message as it arrives, within the time that one may take. */
async function receive(options: RouteOptions, request: Request): Promise<Envelope> {
  const { limits, namespace, receiveTimeout } = options;
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limits.bytes) {
    throw new Problem(
      "too_large",
      `The message has ${declared} bytes; at most ${limits.bytes} are read (setting max_message_bytes).`,
    );
  }
  const reading: EnvelopeOptions = { contentType: request.headers.get("content-type"), limits, namespace };
  // A small message is taken in one piece, which is quicker than a stream of one chunk.
  if (declared > 0 && declared <= SMALL)
    return readWholeEnvelope(await whole(request, receiveTimeout), reading);
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(tooSlow(receiveTimeout)), receiveTimeout);
  try {
    return await readEnvelope(request.body, { ...reading, signal: patience.signal });
  } finally {
    clearTimeout(timer);
  }
}

/** The body in one piece. @throws Problem timeout; malformed where the client goes before its end */
function whole(request: Request, milliseconds: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooSlow(milliseconds)), milliseconds);
    request.bytes().then(
      (bytes) => {
        clearTimeout(timer);
        resolve(bytes);
      },
      (cause: unknown) => {
        clearTimeout(timer);
        reject(new Problem("malformed", "The message was cut off before its end.", { cause }));
      },
    );
  });
}

function tooSlow(milliseconds: number): Problem {
  return new Problem("timeout", `The message did not arrive within ${milliseconds / 1000} seconds.`);
}

/** A promise only where the disk has to be waited for. */
function handle(
  { handlers, namespace, clientOf }: RouteOptions,
  request: Request,
  asked: Asked,
  version: SoapVersion,
): SoapResponse | Promise<SoapResponse> {
  switch (asked.operation) {
    case "RunJob":
      return handlers
        .runJob(asked.value, clientOf(request))
        .then((JobIdentifier) => encodeResponse("RunJob", { JobIdentifier }, version, namespace));
    case "GetStatus": {
      const { status, details } = handlers.getStatus(asked.value.JobIdentifier);
      return encodeResponse("GetStatus", { Status: status, StatusDetails: details }, version, namespace);
    }
    case "GetResult": {
      const result = handlers.getResult(asked.value.JobIdentifier);
      return encodeResponse("GetResult", { ConScorePrediction: result }, version, namespace);
    }
  }
}

/** What a request is answered with, faults included: nothing that is thrown leaves this file. */
async function guarded(
  options: RouteOptions,
  request: Request,
  answer: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    return fault(options, error, versionOf(request));
  }
}

/** The version in which to answer where the message does not say. */
function versionOf(request: Request): SoapVersion {
  return /^\s*application\/soap\+xml\b/i.test(request.headers.get("content-type") ?? "") ? "1.2" : "1.1";
}

/** Faults whose HTTP status says more than 500: HTTP itself is at fault, and no SOAP toolkit sends such a request. */
const HTTP_FAULTS = new Set(["method_not_allowed", "timeout", "too_large", "unsupported_media_type"]);

function fault({ log, namespace }: RouteOptions, error: unknown, version: SoapVersion): Response {
  const problem = Problem.from(error);
  const cause = causeOf(problem) ?? (problem.code === "busy" ? problem.cause : undefined);
  if (cause !== undefined) log.problem("soap", { code: problem.code, cause: String(cause) });
  const answer = encodeFault(problem, version, namespace);
  const status = HTTP_FAULTS.has(problem.code) ? problem.status : answer.status;
  const headers = { ...answer.headers };
  // The rest of such a message is not waited for.
  if (problem.code === "timeout") headers.Connection = "close";
  return respond({ ...answer, status, headers });
}

/** Headers of answers that have no others than their type: made once, and copied. */
const USUAL = new Map<string, Headers>();

function respond({ status, headers, body }: SoapResponse): Response {
  const { "Content-Type": type, ...others } = headers;
  for (const _ in others) return new Response(body, { status, headers: { ...SECURITY_HEADERS, ...headers } });
  let usual = USUAL.get(type);
  if (!usual) USUAL.set(type, (usual = new Headers({ ...SECURITY_HEADERS, "Content-Type": type })));
  return new Response(body, { status, headers: usual });
}

function document(text: string, contentType: string): Response {
  return new Response(text, { headers: { "Content-Type": contentType } });
}

/** `?wsdl` in any case, alone or among other parameters; `?singleWsdl` is what some toolkits ask for. */
function wantsWsdl(request: Request): boolean {
  const { searchParams } = new URL(request.url);
  return [...searchParams.keys()].some((key) => /^(single)?wsdl$/i.test(key));
}

/**
 * Absolute address of the endpoint, as the caller reaches it.
 * @throws Problem invalid_request for a host that is none
 */
function endpointOf(request: Request, reach: PublicUrlOptions): string {
  const url = URL.canParse(request.url) ? new URL(request.url) : null;
  const isHost = url && HOST.test(url.host) && HOST.test(request.headers.get("host") ?? url.host);
  if (!isHost && reach.publicUrl === "")
    throw new Problem("invalid_request", "Host: expected a host name or address, and a port.");
  return baseOf(request, reach) + ENDPOINT;
}
