import { type AnyElysia, NotFoundError } from "elysia";
import { Problem } from "../problem.ts";

/** The route for all paths that no other route has. */
export const ANY_PATH = "/*";

/** Below this path every address answers with and without a trailing slash. */
const API = "/api/";

/** The order in which `Allow` lists methods. */
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Answers what no route does: OPTIONS, other methods of a known path (405 with `Allow`), and the other slash form of an
 * API's path. Call it once, after all routes are mounted. One route is enough, because specific ones win over `/*`.
 * Elysia answers HEAD by GET.
 */
export function completeMethods(app: AnyElysia): void {
  const complete = (request: Request, path: string): Response | Promise<Response> => {
    const methods = methodsAt(app, path);
    if (methods.length > 0) return otherMethod(request.method, methods);
    if (path.startsWith(API) && !path.endsWith("//") && methodsAt(app, otherSlash(path)).length > 0)
      return app.fetch(withOtherSlash(request));
    throw new NotFoundError();
  };
  const add = (pattern: string): void =>
    void app.all(pattern, ({ request, path }) => complete(request, path), HIDE);
  // Else the record route would answer GET /locations/bulk_delete/, as it has no such method of its own.
  for (const path of Object.keys(app.router.static))
    if (METHODS.some((method) => app.router.http.find(method, path))) add(path);
  add(ANY_PATH);
}

const HIDE = { parse: "none", detail: { hide: true } } as const;

/** Methods of the routes at a path; those of a path without parameters come first. */
function methodsAt({ router }: AnyElysia, path: string): string[] {
  const fixed = router.static[path];
  return METHODS.filter((method) => (fixed ? method in fixed : router.http.find(method, path)));
}

function otherMethod(method: string, methods: string[]): Response {
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  if (method === "OPTIONS") return new Response(null, { status: 204, headers: { Allow: allow } });
  throw new Problem("method_not_allowed", `Method "${method}" not allowed. Allowed: ${allow}.`, { allow });
}

const otherSlash = (path: string): string => (path.endsWith("/") ? path.slice(0, -1) : `${path}/`);

function withOtherSlash(request: Request): Request {
  const query = request.url.indexOf("?");
  const path = query < 0 ? request.url : request.url.slice(0, query);
  return new Request(otherSlash(path) + (query < 0 ? "" : request.url.slice(query)), request);
}
