import { Type } from "typebox";
import {
  LOOKUP_NOTE,
  bodySchema,
  listParameters,
  listSchema,
  metadata,
  nullable,
  recordSchema,
  valueSchema,
} from "../model/schema.ts";
import { KINDS } from "../model/field.ts";
import { resolve } from "../records/resolver.ts";
import { DECLARED, PEOPLE, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { type Call, findRequested, mayChange, noSuchRecord, respondJson } from "./call.ts";
import { redirectOfFilterForm, submitListForm, submitRecordForm } from "./form-request.ts";
import { listCallOf, SEARCH } from "./list-search.ts";
import { hasLargeBody, isHeavyList, isHeavyRead, isHeavyWrite } from "./heavy-request.ts";
import { negotiate } from "./negotiation.ts";
import {
  type Api,
  inQuery,
  type Operation,
  type Parameter,
  type Path,
  type Run,
} from "./operation-plugin.ts";
import { listRecords, readRecord } from "./read-records.ts";
import { showRoot } from "./render.ts";
import { isForm } from "./request-body.ts";
import { content, optional } from "./schema.ts";
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
    summary: "List the resources",
    returns: content(Type.Record(Type.String(), Type.String())),
    run({ call }) {
      const { base, request, url } = call;
      const requested = url.searchParams.get("format") === "api" ? "api" : undefined;
      const isPage = negotiate(requested, request.headers.get("accept")) === "api";
      const lists = segments.map((segment) => [segment, `${base}${segment}/${isPage ? "?format=api" : ""}`]);
      const value = Object.fromEntries(lists) as Record<string, string>;
      return isPage ? showRoot(call, value) : respondJson(value);
    },
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
      description: "All fields are null if nothing is found.",
    }),
  );
  const find = ({ actor, store }: Call, given: string, byName: boolean): Response =>
    respondJson(resolve(store.statements, { resources: DECLARED, actor }, RESOURCES, given, byName));
  api.add("GET", "resolver/", {
    summary: "Find a record by id or name",
    query: Type.Object({ query: optional("An id, or a complete name, which is looked up in each list.") }),
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

/** List parameters of these names; by default those that every response with records accepts. */
export const parametersOf = (resource: RoutedResource, names: readonly string[] = RENDERINGS): Parameter[] =>
  listParameters(DECLARED, resource).filter(({ name }) => names.includes(name));

function addCollection(api: Api, resource: RoutedResource): void {
  const { segment, summary } = resource;
  const record = recordSchema(DECLARED, resource);
  const changes = bodySchema(DECLARED, resource, true);
  const id = valueSchema(DECLARED, "id", resource.fields.id);
  const renderings = parametersOf(resource);
  const list = api.add("GET", [resource, ""], {
    summary: `List ${segment}`,
    description: `${summary} ${LOOKUP_NOTE}`,
    parameters: listParameters(DECLARED, resource),
    returns: content(listSchema(DECLARED, resource)),
    errors: [406, 503],
    heavy: ({ call }) => isHeavyList(call, resource),
    run: ({ call }) => redirectOfFilterForm(call) ?? listRecords(call, resource),
  });
  addSearch(api, [resource, SEARCH], resource, { list });
  api.add("POST", [resource, ""], {
    summary: `Create records in ${segment}`,
    description:
      'The body may be wrapped as {"results": …}. A list of objects creates several records, or none if any is invalid: ' +
      "the response then lists the errors of each object.",
    parameters: renderings,
    accepts: ["dryRun", "once"],
    sends: content(bodySchema(DECLARED, resource, false)),
    status: 201,
    returns: content(record),
    errors: [406, 503],
    heavy: (_, sent) => hasLargeBody(sent!),
    run: ({ call }) =>
      isForm(call.request) ? submitListForm(call, resource) : createRecords(call, resource),
  });
  for (const method of ["PUT", "PATCH"] as const)
    api.add(method, [resource, ""], {
      summary: `${method === "PUT" ? "Replace" : "Update"} several records in ${segment}`,
      description:
        "Updates all of the records or none. PUT requires the required fields of every record, PATCH only those that " +
        'change. The body may also be a JSON Patch with paths `/<id>/<field>`, `{"ids": […], "patch": […]}` with paths ' +
        '`/<field>`, or `{"items": [ids], <field>: <value>}`. To update all records that the filters in the URL or in ' +
        '`{"filters": {…}}` select, send the fields to change or a `patch`.',
      parameters: renderings,
      accepts: ["dryRun"],
      sends: content(Type.Array({ allOf: [Type.Object({ id }), changes] } as never)),
      returns: content(Type.Array(record)),
      errors: [406, 503],
      heavy: ({ call }, sent) => isHeavyWrite(call, sent!),
      run: ({ call }) => updateRecords(call, resource),
    });
  addOptions(api, [resource, ""], resource, ({ actor }) => (actor.user === null ? [] : ["POST"]));
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
    summary: `Search ${resource.segment}`,
    description:
      "Returns the list that GET returns for the same parameters. Each member is a parameter with its value or a list of values; `query_expression` may be JSON itself. Changes nothing: anonymous callers and read-only tokens may send it.",
    reads: true,
    sends: content(SEARCHED),
    returns: content(listSchema(DECLARED, resource)),
    errors: [406, 413, 415, 503],
    run: async ({ call }) => list({ call: await listCallOf(call), params: {}, query: {}, body: undefined }),
  });
}

