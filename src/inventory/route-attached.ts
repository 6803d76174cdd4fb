import type { DocumentDecoration, Elysia } from "elysia";
import type { Answers } from "./answer.ts";
import { type Attached, type Attachment } from "./attached.ts";
import {
  answered,
  fieldsOf,
  inPath,
  inQuery,
  json,
  optionsOf,
  refused,
  sentSchema,
  SHOWN,
} from "./attached-description.ts";
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

    const describe = (
      call: ReturnType<Answers["begin"]>,
      rid: number,
      allow: string,
      method: string,
    ): Response => {
      const may = store.reading.rights(resource, call.actor, [rid]).get(rid)?.change ?? false;
      const actions: Record<string, Json> = may ? { [method]: fieldsOf(what) } : {};
      const body = optionsOf(what, DOCS[what][0], ["application/json"], actions);
      return respond(body, 200, MEDIA_TYPES.json, { Allow: allow });
    };

    const list = async ({ request, params }: Context): Promise<Response> => {
      const call = answers.begin(request, LIST_METHODS);
      const rid = answers.find(call, resource, params.id ?? "");
      if (request.method === "OPTIONS") return describe(call, rid, LIST_METHODS, "POST");
      if (request.method !== "POST")
        return show(attached.list(what, resource, rid, call.actor), 200, LIST_METHODS, true);
      const body = unwrap(await readJson(request, maxBytes));
      mayWrite(rid, call);
      return show(attached.add(what, resource, rid, body, call.actor), 201, LIST_METHODS, isFlat(call.url));
    };
    const one = async ({ request, params }: Context): Promise<Response> => {
      const call = answers.begin(request, ONE_METHODS);
      const rid = answers.find(call, resource, params.id ?? "");
      if (request.method === "OPTIONS") return describe(call, rid, ONE_METHODS, "PUT");
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
    const id = inPath("id", `Identifier of the ${resource.name}.`);
    const own = inPath("attached", `Identifier of one of the ${what}.`);
    const flat = inQuery("response_format", 'flat: the answer is wrapped as {"results": …}.');
    const detail = (value: object): DocumentDecoration =>
      ({ tags: ["inventory"], ...value }) as DocumentDecoration;
    const [lists, adds, body] = DOCS[what];
    const listed = {
      type: "object",
      required: ["results"],
      properties: { results: { type: "array", items: SHOWN[what] } },
    };
    const sends = (change: boolean) => ({
      required: true,
      description: body,
      content: json(sentSchema(what, change)),
    });
    const changed = detail({
      summary: `Change one of the ${what}: ${resource.segment}`,
      security: [{ token: [] }],
      parameters: [id, own, flat],
      requestBody: sends(true),
      responses: { ...answered(200, "As stored.", SHOWN[what]), ...refused(400, 401, 403, 404, 413, 415) },
    });
    const onePath = `${path}:attached/`;
    app
      .get(path, list, {
        detail: detail({
          summary: `${lists}: ${resource.segment}`,
          parameters: [id],
          responses: { ...answered(200, "All of them.", listed), ...refused(401, 404) },
        }),
      })
      .post(path, list, {
        parse: "none",
        detail: detail({
          summary: `${adds}: ${resource.segment}`,
          description: body,
          security: [{ token: [] }],
          parameters: [id, flat],
          requestBody: sends(false),
          responses: {
            ...answered(201, "As stored.", SHOWN[what]),
            ...refused(400, 401, 403, 404, 413, 415),
          },
        }),
      })
      .put(onePath, one, { parse: "none", detail: changed })
      .patch(onePath, one, { parse: "none", detail: changed })
      .delete(onePath, one, {
        parse: "none",
        detail: detail({
          summary: `Remove one of the ${what}: ${resource.segment}`,
          security: [{ token: [] }],
          parameters: [id, own],
          responses: { 204: { description: "Done." }, ...refused(401, 403, 404) },
        }),
      });
    for (const segment of [resource.segment, ...(resource.aliases ?? [])]) {
      for (const end of ["", "/"]) {
        app.all(`${ROOT}${segment}/:id/${what}${end}`, list, HIDDEN);
        app.all(`${ROOT}${segment}/:id/${what}/:attached${end}`, one, HIDDEN);
      }
    }
  }
}
