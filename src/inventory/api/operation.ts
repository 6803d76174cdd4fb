import { type Static, type TObject, type TSchema, Type } from "typebox";
import { LIMITS } from "../model/limits.ts";
import { DEFAULT_PAGE_SIZE, LIST_PARAMETERS } from "../model/listing.ts";
import { exampleId } from "../model/example.ts";
import { inQuery, listParameter, makeNouns, OTHER_FILTERS, type Parameter } from "../model/schema.ts";
import { RESOURCES, type RoutedResource } from "../resources/index.ts";
import type { Call } from "./call.ts";
import { BOOLEAN, type Content, COUNT, TEXT } from "./schema.ts";
import { EXAMPLE_ID } from "../../platform/openapi-example.ts";
import { describeOperation } from "../../platform/describe-operation.ts";
import type { ErrorStatus } from "../../platform/error-responses.ts";
import type { OperationAbout, PathParts } from "../../platform/operation.ts";

/** Operations of the API as routes declare them, and their OpenAPI descriptions. */

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** A parameter that several operations share. */
const shared = (name: string, description: string, schema?: TSchema, $id = name): Parameter => ({
  $id,
  ...inQuery(name, description, schema),
});
const inHeader = (name: string, description: string): Parameter => ({
  ...shared(name, description),
  in: "header",
});

/** Parameters that several operations accept, by purpose. */
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
      "Only records that contain every word, ignoring case. Fields and lookups filter as in lists.",
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

/** A value, or a function that returns it once the OpenAPI document is requested: descriptions of all lists take memory. */
type Deferred<Value extends object> = Value | (() => Value);

const resolveDeferred = <Value extends object>(given: Deferred<Value> | undefined): Value | undefined =>
  typeof given === "function" ? given() : given;

export type Accept = keyof typeof SHARED;

/** Members that further parameters have, as pages send them. */
interface Accepted extends Record<keyof typeof SHARED, object> {
  dryRun: { dry_run?: Flag; confirm?: string };
  several: { changes?: number };
  past: { deleted?: Flag; as_of?: string };
  paging: { page?: number; page_size?: number | "max" };
  filters: { [filter: string]: ParameterValue };
  page: { format?: "json" | "api" };
  flat: { response_format?: "flat" };
  once: object;
  match: object;
  noneMatch: object;
}
type Flag = boolean | "1";
type ParameterValue = string | number | boolean | null | undefined | readonly string[];
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : object;

/** JSON of a body or an answer by media type; unknown where the schema depends on the list. */
type JsonOf<Sent> = Sent extends { "application/json": { schema: infer Schema } }
  ? Static<Schema & TSchema>
  : unknown;
type AnswerOf<Returns> = Returns extends () => unknown
  ? JsonOf<ReturnType<Returns>>
  : Returns extends object
    ? JsonOf<Returns>
    : undefined;

/** The types of an operation's request and response. */
interface Types<Path extends string, Query, Accepts, Others, Body, Sends, Returns> {
  params: { [Name in PathParts<Path>]: string };
  query: Query &
    Intersection<Accepts extends keyof Accepted ? Accepted[Accepts] : object> &
    (Others extends undefined ? object : Accepted["filters"]);
  body: Sends extends undefined ? Body : JsonOf<Sends>;
  answer: AnswerOf<Returns>;
}
/** The handler of an added operation. `declared` is only for the type checker: its key and what clients send and get. */
export type Added<Key extends string, Called> = Run & { readonly declared?: { key: Key; types: Called } };

type AddressOf<P> = P extends `/${string}`
  ? P
  : P extends string
    ? `/api/v2/${P}`
    : P extends readonly [unknown, infer Rest extends string]
      ? `/api/v2/:list/${Rest}`
      : never;

/** The key of the operation at a path, and its types. */
export type AddedAt<M extends Method, P extends Path, Query, Accepts, Others, Body, Sends, Returns> =
  AddressOf<P> extends infer Address extends string
    ? Added<`${M} ${Address}`, Types<Address, Query, Accepts, Others, Body, Sends, Returns>>
    : never;

export interface Operation<
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Accepts extends keyof typeof SHARED = keyof typeof SHARED,
  Others extends Deferred<readonly Parameter[]> | undefined = Deferred<readonly Parameter[]> | undefined,
  Sends extends Deferred<Content> | undefined = Deferred<Content> | undefined,
  Returns extends Deferred<Content> | undefined = Deferred<Content> | undefined,
> {
  /** Imperative, without a full stop. Operations without it are left out of the document. */
  summary?: string;
  description?: string;
  /** Validated parameters. */
  query?: Query;
  /** Parameters that the handler parses. */
  parameters?: Others;
  accepts?: readonly Accepts[];
  /** Schema of a JSON body, which is validated. */
  body?: Body;
  /** True if the handler refuses unknown parameters, because filters are among them. */
  parses?: true;
  /** A body that the handler parses. */
  sends?: Sends;
  /** Content of a successful response; without it the response is 204. */
  returns?: Returns;
  /** 200 by default. */
  status?: 201 | 202;
  responses?: Record<number, { $id?: string; description: string; content?: Content }>;
  /** Error statuses besides the usual ones. */
  errors?: readonly ErrorStatus[];
  signedIn?: boolean;
  /** True if it takes no credentials. */
  anonymous?: true;
  /** True if a POST changes nothing, so that anonymous callers and read-only tokens may send it. */
  reads?: true;
  /** True if `Allow` leaves the method out. */
  unlisted?: boolean;
  /** True if the request may take long, so that another process answers it. `sent`: a body that the handler parses. */
  heavy?:
    true | ((context: Context<Query, Body>, sent: Uint8Array | undefined) => boolean | Promise<boolean>);
  run(context: Context<Query, Body>): Response | Promise<Response>;
}

