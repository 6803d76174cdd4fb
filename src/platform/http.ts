// Elysia reads NODE_ENV when it is first loaded; without this its own errors would print internals.
import "./node-env.ts";
import { type AnyElysia, Elysia } from "elysia";
import { Problem } from "../problem.ts";
import { allowTime, bodyTooLarge } from "./body.ts";
import { type Arrival, rememberArrival } from "./caller.ts";
import type { Clock } from "./clock.ts";
import { compressed } from "./compression.ts";
import { documentation, type Documentation } from "./documentation.ts";
import { causeOf, type Log } from "./log.ts";
import { isUnsafe } from "./origin.ts";
import { withinRequest } from "./request-origin.ts";
import { routeNames } from "./route-name.ts";

/** What every request passes on its way in and every answer on its way out, whatever the service behind. */
export interface HttpOptions {
  log: Log;
  clock: Clock;
  /** Bytes from which on an answer is compressed. */
  gzipThreshold: number;
  /** Bytes that a body may have. */
  maxMessageBytes: number;
  /** Seconds that a body may take to arrive. */
  receiveTimeout: number;
  /** Whether a body at this path may be of any size, since it goes to the disk as it comes. */
  isUpload?: (path: string) => boolean;
  /** What is found out about a caller before the request is routed; never rejects. */
  admit: (request: Request) => void | Promise<void>;
  /** Network address of the client of a request, as the audit log tells it. */
  addressOf?: (request: Request) => string | null;
  /** Reasons why the service cannot take requests now; empty when it can. */
  unready: () => string[];
  documentation: Documentation;
  /** Whether requests come by https. */
  tls?: boolean;
  /** What is told of every request that was answered. */
  observe?: (answered: Answered) => void;
  /** Routes of the services. */
  services: AnyElysia[];
  /** What a browser is shown at an address that none of them knows; undefined where that is for none. */
  missing?: (request: Request) => Promise<Response | undefined>;
  /** Path before all addresses, such as /labd. A proxy may take it away or leave it: both are answered. */
  basePath?: string;
}

/** One request and its answer; of a streamed one, until its first byte. */
export interface Answered {
  method: string;
  /** Pattern of the route: there are few of them. */
  route: string;
  status: number;
  seconds: number;
}

const NO_STORE = { "Cache-Control": "no-store" };

/** Sent with every answer that does not set its own. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  // Not no-referrer: under it browsers send `Origin: null` with forms, by which our own could not be told from others.
  "Referrer-Policy": "same-origin",
  "X-Frame-Options": "DENY",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
};

/** Answers one request; never rejects. `arrival` is what the socket knows of it. */
export type Answer = (request: Request, arrival?: Arrival) => Promise<Response>;

/** The whole HTTP face as one function, so that tests call it without a socket. */
export function openHttp(options: HttpOptions): Answer {
  const app = new Elysia({
    // Elysia looks for the path from a fixed place on: with its default a Host of three characters or fewer gives 404,
    // without it all of https does. (With https and the default it is a Host of two or fewer.)
    handler: { standardHostname: options.tls === true },
    // Otherwise `/x/` answers at `/x` too, behind our back, and HEAD and OPTIONS are made up.
    systemRouter: false,
    strictPath: true,
  })
    .onError({ as: "global" }, async ({ error, code, request }) => {
      const problem = asProblem(error, code);
      problemOf.set(request, problem);
      const page = code === "NOT_FOUND" ? await options.missing?.(request) : undefined;
      return page ?? problemResponse(problem);
    })
    .get("/healthz", () => Response.json({ status: "ok" }, { headers: NO_STORE }), {
      detail: {
        summary: "Is the process alive?",
        tags: ["service"],
        responses: { 200: { description: "It is." } },
      },
    })
    .get(
      "/readyz",
      () => {
        const unready = options.unready();
        const body = unready.length === 0 ? { status: "ready" } : { status: "not ready", reasons: unready };
        return Response.json(body, { status: unready.length === 0 ? 200 : 503, headers: NO_STORE });
      },
      {
        detail: {
          summary: "Can it take requests?",
          tags: ["service"],
          responses: {
            200: { description: "It can." },
            503: { description: "It cannot; `reasons` say why." },
          },
        },
      },
    );
  for (const path of ["/healthz", "/readyz"])
    app.all(path, () => refuseMethod("GET, HEAD"), { detail: { hide: true } });
  for (const service of options.services) app.use(service);
  app.use(documentation(options.documentation));

  const basePath = options.basePath ?? "";
  const { observe } = options;
  const nameOf = routeNames(app.routes.map(({ path }) => path));
  return async (received, arrival) => {
    const started = performance.now();
    const id = options.clock.newId();
    const request = withoutBase(addressed(received, arrival), basePath);
    if (arrival) rememberArrival(request, arrival);
    if (isUnsafe(request.method)) allowTime(request, options.receiveTimeout);
    const path = pathOf(request);
    let response: Response;
    try {
      // Only the interface asks who calls: what else comes by here costs no password's hash.
      const isInterface = path.startsWith("/api/");
      const answer = async (): Promise<Response> => {
        await options.admit(request);
        return route(app, request, path, options, basePath);
      };
      response = await (isInterface
        ? withinRequest(id, () => options.addressOf?.(request) ?? null, answer)
        : route(app, request, path, options, basePath));
      const sent = compressed(request, response, options.gzipThreshold);
      response = sent instanceof Promise ? await sent : sent;
    } catch (error) {
      const problem = Problem.from(error);
      problemOf.set(request, problem);
      response = problemResponse(problem);
    }
    finish(request, response, id);
    const { method } = request;
    const { status } = response;
    const took = performance.now() - started;
    observe?.({ method, route: nameOf(path), status, seconds: took / 1000 });
    const milliseconds = Math.round(took * 100) / 100;
    const fields = { request: id, method, path, status, milliseconds };
    const problem = problemOf.get(request);
    const cause = problem && causeOf(problem);
    if (cause) options.log.problem("request", { ...fields, cause });
    else options.log.info("request", fields);
    return response;
  };
}

