import type { Static, TObject, TSchema, TUndefined } from "typebox";
import { API_ROOT } from "../model/resource.ts";
import { KINDS } from "../model/field.ts";
import { checkParameters } from "../model/listing.ts";
import type { RoutedResource } from "../resources/index.ts";
import { type Call, missingCredentials, notFound, unwrap } from "./call.ts";
import {
  type Accept,
  type AddedAt,
  type Context,
  describe,
  type Method,
  type Operation,
  knownParameters,
  type Path,
  type Run,
} from "./operation.ts";
import { readBytes } from "../../platform/body.ts";
import type { DeferredDetail } from "../../platform/documentation.ts";
import { mount } from "../../platform/mount.ts";
import {
  type Given,
  type Operation as PlatformOperation,
  type OperationAbout,
  WITHOUT_ACCOUNTS,
} from "../../platform/operation.ts";
import type { RequestContext } from "../../platform/request-context.ts";
import { parse, textSchema } from "../../platform/schema.ts";
import { readJsonBody } from "./request-body.ts";

type Params = Record<string, string>;
/** Opens the call of a request. @throws Problem unauthenticated */
export type OpenCall = (request: Request, context: RequestContext, reads: boolean) => Omit<Call, "allow">;

/** Answers an operation, named by method and path, in another process. */
export type SendAway = (operation: string, context: Context, sent?: Uint8Array) => Promise<Response>;

