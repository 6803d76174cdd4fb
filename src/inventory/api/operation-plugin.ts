import { type AnyElysia, Elysia } from "elysia";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import { LIMITS } from "../model/limits.ts";
import { DEFAULT_PAGE_SIZE, LIST_PARAMETERS } from "../model/listing.ts";
import { exampleId } from "../model/example.ts";
import { inQuery, listParameter, nounsOf, type Parameter } from "../model/schema.ts";
import type { RoutedResource } from "../resources/index.ts";
import { type Call, missingCredentials, notFound, ROOT, unwrap } from "./call.ts";
import { readJson } from "./request-body.ts";
import { BOOLEAN, type Content, content, COUNT, TEXT } from "./schema.ts";
import { readBytes } from "../../platform/body.ts";
import { requestPlugin } from "../../platform/http.ts";
import { EXAMPLE_ID } from "../../platform/openapi-example.ts";
import { type DeferredDetail, OPTIONAL_CREDENTIALS } from "../../platform/documentation.ts";
import { type ErrorStatus, errorResponses } from "../../platform/error-responses.ts";
import type { RequestContext } from "../../platform/request-context.ts";
import { schema, textSchema } from "../../platform/schema.ts";

/** Registers the operations of the API together with their OpenAPI descriptions. */

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** The same for parameters that operations share. */
const shared = (name: string, description: string, schema?: TSchema, $id = name): Parameter => ({
  $id,
  ...inQuery(name, description, schema),
});
const inHeader = (name: string, description: string): Parameter => ({
  ...shared(name, description),
  in: "header",
});

/** Parameters that several operations accept, by what they are for. */
const SHARED = {
  dryRun: [
    shared("dry_run", "Change nothing and return a preview with a value for `confirm`.", BOOLEAN),
    shared("confirm", "`confirm` of a preview: make exactly these changes, or return 409."),
  ],
  several: [
    shared("changes", "Maximum number of changes in the preview; `count` counts all of them.", COUNT),
  ],
  once: [
    inHeader(
      "Idempotency-Key",
      "A key chosen by the client: a repeated request with the same key within 24 hours gets the first response again, another request with it 422.",
    ),
  ],
  match: [
    inHeader(
      "If-Match",
      'Write only if the record has one of these entity tags; a version such as `"3"` also works. Otherwise the response is 412.',
    ),
  ],
  noneMatch: [inHeader("If-None-Match", "Entity tags of cached responses: 304 if nothing has changed.")],
  past: [listParameter("deleted"), listParameter("as_of")],
  paging: [
    listParameter("page"),
    shared(
      "page_size",
      `Results per page: ${DEFAULT_PAGE_SIZE} by default, at most ${LIMITS.rows.max}; max returns all, up to that limit.`,
      LIST_PARAMETERS.page_size.schema,
      "size",
    ),
  ],
  filters: [
    shared(
      "search",
      "Only those that contain every word, ignoring case. Fields and lookups filter as in lists.",
    ),
    listParameter("query_expression"),
    listParameter("ordering"),
  ],
  page: [shared("format", "json, or api for HTML.", Type.Enum(["json", "api"]), "page_format")],
  flat: [
    shared("response_format", 'flat: wrap the response as {"results": …}.', Type.Enum(["flat"]), "flat"),
  ],
};

/** Parts of paths: description and example. The id of a record is described by its resource. */
const PATH_PARAMETERS: Record<string, [description: string, example: unknown]> = {
  id: ["Id.", EXAMPLE_ID],
  sub_id: ["Id of the annotation, note or file.", EXAMPLE_ID],
  grant: ["Id of the grant: `grant` in the list of grants, `id` in the history.", EXAMPLE_ID],
  user: ["Username or id.", "carol"],
  group: ["Name or id.", "Microscopy"],
  member: ["Username or id of the account.", "bob"],
};

const PREVIEW = Type.Object(
  {
    dry_run: Type.Boolean(),
    count: Type.Integer({ description: "Number of planned changes." }),
    records: Type.Integer({ description: "Number of records that they concern." }),
    confirm: TEXT,
    exposes: Type.Array(Type.Object({}), {
      description: "Records that more people could view, with what becomes visible and what stays hidden.",
    }),
    changes: Type.Array(Type.Object({})),
  },
  {
    $id: "Preview",
    description:
      "Preview of a dry run: the planned changes of each record, with the values before and after.",
    examples: [{ dry_run: true, count: 1, records: 1, confirm: "5f2c9a1e", exposes: [], changes: [] }],
  },
);

export interface Context<Query extends TObject = TObject, Body extends TSchema = TSchema> {
  call: Call;
  params: Record<string, string>;
  query: Static<Query>;
  body: Static<Body>;
}

