import type { DocumentDecoration, Elysia } from "elysia";
import { type Answers, unwrap } from "./answer.ts";
import { ALIVE } from "./bulk.ts";
import { type Json, quoted } from "./model/field.ts";
import { PROBLEM_SCHEMA } from "./model/schema.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { readJson } from "./request-body.ts";
import { RESOURCES, type Routed } from "./resources/index.ts";
import { type Call, respond, ROOT } from "./response.ts";
import { openSharing, readWish, showSharing } from "./sharing.ts";
import type { Store } from "./store.ts";
import { fieldProblem, forbidden } from "./writing.ts";
import { Problem } from "../problem.ts";

const ONE_METHODS = "GET, PUT, PATCH, HEAD, OPTIONS";
const SEVERAL_METHODS = "PUT, PATCH, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;
/** Records that are shared at once. */
const MOST = 10_000;

type Context = { request: Request; params: Record<string, string | null> };

/** Who has which rights on a record: `<segment>/<id>/permissions/`, and `<segment>/permissions/` for several. */
export function addSharing(app: Elysia, answers: Answers, store: Store, maxMessageBytes: number): void {
  const { statements } = store;
  const body = async ({ request }: Call): Promise<Json> => unwrap(await readJson(request, maxMessageBytes));
  const modeOf = (call: Call) => (call.method === "PUT" ? ("replace" as const) : ("merge" as const));
  const find = (call: Call, resource: Routed, id: string): number | undefined =>
    store.reading.find(resource, id, ALIVE, call.actor);

  const one =
    (resource: Routed) =>
    async ({ request, params }: Context): Promise<Response> => {
      const call = answers.beginKnown(request, ONE_METHODS);
      const rid = find(call, resource, params.id ?? "");
      if (rid === undefined) throw new Problem("not_found", "Not found.");
      const mayChange = () => store.reading.rights(resource, call.actor, [rid]).get(rid)?.change === true;
      if (!mayChange()) throw forbidden();
      if (call.method === "PUT" || call.method === "PATCH") {
        const value = await body(call);
        store.write(
          (writing) => {
            // While the body was read, the record may have changed hands.
            if (find(call, resource, params.id ?? "") !== rid) throw new Problem("not_found", "Not found.");
            const wish = readWish(statements, value);
            openSharing(statements, writing).set(resource, rid, wish, modeOf(call), call.actor);
          },
          { kind: "update" },
        );
      }
      // Whoever gives the own right away is told no more.
      if (call.method === "OPTIONS" || !mayChange()) return respond(null, 204, "", { Allow: ONE_METHODS });
      const shown = showSharing(statements, resource, rid);
      return respond(JSON.stringify(shown), 200, MEDIA_TYPES.json, { Allow: ONE_METHODS });
    };

  const several =
    (resource: Routed) =>
    async ({ request }: { request: Request }): Promise<Response> => {
      const call = answers.beginKnown(request, SEVERAL_METHODS);
      if (call.method === "OPTIONS") return respond(null, 204, "", { Allow: SEVERAL_METHODS });
      const value = await body(call);
      const wish = readWish(statements, value, ["ids"]);
      const ids = readIds((value as { ids?: Json }).ids);
      store.write(
        (writing) => {
          const sharing = openSharing(statements, writing);
          for (const id of ids) {
            const rid = find(call, resource, id);
            if (rid === undefined) throw new Problem("not_found", `Not found: ${quoted(id)}.`);
            if (!writing.allows(resource, rid, "change", call.actor))
              throw new Problem("forbidden", `You do not have permission to share ${quoted(id)}.`);
            sharing.set(resource, rid, wish, modeOf(call), call.actor);
          }
        },
        { kind: "bulk_update" },
      );
      const json = JSON.stringify({ shared: ids.length, ids });
      return respond(json, 200, MEDIA_TYPES.json, { Allow: SEVERAL_METHODS });
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
    for (const segment of [resource.segment, ...(resource.aliases ?? [])])
      for (const end of ["", "/"]) {
        app.all(`${ROOT}${segment}/:id/permissions${end}`, one(resource), HIDDEN);
        app.all(`${ROOT}${segment}/permissions${end}`, several(resource), HIDDEN);
      }
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

type Detail = DocumentDecoration;
const text = { type: "string" };
const flag = { type: "boolean" };
const object = (properties: Record<string, object>, required: string[]) => ({
  type: "object",
  properties,
  required,
});
const rights = { view: flag, change: flag, delete: flag };
const content = (schema: object) => ({ "application/json": { schema: schema as Record<string, unknown> } });
const list = (properties: Record<string, object>) => ({
  type: "array",
  items: object({ ...properties, ...rights }, [...Object.keys(properties), ...Object.keys(rights)]),
});
const SHOWN = object(
  {
    owner: text,
    owned_by: text,
    public: flag,
    users: list({ id: text, username: text, full_name: text }),
    groups: list({ id: text, name: text }),
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
  401: "Credentials are missing or not valid.",
  403: "The caller may view the record, but not change it.",
  404: "No such record, or none that the caller may view.",
};
const refusals = (...statuses: number[]) =>
  Object.fromEntries(
    statuses.map((status) => [status, { description: MEANINGS[status], content: content(PROBLEM_SCHEMA) }]),
  );

function describeRoutes(
  resource: Routed,
): Record<"show" | "replace" | "merge" | "replaceSeveral" | "mergeSeveral", Detail> {
  const { segment, name } = resource;
  const id = {
    name: "id",
    in: "path",
    required: true,
    description: `Identifier of the ${name}.`,
    schema: text,
  };
  const detail = (value: object): Detail =>
    ({ tags: ["inventory"], security: [{ token: [] }], ...value }) as Detail;
  const one = (summary: string, description: string, sends: boolean): Detail =>
    detail({
      summary,
      description,
      parameters: [id],
      ...(sends ? { requestBody: { required: true, content: content(object(WISH, [])) } } : {}),
      responses: {
        200: { description: "Who has which rights.", content: content(SHOWN) },
        ...(sends ? { 204: { description: "Done, and the caller may not share it any more." } } : {}),
        ...refusals(...(sends ? [400, 401, 403, 404] : [401, 403, 404])),
      },
    });
  const several = (summary: string, description: string): Detail =>
    detail({
      summary,
      description: `${description} All of the records or none.`,
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
        ...refusals(400, 401, 403, 404),
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
