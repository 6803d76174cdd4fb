import { fieldProblem } from "../model/parse-body.ts";
import type { Elysia } from "elysia";
import { type Answers, unwrap } from "./respond.ts";
import type { HistoryAnswers } from "./respond-with-history.ts";
import { runInTurn } from "./respond-to-write.ts";
import { SUB_RESOURCE_PARAMETERS } from "./sub-resource-description.ts";
import { content, type Detail, inPath, refusalsOf, secured } from "./route-description.ts";
import { checkTag, listTag } from "./entity-tag.ts";
import { and, ALIVE } from "../model/condition.ts";
import { type Json, parseUuid, quoted } from "../model/field.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { changeableParent, readableParent, showSubResource } from "./sub-resource-request.ts";
import { readJson } from "./request-body.ts";
import { addHistoryOf } from "./route-history.ts";
import { SUB_RESOURCES, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { type Call, respond, ROOT } from "./response.ts";
import { Sharing, parseSharing, showSharing } from "../records/sharing.ts";
import type { Query } from "../model/operator.ts";
import type { Store } from "../records/store.ts";
import { DRY_RUN, MATCH, NONE_MATCH } from "./write-parameters.ts";
import { forbidden } from "../records/record-writer.ts";
import { Problem } from "../../problem.ts";

const ONE_METHODS = "GET, PUT, PATCH, HEAD, OPTIONS";
const SEVERAL_METHODS = "PUT, PATCH, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;
/** What the routes of rights need. */
export interface SharingOptions {
  answers: Answers;
  store: Store;
  history: HistoryAnswers;
  maxMessageBytes: number;
}

/** Records that are shared at once. */
const MOST = 10_000;

type Context = { request: Request; params: Record<string, string | null> };

/** Who has which rights on a record: `<segment>/<id>/permissions/`, and `<segment>/permissions/` for several. */
export function addSharing(app: Elysia, { answers, store, history, maxMessageBytes }: SharingOptions): void {
  const { statements } = store;
  const body = async ({ request }: Call): Promise<Json> => unwrap(await readJson(request, maxMessageBytes));
  const modeOf = (call: Call) => (call.method === "PUT" ? ("replace" as const) : ("merge" as const));
  const find = (call: Call, resource: RoutedResource, id: string): number | undefined =>
    store.reader.find(resource, id, ALIVE, call.actor);
  const mayChange = (call: Call, resource: RoutedResource, rid: number): boolean =>
    store.reader.rights(resource, call.actor, [rid]).get(rid)?.change === true;

  const show = (call: Call, resource: RoutedResource, rid: number, from: Query): Response => {
    // Whoever gives the own right away is told no more.
    if (!mayChange(call, resource, rid)) return respond(null, 204, "", { Allow: ONE_METHODS });
    return showSubResource(call, showSharing(from, resource, rid), ONE_METHODS);
  };

  const one =
    (resource: RoutedResource) =>
    async ({ request, params }: Context): Promise<Response> => {
      const call = answers.beginKnown(request, ONE_METHODS);
      const id = params.id ?? "";
      if (call.method === "GET" || call.method === "HEAD") {
        const host = readableParent(store, call, resource, id);
        if (!mayChange(call, resource, host.rid)) throw forbidden();
        return show(call, resource, host.rid, host.statements);
      }
      changeableParent(store, call, resource, id);
      if (call.method === "OPTIONS") return respond(null, 204, "", { Allow: ONE_METHODS });
      const value = await body(call);
      return runInTurn(
        store,
        call,
        "update",
        (writing) => {
          // While the body was read, the record may have changed hands.
          const rid = changeableParent(store, call, resource, id);
          checkTag(call, listTag(JSON.stringify(showSharing(statements, resource, rid))));
          const wish = parseSharing(statements, value);
          new Sharing(statements, writing).set(resource, rid, wish, modeOf(call), call.actor);
          return rid;
        },
        (rid) => show(call, resource, rid, statements),
      );
    };

  const several =
    (resource: RoutedResource) =>
    async ({ request }: { request: Request }): Promise<Response> => {
      const call = answers.beginKnown(request, SEVERAL_METHODS);
      if (call.method === "OPTIONS") return respond(null, 204, "", { Allow: SEVERAL_METHODS });
      const value = await body(call);
      const wish = parseSharing(statements, value, ["ids"]);
      const ids = readIds((value as { ids?: Json }).ids);
      return runInTurn(
        store,
        call,
        "bulk_update",
        (writing) => {
          const sharing = new Sharing(statements, writing);
          for (const id of ids) {
            const rid = find(call, resource, id);
            if (rid === undefined) throw new Problem("not_found", `Not found: ${quoted(id)}.`);
            if (!writing.allows(resource, rid, "change", call.actor))
              throw new Problem("forbidden", `You do not have permission to share ${quoted(id)}.`);
            sharing.set(resource, rid, wish, modeOf(call), call.actor);
          }
        },
        () =>
          respond(JSON.stringify({ shared: ids.length, ids }), 200, MEDIA_TYPES.json, {
            Allow: SEVERAL_METHODS,
          }),
      );
    };

  for (const resource of RESOURCES) {
    const docs = describeRoutes(resource);
    const path = `${ROOT}${resource.segment}/`;
    app
      .get(`${path}:id/permissions/`, one(resource), { detail: docs.show })
      .put(`${path}:id/permissions/`, one(resource), { parse: "none", detail: docs.replace })
      .patch(`${path}:id/permissions/`, one(resource), { parse: "none", detail: docs.merge })
      .put(`${path}permissions/`, several(resource), { parse: "none", detail: docs.replaceSeveral })
      .patch(`${path}permissions/`, several(resource), { parse: "none", detail: docs.mergeSeveral });
    const segments = [resource.segment, ...(resource.aliases ?? [])];
    for (const segment of segments)
      for (const end of ["", "/"]) {
        app.all(`${ROOT}${segment}/:id/permissions${end}`, one(resource), HIDDEN);
        app.all(`${ROOT}${segment}/permissions${end}`, several(resource), HIDDEN);
      }
    addHistoryOf(app, history, {
      paths: segments.map((segment) => `${segment}/:id/permissions/:grant/`),
      parameters: [
        inPath("id", `Identifier of the ${resource.name}.`),
        inPath("grant", "Identifier of the right: `grant` in the list, `id` in the history."),
      ],
      what: `a right on one of ${resource.segment}`,
      restored: SHOWN,
      subject: ({ id, grant }) => ({
        resource: SUB_RESOURCES.grant,
        find: (call) => {
          const rid = store.reader.find(resource, id ?? "", and(), call.actor);
          if (rid === undefined) throw new Problem("not_found", "Not found.");
          if (!mayChange(call, resource, rid)) throw forbidden();
          const row = statements.get({
            text: "SELECT rid FROM object_permission WHERE object_kind = ? AND object_rid = ? AND id = ?",
            args: [resource.name, rid, parseUuid(grant ?? "") ?? ""],
          });
          if (!row) throw new Problem("not_found", "Not found.");
          return Number(row.rid);
        },
        show: (call, part) => {
          const row = statements.get({
            text: "SELECT object_rid FROM object_permission WHERE rid = ?",
            args: [part],
          });
          return show(call, resource, Number(row!.object_rid), statements);
        },
      }),
    });
  }
}

/** Each id once. @throws Problem invalid_request, too_large */
function readIds(value: Json | undefined): string[] {
  const given = Array.isArray(value) ? value : [];
  const ids = [...new Set(given.map((id) => String(id).trim().toLowerCase()))];
  if (ids.length === 0) throw fieldProblem(new Map([["ids", ["Expected a list of the records' ids."]]]));
  if (ids.length > MOST)
    throw new Problem("too_large", `${ids.length} records; at most ${MOST} can be shared at once.`);
  return ids;
}

const text = { type: "string" };
const flag = { type: "boolean" };
const object = (properties: Record<string, object>, required: string[]) => ({
  type: "object",
  properties,
  required,
});
const rights = { view: flag, change: flag, delete: flag };
const list = (properties: Record<string, object>) => ({
  type: "array",
  items: object({ ...properties, ...rights }, [...Object.keys(properties), ...Object.keys(rights)]),
});
const SHOWN = object(
  {
    owner: text,
    owned_by: text,
    public: flag,
    users: list({ id: text, username: text, full_name: text, grant: text }),
    groups: list({ id: text, name: text, grant: text }),
  },
  ["owner", "owned_by", "public", "users", "groups"],
);
const wished = (name: string) => ({
  type: "array",
  items: object({ [name]: { ...text, description: "Name or id." }, ...rights }, [name]),
});
const WISH = { public: flag, users: wished("user"), groups: wished("group") };
const MEANINGS: Record<number, string> = {
  400: "A value breaks a rule; the field is named.",
  403: "The caller may view the record, but not change it.",
  404: "No such record, or none that the caller may view.",
  409: "It would come out otherwise than confirmed.",
  412: "If-Match does not name what is there by now.",
};
const refusals = refusalsOf(MEANINGS);

function describeRoutes(
  resource: RoutedResource,
): Record<"show" | "replace" | "merge" | "replaceSeveral" | "mergeSeveral", Detail> {
  const { segment, name } = resource;
  const id = {
    name: "id",
    in: "path",
    required: true,
    description: `Identifier of the ${name}.`,
    schema: text,
  };
  const one = (summary: string, description: string, sends: boolean): Detail =>
    secured({
      summary,
      description,
      parameters: sends ? [id, ...DRY_RUN, ...MATCH] : [id, ...SUB_RESOURCE_PARAMETERS, ...NONE_MATCH],
      ...(sends ? { requestBody: { required: true, content: content(object(WISH, [])) } } : {}),
      responses: {
        200: { description: "Who has which rights.", content: content(SHOWN) },
        ...(sends ? { 204: { description: "Done, and the caller may not share it any more." } } : {}),
        ...refusals(...(sends ? [400, 401, 403, 404, 409, 412] : [400, 401, 403, 404])),
      },
    });
  const several = (summary: string, description: string): Detail =>
    secured({
      summary,
      description: `${description} All of the records or none.`,
      parameters: DRY_RUN,
      requestBody: {
        required: true,
        content: content(object({ ids: { type: "array", items: text }, ...WISH }, ["ids"])),
      },
      responses: {
        200: {
          description: "How many, and which.",
          content: content(
            object({ shared: { type: "integer" }, ids: { type: "array", items: text } }, ["shared", "ids"]),
          ),
        },
        ...refusals(400, 401, 403, 404, 409),
      },
    });
  const all = "The lists that are given are all there is.";
  const some = "Only who is named changes; without any right somebody is taken off the list.";
  return {
    show: one(`Who has rights on one of ${segment}`, "For whoever may change it.", false),
    replace: one(`Set who has rights on one of ${segment}`, all, true),
    merge: one(`Share one of ${segment}`, some, true),
    replaceSeveral: several(`Set who has rights on several of ${segment}`, all),
    mergeSeveral: several(`Share several of ${segment}`, some),
  };
}
