import { type TSchema, Type } from "typebox";
import {
  changesSchema,
  creationSchema,
  inQuery,
  listParameters,
  listSchema,
  metadata,
  makeNouns,
  OTHER_FILTERS,
  type Parameter,
  recordSchema,
  schemaName,
  valueSchema,
} from "../model/schema.ts";
import { nullable } from "../../platform/schema.ts";
import { exampleId } from "../model/example.ts";
import { withAnnotations } from "../model/annotation-type.ts";
import { KINDS } from "../model/field.ts";
import { resolve } from "../records/resolver.ts";
import { DECLARED, PEOPLE, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { isBareList } from "../resources/dropbox.ts";
import { type Call, findRequested, mayChange, noSuchRecord, respondJson } from "./call.ts";
import { toListCall, SEARCH } from "./list-search.ts";
import { hasLargeBody, isHeavyList, isHeavyRead, isHeavyWrite } from "./heavy-request.ts";
import type { Operation, Path, Run } from "./operation.ts";
import type { Api } from "./api.ts";
import { bareList, listRecords, readRecord } from "./read-records.ts";
import { showValue } from "./render.ts";
import { content, optional, rendered } from "./schema.ts";
import { createRecords, deleteRecords, updateRecords, writeRecord } from "./write-records.ts";
import { Problem } from "../../problem.ts";

/** The root of the API, the resolver, and the operations of every resource. */
export function addRecords(api: Api): void {
  addRoot(api);
  addResolver(api);
  for (const resource of RESOURCES) {
    addCollection(api, resource);
    addItem(api, resource);
    addBulkDelete(api, resource);
  }
}

function addRoot(api: Api): void {
  const segments = [...RESOURCES, ...Object.values(PEOPLE)].map(({ segment }) => segment);
  api.add("GET", "", {
    summary: "List resources",
    returns: content(Type.Record(Type.String(), Type.String())),
    run: ({ call }) =>
      showValue(call, Object.fromEntries(segments.map((segment) => [segment, `${call.base}${segment}/`]))),
  });
  // As Django REST framework describes it.
  const description = { name: "Api Root", description: "The URLs of all lists." };
  const types = { renders: ["application/json"], parses: ["application/json"] };
  api.add("OPTIONS", "", { run: () => respondJson({ ...description, ...types }) });
  api.add("GET", "version/", {
    summary: "Get the API version",
    returns: content(Type.Object({ version: Type.String() })),
    run: () => respondJson({ version: "v2" }),
  });
}

/** Finds records by id or name, as clients of LabID do. */
function addResolver(api: Api): void {
  const members = ["id", "name", "model_type", "model_name", "app_name"];
  const returns = content(
    Type.Object(Object.fromEntries(members.map((name) => [name, nullable(Type.String())])), {
      $id: "Resolved",
      description: "The record; all fields are null if nothing is found.",
    }),
  );
  const find = ({ actor, store }: Call, given: string, byName: boolean): Response =>
    respondJson(resolve(store.statements, { resources: DECLARED, actor }, RESOURCES, given, byName));
  api.add("GET", "resolver/", {
    summary: "Find a record by id or name",
    query: Type.Object({
      query: optional("An id, or a complete name, which is looked up in each list.", "Freezer 1"),
    }),
    returns,
    run: ({ call, query }) => find(call, query.query ?? "", true),
  });
  api.add("GET", "resolver/:id/", {
    summary: "Find a record by id",
    returns,
    run: ({ call, params }) => find(call, params.id, false),
  });
}

const RENDERINGS = ["format", "response_format", "fields"];
const RECORD_PARAMETERS = [...RENDERINGS, "deleted", "strict", "explain", "as_of"];

/** List parameters of these names; by default the parameters of every response with records. */
export const listRecordParameters = (
  resource: RoutedResource,
  names: readonly string[] = RENDERINGS,
): Parameter[] => listParameters(DECLARED, resource).filter(({ name }) => names.includes(name));

function addCollection(api: Api, resource: RoutedResource): void {
  const { one, many } = makeNouns(resource);
  const list = api.add("GET", [resource, ""], {
    summary: `List ${many}`,
    description: resource.summary,
    parameters: () => listParameters(DECLARED, resource),
    parses: true,
    returns: () => rendered(listSchema(DECLARED, resource)),
    heavy: ({ call }) => isHeavyList(call, resource),
    run: ({ call }) => bareList(call, resource) ?? listRecords(call, resource),
  });
  addSearch(api, [resource, SEARCH], resource, { list });
  api.add("POST", [resource, ""], {
    summary: `Create ${one}`,
    description: "A list of objects creates several records, or none; the response lists the errors of each.",
    parameters: () => listRecordParameters(resource),
    accepts: ["dryRun", "several"],
    sends: () => content(creationSchema(DECLARED, resource)),
    status: 201,
    returns: () => rendered(recordSchema(DECLARED, resource)),
    heavy: (_, sent) => hasLargeBody(sent!),
    run: ({ call }) => createRecords(call, resource),
  });
  for (const method of ["PUT", "PATCH"] as const)
    api.add(method, [resource, ""], {
      summary: `${method === "PUT" ? "Replace" : "Update"} ${many} in bulk`,
      description: "Updates all or none. Filters in the URL select records for an object with the changes.",
      parameters: () => [...listRecordParameters(resource), OTHER_FILTERS],
      parses: true,
      accepts: ["dryRun", "several"],
      sends: () => ({
        ...content(updatesSchema(resource)),
        "application/json-patch+json": { schema: JSON_PATCH },
      }),
      returns: () =>
        content(Type.Array(recordSchema(DECLARED, resource), { $id: `${schemaName(resource)}Records` })),
      heavy: ({ call }, sent) => isHeavyWrite(call, sent!),
      run: ({ call }) => updateRecords(call, resource),
    });
  addOptions(api, [resource, ""], resource, ({ actor }) => (actor.user === null ? [] : ["POST"]));
}

/** The response of a search, which is bare as the list is for LabID's client, if no page is requested. */
function listOrBare(resource: RoutedResource): TSchema {
  const list = listSchema(DECLARED, resource);
  const bare = Type.Array(recordSchema(DECLARED, resource));
  return isBareList(resource) ? Type.Union([list, bare], { $id: `${schemaName(resource)}Found` }) : list;
}

/** The body of a bulk change: objects with an id and the fields to change. */
function updatesSchema(resource: RoutedResource): TSchema {
  const { readOnly: _, ...id } = valueSchema(DECLARED, resource, "id") as TSchema & { readOnly?: boolean };
  const [example] = (creationSchema(DECLARED, resource) as { examples?: object[] }).examples!;
  return Type.Array(Type.Intersect([Type.Object({ id }), changesSchema(DECLARED, resource)]), {
    $id: `${schemaName(resource)}Updates`,
    examples: [[{ id: exampleId(resource), ...example }]],
  });
}

/** The list by POST, for parameters that are too long for a URL. */
export function addSearch(
  api: Api,
  path: Path,
  resource: RoutedResource,
  { list, ...options }: { list: Run; signedIn?: true },
): void {
  api.add("POST", path, {
    ...options,
    parses: true,
    summary: `Search ${makeNouns(resource).many}`,
    description: "Returns what GET of the list returns.",
    reads: true,
    sends: content(SEARCHED),
    returns: () => rendered(listOrBare(resource)),
    run: async ({ call }) => list({ call: await toListCall(call), params: {}, query: {}, body: undefined }),
  });
}

const SEARCHED = Type.Object(
  {},
  {
    $id: "Search",
    additionalProperties: true,
    description:
      "Each member is a parameter of the list with its value or a list of values; `query_expression` may be JSON itself.",
    examples: [{ page_size: 5 }],
  },
);

function addItem(api: Api, resource: RoutedResource): void {
  const { one } = makeNouns(resource);
  const path = [resource, ":id/"] as const;
  const returns = () => rendered(recordSchema(DECLARED, resource));
  api.add("GET", path, {
    summary: `Get ${one}`,
    parameters: () => listRecordParameters(resource, RECORD_PARAMETERS),
    parses: true,
    accepts: ["noneMatch"],
    returns,
    heavy: ({ call }) => isHeavyRead(call),
    run: ({ call, params }) => readRecord(call, resource, params.id),
  });
  for (const [method, verb, description] of [
    ["PUT", "Replace", "Omitted optional fields keep their values."],
    ["PATCH", "Update", "Changes the fields in the body, or applies a JSON Patch with paths `/<field>`."],
  ] as const)
    api.add(method, path, {
      summary: `${verb} ${one}`,
      description,
      parameters: () => listRecordParameters(resource),
      accepts: ["dryRun", "match"],
      sends: () =>
        method === "PUT"
          ? content(creationSchema(DECLARED, resource))
          : {
              ...content(changesSchema(DECLARED, resource)),
              "application/json-patch+json": { schema: JSON_PATCH },
            },
      returns,
      run: ({ call, params }) => writeRecord(call, resource, params.id),
    });
  api.add("DELETE", path, {
    summary: `Delete ${one}`,
    description: "The record stays in the database; lists with `deleted=true` show it.",
    accepts: ["dryRun", "match"],
    run: ({ call, params }) => writeRecord(call, resource, params.id),
  });
  api.add("POST", path, {
    unlisted: true,
    accepts: ["dryRun"],
    run({ params }) {
      // Also the address of a list that does not exist, such as assays/<list>/, below an alias.
      if (KINDS[resource.fields.id.kind as "uuid"].parse(params.id) === undefined)
        throw noSuchRecord(resource, params.id);
      const allow = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS";
      throw new Problem("method_not_allowed", `Method "POST" not allowed. Allowed: ${allow}.`, { allow });
    },
  });
  addOptions(api, path, resource, (call, { id }) =>
    mayChange(call, resource, findRequested(call, resource, id, call.store.reader)) ? ["PUT"] : [],
  );
}

const DELETED = Type.Object(
  { deleted: Type.Integer(), ids: Type.Array(Type.String()) },
  { $id: "Deleted", description: "The deleted records." },
);

const IDS = Type.Array(Type.String(), { examples: [[exampleId(RESOURCES[0])]] });

function addBulkDelete(api: Api, resource: RoutedResource): void {
  const remove = {
    summary: "Delete records in bulk",
    description: "Deletes all of the records or none.",
    parameters: [inQuery("id", "Ids, repeated or separated by commas.", IDS), OTHER_FILTERS],
    accepts: ["dryRun", "several"],
    returns: content(DELETED),
    heavy: ({ call }, sent) => isHeavyWrite(call, sent!),
    run: ({ call }) => deleteRecords(call, resource),
  } satisfies Operation;
  const { heavy, run } = remove;
  const other = { heavy, run, parses: true } satisfies Operation;
  api.add("DELETE", [resource, "bulk_delete/"], remove);
  api.add("POST", [resource, "bulk_delete/"], other);
  addOptions(api, [resource, "bulk_delete/"], resource);
  // The specification appends "/bulk_delete/" to the URL of the list, which may already end in a slash.
  for (const method of ["DELETE", "POST"] as const) api.add(method, [resource, "/bulk_delete/"], other);
}

/** Metadata in response to OPTIONS, with the fields for the methods that the caller may use. */
export function addOptions(
  api: Api,
  path: Path,
  resource: RoutedResource,
  methodsFor: (call: Call, params: Record<string, string>) => string[] = () => [],
): void {
  api.add("OPTIONS", path, {
    signedIn: typeof path === "string",
    run({ call, params }) {
      const { actor, store } = call;
      const named = withAnnotations(store.resources, resource, actor);
      return respondJson(metadata(store.resources, named, methodsFor(call, params)));
    },
  });
}

/** RFC 6902. */
const JSON_PATCH = Type.Array(
  Type.Object({
    op: Type.Enum(["add", "remove", "replace", "move", "copy", "test"]),
    path: Type.String(),
    from: Type.Optional(Type.String()),
    value: Type.Optional(Type.Unknown()),
  }),
  { $id: "JsonPatch" },
);
