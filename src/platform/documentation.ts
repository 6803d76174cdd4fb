import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, Elysia } from "elysia";
import viewer from "../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };

export interface Documentation {
  version: string;
  /** Markdown at the head of the page. */
  introduction: string;
  /** Groups of operations, in the order in which they are shown. */
  tags: { name: string; description: string }[];
  /** The address of the service where it is not that of the document; else empty. */
  baseOf?: (request: Request) => string;
}

const PATH = "/docs";
const DOCUMENTS_KEPT = 4;

/** The viewer runs scripts and styles of its own, from here only; it may call this server and no other. */
const DOCUMENTATION_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
  "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; frame-ancestors 'none'";

/** A laboratory's server may have no way out: no fonts, telemetry or assistants from elsewhere. */
const OFFLINE: object = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: "never",
};

/** `/docs`, the reference for people, and `/docs/json`, OpenAPI for programs: both from the routes themselves, offline. */
export function documentation(options: Documentation): AnyElysia {
  const reference = swagger({
    path: PATH,
    documentation: {
      info: { title: "labd", version: options.version, description: options.introduction },
      tags: options.tags,
      components: {
        securitySchemes: {
          token: {
            type: "apiKey",
            in: "header",
            name: "Authorization",
            description:
              "`Token <token>` (or `Bearer <token>`), from `labd token add` or `POST /api/v2/token-auth/`",
          },
        },
      },
    },
    excludeStaticFile: false,
    // Relative: the path may have more before it.
    scalarCDN: `${PATH.slice(1)}/viewer.js`,
    scalarConfig: {
      spec: { url: `${PATH.slice(1)}/json` },
      ...OFFLINE,
    },
  });
  /** The document by the address of the service: megabytes of JSON, which nobody should wait for twice. */
  const documents = new Map<string, { text: string; tag: string }>();
  const answer = (request: Request, { text, tag }: { text: string; tag: string }): Response => {
    const headers = { "Content-Type": "application/json", "Cache-Control": "no-cache", ETag: tag };
    const isKnown = request.headers.get("if-none-match")?.includes(tag.slice(2));
    return isKnown ? new Response(null, { status: 304, headers }) : new Response(text, { headers });
  };
  // The plugin's page and document carry no headers of their own to speak of; the viewer may be kept for a day.
  return new Elysia({ name: "documentation" })
    .onBeforeHandle({ as: "scoped" }, ({ path, request }) => {
      const known = path === `${PATH}/json` ? documents.get(options.baseOf?.(request) ?? "") : undefined;
      return known && answer(request, known);
    })
    .onAfterHandle({ as: "scoped" }, ({ path, set, request, response }) => {
      if (path === PATH) set.headers["Content-Security-Policy"] = DOCUMENTATION_POLICY;
      if (path !== `${PATH}/json` || response instanceof Response) return undefined;
      const base = options.baseOf?.(request) ?? "";
      asJsonContent(response);
      const text = JSON.stringify(base ? { ...(response as object), servers: [{ url: base }] } : response);
      const made = { text, tag: `W/"${Bun.hash(text).toString(36)}"` };
      // Behind a proxy that is trusted a client chooses the address.
      if (documents.size < DOCUMENTS_KEPT) documents.set(base, made);
      return answer(request, made);
    })
    .use(reference as AnyElysia)
    .get(
      `${PATH}/viewer.js`,
      () =>
        new Response(Bun.file(viewer), {
          headers: {
            "Content-Type": "text/javascript; charset=utf-8",
            "Cache-Control": "public, max-age=86400",
          },
        }),
      { detail: { hide: true } },
    );
}

/** The plugin documents bodies under the name of our parser or under three media types; all of them are JSON. */
function asJsonContent(document: unknown): void {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  for (const { requestBody, responses } of Object.values(paths).flatMap((methods) => Object.values(methods)))
    for (const part of [requestBody, ...Object.values(responses ?? {})]) {
      const schema = part?.content?.jsonBody ?? part?.content?.["multipart/form-data"];
      const isJson = part?.content?.jsonBody !== undefined || part?.content?.["text/plain"] === schema;
      if (part && schema !== undefined && isJson) part.content = { "application/json": schema };
    }
}

interface Operation {
  requestBody?: { content?: Record<string, unknown> };
  responses?: Record<string, { content?: Record<string, unknown> }>;
}
