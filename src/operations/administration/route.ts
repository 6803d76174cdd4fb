import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
import { Problem } from "../../problem.ts";
import type { Endpoint, Method } from "../../accounts/endpoint.ts";

const HIDDEN = { parse: "none", detail: { hide: true } } as const;
/** Path below which a body may be of any size: it goes to the disk as it comes. */
export const UPLOADS = "/api/admin/corpora";

/** The addresses of the administration, each with and without a slash at its end. */
export function endpointRoutes(endpoints: readonly Endpoint[]): AnyElysia {
  const app = new Elysia({ name: "administration" });
  for (const { path, methods } of endpoints) {
    const allow = ["OPTIONS", ...Object.keys(methods), ...(methods.GET ? ["HEAD"] : [])].sort().join(", ");
    const dispatch = ({ request, params }: { request: Request; params?: Record<string, string> }) => {
      const method = request.method === "HEAD" ? "GET" : request.method;
      if (method === "OPTIONS") return new Response(null, { status: 204, headers: { Allow: allow } });
      const found = Object.hasOwn(methods, method) ? methods[method as Method] : undefined;
      if (!found)
        throw new Problem("method_not_allowed", `Method not allowed. Allowed: ${allow}.`, { allow });
      return found.answer({ request, params: params ?? {}, query: new URL(request.url).searchParams });
    };
    for (const [method, { detail }] of Object.entries(methods))
      app.route(method, path, dispatch, { parse: "none", detail: detail as DocumentDecoration });
    app.all(path, dispatch, HIDDEN);
    app.all(`${path}/`, dispatch, HIDDEN);
  }
  return app as unknown as AnyElysia;
}
