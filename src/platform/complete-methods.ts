import type { AnyElysia } from "elysia";
import { Problem } from "../problem.ts";

/** Below this path every address answers with and without a trailing slash. */
const API = "/api/";

/** The order in which `Allow` lists methods. */
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Adds to every path of `app` an answer to OPTIONS and a 405 with `Allow` for methods that no route has, and the other
 * slash form of every path of an API. Call it once, after all routes are mounted. Elysia answers HEAD by GET.
 */
export function completeMethods(app: AnyElysia): void {
  const byPath = new Map<string, Set<string>>();
  for (const { method, path } of app.routes)
    byPath.set(path, (byPath.get(path) ?? new Set<string>()).add(method));
  for (const [path, methods] of byPath) {
    if (!methods.has("ALL")) addOtherMethods(app, path, methods);
    const other = path.endsWith("/") ? path.slice(0, -1) : `${path}/`;
    if (path.startsWith(API) && !byPath.has(other))
      app.all(other, ({ request }) => app.fetch(withOtherSlash(request)), HIDE);
  }
}

const HIDE = { parse: "none", detail: { hide: true } } as const;

function addOtherMethods(app: AnyElysia, path: string, methods: ReadonlySet<string>): void {
  const allow = [
    ...METHODS.filter((method) => methods.has(method)),
    ...(methods.has("GET") ? ["HEAD"] : []),
    "OPTIONS",
  ].join(", ");
  app.all(
    path,
    ({ request }) => {
      if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { Allow: allow } });
      throw new Problem("method_not_allowed", `Method "${request.method}" not allowed. Allowed: ${allow}.`, {
        allow,
      });
    },
    HIDE,
  );
}

/** The request to the same address with a trailing slash where it has none, or without it. */
function withOtherSlash(request: Request): Request {
  const query = request.url.indexOf("?");
  const path = query < 0 ? request.url : request.url.slice(0, query);
  const other = path.endsWith("/") ? path.slice(0, -1) : `${path}/`;
  return new Request(other + (query < 0 ? "" : request.url.slice(query)), request);
}
