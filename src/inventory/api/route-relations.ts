import { Type } from "typebox";
import { ALIVE, and, compare } from "../model/condition.ts";
import { KINDS } from "../model/field.ts";
import { withAnnotations } from "../model/annotation-type.ts";
import { parseListPath } from "../model/annotation-filter.ts";
import { parameterProblem } from "../model/filter.ts";
import { FIRST_PAGE, type Listing, parseListing, RIGHTS_PARAMETERS } from "../model/listing.ts";
import { listParameter, OTHER_FILTERS } from "../model/list-parameters.ts";
import { nullable } from "../../platform/schema.ts";
import { fieldValues } from "../records/field-values.ts";
import { LocationTree } from "../records/location-tree.ts";
import { countAnnotated, countReferring, fieldsReferringTo } from "../records/references.ts";
import { DECLARED, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { type Call, findRecord, respondJson } from "./call.ts";
import { inList } from "./mount-operations.ts";
import { operation } from "../../platform/operation.ts";
import { isLarge } from "./heavy-request.ts";
import { SPACE } from "./route-slots.ts";
import { COUNT, optional, TEXT } from "./schema.ts";

/** Records named for each referring field. */
const MAX_NAMED = 5;
/** Ids in the URL of a list of annotated records. */
const MAX_LISTED = 100;
const MAX_VALUES = 100;
const DEFAULT_NODES = 200;
const MAX_NODES = 1000;

/** Records inside one, at any depth. */
const MAX_BELOW = 5000;

const NODE = { segment: TEXT, id: TEXT, name: TEXT };
const TREE_NODE = {
  ...NODE,
  model_type: optional("Of equipment, such as FREEZER."),
  grid_rows: Type.Optional(nullable(COUNT)),
};

const described = (description: string) => Type.String({ description });
const SUMMARY = Type.Object({
  segment: TEXT,
  field: nullable(described("The referring field; null for annotations.")),
  annotation: nullable(described("Name of the annotation type; null for fields.")),
  total: COUNT,
  list: nullable(
    described(
      `URL of all referring records; null if more than ${MAX_LISTED} annotations of types without a filter refer to the record.`,
    ),
  ),
  records: Type.Array(Type.Object({ id: Type.Union([TEXT, COUNT]), name: TEXT })),
});
export type ReferenceSummary = Type.Static<typeof SUMMARY>;
const REFERENCES = Type.Object({ total: COUNT, results: Type.Array(SUMMARY) }, { $id: "References" });

const VALUES = Type.Object(
  {
    field: TEXT,
    more: Type.Boolean({ description: "Whether the field has more values than listed." }),
    results: Type.Array(
      Type.Object({
        value: Type.Unknown({
          description: "The value in the form that filters accept; null for records without a value.",
        }),
        label: Type.Unknown({
          description:
            "Name of the referenced record; null if the caller may not view it. Otherwise the value.",
        }),
        total: COUNT,
      }),
    ),
  },
  { $id: "FieldValues" },
);

const TREE = Type.Object(
  {
    path: Type.Array(Type.Object(TREE_NODE), {
      description: "Nodes from the outermost to the requested one.",
    }),
    contents: Type.Array(Type.Object({ segment: TEXT, field: TEXT, total: COUNT }), {
      description: "Other records stored in the node, by list and field.",
    }),
    below: Type.Optional(
      nullable(
        Type.Array(
          Type.Object({
            ...NODE,
            inside: Type.String({ description: "Id of the node directly around it." }),
            grid_rows: nullable(COUNT),
            grid_columns: nullable(COUNT),
            box_capacity: nullable(COUNT),
            space: SPACE,
          }),
        ),
        { description: `All nodes inside, with their own slots; null if there are more than ${MAX_BELOW}.` },
      ),
    ),
    levels: Type.Array(
      Type.Object({
        segment: TEXT,
        total: COUNT,
        results: Type.Array(Type.Object({ ...TREE_NODE, inside: COUNT, contents: COUNT, space: SPACE })),
      }),
    ),
  },
  { $id: "LocationTree" },
);

export type Branch = Type.Static<typeof TREE>;

/** References to a record, values of a field, and the tree of places, equipment and locations. */
export const relationOperations = () => [
  ...RESOURCES.flatMap((resource) =>
    inList(resource, [
      operation("GET /api/v2/:list/:id/references/", {
        access: "anyone",
        summary: "List references to a record",
        description: `Counts the referring records by list and field, and names the first ${MAX_NAMED} of each.`,
        returns: REFERENCES,
        heavy: (_, call: Call) => isLarge(call, "annotation"),
        run({ params }, call: Call) {
          const results = [
            ...countByField(call, resource, params.id),
            ...countByAnnotation(call, resource, params.id),
          ];
          return respondJson({ total: results.reduce((sum, each) => sum + each.total, 0), results });
        },
      }),
      operation("GET /api/v2/:list/values/", {
        access: "anyone",
        summary: "List field values",
        description: `The ${MAX_VALUES} most frequent values; accepts the filters of the list.`,
        query: Type.Object({
          field: Type.String({
            description: "A field, or a span over references.",
            examples: [resource.key],
          }),
        }),
        parameters: [
          ...["query_expression", "deleted", ...RIGHTS_PARAMETERS].map(listParameter),
          OTHER_FILTERS,
        ],
        returns: VALUES,
        heavy: (_, call: Call) => isLarge(call, resource.table),
        run: ({ query }, call: Call) => sendValues(call, resource, query.field),
      }),
    ]),
  ),
  operation("GET /api/v2/locations/tree/", {
    access: "anyone",
    summary: "Browse the location tree",
    description: "Places contain equipment and locations; equipment and locations contain further locations.",
    query: Type.Object({
      of: optional(
        "`<list>/<id>` of a place, a piece of equipment or a location; by default the outermost level.",
      ),
      page: Type.Optional(Type.Integer({ minimum: 1, description: "Page number of each level, from 1." })),
      page_size: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_NODES,
          description: `Nodes of each level per page; ${DEFAULT_NODES} by default.`,
        }),
      ),
      below: Type.Optional(Type.Boolean({ description: "true: also the nodes at any depth below `of`." })),
    }),
    returns: TREE,
    heavy: (_, call: Call) => isLarge(call, "location"),
    run({ query: { of = "", page = 1, page_size: size = DEFAULT_NODES, below } }, call: Call) {
      const { actor, store } = call;
      const tree = new LocationTree(store.statements, store.reader, DECLARED);
      if (of === "")
        return respondJson({ path: [], contents: [], levels: tree.inside(undefined, page, size, actor) });
      const [segment, id] = of.split("/");
      const resource = tree.levels.get(segment);
      if (!resource || KINDS.uuid.parse(id ?? "") === undefined)
        throw parameterProblem("of", `Expected <list>/<id>. Lists: ${[...tree.levels.keys()].join(", ")}.`);
      const rid = findRecord(call, resource, id);
      return respondJson({
        path: tree.path(resource, rid, actor),
        contents: tree.contents(resource, rid, actor),
        ...(below ? { below: tree.below(resource, rid, MAX_BELOW, actor) } : {}),
        levels: tree.inside({ resource, rid }, page, size, actor),
      });
    },
  }),
];

