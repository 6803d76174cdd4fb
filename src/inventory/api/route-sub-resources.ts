import type { Elysia } from "elysia";
import type { Answers } from "./respond.ts";
import type { HistoryAnswers } from "./respond-with-history.ts";
import { SubResourceRecords } from "../records/sub-resources.ts";
import {
  answered,
  fieldsOf,
  SUB_RESOURCE_PARAMETERS,
  optionsOf,
  refused,
  sentSchema,
  shownSchema,
} from "./sub-resource-description.ts";
import { runBatch, runInTurn, unwrap } from "./respond-to-write.ts";
import { content, detail, inPath, inQuery } from "./route-description.ts";
import { checkVersion } from "./entity-tag.ts";
import { withIdempotencyKey } from "./idempotency.ts";
import { and } from "../model/condition.ts";
import type { Json } from "../model/field.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { changeableParent, readableParent, showSubResource } from "./sub-resource-request.ts";
import { readJson } from "./request-body.ts";
import { type Call, respond, ROOT } from "./response.ts";
import type { RoutedResource } from "../resources/index.ts";
import { addHistoryOf } from "./route-history.ts";
import type { Store } from "../records/store.ts";
import { DRY_RUN, MATCH, NONE_MATCH, ONCE, PREVIEW } from "./write-parameters.ts";
import { Problem } from "../../problem.ts";

const LIST_METHODS = "GET, POST, HEAD, OPTIONS";
const ONE_METHODS = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;

type Params = Record<string, string | null>;
type Context = { request: Request; params: Params };

/** What the routes of parts need. */
export interface AttachedOptions {
  answers: Answers;
  store: Store;
  history: HistoryAnswers;
  maxMessageBytes: number;
}

