import type { DocumentDecoration, Elysia } from "elysia";
import type { Answers } from "./answer.ts";
import { type Attached, type Attachment } from "./attached.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { unwrap } from "./answer-writing.ts";
import { respond, ROOT } from "./response.ts";
import type { Json } from "./model/field.ts";
import { readJson } from "./request-body.ts";
import type { Routed } from "./resources/index.ts";
import type { Store } from "./store.ts";
import { forbidden } from "./writing.ts";

const LIST_METHODS = "GET, POST, HEAD, OPTIONS";
const ONE_METHODS = "PATCH, PUT, DELETE, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;

type Params = Record<string, string | null>;
type Context = { request: Request; params: Params };

const DOCS: Record<Attachment, [list: string, add: string, body: string]> = {
  annotations: [
    "Annotations of a record",
    "Annotate a record",
    '{"annotation_type_id": an annotation type or custom property type, by id or name, "value": …}; what a value must be, its type says.',
  ],
  notes: ["Notes on a record", "Write a note on a record", '{"content": "…"}'],
};

/** `<segment>/<id>/annotations/` and `<segment>/<id>/notes/`, of records that have owners. */
export function addAttached(
  app: Elysia,
  answers: Answers,
  store: Store,
  attached: Attached,
  resource: Routed,
  maxBytes: number,
): void {
  for (const what of Object.keys(DOCS) as Attachment[]) {
    const mayWrite = (rid: number, call: ReturnType<Answers["begin"]>): void => {
      if (!store.reading.rights(resource, call.actor, [rid]).get(rid)?.change) throw forbidden();
    };
    const show = (json: Json, status: 200 | 201, allow: string, flat: boolean): Response =>
      respond(JSON.stringify(flat ? { results: json } : json), status, MEDIA_TYPES.json, { Allow: allow });
    const isFlat = (url: URL): boolean => url.searchParams.get("response_format") === "flat";

    const list = async ({ request, params }: Context): Promise<Response> => {
      const call = answers.begin(request, LIST_METHODS);
      const rid = answers.find(call, resource, params.id ?? "");
      if (request.method === "OPTIONS") return respond("{}", 200, MEDIA_TYPES.json, { Allow: LIST_METHODS });
      if (request.method !== "POST")
        return show(attached.list(what, resource, rid, call.actor), 200, LIST_METHODS, true);
      const body = unwrap(await readJson(request, maxBytes));
      mayWrite(rid, call);
      return show(attached.add(what, resource, rid, body, call.actor), 201, LIST_METHODS, isFlat(call.url));
    };
    const one = async ({ request, params }: Context): Promise<Response> => {
      const call = answers.begin(request, ONE_METHODS);
      const rid = answers.find(call, resource, params.id ?? "");
      if (request.method === "OPTIONS") return respond("{}", 200, MEDIA_TYPES.json, { Allow: ONE_METHODS });
      const id = (params.attached ?? "").toLowerCase();
      if (request.method === "DELETE") {
        mayWrite(rid, call);
        attached.remove(what, resource, rid, id);
        return respond(null, 204, "", { Allow: ONE_METHODS });
      }
      const body = unwrap(await readJson(request, maxBytes));
      mayWrite(rid, call);
      return show(
        attached.change(what, resource, rid, id, body, call.actor),
        200,
        ONE_METHODS,
        isFlat(call.url),
      );
    };

    const path = `${ROOT}${resource.segment}/:id/${what}/`;
    const detail = (summary: string, about: object = {}): DocumentDecoration => ({
      summary: `${summary}: ${resource.segment}`,
      tags: ["inventory"],
      responses: {
        200: { description: "As stored." },
        404: { description: "No such record, or none that the caller may view." },
      },
      ...about,
    });
    const [lists, adds, body] = DOCS[what];
    app.get(path, list, { detail: detail(lists) }).post(path, list, {
      parse: "none",
      detail: detail(adds, { description: body, security: [{ token: [] }] }),
    });
    for (const segment of [resource.segment, ...(resource.aliases ?? [])]) {
      for (const end of ["", "/"]) {
        app.all(`${ROOT}${segment}/:id/${what}${end}`, list, HIDDEN);
        app.all(`${ROOT}${segment}/:id/${what}/:attached${end}`, one, HIDDEN);
      }
    }
  }
}
