import { type AnyElysia, NotFoundError } from "elysia";
import { Problem } from "../problem.ts";

/** The route for all paths that no other route has. */
export const ANY_PATH = "/*";

/** Below this path every address answers with and without a trailing slash. */
const API = "/api/";

/** The order in which `Allow` lists methods. */
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Further addresses: what begins with the key is answered by what begins with the value. Both end in a slash. */
export type Aliases = readonly (readonly [alias: string, address: string])[];

/**
 * Answers what no route does: OPTIONS, other methods of a known path (405 with `Allow`), and the other slash form and the
 * aliases of an API's path. Call it once, after all routes are mounted. One route is enough, because specific ones win
 * over `/*`. Elysia answers HEAD by GET.
 */
export function completeMethods(app: AnyElysia, aliases: Aliases = []): void {
  const complete = (request: Request, path: string): Response | Promise<Response> => {
    const methods = methodsAt(app, path);
    if (methods.length > 0) return answerOtherMethod(request.method, methods);
    const known = path.startsWith(API) && !path.endsWith("//") ? listOtherForms(path, aliases) : [];
    const found = known.find((other) => methodsAt(app, other).length > 0);
    if (found !== undefined) return app.fetch(withPath(request, found));
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

function answerOtherMethod(method: string, methods: string[]): Response {
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  if (method === "OPTIONS") return new Response(null, { status: 204, headers: { Allow: allow } });
  throw new Problem("method_not_allowed", `Method "${method}" not allowed. Allowed: ${allow}.`, { allow });
}

const toggleSlash = (path: string): string => (path.endsWith("/") ? path.slice(0, -1) : `${path}/`);

/** The equivalent addresses of an API's path: its other slash form, and the target of an alias. */
function listOtherForms(path: string, aliases: Aliases): string[] {
  const whole = path.endsWith("/") ? path : `${path}/`;
  const forms = aliases
    .filter(([alias]) => whole.startsWith(alias))
    .map(([alias, address]) => address + whole.slice(alias.length));
  return [toggleSlash(path), ...forms.flatMap((form) => [form, toggleSlash(form)])];
}

function withPath(request: Request, path: string): Request {
  const start = request.url.indexOf("/", request.url.indexOf("://") + 3);
  const query = request.url.indexOf("?", start);
  return new Request(
    request.url.slice(0, start) + path + (query < 0 ? "" : request.url.slice(query)),
    request,
  );
}