const SEARCHED = Type.Object({}, { additionalProperties: true, description: "The parameters of the list." });

function addItem(api: Api, resource: RoutedResource): void {
  const { segment } = resource;
  const path = [resource, ":id/"] as const;
  const returns = content(recordSchema(DECLARED, resource));
  const renderings = parametersOf(resource);
  const changes = content(bodySchema(DECLARED, resource, true));
  api.add("GET", path, {
    summary: `Get a record in ${segment}`,
    parameters: parametersOf(resource, RECORD_PARAMETERS),
    accepts: ["noneMatch"],
    returns,
    errors: [406, 503],
    heavy: ({ call }) => isHeavyRead(call),
    run: ({ call, params }) => readRecord(call, resource, params.id),
  });
  for (const [method, verb, description] of [
    ["PUT", "Replace", "Requires all required fields. Omitted optional fields keep their values."],
    ["PATCH", "Update", "Changes the fields in the body, or applies a JSON Patch with paths `/<field>`."],
  ] as const)
    api.add(method, path, {
      summary: `${verb} a record in ${segment}`,
      description,
      parameters: renderings,
      accepts: ["dryRun", "match"],
      sends:
        method === "PUT"
          ? content(bodySchema(DECLARED, resource, false))
          : { ...changes, "application/json-patch+json": { schema: JSON_PATCH } },
      returns,
      errors: [406],
      run: ({ call, params }) => writeRecord(call, resource, params.id),
    });
  api.add("DELETE", path, {
    summary: `Delete a record in ${segment}`,
    description: "The record stays in the database; lists with `deleted=true` show it.",
    accepts: ["dryRun", "match"],
    errors: [406],
    run: ({ call, params }) => writeRecord(call, resource, params.id),
  });
  api.add("POST", path, {
    unlisted: true,
    run({ call, params }) {
      // Also the address of a list that does not exist, such as assays/<list>/, below an alias.
      if (KINDS[resource.fields.id.kind as "uuid"].parse(params.id) === undefined)
        throw noSuchRecord(resource, params.id);
      if (isForm(call.request)) return submitRecordForm(call, resource, params.id);
      const allow = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS";
      throw new Problem("method_not_allowed", `Method "POST" not allowed. Allowed: ${allow}.`, { allow });
    },
  });
  addOptions(api, path, resource, (call, { id }) =>
    mayChange(call, resource, findRequested(call, resource, id, call.store.reader)) ? ["PUT"] : [],
  );
}

function addBulkDelete(api: Api, resource: RoutedResource): void {
  const remove = {
    summary: `Delete several records in ${resource.segment}`,
    description: "Deletes all of the records or none, selected by ids or by the filters of the list.",
    parameters: [inQuery("id", "Ids, repeated or separated by commas.", Type.Array(Type.String()))],
    accepts: ["dryRun"],
    returns: content(Type.Object({ deleted: Type.Integer(), ids: Type.Array(Type.String()) })),
    errors: [413, 415, 503],
    heavy: ({ call }, sent) => isHeavyWrite(call, sent!),
    run: ({ call }) => deleteRecords(call, resource),
  } satisfies Operation;
  const { heavy, run } = remove;
  api.add("DELETE", [resource, "bulk_delete/"], remove);
  api.add("POST", [resource, "bulk_delete/"], { heavy, run });
  addOptions(api, [resource, "bulk_delete/"], resource);
  // The specification appends "/bulk_delete/" to the URL of the list, which may already end in a slash.
  for (const method of ["DELETE", "POST"] as const)
    api.add(method, [resource, "/bulk_delete/"], { heavy, run });
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
    run: ({ call, params }) => respondJson(metadata(DECLARED, resource, methodsFor(call, params))),
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
);