/** Relative to the root of the API or to a resource; or absolute. */
export type Path = string | readonly [RoutedResource, string];

export type Run = (context: Context) => Response | Promise<Response>;

/** Parameters that change the form of any response. */
const RENDERINGS = ["format", "response_format", "strict"];
/** Parameters that writes ignore, and `type`: that of a new record of LabID's client. */
const IGNORED_BY_WRITES = [...Object.keys(LIST_PARAMETERS), "type"];

/**
 * Names of the parameters that a request accepts or ignores. Undefined if its handler checks them: filters of a list
 * are parsed with the list.
 */
export function knownParameters(method: Method, { query, accepts = [], parses, ...about }: Operation) {
  if (parses || accepts.includes("filters")) return undefined;
  const parameters = resolveDeferred(about.parameters) ?? [];
  if (parameters.includes(OTHER_FILTERS)) return undefined;
  const previews = accepts.includes("dryRun") ? SHARED.several : [];
  const all = [...parameters, ...accepts.flatMap((name) => SHARED[name]), ...previews];
  const named = all.filter((one) => one.in === "query").map(({ name }) => name);
  const names = [...new Set([...Object.keys(query?.properties ?? {}), ...named])];
  return { names, ignored: method === "GET" || method === "OPTIONS" ? RENDERINGS : IGNORED_BY_WRITES };
}

const isWrite = (method: Method, { reads }: Operation): boolean => method !== "GET" && !reads;

/** Describes the callers that may use an operation. */
function chooseAccess({ anonymous, signedIn }: Operation, writes: boolean) {
  if (anonymous) return "withoutCredentials";
  return writes || signedIn ? "signedIn" : "anyone";
}

/**
 * The OpenAPI description of an operation. `lists`: the lists with the operation, if the path is relative to a list.
 */
export function describe(
  method: Method,
  path: string,
  about: Operation,
  lists: readonly RoutedResource[] = [],
): object {
  const { summary = "", accepts = [], status } = about;
  const writes = isWrite(method, about);
  const returns = resolveDeferred(about.returns);
  const { "application/json": json, ...formats } = returns ?? {};
  const sends = resolveDeferred(about.sends);
  const previews = accepts.includes("dryRun") && (status !== undefined || !returns);
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const parts: OperationAbout = {
    ...given(about, "description", "query", "body", "status", "responses"),
    summary,
    access: chooseAccess(about, writes),
    params: Object.fromEntries(names.map((name) => [name, inPath(name, lists)])),
    parameters: [
      ...(resolveDeferred(about.parameters) ?? []),
      ...accepts.flatMap((name) => SHARED[name]),
      ...(method === "POST" && accepts.includes("dryRun") ? SHARED.once : []),
    ],
    ...(sends ? { sends } : {}),
    ...(json ? { returns: json.schema } : {}),
    ...(Object.keys(formats).length > 0 ? { formats } : {}),
    ...(previews ? { alternatives: { 200: PREVIEW } } : {}),
    errors: listErrors(writes, about),
  };
  return describeOperation(`${method} ${path}`, parts, "inventory");
}

/** The members of an object that are given. */
const given = <T extends object, Name extends keyof T>(from: T, ...names: Name[]): Pick<T, Name> =>
  Object.fromEntries(
    names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]),
  ) as Pick<T, Name>;

function inPath(name: string, lists: readonly RoutedResource[]): TSchema {
  const [first, second] = lists;
  if (name === "list") {
    const segments = lists.map(({ segment }) => segment);
    const $id = segments.length === RESOURCES.length ? { $id: name } : {};
    const description = "The list; its slash may be encoded as %2F.";
    return Type.Enum(segments, { ...$id, description, examples: [first.segment] });
  }
  const isRecord = name === "id" && first;
  const noun = isRecord && (second ? "record" : first.name);
  const [description, example] = isRecord
    ? [`Id of ${makeNouns({ name: noun as string }).one}.`, exampleId(first)]
    : PATH_PARAMETERS[name];
  const $id = isRecord ? `${noun}_id` : name;
  return (typeof example === "number" ? Type.Integer : Type.String)({
    $id,
    description,
    examples: [example],
  });
}

/** Errors besides those that follow from access and schemas. */
function listErrors(writes: boolean, { errors = [], anonymous }: Operation): readonly ErrorStatus[] {
  return [
    400,
    404,
    ...(writes ? ([409] as const) : []),
    ...(anonymous ? ([401, 403] as const) : []),
    ...errors,
  ];
}
