import { type AnyElysia, Elysia } from "elysia";
import { Problem } from "../problem.ts";
import { indexPage, type OpenApi, operationPage } from "./reference-page.ts";
import { currentRequest } from "./request-context.ts";

export interface Documentation {
  version: string;
  /** Markdown at the head of the reference. */
  introduction: string;
  /** Groups of operations, in the order in which they are shown. */
  tags: { name: string; description: string }[];
  /** The address of the service where it is not that of the document; else empty. */
  baseOf?: (request: Request) => string;
}

const PATH = "/docs";
const JSON_PATH = `${PATH}/json`;
/** Behind a trusted proxy a client chooses the address, and so how many documents there are. */
const MAX_DOCUMENTS = 4;

/** The document as it is served: megabytes, made once for each address of the service. */
interface Served {
  text: string;
  tag: string;
}

/**
 * `/docs`, the reference as pages without scripts, and `/docs/json`, OpenAPI for programs: both from the routes of `app`,
 * which are read at the first request.
 */
export function documentation(options: Documentation, app: AnyElysia) {
  const served = new Map<string, Served>();
  let made: Promise<OpenApi> | undefined;
  const document = (): Promise<OpenApi> => (made ??= describe(options, app));
  const serve = async (base: string): Promise<Served> => {
    const known = served.get(base);
    if (known) return known;
    const text = JSON.stringify({ ...(await document()), ...(base ? { servers: [{ url: base }] } : {}) });
    const result = { text, tag: `W/"${Bun.hash(text).toString(36)}"` };
    if (served.size < MAX_DOCUMENTS) served.set(base, result);
    return result;
  };
  const basePath = (): string => currentRequest()?.basePath ?? "";
  return new Elysia({ name: "documentation" })
    .get(
      JSON_PATH,
      async ({ request }) => answer(request, await serve(options.baseOf?.(request) ?? "")),
      HIDE,
    )
    .get(PATH, async ({ request }) => indexPage(await document(), searchOf(request), basePath()), HIDE)
    .get(
      `${PATH}/operations/:operation`,
      async ({ params }) => {
        const page = operationPage(await document(), params.operation, basePath());
        if (!page) throw new Problem("not_found", "Not found. /docs lists all operations.");
        return page;
      },
      HIDE,
    );
}

/** `detail` of a route whose description takes memory and is made only for the document. */
export interface DeferredDetail {
  describe(): object;
}

function withDetail(route: AnyElysia["routes"][number]): typeof route {
  const { describe } = (route.hooks.detail ?? {}) as Partial<DeferredDetail>;
  return describe ? { ...route, hooks: { ...route.hooks, detail: describe() } } : route;
}

/** The document of the routes of `app`. */
async function describe(options: Documentation, app: AnyElysia): Promise<OpenApi> {
  // Loaded at first use, because it brings megabytes of a viewer that is not shown.
  const { swagger } = await import("@elysiajs/swagger");
  const plugin = swagger({ path: PATH, documentation: about(options) }) as AnyElysia;
  Object.assign(plugin, { getGlobalRoutes: () => app.routes.map(withDetail) });
  const response = await plugin.fetch(new Request(`http://localhost${JSON_PATH}`));
  const document = (await response.json()) as OpenApi;
  withJsonBodies(document);
  return document;
}

const HIDE = { detail: { hide: true } } as const;

/** Removes the other content types that the plugin assumes for bodies which a parser of ours reads as JSON. */
function withJsonBodies({ paths }: OpenApi): void {
  for (const { requestBody } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const content = requestBody?.content ?? {};
    if (!("application/json" in content && "text/plain" in content)) continue;
    delete content["multipart/form-data"];
    delete content["text/plain"];
  }
}

const searchOf = (request: Request): string => new URL(request.url).searchParams.get("q") ?? "";

const about = ({ version, introduction, tags }: Documentation) => ({
  info: { title: "labd", version, description: introduction },
  tags,
  components: {
    securitySchemes: {
      token: {
        type: "apiKey" as const,
        in: "header" as const,
        name: "Authorization",
        description:
          "`Token <token>` (or `Bearer <token>`), from `labd token add` or `POST /api/v2/token-auth/`",
      },
    },
  },
});

function answer(request: Request, { text, tag }: Served): Response {
  const headers = { "Content-Type": "application/json", "Cache-Control": "no-cache", ETag: tag };
  const isKnown = request.headers.get("if-none-match")?.includes(tag.slice(2));
  return isKnown ? new Response(null, { status: 304, headers }) : new Response(text, { headers });
}