export interface Operation<Query extends TObject = TObject, Body extends TSchema = TSchema> {
  /** Imperative, without a full stop. Operations without it are left out of the document. */
  summary?: string;
  description?: string;
  /** Validated parameters. */
  query?: Query;
  /** Parameters that the handler parses. */
  parameters?: readonly Parameter[];
  accepts?: readonly (keyof typeof SHARED)[];
  /** Schema of a JSON body, which is validated. */
  body?: Body;
  /** A body that the handler parses. */
  sends?: Content;
  /** Content of a successful response; without it the response is 204. */
  returns?: Content;
  /** 200 by default. */
  status?: 201 | 202;
  responses?: Record<number, { $id?: string; description: string; content?: Content }>;
  /** Error statuses besides the usual ones. */
  errors?: readonly ErrorStatus[];
  signedIn?: boolean;
  /** Whether it takes no credentials. */
  anonymous?: true;
  /** Whether a POST changes nothing, so that anonymous callers and read-only tokens may send it. */
  reads?: true;
  /** Whether `Allow` leaves the method out. */
  unlisted?: boolean;
  /** Whether the request may take long, so that another process answers it. `sent`: a body that the handler parses. */
  heavy?:
    true | ((context: Context<Query, Body>, sent: Uint8Array | undefined) => boolean | Promise<boolean>);
  run(context: Context<Query, Body>): Response | Promise<Response>;
}

/** Relative to the root of the API or to a resource; or absolute. */
export type Path = string | readonly [RoutedResource, string];

type OpenCall = (request: Request, context: RequestContext, reads: boolean) => Omit<Call, "allow">;

export type Run = (context: Context) => Response | Promise<Response>;

/** Answers an operation, named by method and path, in another process. */
export type SendAway = (operation: string, context: Context, sent?: Uint8Array) => Promise<Response>;

/** Supplies `call`, refuses anonymous callers where `signedIn` is set, and sends `Allow`. */
const createPlugin = (
  open: OpenCall,
  maxBytes: number,
  { allowed, reading }: { allowed: ReadonlyMap<string, string>; reading: ReadonlySet<string> },
) =>
  new Elysia()
    .use(requestPlugin)
    .parser("unwrappedJson", async ({ request }) => unwrap(await readJson(request, maxBytes)))
    .derive(({ request, requestContext, route }) => ({
      call: Object.assign(open(request, requestContext, reading.has(route)), {
        allow: allowed.get(route) ?? "OPTIONS",
      }) as Call,
    }))
    .macro({
      signedIn: {
        transform(context: object) {
          if ((context as { call: Call }).call.actor.user === null) throw missingCredentials();
        },
      },
    })
    .onAfterHandle(({ call, responseValue }) => {
      if (responseValue instanceof Response) responseValue.headers.set("Allow", call.allow);
    });

/** In the order of the specification ("Collection responses"). */
const METHODS: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const allowOf = (known: ReadonlySet<Method>): string =>
  [...METHODS.filter((method) => known.has(method)), ...(known.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(
    ", ",
  );

/** Where the lists for clients share their routes, relative to the root. */
const SHARED_PATH = "~/";

/** The address by which the routes know a list. */
export const routedAt = ({ forClients, name, segment }: RoutedResource): string =>
  forClients ? SHARED_PATH + name : segment;

/** The call as it came, at the address of the list. */
function calledAt(call: Call, resource: RoutedResource): Call {
  const url = new URL(call.url);
  url.pathname = url.pathname.replace(`${ROOT}${routedAt(resource)}/`, `${ROOT}${resource.segment}/`);
  return { ...call, url, request: new Request(url, call.request) };
}

/** The operations of the API. */
export class Api {
  readonly #open: OpenCall;
  readonly #maxBytes: number;
  readonly #sendAway: SendAway | undefined;
  readonly #routes: { method: Method; path: string; run: unknown; hook: object }[] = [];
  readonly #methods = new Map<string, Set<Method>>();
  readonly #allowed = new Map<string, string>();
  /** Handlers of operations on lists for clients, by method and path, then by resource. */
  readonly #shared = new Map<string, Map<string, { resource: RoutedResource; answer: Run }>>();
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
  plugin(): AnyElysia {
    const plugin = createPlugin(this.#open, this.#maxBytes, {
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
    if (typeof path === "string") return this.#route(method, path, operation);
    const [resource, rest] = path;
    return resource.forClients
      ? this.#share(method, resource, rest, operation)
      : this.#route(method, `${resource.segment}/${rest}`, operation, resource);
  }

  /**
   * All lists for clients share their routes, at addresses of their own, of which the usual ones are aliases: hundreds of
   * routes would take megabytes.
   */
  #share<Query extends TObject, Body extends TSchema>(
    method: Method,
    resource: RoutedResource,
    rest: string,
    operation: Operation<Query, Body>,
  ): Run {
    const name = `${method} ${ROOT}${resource.segment}/${rest}`;
    const answer = operation.heavy ? this.#heavy(name, operation) : operation.run;
    const key = `${method} ${rest}`;
    const known = this.#shared.get(key);
    const runs = known ?? new Map<string, { resource: RoutedResource; answer: Run }>();
    runs.set(resource.name, { resource, answer: answer as Run });
    if (known) return answer as Run;
    this.#shared.set(key, runs);
    const { heavy: _, summary: __, ...light } = operation;
    return this.#route(method, `${SHARED_PATH}:list/${rest}`, {
      ...light,
      run(context) {
        const found = runs.get(context.params.list);
        if (!found) throw notFound();
        const call = calledAt(context.call, found.resource);
        return found.answer({ ...context, call } as unknown as Context);
      },
    });
  }

  #route<Query extends TObject, Body extends TSchema>(
    method: Method,
    path: string,
    operation: Operation<Query, Body>,
    resource?: RoutedResource,
  ): Run {
    const { query, body, signedIn, summary, unlisted, reads } = operation;
    const full = path.startsWith("/") ? path : ROOT + path;
    if (reads) this.#reading.add(full);
    const methods = this.#methods.get(full) ?? new Set();
    if (!unlisted) this.#methods.set(full, methods.add(method));
    this.#allowed.set(full, allowOf(methods));
    const none = {} as Static<Query>;
    const answer = operation.heavy ? this.#heavy(`${method} ${full}`, operation) : operation.run;
    const run = query
      ? ({ call, params, query, body }: Context<Query, Body>) =>
          answer({ call, params: decoded(params), query, body })
      : ({ call, params, body }: Context<Query, Body>) =>
          answer({ call, params: decoded(params), body, query: none });
    this.#routes.push({
      method,
      path: full,
      run,
      hook: {
        parse: body ? "unwrappedJson" : "none",
        ...(query ? { query: textSchema(query), transform: rawQuery } : {}),
        ...(body ? { body: schema(body) } : {}),
        ...(signedIn ? { signedIn: true } : {}),
        detail:
          summary === undefined
            ? { hide: true }
            : ({ describe: () => detailOf(method, path, operation, resource) } satisfies DeferredDetail),
      },
    });
    return answer as Run;
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