/** In the order of the specification ("Collection responses"). */
const METHODS: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const listAllowed = (known: ReadonlySet<Method>): string =>
  [...METHODS.filter((method) => known.has(method)), ...(known.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(
    ", ",
  );

/** The path, relative to the root, at which the lists for clients share their routes. */
const SHARED_PATH = "~/";

/** The lists that share a route, by resource. */
type SharedRoute = Map<
  string,
  { resource: RoutedResource; answer: Run; describe: DeferredDetail["describe"] }
>;

/** Below the root, unless a path is absolute. */
const toAddress = (path: string): string => (path.startsWith("/") ? path : API_ROOT + path);

/** The address by which the routes know a list. */
export const routedAt = ({ forClients, name, segment }: RoutedResource): string =>
  forClients ? SHARED_PATH + name : segment;

/** The call with the usual address of the list, as the client sent it. */
function calledAt(call: Call, resource: RoutedResource): Call {
  const url = new URL(call.url);
  url.pathname = url.pathname.replace(`${API_ROOT}${routedAt(resource)}/`, `${API_ROOT}${resource.segment}/`);
  return { ...call, url, request: new Request(url, call.request) };
}

/** Registers the operations of the API together with their OpenAPI descriptions. */
export class Api {
  readonly #open: OpenCall;
  readonly #maxBytes: number;
  readonly #sendAway: SendAway | undefined;
  readonly #operations: PlatformOperation<string, unknown, undefined>[] = [];
  readonly #methods = new Map<string, Set<Method>>();
  /** Lists with an operation of the same summary, by method, path in the list and summary. */
  readonly #lists = new Map<string, RoutedResource[]>();
  /** Handlers of operations on lists for clients, by method and path, then by resource. */
  readonly #shared = new Map<string, SharedRoute>();

  /** Without `sendAway`, heavy requests are answered here, too. */
  constructor(open: OpenCall, maxBytes: number, sendAway?: SendAway) {
    this.#open = open;
    this.#maxBytes = maxBytes;
    this.#sendAway = sendAway;
  }

  /** The handlers of heavy operations by name. */
  readonly heavy = new Map<string, Run>();

  /** The routes of all operations. */
  mount(): ReturnType<typeof mount> {
    return mount(this.#operations.splice(0), {
      tag: "inventory",
      guards: WITHOUT_ACCOUNTS,
      dependencies: undefined,
      readBody: async (request) => unwrap(await readJsonBody({ request, maxBytes: this.#maxBytes })),
    });
  }

  /** Returns its handler, which decides whether a request is heavy. */
  add<
    const M extends Method,
    const P extends Path,
    Query extends TObject = TObject<Record<never, never>>,
    Body extends TSchema = TUndefined,
    const Accepts extends Accept = never,
    Others extends Operation["parameters"] = undefined,
    Sends extends Operation["sends"] = undefined,
    Returns extends Operation["returns"] = undefined,
  >(
    method: M,
    path: P,
    given: Operation<Query, Body, Accepts, Others, Sends, Returns>,
  ): AddedAt<M, P, Static<Query>, Accepts, Others, Static<Body>, Sends, Returns> {
    return this.#add(method, path, given as unknown as Operation) as never;
  }

  #add(method: Method, path: Path, operation: Operation): Run {
    const describe = this.#describer(method, path, operation);
    if (typeof path === "string") return this.#route(method, path, operation, describe);
    const [resource, rest] = path;
    return resource.forClients
      ? this.#share(method, path, operation, describe)
      : this.#route(method, `${resource.segment}/${rest}`, operation, describe);
  }

  /**
   * Describes an operation. The first of several lists describes an operation for all lists with the same summary; the
   * list is then a part of the path.
   */
  #describer(method: Method, path: Path, operation: Operation): DeferredDetail["describe"] {
    const { summary } = operation;
    if (summary === undefined) return () => [];
    if (typeof path === "string")
      return () => [{ path: toAddress(path), detail: describe(method, path, operation) }];
    const [resource, rest] = path;
    const key = `${method} ${rest} ${summary}`;
    const lists = this.#lists.get(key) ?? [];
    this.#lists.set(key, lists);
    lists.push(resource);
    return () => {
      if (lists[0] !== resource) return [];
      const segment = lists.length === 1 ? resource.segment : ":list";
      const detail = describe(method, `${segment}/${rest}`, operation, lists);
      return [{ path: toAddress(`${segment}/${rest}`), detail }];
    };
  }

  /**
   * All lists for clients share their routes, at addresses of their own, of which the usual ones are aliases: hundreds of
   * routes would take megabytes.
   */
  #share<Query extends TObject, Body extends TSchema>(
    method: Method,
    [resource, rest]: readonly [RoutedResource, string],
    operation: Operation<Query, Body>,
    describe: DeferredDetail["describe"],
  ): Run {
    const name = `${method} ${API_ROOT}${resource.segment}/${rest}`;
    const answer = this.#checked(method, name, operation);
    const key = `${method} ${rest}`;
    const known = this.#shared.get(key);
    const lists: SharedRoute = known ?? new Map();
    lists.set(resource.name, { resource, answer: answer as Run, describe });
    if (known) return answer as Run;
    this.#shared.set(key, lists);
    const { query, body, signedIn, reads, unlisted, accepts } = operation;
    const run = (context: Context<Query, Body>): Response | Promise<Response> => {
      const found = lists.get(context.params.list);
      if (!found) throw notFound();
      const call = calledAt(context.call, found.resource);
      return found.answer({ ...context, call } as unknown as Context);
    };
    const light = { run, query, body, signedIn, reads, unlisted, accepts, parses: true } as Operation<
      Query,
      Body
    >;
    this.#route(method, `${SHARED_PATH}:list/${rest}`, light, () =>
      [...lists.values()].flatMap((each) => each.describe()),
    );
    return answer as Run;
  }

  #route<Query extends TObject, Body extends TSchema>(
    method: Method,
    path: string,
    operation: Operation<Query, Body>,
    describe: DeferredDetail["describe"],
  ): Run {
    const { query, body, signedIn, unlisted, reads = false, accepts } = operation;
    const full = toAddress(path);
    const methods = this.#methods.get(full) ?? new Set();
    if (!unlisted) this.#methods.set(full, methods.add(method));
    const answer = this.#checked(method, `${method} ${full}`, operation);
    const Query = query && textSchema(query);
    const access = (request: Request, context: RequestContext): Call => {
      const call = Object.assign(this.#open(request, context, reads), { allow: listAllowed(methods) });
      if (signedIn && call.actor.user === null) throw missingCredentials();
      return call;
    };
    const run = ({ caller: call, params, body }: Given<typeof access, Params, unknown, Static<Body>>) => {
      const query = Query ? parse(Query, firstValues(call.url.searchParams)) : ({} as Static<Query>);
      return withAllow(answer({ call, params, query, body }), call.allow);
    };
    const about: OperationAbout = {
      summary: operation.summary ?? "",
      access,
      parses: true,
      ifMatch: reads || accepts?.includes("match") === true,
      describe,
      ...(body ? { body } : {}),
    };
    this.#operations.push({ key: `${method} ${full}`, about, run: run as never });
    return answer as Run;
  }

  /** The handler of an operation, which refuses unknown parameters. @param name of the operation, if it is heavy */
  #checked<Query extends TObject, Body extends TSchema>(
    method: Method,
    name: string,
    operation: Operation<Query, Body>,
  ): typeof operation.run {
    const answer = operation.heavy ? this.#heavy(name, operation) : operation.run;
    return (context) => {
      const { search, searchParams } = context.call.url;
      const known = search === "" ? undefined : knownParameters(method, operation);
      // LabID's client sends deleted=False with every request.
      const isLiving = KINDS.flag.parse(searchParams.get("deleted") ?? "") === 0;
      if (known)
        checkParameters(searchParams, known.names, [...known.ignored, ...(isLiving ? ["deleted"] : [])]);
      return answer(context);
    };
  }

  /** The handler of an operation that is heavy for some requests. */
  #heavy<Query extends TObject, Body extends TSchema>(
    name: string,
    { heavy, run, body }: Operation<Query, Body>,
  ): typeof run {
    this.heavy.set(name, run as Run);
    const sendAway = this.#sendAway;
    if (!sendAway) return run;
    const isHeavy = heavy === true ? () => true : heavy!;
    return (context) => {
      const answer = (given: typeof context, sent?: Uint8Array): Response | Promise<Response> => {
        const decide = (heavy: boolean) => (heavy ? sendAway(name, context as never, sent) : run(given));
        const heavy = isHeavy(given, sent);
        return typeof heavy === "boolean" ? decide(heavy) : heavy.then(decide);
      };
      if (name.startsWith("GET ") || body) return answer(context);
      return withBody(context.call, this.#maxBytes, (call, sent) => answer({ ...context, call }, sent));
    };
  }
}

/** Reads the body, which decides whether the request is heavy; the request gets it again. */
async function withBody(
  call: Call,
  maxBytes: number,
  answer: (call: Call, sent: Uint8Array) => Response | Promise<Response>,
): Promise<Response> {
  const sent = await readBytes(call.request, maxBytes);
  const { url, method, headers } = call.request;
  const body = sent.byteLength > 0 ? { body: sent as Uint8Array<ArrayBuffer> } : {};
  return answer({ ...call, request: new Request(url, { method, headers, ...body }) }, sent);
}

/** Of a repeated parameter the first value. */
const firstValues = (parameters: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...parameters].toReversed());

/** Sends the methods of the path with a response. */
function withAllow(answered: Response | Promise<Response>, allow: string): Response | Promise<Response> {
  if (answered instanceof Promise) return answered.then((response) => withAllow(response, allow));
  answered.headers.set("Allow", allow);
  return answered;
}