/** `<segment>/<id>/annotations/` and `<segment>/<id>/notes/`, of records that have owners. */
export function addSubResources(
  app: Elysia,
  { answers, store, history, maxMessageBytes }: AttachedOptions,
  resource: RoutedResource,
): void {
  const records = new SubResourceRecords(store);
  for (const sub of store.subResources.filter(({ docs }) => docs)) {
    const docs = sub.docs!;
    const what = sub.segment;
    const shownAs = shownSchema(sub);
    const present = (call: Call) => ({
      statements: store.statements,
      reader: store.reader,
      actor: call.actor,
    });
    /** One as it is stored, wrapped where the client wants it so. */
    const showOne = (call: Call, rid: number, status: 200 | 201, allow: string): Response => {
      const shown = records.show(sub, rid, present(call), call.base)!;
      const flat = call.url.searchParams.get("response_format") === "flat";
      return showSubResource(call, flat ? { results: shown } : shown, allow, {
        status,
        version: Number(shown.version),
      });
    };

    const describe = (call: Call, id: string, allow: string, method: string): Response => {
      const { rid } = readableParent(store, call, resource, id);
      const may = store.reader.rights(resource, call.actor, [rid]).get(rid)?.change ?? false;
      const actions: Record<string, Json> = may ? { [method]: fieldsOf(sub) } : {};
      const body = optionsOf(what, docs.list, ["application/json"], actions);
      return respond(body, 200, MEDIA_TYPES.json, { Allow: allow });
    };
    const body = async (call: Call): Promise<Json> => unwrap(await readJson(call.request, maxMessageBytes));

    const list = async ({ request, params }: Context): Promise<Response> => {
      const call = answers.begin(request, LIST_METHODS);
      const id = params.id ?? "";
      if (call.method === "OPTIONS") return describe(call, id, LIST_METHODS, "POST");
      if (call.method !== "POST") {
        const host = readableParent(store, call, resource, id);
        const results = records.list(sub, resource, host, call.base);
        return showSubResource(call, { results }, LIST_METHODS);
      }
      // Before the body is read, and again in the transaction: meanwhile the record may have changed hands.
      changeableParent(store, call, resource, id);
      const value = await body(call);
      return store.enqueue(() =>
        withIdempotencyKey(store, call, value, () =>
          runBatch(
            store,
            call,
            { kind: "create" },
            (writing) =>
              records.create(
                writing,
                sub,
                { resource, rid: changeableParent(store, call, resource, id) },
                value,
                call,
              ),
            (rid) => showOne(call, rid, 201, LIST_METHODS),
          ),
        ),
      );
    };

    const one = async ({ request, params }: Context): Promise<Response> => {
      const call = answers.begin(request, ONE_METHODS);
      const id = params.id ?? "";
      const own = params.attached ?? "";
      if (call.method === "OPTIONS") return describe(call, id, ONE_METHODS, "PUT");
      if (call.method === "GET" || call.method === "HEAD") {
        const host = readableParent(store, call, resource, id);
        const shown = records.show(sub, records.find(sub, resource, host.rid, own), host, call.base);
        const wanted = host.deletedFilter === "all" || shown?.deleted === (host.deletedFilter === "deleted");
        if (!shown || !wanted) throw new Problem("not_found", "Not found.");
        const flat = call.url.searchParams.get("response_format") === "flat";
        const version = Number(shown.version);
        return showSubResource(call, flat ? { results: shown } : shown, ONE_METHODS, { version });
      }
      changeableParent(store, call, resource, id);
      const removes = call.method === "DELETE";
      const value = removes ? null : await body(call);
      return runInTurn(
        store,
        call,
        removes ? "delete" : "update",
        (writing) => {
          const rid = records.find(sub, resource, changeableParent(store, call, resource, id), own);
          const { deleted, version } = writing.current(sub, rid);
          if (deleted === 1) throw new Problem("not_found", "Not found.");
          checkVersion(call, Number(version));
          if (removes) writing.markDeleted(sub, rid, call.actor);
          else
            records.change(writing, sub, rid, value, {
              actor: call.actor,
              mode: call.method === "PUT" ? "replace" : "merge",
            });
          return rid;
        },
        (rid) =>
          removes ? respond(null, 204, "", { Allow: ONE_METHODS }) : showOne(call, rid, 200, ONE_METHODS),
      );
    };

    const path = `${ROOT}${resource.segment}/:id/${what}/`;
    const id = inPath("id", `Identifier of the ${resource.name}.`);
    const own = inPath("attached", `Identifier of one of the ${what}.`);
    const flat = inQuery("response_format", 'flat: the answer is wrapped as {"results": …}.');
    const { list: lists, add: adds, body: about } = docs;
    const security = [{ token: [] }];
    const listed = {
      type: "object",
      required: ["results"],
      properties: { results: { type: "array", items: shownAs } },
    };
    const sends = (change: boolean) => ({
      required: true,
      description: about,
      content: content(sentSchema(sub, change)),
    });
    const changed = detail({
      summary: `Change one of the ${what}: ${resource.segment}`,
      security,
      parameters: [id, own, flat, ...DRY_RUN, ...MATCH],
      requestBody: sends(true),
      responses: {
        ...answered(200, "As stored.", shownAs),
        ...refused(400, 401, 403, 404, 409, 412, 413, 415),
      },
    });
    const onePath = `${path}:attached/`;
    app
      .get(path, list, {
        detail: detail({
          summary: `${lists}: ${resource.segment}`,
          parameters: [id, ...SUB_RESOURCE_PARAMETERS, ...NONE_MATCH],
          responses: { ...answered(200, "All of them.", listed), ...refused(400, 401, 404) },
        }),
      })
      .post(path, list, {
        parse: "none",
        detail: detail({
          summary: `${adds}: ${resource.segment}`,
          description: about,
          security,
          parameters: [id, flat, ...DRY_RUN, ...ONCE],
          requestBody: sends(false),
          responses: {
            ...answered(201, "As stored.", shownAs),
            ...answered(200, "Of a dry run: what would change.", PREVIEW),
            ...refused(400, 401, 403, 404, 409, 413, 415, 422),
          },
        }),
      })
      .get(onePath, one, {
        detail: detail({
          summary: `One of the ${what}: ${resource.segment}`,
          parameters: [id, own, flat, ...SUB_RESOURCE_PARAMETERS, ...NONE_MATCH],
          responses: { ...answered(200, "As stored.", shownAs), ...refused(400, 401, 404) },
        }),
      })
      .put(onePath, one, { parse: "none", detail: changed })
      .patch(onePath, one, { parse: "none", detail: changed })
      .delete(onePath, one, {
        parse: "none",
        detail: detail({
          summary: `Remove one of the ${what}: ${resource.segment}`,
          description: "It stays in the database; `deleted=true` shows it.",
          security,
          parameters: [id, own, ...DRY_RUN, ...MATCH],
          responses: {
            204: { description: "Done." },
            ...answered(200, "Of a dry run: what would change.", PREVIEW),
            ...refused(401, 403, 404, 409, 412),
          },
        }),
      });
    const segments = [resource.segment, ...(resource.aliases ?? [])];
    for (const segment of segments)
      for (const end of ["", "/"]) {
        app.all(`${ROOT}${segment}/:id/${what}${end}`, list, HIDDEN);
        app.all(`${ROOT}${segment}/:id/${what}/:attached${end}`, one, HIDDEN);
      }
    addHistoryOf(app, history, {
      paths: segments.map((segment) => `${segment}/:id/${what}/:attached/`),
      parameters: [id, own],
      what: `one of the ${what}: ${resource.segment}`,
      restored: shownAs,
      subject: (params) => ({
        resource: sub,
        find: (call) => {
          const rid = store.reader.find(resource, params.id ?? "", and(), call.actor);
          if (rid === undefined) throw new Problem("not_found", "Not found.");
          return records.find(sub, resource, rid, params.attached ?? "");
        },
        show: (call, rid) => showOne(call, rid, 200, ONE_METHODS),
      }),
    });
  }
}
