import { type AnyElysia, Elysia } from "elysia";
import { type TSchema, Type } from "typebox";
import { readJson } from "./body.ts";
import { checkInput, type DeclaredInput } from "./declared-input.ts";
import { describeOperation } from "./describe-operation.ts";
import type { DeferredDetail } from "./documentation.ts";
import { jsonResponse } from "./json-response.ts";
import {
  type Access,
  findBodySchema,
  type Guards,
  type Operation,
  type OperationAbout,
  type PathPart,
  Reply,
  resolveDeferred,
} from "./operation.ts";
import { currentRequest, type RequestContext } from "./request-context.ts";
import { findMistakes, parse, schema, type StandardSchema, textSchema } from "./schema.ts";

export interface MountOptions<Dependencies> {
  /** Group of the operations in the documentation. */
  tag: string;
  guards: Guards;
  /** Given to each handler. */
  dependencies: Dependencies;
  /** Reads a JSON body, which is to match the schema; by default any body is taken for JSON. */
  readBody?: (request: Request, shape: TSchema) => Promise<unknown>;
}

/** Routes of operations. Access is checked before anything else, so that a stranger gets 401 for any input. */
export function mount<Dependencies>(
  operations: readonly Operation<string, unknown, Dependencies>[],
  options: MountOptions<Dependencies>,
): AnyElysia {
  const plugin = new Elysia();
  for (const operation of operations) {
    const [method, path] = operation.key.split(" ");
    const { hidden, describe: own } = operation.about;
    const describe =
      own ?? (() => (hidden ? [] : [{ path, detail: describeOperation(operation.about, options.tag) }]));
    const detail: DeferredDetail = { describe, input: undefined };
    plugin.route(method, path, makeHandler(operation, options), { parse: "none", detail } as object);
  }
  return plugin;
}

/** The used parts of Elysia's context: a handler that takes the whole context makes Elysia prepare all parts. */
interface SelectedFields {
  request: Request;
  params?: Record<string, string | null>;
}

type Any = StandardSchema<never>;

function makeHandler<Dependencies>(
  { key, about, run }: Operation<string, unknown, Dependencies>,
  { guards, dependencies, readBody = (request) => readJson(request) }: MountOptions<Dependencies>,
): ({ request, params }: SelectedFields) => unknown {
  const { access, confirmed, parses, reads, ifMatch = false, query: parameters } = about;
  const guard = findGuard(access, guards);
  const input: DeclaredInput = {
    parameters: parses ? undefined : Object.keys(parameters?.properties ?? {}),
    ifMatch,
  };
  const Params = about.params && (paramsSchema(about.params) as unknown as Any);
  const Query = parameters && (textSchema(parameters) as unknown as Any);
  const Body = findBodySchema(about) && (schema(findBodySchema(about)!) as unknown as Any);
  const finish = finisher(key, about);
  return ({ request, params }) => {
    const context = currentRequest()!;
    // Rules for writing, such as those of read-only tokens, go by the method.
    const caller = guard(reads ? new Request(request.url, { headers: request.headers }) : request, context);
    checkInput(request, input);
    const given = {
      caller,
      request,
      context,
      params: Params ? parse(Params, params) : withTexts(params),
      query: Query ? parse(Query, readQuery(request.url)) : {},
    };
    const answer = (body: unknown) => run({ ...given, body } as never, dependencies);
    if (!Body) return settled(answer(undefined), finish);
    return readBody(request, findBodySchema(about)!).then(async (sent) => {
      const body: unknown = parse(Body, sent);
      if (confirmed)
        await guards.confirmed(
          request,
          caller as Parameters<Guards["confirmed"]>[1],
          (body as { current_password?: string | null }).current_password ?? "",
        );
      return finish(await answer(body));
    });
  };
}

function findGuard(access: Access, guards: Guards): (request: Request, context: RequestContext) => unknown {
  if (typeof access === "function") return access;
  return access === "withoutCredentials" || access === "public" ? () => undefined : guards[access];
}

/** Parts of a path. Elysia gives null for one that cannot be decoded, such as `%`, and nothing where there are none. */
function withTexts(params: Record<string, string | null> = {}): Record<string, string> {
  for (const name in params) params[name] ??= "";
  return params as Record<string, string>;
}

function paramsSchema(parts: Record<string, PathPart>) {
  const properties = Object.entries(parts).map(([name, part]) => [
    name,
    typeof part === "string" || Array.isArray(part) ? Type.String() : (part as TSchema),
  ]);
  return textSchema(Type.Object(Object.fromEntries(properties) as Record<string, TSchema>));
}

/** Parameters of the query; a repeated one is a list. */
export function readQuery(url: string): Record<string, string | string[]> {
  const start = url.indexOf("?");
  const found: Record<string, string | string[]> = {};
  if (start < 0) return found;
  for (const [name, value] of new URLSearchParams(url.slice(start))) {
    const known = found[name];
    found[name] = known === undefined ? value : [known, value].flat();
  }
  return found;
}

/** Applies `next` to a value at once, or to that of a promise later: most answers need no promise. */
const settled = (value: unknown, next: (value: unknown) => unknown): unknown =>
  value instanceof Promise ? value.then(next) : next(value);

/** Makes the response of a handler's result. A result that violates its schema is an internal error. */
function finisher(key: string, { returns, alternatives, ...about }: OperationAbout) {
  const status: number = about.status ?? 200;
  const shapes = new Map<number, Any | undefined>();
  const shapeOf = (code: number): Any | undefined => {
    if (!shapes.has(code)) {
      const declared =
        alternatives?.[code] ?? (code === status && returns ? resolveDeferred(returns) : undefined);
      shapes.set(code, declared && (schema(declared) as unknown as Any));
    }
    return shapes.get(code);
  };
  return (result: unknown): Response => {
    if (result instanceof Response) return result;
    const { value, more } =
      result instanceof Reply ? (result as Reply<unknown>) : { value: result, more: {} };
    const answered = more.status ?? status;
    const shape = shapeOf(answered);
    const mistakes = shape ? findMistakes(shape, value) : [];
    if (mistakes.length > 0)
      throw new Error(`${key}: The response does not match its schema: ${mistakes.join(" ")}`);
    return jsonResponse(value, answered, more.headers);
  };
}