const isWrite = (method: Method, { reads }: Operation): boolean => method !== "GET" && !reads;

function detailOf(method: Method, path: string, about: Operation, resource?: RoutedResource): object {
  const { summary, description, accepts = [], returns, status, signedIn, query } = about;
  const writes = isWrite(method, about);
  const sends = about.sends ?? (about.body && content(about.body));
  const previews = accepts.includes("dryRun") && (status !== undefined || !returns);
  return {
    tags: ["inventory"],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(about.anonymous ? { security: [] } : writes || signedIn ? {} : { security: OPTIONAL_CREDENTIALS }),
    parameters: uniqueByName([
      ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => inPath(name, resource)),
      ...documented(query),
      ...(about.parameters ?? []),
      ...accepts.flatMap((name) => SHARED[name]),
    ]),
    ...(sends ? { requestBody: { ...named(sends), required: true, content: sends } } : {}),
    responses: {
      ...(previews ? { 200: success(content(PREVIEW)) } : {}),
      [returns ? (status ?? 200) : 204]: success(returns),
      ...about.responses,
      ...errorResponses(...errorsOf(writes, about)),
    },
  };
}

/** Of two with one name, the later. */
const uniqueByName = (parameters: Parameter[]): Parameter[] => [
  ...new Map(parameters.map((parameter) => [parameter.name, parameter])).values(),
];

function inPath(name: string, resource: RoutedResource | undefined): Parameter {
  const isRecord = name === "id" && resource;
  const [description, example] = isRecord
    ? [`Id of ${nounsOf(resource).one}.`, exampleId(resource)]
    : PATH_PARAMETERS[name];
  const schema = (typeof example === "number" ? Type.Integer : Type.String)({ examples: [example] });
  const $id = isRecord ? `${resource.name}_id` : name;
  return { $id, name, in: "path", required: true, description, schema };
}

/** The name of the component for a body or a response: that of its schema. */
function named(sent: Content): { $id?: string } {
  const { $id } = (Object.values(sent)[0]?.schema ?? {}) as { $id?: string };
  if ($id === undefined) return {};
  return { $id: "text/html" in sent && !("text/csv" in sent) ? `${$id}Page` : $id };
}

function success(returns: Content | undefined): object {
  if (!returns) return { $id: "Done", description: "Success; there is nothing to return." };
  const { description = "Success." } = (returns["application/json"]?.schema ?? {}) as {
    description?: string;
  };
  return { ...named(returns), description, content: returns };
}

const documented = (query: TObject | undefined): Parameter[] =>
  Object.entries(query?.properties ?? {}).map(([name, property]) => {
    const { $id, description = "", ...schema } = property as TSchema & { $id?: string; description?: string };
    const required = query?.required?.includes(name) ?? false;
    const parameter: Parameter = { name, in: "query", required, description, schema: schema as TSchema };
    return $id === undefined ? parameter : Object.assign(parameter, { $id });
  });

function errorsOf(writes: boolean, { errors = [], signedIn }: Operation): readonly ErrorStatus[] {
  return [400, 404, ...(writes ? ([401, 403, 409] as const) : signedIn ? ([401] as const) : []), ...errors];
}
