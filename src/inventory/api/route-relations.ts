import type { Elysia } from "elysia";
import type { Answers } from "./respond.ts";
import { content, detail, inPath, inQuery, refusalsOf } from "./route-description.ts";
import { fieldValues } from "../records/field-values.ts";
import { LocationTree } from "../records/location-tree.ts";
import { and, compare, ALIVE } from "../model/condition.ts";
import { type Json, KINDS } from "../model/field.ts";
import { parameterProblem, parsePath } from "../model/filter.ts";
import { type Listing, parseListing } from "../model/listing.ts";
import { fieldAt } from "../model/resource.ts";
import { listParameters } from "../model/schema.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { annotatedWith, countReferring, fieldsReferringTo } from "../records/references.ts";
import { DECLARED, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { type Call, respond, ROOT } from "./response.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";

const METHODS = "GET, HEAD, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;
/** Referring records that are named, of each field. */
const NAMED = 5;
/** Records that a list of ids names. */
const LISTED = 100;
const MOST_VALUES = 100;
const NODES = 200;
const MOST_NODES = 1000;

/** Records of one list that refer by one field, or by annotations of one type. */
interface ReferenceSummary {
  segment: string;
  field: string | null;
  annotation: string | null;
  total: number;
  list: string | null;
  records: Json;
}

type Context = { request: Request; params: Record<string, string | null> };

/** How records hang together: what refers to one, which values a field has, what lies in what. */
export function addRelations(app: Elysia, answers: Answers, store: Store): void {
  const { reader, statements } = store;
  const told = (json: Json): Response =>
    respond(JSON.stringify(json), 200, MEDIA_TYPES.json, { Allow: METHODS });
  const begin = (request: Request): Call | Response => {
    const call = answers.begin(request, METHODS);
    return call.method === "OPTIONS" ? respond(null, 204, "", { Allow: METHODS }) : call;
  };

  const references =
    (resource: RoutedResource) =>
    ({ request, params }: Context): Response => {
      const call = begin(request);
      if (call instanceof Response) return call;
      const { actor, base } = call;
      const rid = reader.find(resource, params.id ?? "", ALIVE, actor);
      if (rid === undefined) throw new Problem("not_found", "Not found.");
      const named = ({ key, ...from }: RoutedResource, rids: readonly number[]): Json =>
        reader
          .records(
            { key, ...from },
            { format: undefined, shape: "flat", fields: ["id", key] },
            actor,
            rids.slice(0, NAMED),
            { base, format: undefined },
          )
          .values.map((record) => ({ id: record.id, name: record[key] }));
      const byField = fieldsReferringTo(DECLARED, resource).flatMap((from): ReferenceSummary[] => {
        const total = countReferring(statements, { resources: DECLARED, actor }, from, [rid]).get(rid) ?? 0;
        if (total === 0) return [];
        const { key, segment } = from.resource;
        const listing: Listing = {
          format: undefined,
          shape: "flat",
          fields: ["id", key],
          condition: and(ALIVE, compare([from.field, "rid"], "==", rid)),
          order: [{ path: [key], descending: false }],
          page: 1,
          size: NAMED,
          ignored: [],
        };
        const records = named(from.resource, reader.list(from.resource, listing, actor).rids);
        const list = `${base}${segment}/?${from.field}=${encodeURIComponent(params.id ?? "")}`;
        return [{ segment, field: from.field, annotation: null, total, list, records }];
      });
      const id = String(KINDS.uuid.parse(params.id ?? ""));
      const byAnnotation = annotatedWith(statements, DECLARED, resource, id, actor).map(
        (from): ReferenceSummary => {
          const { segment } = from.resource;
          const all = reader.records(
            from.resource,
            { format: undefined, shape: "flat", fields: ["id"] },
            actor,
            from.rids.slice(0, LISTED + 1),
            { base, format: undefined },
          ).values;
          // No filter looks into annotations: the list of these very records.
          const list =
            all.length > LISTED
              ? null
              : `${base}${segment}/?id=${all.map((record) => String(record.id)).join("&id=")}`;
          const records = named(from.resource, from.rids);
          return {
            segment,
            field: null,
            annotation: from.annotation,
            total: from.rids.length,
            list,
            records,
          };
        },
      );
      const results = [...byField, ...byAnnotation];
      const total = results.reduce((sum, each) => sum + each.total, 0);
      return told({ total, results: results as unknown as Json });
    };

  const values =
    (resource: RoutedResource) =>
    ({ request }: Context): Response => {
      const call = begin(request);
      if (call instanceof Response) return call;
      const parameters = new URLSearchParams(call.url.searchParams);
      const typed = parameters.get("field") ?? "";
      parameters.delete("field");
      const path = parsePath(DECLARED, resource, typed);
      if ("error" in path) throw parameterProblem("field", path.error);
      const field = fieldAt(DECLARED, resource, path)!;
      const { condition } = parseListing(DECLARED, resource, parameters, call.actor);
      const found = fieldValues(
        statements,
        DECLARED,
        resource,
        path,
        field,
        condition,
        call.actor,
        MOST_VALUES,
      );
      return told({ field: typed, more: found.more, results: found.values as unknown as Json });
    };

  for (const resource of RESOURCES) {
    const { segment, name } = resource;
    app
      .get(`${ROOT}${segment}/:id/references/`, references(resource), {
        detail: detail({
          summary: `What refers to one of ${segment}`,
          description: "By list and field: how many records, and the first of them by name.",
          parameters: [inPath("id", `Identifier of the ${name}.`)],
          responses: { ...ok("What refers to it.", REFERENCES), ...refusals(401, 404) },
        }),
      })
      .get(`${ROOT}${segment}/values/`, values(resource), {
        detail: detail({
          summary: `Values of a field in ${segment}`,
          description: `With the filters of the list. The most frequent first, at most ${MOST_VALUES}.`,
          parameters: [
            { ...inQuery("field", "A field, or a span over references."), required: true },
            ...listParameters(DECLARED, resource).filter(({ name: known }) => !NOT_FILTERS.has(known)),
          ],
          responses: { ...ok("Values, and how many records have them.", VALUES), ...refusals(400, 401) },
        }),
      });
    for (const prefix of [segment, ...(resource.aliases ?? [])])
      for (const end of ["", "/"]) {
        app.all(`${ROOT}${prefix}/:id/references${end}`, references(resource), HIDDEN);
        app.all(`${ROOT}${prefix}/values${end}`, values(resource), HIDDEN);
      }
  }

  const locations = new LocationTree(statements, reader, DECLARED);
  const tree = ({ request }: Context): Response => {
    const call = begin(request);
    if (call instanceof Response) return call;
    const { searchParams } = call.url;
    const typed = searchParams.get("of") ?? "";
    const page = whole(searchParams, "page", 1, Number.MAX_SAFE_INTEGER);
    const size = whole(searchParams, "page_size", NODES, MOST_NODES);
    if (typed === "")
      return told({
        path: [],
        contents: [],
        levels: json(locations.inside(undefined, page, size, call.actor)),
      });
    const [segment, id] = typed.split("/");
    const resource = locations.levels.get(segment);
    if (!resource || KINDS.uuid.parse(id ?? "") === undefined)
      throw parameterProblem(
        "of",
        `Expected <list>/<id>; lists: ${[...locations.levels.keys()].join(", ")}.`,
      );
    const rid = reader.find(resource, id, ALIVE, call.actor);
    if (rid === undefined) throw new Problem("not_found", "Not found.");
    return told({
      path: json(locations.path(resource, rid, call.actor)),
      contents: json(locations.contents(resource, rid, call.actor)),
      levels: json(locations.inside({ resource, rid }, page, size, call.actor)),
    });
  };
  app.get(`${ROOT}locations/tree/`, tree, {
    detail: detail({
      summary: "What lies in what",
      description:
        "Places, the equipment in them, locations in either and in each other: the way to a thing, what lies in it, and how many records it holds besides.",
      parameters: [
        inQuery(
          "of",
          "`<list>/<id>` of a place, a piece of equipment or a location; nothing: what lies nowhere.",
        ),
        inQuery("page", "Page number from 1, of each list."),
        inQuery("page_size", `How many of each list; ${NODES} by default, up to ${MOST_NODES}.`),
      ],
      responses: { ...ok("A part of the tree.", TREE), ...refusals(400, 401, 404) },
    }),
  });
  for (const end of ["", "/"]) app.all(`${ROOT}locations/tree${end}`, tree, HIDDEN);
}

const json = (value: object): Json => value as unknown as Json;

function whole(parameters: URLSearchParams, name: string, usual: number, most: number): number {
  const typed = parameters.get(name);
  if (typed === null) return usual;
  if (!/^[1-9]\d{0,8}$/.test(typed) || Number(typed) > most)
    throw parameterProblem(name, `Expected a whole number from 1${most < 1e9 ? ` to ${most}` : ""}.`);
  return Number(typed);
}

const ok = (description: string, schema: object) => ({ 200: { description, content: content(schema) } });
const MEANINGS: Record<number, string> = {
  400: "A parameter is wrong or unknown; it is named.",
  404: "No such record, or none that the caller may view.",
};
const refusals = refusalsOf(MEANINGS);
const text = { type: "string" };
const count = { type: "integer" };
/** Parameters of a list that say how it is shown, and not what is in it. */
const NOT_FILTERS = new Set([
  "format",
  "response_format",
  "fields",
  "page",
  "page_size",
  "ordering",
  "as_of",
  "strict",
  "explain",
]);
const object = (properties: Record<string, object>) => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});
const list = (properties: Record<string, object>) => ({ type: "array", items: object(properties) });
const ID = { oneOf: [text, count] };
const REFERENCES = object({
  total: count,
  results: list({
    segment: text,
    field: { ...text, nullable: true, description: "By which they refer; null: by annotations." },
    annotation: { ...text, nullable: true, description: "Name of the type of these annotations." },
    total: count,
    list: {
      ...text,
      nullable: true,
      description: `Address of the list of all of them; null for more than ${LISTED} by annotations.`,
    },
    records: list({ id: ID, name: text }),
  }),
});
const VALUES = object({
  field: text,
  more: { type: "boolean", description: "Whether there are further values." },
  results: list({
    value: { description: "What a filter on the field takes; null: none." },
    label: { description: "Of a reference, the name; null where the caller may not view the record." },
    total: count,
  }),
});
const NODE = { segment: text, id: text, name: text };
const TREE = object({
  path: { ...list(NODE), description: "The way from the outermost to the thing itself." },
  contents: {
    ...list({ segment: text, field: text, total: count }),
    description: "Other records in it, by list and field.",
  },
  levels: list({
    segment: text,
    total: count,
    results: list({ ...NODE, inside: count, contents: count }),
  }),
});