/** The Problem that a request ended in, for the log. */
const problemOf = new WeakMap<Request, Problem>();

/** Addresses of requests that came without one that can be used, and the name that they gave. */
const unnamed = new WeakMap<Request, string | null>();

/**
 * The request with an absolute address. HTTP/1.0 needs no Host, and a Host that is none says nothing: the address
 * then is the server's own. The SOAP face answers both in its own form, the rest refuses what is no Host
 * (RFC 9112, section 3.2).
 */
function addressed(request: Request, arrival: Arrival | undefined): Request {
  if (URL.canParse(request.url)) return request;
  const path = request.url.startsWith("/") ? request.url : pathOf(request);
  const named = new Request(`${arrival?.origin() ?? "http://localhost"}${path}`, request);
  unnamed.set(named, request.headers.get("host"));
  return named;
}

/** The request as it were without the base path, where it has that. Bodies and aborts go through. */
function withoutBase(request: Request, basePath: string): Request {
  if (basePath === "") return request;
  const start = request.url.indexOf("/", request.url.indexOf("://") + 3);
  if (!request.url.startsWith(basePath, start)) return request;
  const rest = request.url.slice(start + basePath.length);
  if (!rest.startsWith("/")) return request;
  const inner = new Request(request.url.slice(0, start) + rest, request);
  unnamed.set(inner, unnamed.get(request) ?? null);
  return inner;
}

function hasUsableHost(request: Request): boolean {
  return (unnamed.get(request) ?? null) === null;
}

/** @throws Problem, at once or by the promise */
function route(
  app: AnyElysia,
  request: Request,
  path: string,
  { maxMessageBytes, isUpload }: HttpOptions,
  basePath: string,
): Response | Promise<Response> {
  if (!hasUsableHost(request) && !path.startsWith("/soap/"))
    throw new Problem("invalid_request", "The request has no usable Host header.");
  if (basePath !== "" && path === basePath)
    return new Response(null, { status: 308, headers: { Location: `${basePath}/` } });
  const declared = Number(request.headers.get("content-length") ?? 0);
  // A body of unknown length is counted where it is read; the SOAP face answers its own faults.
  if (declared > maxMessageBytes && !path.startsWith("/soap/") && !isUpload?.(path)) {
    throw bodyTooLarge(maxMessageBytes);
  }
  return app.fetch(request);
}

/** A thrown value as a Problem; `code` is Elysia's own name for what it threw itself. */
function asProblem(error: unknown, code: unknown): Problem {
  if (code === "NOT_FOUND") {
    return new Problem("not_found", "Not found. The addresses are listed at / and described at /docs.");
  }
  if (code === "PARSE")
    return new Problem("malformed", "The body cannot be read as its Content-Type says.", { cause: error });
  if (code === "VALIDATION")
    return new Problem("invalid_request", "The request does not fit its description at /docs.", {
      cause: error,
    });
  return Problem.from(error);
}

/** The error body of all JSON answers: what DRF clients read (`detail`, or one list per field) plus `message`. */
export function problemResponse(problem: Problem): Response {
  const body = problem.fields
    ? { ...problem.fields, ...problem.more, message: problem.message }
    : { detail: problem.message, ...problem.more, message: problem.message };
  // Not Response.json: clients compare the type with "application/json" to the letter.
  return new Response(JSON.stringify(problem.list ?? { ...body, code: problem.code }), {
    status: problem.status,
    headers: { "Content-Type": "application/json", ...problem.headers },
  });
}

/** For `.all` routes behind the real ones: the path is known, the method is not. */
export function refuseMethod(allow: string): never {
  throw new Problem("method_not_allowed", `Method not allowed. Allowed: ${allow}.`, { allow });
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

function pathOf(request: Request): string {
  const end = request.url.indexOf("?");
  const start = request.url.indexOf("/", request.url.indexOf("://") + 3);
  return start < 0 ? "/" : request.url.slice(start, end < 0 ? undefined : end);
}
