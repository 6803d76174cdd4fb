import { filterPaths, registerSchemaPath } from "@elysiajs/swagger/utils";
import { type AnyElysia, Elysia } from "elysia";
import { Type } from "typebox";
import type { DeclaredInput } from "./declared-input.ts";
import { Components } from "./openapi-components.ts";
import { type DocumentPart, selectPart } from "./openapi-part.ts";
import type { OpenApi, Operation, Parameter } from "./openapi.ts";
import { SECURITY_SCHEMES } from "./security-schemes.ts";
import { bodySchema, oneOf, parse } from "./schema.ts";
import { camelCase } from "./words.ts";

export interface Documentation {
  version: string;
  /** Markdown at the head of the reference. */
  introduction: string;
  /** Resources by the first parts of their paths, in the order in which they are shown. */
  tags: readonly { name: string; description: string }[];
  /** Parts of the document that `?part=` selects, by name. */
  parts?: Readonly<Record<string, DocumentPart>>;
  /** The address of the service where it is not that of the document; else empty. */
  findBase?: (request: Request) => string;
  /** The reference for people, from the document. */
  page?: (request: Request, document: OpenApi) => Promise<Response>;
}

const PATH = "/docs";
const JSON_PATH = `${PATH}/json`;
/** Behind a trusted proxy a client chooses the address, and so how many documents there are. */
const MAX_DOCUMENTS = 8;

/** The served document: megabytes, made once for each part and address of the service. */
interface ServedDocument {
  text: string;
  tag: string;
}

/**
 * `/docs`, the reference for people, and `/docs/json`, OpenAPI for programs, whole or in parts: both from the routes of `app`, which are read
 * at the first request.
 */
export function documentation(options: Documentation, app: AnyElysia) {
  const served = new Map<string, ServedDocument>();
  let made: OpenApi | undefined;
  const document = (): OpenApi => (made ??= describe(options, app));
  const { parts = {} } = options;
  const parameters = bodySchema({ part: Type.Optional(oneOf(Object.keys(parts), "Part.")) });
  const serve = (base: string, part?: string): ServedDocument => {
    const key = JSON.stringify([base, part]);
    const known = served.get(key);
    if (known) return known;
    const selected = part === undefined ? document() : selectPart(document(), parts[part]);
    const text = JSON.stringify({ ...selected, servers: [{ url: base || "/" }] });
    const result = { text, tag: `W/"${Bun.hash(text).toString(36)}"` };
    if (served.size < MAX_DOCUMENTS) served.set(key, result);
    return result;
  };
  const plugin = new Elysia({ name: "documentation" }).get(
    JSON_PATH,
    ({ request, query }) =>
      answer(request, serve(options.findBase?.(request) ?? "", parse(parameters, query).part)),
    HIDE,
  );
  const { page } = options;
  if (!page) return plugin;
  const show = ({ request }: { request: Request }) => page(request, document());
  return plugin.get(PATH, show, HIDE).get(`${PATH}/operations/:operation`, show, HIDE);
}

/** `detail` of a route whose description takes memory and is made only for the document. */
export interface DeferredDetail {
  /** Schemas of the input; undefined if the handler validates it. */
  input: DeclaredInput | undefined;
  /** The operations that the route answers, with their paths; none if another route has described them. */
  describe(): readonly { path: string; detail: object }[];
}

/** The documented operations of all routes by path and method. */
function listOperations(app: AnyElysia, components: Components): [string, Record<string, Operation>][] {
  const schema = {};
  for (const { method, path, hooks } of app.routes) {
    const { describe, input: _, ...plain } = (hooks.detail ?? {}) as Partial<DeferredDetail> & Hidden;
    if (plain.hide || method === "ALL") continue;
    const add = (path: string, hook: object) =>
      registerSchemaPath({ schema, path, method, hook, models: {} });
    // A deferred description is complete; the plugin would add the schemas of the route.
    if (describe) for (const each of describe()) add(each.path, { detail: shared(each.detail, components) });
    else add(path, { ...hooks, detail: shared(plain, components) });
  }
  return Object.entries(filterPaths(schema, { excludeStaticFile: true, exclude: [] }));
}

interface Hidden {
  hide?: boolean;
}

