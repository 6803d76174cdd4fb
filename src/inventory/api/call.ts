import { ALIVE, and, type Condition } from "../model/condition.ts";
import type { Actor } from "../model/access.ts";
import { type Json, KINDS, quoted } from "../model/field.ts";
import { parseDeletedFilter } from "../model/listing.ts";
import { API_ROOT, type Resource } from "../model/resource.ts";
import { forbidden } from "../records/rights.ts";
import type { RecordReader } from "../records/record-reader.ts";
import type { Store } from "../records/store.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { readJsonBody } from "./request-body.ts";
import { ANONYMOUS } from "../../platform/actor.ts";
import type { Guards, NamedAccess } from "../../platform/operation.ts";
import { unauthenticated } from "../../platform/unauthenticated.ts";
import { paced } from "../../platform/byte-budget.ts";
import type { RequestContext } from "../../platform/request-context.ts";
import { Problem } from "../../problem.ts";

/** One request and the services that its handlers need. */
export interface Call {
  request: Request;
  method: string;
  url: URL;
  /** URL of the API, ending in a slash. */
  base: string;
  /** Path in front of all URLs of the server, such as /labd; may be empty. */
  path: string;
  actor: Actor;
  store: Store;
  /** Maximum size of a body in bytes. */
  maxBytes: number;
  /** State of the database before the request, where another process answers it. */
  state?: string;
}

interface CallOptions {
  store: Store;
  guards: Guards;
  /** True if callers without credentials may read public records. */
  anonymousRead: boolean;
  maxBytes: number;
}

/** Opens the call of a request; `reads` is true if it changes nothing. @throws Problem unauthenticated, forbidden */
export type OpenCall = (
  request: Request,
  context: RequestContext,
  asked: { access: NamedAccess; reads: boolean },
) => Call;

/** Opens calls for callers that the access of an operation allows. */
export const callOpener =
  (options: CallOptions): OpenCall =>
  (request, context, { access, reads }) => {
    // Rules for writing, such as those of read-only tokens, go by the method.
    const asked = reads ? new Request(request.url, { headers: request.headers }) : request;
    return openCall(options, request, context, findActor(options, asked, access));
  };

function findActor({ guards, anonymousRead }: CallOptions, request: Request, access: NamedAccess): Actor {
  if (access === "public" || access === "withoutCredentials") return ANONYMOUS;
  const actor = guards[access](request);
  if (actor.user === null && !anonymousRead) throw missingCredentials();
  return actor;
}

function openCall(
  { store, maxBytes }: CallOptions,
  request: Request,
  { baseUrl, basePath }: RequestContext,
  actor: Actor,
): Call {
  const { method } = request;
  const url = new URL(request.url);
  return {
    request,
    method,
    url,
    path: basePath,
    base: baseUrl + API_ROOT,
    actor,
    store,
    maxBytes,
  };
}

export const missingCredentials = (): Problem =>
  unauthenticated("Authentication credentials were not provided.");

export const notFound = (): Problem => new Problem("not_found", "Not found.");

/** Stored by the caller's browser only, and asked for again each time: permissions may change. */
const PRIVATE = "private, no-cache";

/** A response with `Vary: Accept`. The server omits the body for HEAD. */
export function respond(
  body: string | ReadableStream<Uint8Array> | null,
  status: number,
  type: string,
  headers: Record<string, string> = {},
): Response {
  const sent: Record<string, string> = {
    "Content-Type": type,
    Vary: "Accept",
    "Cache-Control": PRIVATE,
    ...headers,
  };
  if (body === null) delete sent["Content-Type"];
  const response = new Response(typeof body === "string" ? paced(body) : body, { status, headers: sent });
  if (keepsBodies && typeof body === "string") bodies.set(response, body);
  return response;
}

export const respondJson = (value: unknown, headers?: Record<string, string>, status = 200): Response =>
  respond(JSON.stringify(value), status, MEDIA_TYPES.json, headers);

export const noContent = (headers?: Record<string, string>): Response => respond(null, 204, "", headers);

/** Texts of responses: an idempotent write stores its response in the same transaction, where nothing can be awaited. */
const bodies = new WeakMap<Response, string>();
let keepsBodies = false;

/** Runs work whose response is stored: `storedBody` returns its text. */
export function keepBodies(work: () => Response): Response {
  keepsBodies = true;
  try {
    return work();
  } finally {
    keepsBodies = false;
  }
}

/** The text given to `respond`; null for other bodies. */
export const storedBody = (response: Response): string | null => bodies.get(response) ?? null;

/** URL of the request without its parameters, as clients reach it. */
export const requestUrl = (call: Call): string => call.base + call.url.pathname.slice(API_ROOT.length);

/** URL of the request with one parameter replaced. */
export function withParameter(call: Call, name: string, value: string): string {
  const parameters = new URLSearchParams(call.url.searchParams);
  parameters.set(name, value);
  return `${requestUrl(call)}?${parameters.toString()}`;
}

/** The JSON body, without the wrapper `results` of clients of the flat form. */
export const readBody = async (call: Call): Promise<Json> => unwrap(await readJsonBody(call));

export function unwrap(value: Json): Json {
  const members = asObject(value);
  return members && Object.keys(members).length === 1 && "results" in members ? members.results : value;
}

/** The members of a JSON object; undefined for any other value. */
export const asObject = (value: Json | undefined): { [name: string]: Json } | undefined =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;

/** The problem of a path that may name a list that does not exist. */
export function recordNotFound(resource: Resource, id: string): Problem {
  if (KINDS[resource.fields.id.kind as "uuid"].parse(id) !== undefined) return notFound();
  const message = `Not found. ${quoted(id)} is neither the id of a record nor a list. GET ${API_ROOT} returns all lists.`;
  return new Problem("not_found", message);
}

/** Row number of a record that the caller may view. @throws Problem not_found */
export function findRecord(
  { store, actor }: Call,
  resource: Resource,
  id: string,
  condition: Condition = ALIVE,
): number {
  const rid = store.reader.find(resource, id, condition, actor);
  if (rid === undefined) throw recordNotFound(resource, id);
  return rid;
}

/** Finds a record, deleted ones included. */
export const findAny = (call: Call, resource: Resource, id: string): number =>
  findRecord(call, resource, id, and());

/** Finds the record that the parameter `deleted` selects; `reader` may read the past. */
export function findRequested(call: Call, resource: Resource, id: string, reader: RecordReader): number {
  const rid = reader.find(resource, id, parseDeletedFilter(resource, call.url.searchParams), call.actor);
  if (rid === undefined) throw recordNotFound(resource, id);
  return rid;
}

/** Reads the present, or the past that `as_of` names. */
export function chooseReader({ actor, url }: Call, resource: Resource, store: Store): RecordReader {
  const { searchParams } = url;
  return searchParams.has("as_of") ? store.past(resource, searchParams, actor).reader : store.reader;
}

export const mayChange = ({ store, actor }: Call, resource: Resource, rid: number): boolean =>
  store.reader.rights(resource, actor, [rid]).get(rid)?.change === true;

/** Row number of a record that the caller may change. @throws Problem not_found, forbidden */
export function findChangeable(call: Call, resource: Resource, id: string, condition = ALIVE): number {
  const rid = findRecord(call, resource, id, condition);
  if (!mayChange(call, resource, rid)) throw forbidden();
  return rid;
}
