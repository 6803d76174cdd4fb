// Elysia reads NODE_ENV when it is first loaded; without this its own errors would print internals.
import "./node-env.ts";
import { Type } from "typebox";
import { type AnyElysia, Elysia, ElysiaCustomStatusResponse, ParseError, ValidationError } from "elysia";
import { Problem } from "../problem.ts";
import { bodyTooLarge, RECEIVE_TIMEOUT } from "./body.ts";
import { releaseBody } from "./byte-budget.ts";
import type { Clock } from "./clock.ts";
import { guardBody } from "./body-stream.ts";
import { type Aliases, ANY_PATH, completeMethods } from "./complete-methods.ts";
import { compress } from "./compression.ts";
import { allowOrigin, preflight } from "./cors.ts";
import { checkInput, declaredInputs } from "./declared-input.ts";
import { documentation, type Documentation } from "./documentation.ts";
import { errorResponses } from "./error-responses.ts";
import { jsonResponse, NO_STORE } from "./json-response.ts";
import { findCause, type Log } from "./log.ts";
import { exceeded, LIMITS } from "./limits.ts";
import { fieldErrors, mistakesIn } from "./schema.ts";
import { DIRECT, HOST, type PublicUrlOptions } from "./origin.ts";
import { requireOwnHost } from "./own-host.ts";
import { type Arrival, currentRequest, RequestContext, runInRequest } from "./request-context.ts";
import { endRequest, startRequest } from "./traces.ts";

/** The parts that all requests pass in both services. */
export interface HttpOptions {
  log: Log;
  clock: Clock;
  /** Limit of a body in bytes. */
  maxMessageBytes: number;
  /** True if bodies at this path may have any size, because they are streamed to disk. */
  isUpload?: (path: string) => boolean;
  /** Runs before a request to a service is routed. @throws Problem with which it is rejected */
  admit: (request: Request, path: string) => void | Promise<void>;
  /** The public address of the server; by default that of each request. */
  reach?: PublicUrlOptions;
  /** Reasons why the service cannot take requests now; empty when it can. */
  notReadyReasons: () => string[];
  /** Problems that need an administrator although the service takes requests. */
  warnings?: () => string[];
  documentation: Documentation;
  /** Names by which clients may reach the service; empty, the default, for any. */
  allowedHosts?: readonly string[];
  /** Origins whose pages may read responses of the APIs; none by default. */
  corsOrigins?: readonly string[];
  /** True if requests come by https. */
  tls?: boolean;
  /** Called after every request. */
  observe?: (answered: Answered) => void;
  /** Routes of the services. */
  services: AnyElysia[];
  /** Further addresses of the routes. */
  aliases?: Aliases;
  /** The response to a request that no service has answered, if it is not JSON. */
  reject?: (request: Request, problem: Problem) => Response | undefined;
  /** The page for browsers at an unknown address; undefined for programs. */
  missing?: (request: Request) => Promise<Response | undefined>;
  /** The page that shows a response with the type JSON_FOR_PEOPLE. */
  showJson?: (request: Request, response: Response) => Promise<Response>;
}

/** Content type with which an API answers a browser: `showJson` makes it a page. */
export const JSON_FOR_PEOPLE = "application/json; view=page";

/** One request and its response; for a streamed one, until its first byte. */
export interface Answered {
  method: string;
  /** Path pattern of the route, or "none". */
  route: string;
  status: number;
  seconds: number;
}

/** The paths of the services. Pages, documentation and health are equal for all callers. */
const SERVICES = /^\/(api|soap)\//;
/** Browsers use https only, for a year (RFC 6797). */
const HSTS = "max-age=31536000";

/** Sent with every response that does not set its own. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  // Not no-referrer: with it browsers send `Origin: null` with our own forms.
  "Referrer-Policy": "same-origin",
  "X-Frame-Options": "DENY",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
};

/** Answers one request; never rejects. */
export type Answer = (request: Request, arrival?: Arrival) => Promise<Response>;

/** For plugins with routes of their own: supplies `requestContext` (request id, client address, base path, public URL). */
export const requestPlugin = new Elysia({ name: "request" }).derive({ as: "global" }, ({ route }) => {
  const requestContext = currentRequest()!;
  if (route !== ANY_PATH) requestContext.route = route;
  return { requestContext };
});