/** The description of an operation with references to components, and its name. */
function shared(given: object, components: Components): object {
  const { parameters, ...detail } = given as Operation;
  const operationId = detail.operationId ?? camelCase(detail.summary ?? "");
  return {
    ...(detail.responses ? components.operation({ ...detail }) : detail),
    ...(operationId === "" ? {} : { operationId }),
    // The plugin looks for parameters of the path, so references to them come later.
    ...(parameters ? { parameters } : {}),
  };
}

/** The document of the routes of `app`. */
function describe(options: Documentation, app: AnyElysia): OpenApi {
  const components = new Components();
  const items = listOperations(app, components);
  const { components: given, ...document } = about(options);
  /** Areas by resource. Of two areas the first counts. */
  const areas = new Map<string, string>();
  for (const [path, methods] of items.toReversed())
    areas.set(resourcePath(path), Object.values(methods)[0].tags?.[0] ?? "service");
  const place = (tag: string): number => options.tags.findIndex(({ name }) => name === tag);
  const tags = [...areas.keys()].toSorted((a, b) => place(a) - place(b));
  return {
    ...document,
    "x-tagGroups": [...Map.groupBy(tags, (tag) => areas.get(tag)!)].map(([name, grouped]) => ({
      name,
      tags: grouped,
    })),
    // Addresses of the APIs answer with and without a trailing slash.
    paths: Object.fromEntries(
      items.map(([path, methods]) => [
        path.replace(/(?<=.)\/$/, ""),
        describePath(path, methods, components),
      ]),
    ),
    components: { ...given, ...components.all() },
  } as OpenApi;
}

/** The operations of a path, with the parameters in the path, and others that all have, once for all. */
function describePath(path: string, methods: Record<string, Operation>, components: Components): object {
  const [first, ...others] = Object.values(methods).map(({ parameters = [] }) => parameters);
  const common = first.filter(
    (parameter) =>
      parameter.in === "path" || (others.length > 0 && others.every((list) => list.some(isSame(parameter)))),
  );
  const operations = Object.entries(methods).map(([method, operation]) => {
    const parameters = operation.parameters?.filter((parameter) => !common.some(isSame(parameter))) ?? [];
    return [
      method,
      components.operation({ ...withJsonBody(operation), tags: [resourcePath(path)], parameters }),
    ];
  });
  const shared = common.length > 0 ? { parameters: components.parameters(common) } : {};
  return { ...shared, ...Object.fromEntries(operations) };
}

/** True for the parameter of another method of the path that is equal: of those in the path, that of the same name. */
const isSame = (parameter: Parameter) => (other: Parameter) =>
  other.name === parameter.name &&
  other.in === parameter.in &&
  (other.in === "path" || (other.$id !== undefined && other.$id === parameter.$id));

/** `/api/v2/locations/{id}/` is of the resource `locations`; what all lists have is of `records`. */
const resourcePath = (path: string): string =>
  path
    .replace(/^\/api\/v2\/\{list\}\/.*/, "/records")
    .replace(/^\/api\/((v2|admin|account|scoring)\/)?/, "/")
    .split("/")
    .filter((part) => part !== "" && !part.startsWith("{"))
    .slice(0, /^\/api\/v2\/(vocabularies|assays|stocks|core|protocols|data_management)\//.test(path) ? 2 : 1)
    .join("/") || "api";

const HIDE = { detail: { hide: true } } as const;

/** Removes the other content types that the plugin assumes for bodies which a parser of ours reads as JSON. */
function withJsonBody(operation: Operation): Operation {
  const { requestBody } = operation;
  const json = requestBody?.content?.["application/json"];
  return json && "text/plain" in requestBody.content!
    ? { ...operation, requestBody: { ...requestBody, content: { "application/json": json } } }
    : operation;
}

const about = ({ version, introduction, tags }: Documentation) => ({
  openapi: "3.1.0",
  info: {
    title: "labd",
    version,
    description: introduction,
    license: { name: "Apache 2.0", identifier: "Apache-2.0" },
  },
  tags: [...tags],
  // The responses of an operation unless it declares others.
  security: Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] })),
  components: { securitySchemes: SECURITY_SCHEMES },
});

function answer(request: Request, { text, tag }: ServedDocument): Response {
  const headers = { "Content-Type": "application/json", "Cache-Control": "no-cache", ETag: tag };
  const isKnown = request.headers.get("if-none-match")?.includes(tag.slice(2));
  return isKnown ? new Response(null, { status: 304, headers }) : new Response(text, { headers });
}
