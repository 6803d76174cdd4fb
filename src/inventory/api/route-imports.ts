import type { Elysia } from "elysia";
import type { Answers } from "./respond.ts";
import { answered, IMPORT_STATUS, object, refused } from "./sub-resource-description.ts";
import { detail, inPath } from "./route-description.ts";
import { importJson, importPage } from "../imports/import-page.ts";
import type { Imports, ImportStatus } from "../imports/imports.ts";
import { parameterProblem } from "../model/filter.ts";
import { MEDIA_TYPES, negotiate } from "./negotiation.ts";
import { isForm, readFields } from "./request-body.ts";
import { type Call, here, respond, ROOT } from "./response.ts";

const LIST_METHODS = "GET, HEAD, OPTIONS";
const METHODS = "GET, POST, DELETE, HEAD, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;
/** Bytes of the form that calls an import off. */
const FORM_BYTES = 10_000;

type Context = { request: Request; params: Record<string, string | null> };

/** `imports/` and `imports/<id>/`: how far imports are, and calling them off. */
export function addImports(app: Elysia, answers: Answers, imports: Imports): void {
  const told = (call: Call, status: ImportStatus): Response => {
    const typed = call.url.searchParams.get("format");
    const format = negotiate(
      typed === "api" || typed === "json" ? typed : undefined,
      call.request.headers.get("accept"),
    );
    const headers: Record<string, string> = { Allow: METHODS, "Cache-Control": "no-store" };
    if (format === "api") return importPage(call, status, headers);
    if (status.ended === null) headers["Retry-After"] = "1";
    return respond(JSON.stringify(importJson(call, status)), 200, MEDIA_TYPES.json, headers);
  };

  const list = ({ request }: { request: Request }): Response => {
    const call = answers.beginKnown(request, LIST_METHODS);
    const results = imports.list(call.actor).map((status) => importJson(call, { ...status, report: null }));
    return respond(JSON.stringify({ results }), 200, MEDIA_TYPES.json, { Allow: LIST_METHODS });
  };

  const item = async ({ request, params }: Context): Promise<Response> => {
    const call = answers.beginKnown(request, METHODS);
    const id = params.id ?? "";
    const status = imports.get(id, call.actor);
    if (call.method === "GET" || call.method === "HEAD") return told(call, status);
    if (call.method === "OPTIONS")
      return respond(JSON.stringify({ name: "imports" }), 200, MEDIA_TYPES.json, { Allow: METHODS });
    // Forms of browsers know no DELETE.
    const fromForm = call.method === "POST";
    if (fromForm && (!isForm(request) || (await readFields(request, FORM_BYTES)).get("_method") !== "DELETE"))
      throw parameterProblem("_method", "Choices: DELETE.");
    const ended = await imports.cancel(id, call.actor);
    if (fromForm) return respond(null, 303, "", { Location: `${here(call)}?format=api` });
    return told(call, ended);
  };

  const security = [{ token: [] }];
  const path = `${ROOT}imports/`;
  app
    .get(path, list, {
      detail: detail({
        summary: "Imports, those under way and those of the last days",
        security,
        responses: {
          ...answered(
            200,
            "The caller's own, the newest first.",
            object({ results: { type: "array", items: IMPORT_STATUS } }),
          ),
          ...refused(401),
        },
      }),
    })
    .get(`${path}:id/`, item, {
      detail: detail({
        summary: "How far an import is",
        security,
        parameters: [inPath("id", "Id of the import.")],
        responses: {
          ...answered(200, "How far it is, or what it came to.", IMPORT_STATUS),
          ...refused(401, 404),
        },
      }),
    })
    .delete(`${path}:id/`, item, {
      parse: "none",
      detail: detail({
        summary: "Call an import off",
        description: "All that it has written is taken back.",
        security,
        parameters: [inPath("id", "Id of the import.")],
        responses: { ...answered(200, "What it came to.", IMPORT_STATUS), ...refused(401, 404, 409) },
      }),
    });
  for (const end of ["", "/"]) {
    app.all(`${ROOT}imports${end}`, list, HIDDEN);
    app.all(`${ROOT}imports/:id${end}`, item, HIDDEN);
  }
}