/** The whole HTTP service as one function, which tests call without a socket. */
export function openHttp({ services, ...options }: HttpOptions): Answer {
  const app = openApp(options, services);
  const { observe, log } = options;
  const reach = options.reach ?? DIRECT;
  const origins = options.corsOrigins ?? [];
  return async (received, arrival) => {
    const started = performance.now();
    const id = options.clock.newId();
    const { request, hasHost } = normalizeUrl(received, arrival, reach.basePath);
    const path = readPath(request);
    const context = new RequestContext(request, id, arrival, reach, {
      maxMessageBytes: options.maxMessageBytes,
      receiveTimeout: RECEIVE_TIMEOUT,
    });
    context.span = startRequest(request);
    const made = await runInRequest(context, async () => {
      try {
        requireOwnHost(request, options.allowedHosts ?? [], reach);
        checkRequest(request, path, hasHost, options);
        const asked = preflight(request, path, origins);
        if (asked) return asked;
        if (SERVICES.test(path)) await options.admit(request, path);
        const response =
          reach.basePath !== "" && path === reach.basePath
            ? new Response(null, { status: 308, headers: { Location: `${path}/` } })
            : await app.fetch(request);
        const isForPeople = response.headers.get("content-type") === JSON_FOR_PEOPLE;
        const shown = isForPeople ? await options.showJson?.(request, response) : undefined;
        return await compress(request, shown ?? response);
      } catch (error) {
        context.problem = Problem.from(error);
        return options.reject?.(request, context.problem) ?? problemResponse(context.problem);
      }
    });
    releaseBody(context);
    const { method } = request;
    const { status } = made;
    const took = performance.now() - started;
    observe?.({ method, route: context.route, status, seconds: took / 1000 });
    endRequest(context.span, { method, route: context.route, status, id });
    const fields = () => ({
      request: id,
      method,
      path,
      status,
      milliseconds: Math.round(took * 100) / 100,
      client: context.address ?? undefined,
      user: context.userId ?? undefined,
    });
    const cause = context.problem && findCause(context.problem);
    if (cause) log.problem("request", { ...fields(), cause });
    else log.info("request", fields);
    const onCut = (error: unknown): unknown => {
      const problem = Problem.from(error);
      log.problem("response cut off", { ...fields(), cause: findCause(problem) ?? problem.message });
      // To a socket: Bun prints any other error to standard error, with the code around it (Bun 1.4.5).
      return arrival ? undefined : error;
    };
    const response = context.hasStream ? guardBody(made, onCut, arrival?.reads) : made;
    allowOrigin(request, path, response.headers, origins);
    finish(request, response, id);
    // A reverse proxy that ends TLS sets its own.
    if (options.tls === true) response.headers.set("Strict-Transport-Security", HSTS);
    return response;
  };
}

/** `services` are not kept: the application has copies of their routes. */
function openApp(options: Omit<HttpOptions, "services">, services: HttpOptions["services"]) {
  let inputs: ReturnType<typeof declaredInputs> | undefined;
  const app = new Elysia({
    // Elysia looks for the path from a fixed place on: with its default a Host of three characters or fewer gives 404,
    // without it all of https does. (With https and the default it is a Host of two or fewer.)
    handler: { standardHostname: options.tls === true },
    // Pages answer without a trailing slash only; completeMethods adds it for the APIs.
    systemRouter: false,
    strictPath: true,
  })
    .onError({ as: "global" }, async ({ error, code, request, route }) => {
      const problem = toProblem(error, code);
      const context = currentRequest()!;
      context.problem = problem;
      // A body that cannot be parsed comes here before the plugin has noted its route.
      if (route && route !== ANY_PATH) context.route = route;
      const other = options.reject?.(request, problem);
      const page = code === "NOT_FOUND" ? await options.missing?.(request) : undefined;
      return other ?? page ?? problemResponse(problem);
    })
    .mapResponse({ as: "global" }, ({ response, set }) => respondJson(response, set))
    .onBeforeHandle({ as: "global" }, ({ request, route }) => {
      const input = inputs?.get(`${request.method === "HEAD" ? "GET" : request.method} ${route}`);
      if (input) checkInput(request, input);
    })
    .use(requestPlugin)
    .get("/healthz", () => Response.json({ status: "ok" }, { headers: NO_STORE }), {
      detail: {
        summary: "Check that the process runs",
        tags: ["service"],
        security: [],
        responses: { 200: json("The process runs."), ...errorResponses(421) },
      },
    })
    .get("/readyz", () => readiness(options.notReadyReasons(), options.warnings?.()), {
      detail: {
        summary: "Check that the service takes requests",
        tags: ["service"],
        security: [],
        responses: {
          200: json("The service accepts requests; `reasons` name warnings, such as a failed backup."),
          503: json("The service takes no requests; `reasons` say why."),
          ...errorResponses(421),
        },
      },
    });
  for (const service of services) app.use(service);
  app.use(documentation(options.documentation, app));
  inputs = declaredInputs(app);
  completeMethods(app, options.aliases);
  return app;
}

const HEALTH = Type.Object({
  status: Type.String({ examples: ["ok"] }),
  reasons: Type.Optional(Type.Array(Type.String(), { examples: [[]] })),
});
const json = (description: string) => ({
  description,
  content: { "application/json": { schema: HEALTH as object } },
});

function readiness(notReady: string[], warnings: string[] = []): Response {
  const isReady = notReady.length === 0;
  const reasons = [...notReady, ...warnings];
  const body = { status: isReady ? "ready" : "not ready", ...(reasons.length > 0 ? { reasons } : {}) };
  return Response.json(body, { status: isReady ? 200 : 503, headers: NO_STORE });
}

