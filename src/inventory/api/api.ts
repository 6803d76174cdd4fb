import type { Static, TObject, TSchema } from "typebox";
import { KINDS } from "../model/field.ts";
import { checkParameters } from "../model/listing.ts";
import type { createPlugin, OpenCall } from "./operation-plugin.ts";
import type { RoutedResource } from "../resources/index.ts";
import { type Call, notFound } from "./call.ts";
import { API_ROOT } from "../model/resource.ts";
import {
  type Context,
  describeOperation,
  type Method,
  type Operation,
  knownParameters,
  type Path,
  type Run,
} from "./operation.ts";
import { readBytes } from "../../platform/body.ts";
import type { DeferredDetail } from "../../platform/documentation.ts";
import { schema, textSchema } from "../../platform/schema.ts";

/** Answers an operation, named by method and path, in another process. */
export type SendAway = (operation: string, context: Context, sent?: Uint8Array) => Promise<Response>;

/** In the order of the specification ("Collection responses"). */
const METHODS: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const allowOf = (known: ReadonlySet<Method>): string =>
  [...METHODS.filter((method) => known.has(method)), ...(known.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(
    ", ",
  );

/** Where the lists for clients share their routes, relative to the root. */
const SHARED_PATH = "~/";

/** The lists that share a route, by resource. */
type SharedRoute = Map<
  string,
  { resource: RoutedResource; answer: Run; describe: DeferredDetail["describe"] }
>;

/** Below the root, unless a path is absolute. */
const addressOf = (path: string): string => (path.startsWith("/") ? path : API_ROOT + path);

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
  readonly #routes: { method: Method; path: string; run: unknown; hook: object }[] = [];
  readonly #methods = new Map<string, Set<Method>>();
  readonly #allowed = new Map<string, string>();
  /** Lists with an operation of the same summary, by method, path in the list and summary. */
  readonly #lists = new Map<string, RoutedResource[]>();
  /** Handlers of operations on lists for clients, by method and path, then by resource. */
  readonly #shared = new Map<string, SharedRoute>();
  /** Paths whose POST changes nothing. */
  readonly #reading = new Set<string>();

  /** Without `sendAway`, heavy requests are answered here, too. */
  constructor(open: OpenCall, maxBytes: number, sendAway?: SendAway) {
    this.#open = open;
    this.#maxBytes = maxBytes;
    this.#sendAway = sendAway;
  }

  /** The handlers of heavy operations by name. */
  readonly heavy = new Map<string, Run>();

  /** All operations as one plugin. It is not kept: with its copies of 1,500 routes it takes several megabytes. */
  plugin(create: typeof createPlugin): ReturnType<typeof createPlugin> {
    const plugin = create(this.#open, this.#maxBytes, {
      allowed: this.#allowed,
      reading: this.#reading,
    });
    for (const { method, path, run, hook } of this.#routes.splice(0))
      plugin.route(method, path, run as never, hook as never);
    return plugin;
  }

  /** Returns its handler, which decides whether a request is heavy. */
  add<Query extends TObject, Body extends TSchema>(
    method: Method,
    path: Path,
    operation: Operation<Query, Body>,
  ): Run {
    const describe = this.#describer(method, path, operation);
    if (typeof path === "string") return this.#route(method, path, operation, describe);
    const [resource, rest] = path;
    return resource.forClients
      ? this.#share(method, path, operation, describe)
      : this.#route(method, `${resource.segment}/${rest}`, operation, describe);
  }

  /**
   * Describes an operation. The first of several lists describes what its operation has in common with those of the
   * others, if they have the same summary; the list is then a part of the path.
   */
  #describer(method: Method, path: Path, operation: Operation): DeferredDetail["describe"] {
    const { summary } = operation;
    if (summary === undefined) return () => [];
    if (typeof path === "string")
      return () => [{ path: addressOf(path), detail: describeOperation(method, path, operation) }];
    const [resource, rest] = path;
    const key = `${method} ${rest} ${summary}`;
    const lists = this.#lists.get(key) ?? [];
    this.#lists.set(key, lists);
    lists.push(resource);
    return () => {
      if (lists[0] !== resource) return [];
      const segment = lists.length === 1 ? resource.segment : ":list";
      const detail = describeOperation(method, `${segment}/${rest}`, operation, lists);
      return [{ path: addressOf(`${segment}/${rest}`), detail }];
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
    const { query, body, signedIn, unlisted, reads } = operation;
    const full = addressOf(path);
    if (reads) this.#reading.add(full);
    const methods = this.#methods.get(full) ?? new Set();
    if (!unlisted) this.#methods.set(full, methods.add(method));
    this.#allowed.set(full, allowOf(methods));
    const none = {} as Static<Query>;
    const answer = this.#checked(method, `${method} ${full}`, operation);
    const run = query
      ? ({ call, params, query, body }: Context<Query, Body>) =>
          answer({ call, params: decoded(params), query, body })
      : ({ call, params, body }: Context<Query, Body>) =>
          answer({ call, params: decoded(params), body, query: none });
    const ifMatch = reads === true || operation.accepts?.includes("match") === true;
    this.#routes.push({
      method,
      path: full,
      run,
      hook: {
        parse: body ? "unwrappedJson" : "none",
        ...(query ? { query: textSchema(query), transform: rawQuery } : {}),
        ...(body ? { body: schema(body) } : {}),
        ...(signedIn ? { signedIn: true } : {}),
        detail: { describe, input: { parameters: undefined, ifMatch } } satisfies DeferredDetail,
      },
    });
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

/** Elysia would parse values such as `[1]` and `{}` as JSON. Of a repeated parameter the first counts. */
function rawQuery(context: object): void {
  const { call } = context as { call: Call };
  Object.assign(context, { query: Object.fromEntries([...call.url.searchParams].toReversed()) });
}

/** Parts of the path. Elysia gives null for one that cannot be decoded, such as `%`, and nothing where there are none. */
function decoded(params: Record<string, string | null> = {}): Record<string, string> {
  for (const name in params) params[name] ??= "";
  return params as Record<string, string>;
}
