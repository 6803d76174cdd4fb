import type { AnyElysia } from "elysia";
import { API_ROOT } from "../model/resource.ts";
import { KINDS } from "../model/field.ts";
import { checkParameters } from "../model/listing.ts";
import type { RoutedResource } from "../resources/index.ts";
import { type Call, notFound, type OpenCall, unwrap } from "./call.ts";
import { describe } from "./describe-operation.ts";
import { IF_MATCH, knownParameters } from "./parameters.ts";
import { readBytes } from "../../platform/body.ts";
import { mount } from "../../platform/mount.ts";
import {
  type Given,
  type Method,
  type NamedAccess,
  type Operation,
  type OperationAbout,
  WITHOUT_ACCOUNTS,
} from "../../platform/operation.ts";
import { parse, textSchema } from "../../platform/schema.ts";
import { readJsonBody } from "./request-body.ts";

/** An operation of the inventory, with an access by name. Its handler gets the call of the request. */
export interface InventoryOperation extends Operation<string, unknown, Call> {
  /** The list whose address stands for `:list` in the path. */
  list?: RoutedResource;
  /** The address of the sub-resource that stands for `:part`. */
  part?: string | undefined;
}

/** The operations of one list: its address replaces `:list` in their paths, and `part` replaces `:part`. */
export const inList = <Each extends Operation<string, unknown, Call>>(
  list: RoutedResource,
  operations: readonly Each[],
  part?: string,
): (Each & InventoryOperation)[] => operations.map((operation) => ({ ...operation, list, part }));

/** The input of a handler besides its call. */
export interface Input {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: unknown;
}
type OperationAnswer = Response | Promise<Response>;
export type Handler = (input: Input, call: Call) => OperationAnswer;

/** Answers an operation, named by method and path, in another process. */
export type ForwardRequest = (name: string, input: Input, call: Call, sent?: Uint8Array) => Promise<Response>;

export interface MountOptions {
  open: OpenCall;
  /** Maximum size of a body in bytes. */
  maxBytes: number;
  /** Forwards heavy requests; without it they are answered here. */
  forwardRequest?: ForwardRequest | undefined;
}

/** Members in the order of the specification ("Collection responses"). */
const METHODS: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const listAllowed = (known: readonly Method[]): string =>
  [
    ...METHODS.filter((method) => known.includes(method)),
    ...(known.includes("GET") ? ["HEAD"] : []),
    "OPTIONS",
  ].join(", ");

/** The address below which the lists for clients share their routes. */
const SHARED_ROOT = `${API_ROOT}~/`;

/** The address by which the routes know a list. */
export const listRoute = ({ forClients, name, segment }: RoutedResource): string =>
  forClients ? `~/${name}` : segment;

/** An operation with its place among the others. */
interface Placed {
  operation: InventoryOperation;
  method: Method;
  /** Path, with `:list` if several lists have the operation. */
  pattern: string;
  /** Path with the address of the list. */
  path: string;
  /** Path of the route. Lists for clients share theirs, because hundreds of routes would take megabytes. */
  route: string;
}

function place(operation: InventoryOperation): Placed {
  const { key, list, part = ":part" } = operation;
  const [method, whole] = key.split(" ") as [Method, string];
  const pattern = whole.replace(":part", part);
  const path = pattern.replace(":list", list?.segment ?? ":list");
  const route = list?.forClients ? pattern.replace(API_ROOT, SHARED_ROOT) : path;
  return { operation, method, pattern, path, route };
}

/** The name of an operation for the processes that answer heavy requests. */
const operationName = ({ method, path }: Placed): string => `${method} ${path}`;

/** The handlers of heavy operations, by name. */
export const heavyHandlers = (operations: readonly InventoryOperation[]) =>
  new Map(
    operations
      .filter(({ heavy }) => heavy !== undefined)
      .map((operation) => [operationName(place(operation)), toHandler(operation)]),
  );

const toHandler =
  ({ run }: InventoryOperation): Handler =>
  (input, call) =>
    run({ ...input, caller: call.actor, request: call.request } as never, call) as OperationAnswer;

/** The routes of the inventory's operations. */
export function mountOperations(operations: readonly InventoryOperation[], options: MountOptions): AnyElysia {
  const placed = operations.map(place);
  const described = describeAll(placed);
  const byRoute = Map.groupBy(placed, ({ method, route }) => `${method} ${route}`);
  const methods = Map.groupBy(
    placed.filter(({ operation }) => !operation.about.unlisted),
    ({ route }) => route,
  );
  const mounted = [...byRoute.values()].map((lists) => {
    const [{ route }] = lists;
    const allow = listAllowed((methods.get(route) ?? []).map(({ method }) => method));
    const detail = () => lists.flatMap((each) => described.get(each) ?? []).map((describe) => describe());
    return toRoute(lists, { ...options, allow, describe: detail });
  });
  return mount(mounted, {
    tag: "inventory",
    guards: WITHOUT_ACCOUNTS,
    dependencies: undefined,
    readBody: async (request) => unwrap(await readJsonBody({ request, maxBytes: options.maxBytes })),
  });
}

type Description = { path: string; detail: object };