/** Ids and names of the first of these records, as people know them. */
function named({ store, actor }: Call, resource: RoutedResource, rids: readonly number[]) {
  const title = resource.fields[resource.key].form?.derivedFrom ?? resource.key;
  return store.reader
    .values(resource, ["id", title], actor, rids.slice(0, MAX_NAMED))
    .map((record) => ({ id: record.id as string | number, name: record[title] as string }));
}

function countByField(call: Call, to: RoutedResource, id: string): ReferenceSummary[] {
  const { actor, base, store } = call;
  const rid = findRecord(call, to, id);
  return fieldsReferringTo(DECLARED, to).flatMap((from) => {
    const total = countReferring(store.statements, { resources: DECLARED, actor }, from, [rid]).get(rid) ?? 0;
    if (total === 0) return [];
    const { resource, field } = from;
    const { key, segment } = resource;
    const listing: Listing = {
      ...FIRST_PAGE,
      condition: and(ALIVE, compare([field, "rid"], "==", rid)),
      order: [{ path: [key], descending: false }],
      size: MAX_NAMED,
    };
    const records = named(call, resource, store.reader.list(resource, listing, actor).rids);
    const list = `${base}${segment}/?${field}=${encodeURIComponent(id)}`;
    return [{ segment, field, annotation: null, total, list, records }];
  });
}

function countByAnnotation(call: Call, to: RoutedResource, id: string): ReferenceSummary[] {
  const { actor, base, store } = call;
  const uuid = String(KINDS.uuid.parse(id));
  return countAnnotated(store.statements, DECLARED, to, uuid, actor).map(
    ({ resource, annotation, filter, rids }) => {
      const { segment } = resource;
      const values = store.reader.values(resource, ["id"], actor, rids.slice(0, MAX_LISTED + 1));
      // Without a filter, the URL lists the ids themselves.
      const ids = values.map((record) => String(record.id)).join("&id=");
      const listed = values.length > MAX_LISTED ? null : `${base}${segment}/?id=${ids}`;
      const list = filter === undefined ? listed : `${base}${segment}/?${filter}=${uuid}`;
      const records = named(call, resource, rids);
      return { segment, field: null, annotation, total: rids.length, list, records };
    },
  );
}

function sendValues({ url, actor, store }: Call, resource: RoutedResource, name: string): Response {
  const parameters = new URLSearchParams(url.searchParams);
  parameters.delete("field");
  const { resources } = store;
  const path = parseListPath(resources, withAnnotations(resources, resource, actor), name, "count");
  if ("error" in path) throw parameterProblem("field", path.error);
  const { condition } = parseListing(resources, resource, parameters, actor);
  const { values, more } = fieldValues(store.statements, { resources, actor }, resource, path, {
    condition,
    maximum: MAX_VALUES,
  });
  return respondJson({ field: name, more, results: values });
}