/** A handler's object or list as JSON that no cache keeps; undefined and null as 204. Elysia sends the rest as it is. */
function respondJson(
  value: unknown,
  set: { status?: number | string; headers: object },
): Response | undefined {
  if (value instanceof Response) return undefined;
  const custom = value instanceof ElysiaCustomStatusResponse ? value : undefined;
  const body: unknown = custom ? custom.response : value;
  const isOther =
    body !== undefined &&
    (typeof body !== "object" || body instanceof Blob || body instanceof ReadableStream);
  const status = custom ? Number(custom.code) : Number(set.status ?? 200);
  return isOther ? undefined : jsonResponse(body, status, set.headers as Record<string, string>);
}

/**
 * The request with an absolute address, and without the base path. HTTP/1.0 needs no Host, and Bun leaves out one that
 * cannot be used: the server's own address stands in. SOAP answers requests with an unusable Host in its own form, the
 * rest refuses them (RFC 9112, section 3.2).
 */
function normalizeUrl(
  received: Request,
  arrival: Arrival | undefined,
  basePath: string,
): { request: Request; hasHost: boolean } {
  let request = received;
  let hasHost = true;
  if (!URL.canParse(request.url)) {
    const path = request.url.startsWith("/") ? request.url : afterHost(request);
    hasHost = request.headers.get("host") === null;
    request = new Request(`${arrival?.origin() ?? "http://localhost"}${path}`, request);
  }
  const host = request.url.indexOf("://") + 3;
  const start = request.url.indexOf("/", host);
  // Commands to copy have it, which a shell would run in parts.
  hasHost &&= HOST.test(request.url.slice(host, start));
  if (basePath !== "" && request.url.startsWith(`${basePath}/`, start))
    request = new Request(request.url.slice(0, start) + request.url.slice(start + basePath.length), request);
  return { request, hasHost };
}

/** @throws Problem for a request that is refused before routing */
function checkRequest(
  { headers, url }: Request,
  path: string,
  hasHost: boolean,
  { maxMessageBytes, isUpload }: Pick<HttpOptions, "maxMessageBytes" | "isUpload">,
): void {
  if (url.length > LIMITS.url.max) throw new Problem("url_too_long", exceeded(LIMITS.url));
  if (path.startsWith("/soap/")) return;
  if (!hasHost) throw new Problem("invalid_request", "The request has no usable Host header.");
  // A body of unknown length is counted where it is read.
  const declared = Number(headers.get("content-length") ?? 0);
  if (declared > maxMessageBytes && !isUpload?.(path)) throw bodyTooLarge(maxMessageBytes);
}

/** A thrown value as a Problem; `code` is Elysia's name for its own errors. */
function toProblem(error: unknown, code: unknown): Problem {
  if (code === "NOT_FOUND") {
    return new Problem("not_found", "Not found. The addresses are listed at / and described at /docs.");
  }
  if (error instanceof ParseError)
    // Elysia wraps errors of parsers.
    return error.cause instanceof Problem
      ? error.cause
      : new Problem("malformed", "The body cannot be parsed as its Content-Type declares.", { cause: error });
  if (error instanceof ValidationError) return toFieldErrors(error);
  return Problem.from(error);
}

/** The parts of a request that do not match its route's schema, field by field. */
function toFieldErrors(error: ValidationError): Problem {
  const fields = fieldErrors(error.all as { path: string; message: string }[]);
  const texts = mistakesIn(fields);
  // Not the error itself as the cause: its text contains the input, which may be a password.
  if (error.type === "response")
    return Problem.from(new Error(`The response does not match its schema: ${texts.join(" ")}`));
  return new Problem("invalid_request", texts[0], { fields });
}

/** The error body of all JSON answers: what DRF clients read (`detail`, or one list per field) plus `message`. */
export function problemResponse(problem: Problem): Response {
  const problems = problem.problems.map(({ path, character, reason }) => ({
    path,
    ...(character === undefined ? {} : { character }),
    message: reason,
  }));
  const body = problem.fields
    ? {
        ...problem.fields,
        ...(problems.length > 0 && { problems }),
        ...problem.more,
        message: problem.message,
      }
    : { detail: problem.message, ...problem.more, message: problem.message };
  // Not Response.json: clients compare the type with "application/json" to the letter.
  return new Response(JSON.stringify(problem.list ?? { ...body, code: problem.code }), {
    status: problem.status,
    headers: { "Content-Type": "application/json", ...problem.headers },
  });
}

function finish(request: Request, response: Response, id: string): void {
  const headers = response.headers;
  headers.set("X-Request-Id", id);
  if (request.headers.has("cookie")) headers.append("Vary", "Cookie");
  // A service that has all of them in its answer from the beginning spares a call for each.
  if (!headers.has("X-Content-Type-Options"))
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      if (!headers.has(name)) headers.set(name, value);
  // Bun honours `Connection: close` but does not announce it, which some SOAP clients wait for.
  if (/\bclose\b/i.test(request.headers.get("connection") ?? "")) headers.set("Connection", "close");
}

/** Path and query. */
function afterHost({ url }: Request): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  return start < 0 ? "/" : url.slice(start);
}

const readPath = (request: Request): string => afterHost(request).split("?", 1)[0];