/**
 * The descriptions of operations. The first of several lists describes an operation for all lists with the same summary; the
 * list is then a part of the path.
 */
function describeAll(placed: readonly Placed[]): Map<Placed, () => Description> {
  const documented = placed.filter(({ operation }) => !operation.about.hidden);
  const groups = Map.groupBy(documented, ({ method, pattern, operation }) =>
    [method, pattern, operation.about.summary].join(" "),
  );
  return new Map(
    [...groups.values()].map((lists) => {
      const [first] = lists;
      const path = lists.length === 1 ? first.path : first.pattern;
      const resources = lists.flatMap(({ operation }) => operation.list ?? []);
      const make = () => describe(`${first.method} ${path}`, first.operation.about, resources);
      return [first, () => ({ path, detail: make() })];
    }),
  );
}

interface RouteOptions extends MountOptions {
  /** Methods of the path, for the header Allow. */
  allow: string;
  describe: () => Description[];
}

/** The route of an operation; lists for clients share one route. */
function toRoute(
  lists: readonly Placed[],
  { allow, describe, ...options }: RouteOptions,
): Operation<string, unknown, undefined> {
  const [{ operation, method, route }] = lists;
  const { reads = false, parameters, body, ...declared } = operation.about;
  const access = declared.access as NamedAccess;
  const answers = new Map(
    lists.map((each) => [each.operation.list?.name, { ...each, answer: toCheckedHandler(each, options) }]),
  );
  const runOperation = (input: Input, call: Call): OperationAnswer => {
    if (!operation.list?.forClients) return answers.get(operation.list?.name)!.answer(input, call);
    const found = answers.get(input.params.list);
    if (!found) throw notFound();
    return found.answer(input, withListAddress(call, found.operation.list!));
  };
  const about: OperationAbout = {
    summary: operation.about.summary,
    access: (request, context) => options.open(request, context, { access, reads }),
    parses: true,
    ifMatch: reads || parameters?.includes(IF_MATCH) === true,
    describe,
    ...(body ? { body } : {}),
  };
  const run = ({ caller: call, params, body: sent }: Given<() => Call, Input["params"], unknown, unknown>) =>
    withAllow(runOperation({ params, query: {}, body: sent }, call), allow);
  return { key: `${method} ${route}`, about, run: run as never, heavy: undefined };
}

/** The call with the usual address of a list for clients, as the client sent it. */
function withListAddress(call: Call, list: RoutedResource): Call {
  const url = new URL(call.url);
  url.pathname = url.pathname.replace(`${API_ROOT}${listRoute(list)}/`, `${API_ROOT}${list.segment}/`);
  return { ...call, url, request: new Request(url, call.request) };
}

/** Answers a request: checks its parameters, and sends it away if it is heavy. */
function toCheckedHandler(placed: Placed, options: MountOptions): Handler {
  const { operation, method } = placed;
  const { about } = operation;
  const Query = about.query && textSchema(about.query);
  const answer = operation.heavy ? heavyHandler(placed, options) : toHandler(operation);
  return (input, call) => {
    const { search, searchParams } = call.url;
    const query = Query ? (parse(Query, firstValues(searchParams)) as Input["query"]) : {};
    const known = search === "" ? undefined : knownParameters(method, about);
    // LabID's client sends deleted=False with every request.
    const isLiving = KINDS.flag.parse(searchParams.get("deleted") ?? "") === 0;
    if (known)
      checkParameters(searchParams, known.names, [...known.ignored, ...(isLiving ? ["deleted"] : [])]);
    return answer({ ...input, query }, call);
  };
}

/** The handler of an operation that is heavy for some requests. */
function heavyHandler(placed: Placed, { maxBytes, forwardRequest }: MountOptions): Handler {
  const { operation, method } = placed;
  const run = toHandler(operation);
  if (!forwardRequest) return run;
  const { heavy } = operation;
  const isHeavy = heavy === true ? () => true : heavy!;
  const name = operationName(placed);
  const decide = (input: Input, call: Call, at: Call, sent?: Uint8Array): OperationAnswer => {
    const answer = (heavy: boolean) => (heavy ? forwardRequest(name, input, call, sent) : run(input, at));
    const found = isHeavy(input as never, at, sent);
    return typeof found === "boolean" ? answer(found) : found.then(answer);
  };
  return (input, call) =>
    method === "GET" || operation.about.body
      ? decide(input, call, call)
      : readBytes(call.request, maxBytes).then((sent) => decide(input, call, withBody(call, sent), sent));
}

/** The call with a body that was read to decide whether the request is heavy. */
function withBody(call: Call, sent: Uint8Array): Call {
  const { url, method, headers } = call.request;
  const body = sent.byteLength > 0 ? { body: sent as Uint8Array<ArrayBuffer> } : {};
  return { ...call, request: new Request(url, { method, headers, ...body }) };
}

/** The first value of a repeated parameter. */
const firstValues = (parameters: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...parameters].toReversed());

/** Sends the methods of the path with a response. */
function withAllow(operationAnswer: OperationAnswer, allow: string): OperationAnswer {
  if (operationAnswer instanceof Promise)
    return operationAnswer.then((response) => withAllow(response, allow));
  operationAnswer.headers.set("Allow", allow);
  return operationAnswer;
}
