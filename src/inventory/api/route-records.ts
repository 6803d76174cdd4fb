import { type TSchema, Type } from "typebox";
import { inQuery, listParameters, OTHER_FILTERS } from "../model/list-parameters.ts";
import { changesSchema, creationSchema, makeNouns, schemaName, type SentFields } from "../model/schema.ts";
import {
  anyOf,
  type JsonRecord,
  listSchema,
  recordAnswer,
  type RecordPage,
  recordsAnswer,
} from "../model/record-schema.ts";
import { nullable } from "../../platform/schema.ts";
import { operation, type OperationKey, type Parameters } from "../../platform/operation.ts";
import { describeList, type ListDescription } from "../model/metadata.ts";
import { exampleId } from "../model/example.ts";
import { withAnnotations } from "../model/annotation-type.ts";
import { KINDS } from "../model/field.ts";
import { resolve } from "../records/resolver.ts";
import { DECLARED, PEOPLE, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { isBareList } from "../resources/dropbox.ts";
import { type Call, findRequested, mayChange, recordNotFound, respondJson } from "./call.ts";
import { toListCall, SEARCH } from "./list-search.ts";
import { hasLargeBody, isHeavyList, isHeavyRead, isHeavyWrite } from "./heavy-request.ts";
import { inList } from "./mount-operations.ts";
import { DRY_RUN, type Filters, IF_MATCH, IF_NONE_MATCH, SEVERAL } from "./parameters.ts";
import { LIST_EXPLANATION, RECORD_EXPLANATION } from "./explanation.ts";
import { bareList, listRecords, readRecord } from "./read-records.ts";
import { showValue } from "./render.ts";
import { content, optional, RENDERED_CONTENT } from "./schema.ts";
import { createRecords, deleteRecords, updateRecords, writeRecord } from "./write-records.ts";
import { Problem } from "../../problem.ts";

/** The root of the API, the resolver, and the operations of every resource. */
export const recordOperations = () => [
  ...rootOperations(),
  ...resolverOperations(),
  ...RESOURCES.flatMap((resource) =>
    inList(resource, [
      ...collectionOperations(resource),
      ...itemOperations(resource),
      ...bulkDeleteOperations(resource),
    ]),
  ),
];

function rootOperations() {
  const segments = [...RESOURCES, ...Object.values(PEOPLE)].map(({ segment }) => segment);
  return [
    operation("GET /api/v2/", {
      access: "anyone",
      summary: "List resources",
      returns: Type.Record(Type.String(), Type.String()),
      run: (_, call: Call) =>
        showValue(call, Object.fromEntries(segments.map((segment) => [segment, `${call.base}${segment}/`]))),
    }),
    operation("OPTIONS /api/v2/", {
      access: "anyone",
      summary: "Describe the root",
      hidden: true,
      run: () =>
        // The metadata in the form of Django REST framework.
        respondJson({
          name: "Api Root",
          description: "The URLs of all lists.",
          renders: ["application/json"],
          parses: ["application/json"],
        }),
    }),
    operation("GET /api/v2/version/", {
      access: "anyone",
      summary: "Get the API version",
      returns: Type.Object({ version: Type.String() }),
      run: () => respondJson({ version: "v2" }),
    }),
  ];
}

/** Finds records by id or name, as clients of LabID do. */
function resolverOperations() {
  const members = ["id", "name", "model_type", "model_name", "app_name"];
  const returns = Type.Object(Object.fromEntries(members.map((name) => [name, nullable(Type.String())])), {
    $id: "Resolved",
    description: "The record; all fields are null if nothing is found.",
  });
  const find = ({ actor, store }: Call, given: string, byName: boolean): Response =>
    respondJson(resolve(store.statements, { resources: DECLARED, actor }, RESOURCES, given, byName));
  return [
    operation("GET /api/v2/resolver/", {
      access: "anyone",
      summary: "Find a record by id or name",
      query: Type.Object({
        query: optional("An id, or a complete name, which is looked up in each list.", "Freezer 1"),
      }),
      returns,
      run: ({ query }, call: Call) => find(call, query.query ?? "", true),
    }),
    operation("GET /api/v2/resolver/:id/", {
      access: "anyone",
      summary: "Find a record by id",
      returns,
      run: ({ params }, call: Call) => find(call, params.id, false),
    }),
  ];
}

const RENDERINGS = ["format", "response_format", "fields"];
const RECORD_PARAMETERS = [...RENDERINGS, "deleted", "strict", "explain", "as_of"];

/** List parameters of these names; by default the parameters of every response with records. */
export const listRecordParameters = (
  resource: RoutedResource,
  names: readonly string[] = RENDERINGS,
): Parameters<Filters> => listParameters(DECLARED, resource).filter(({ name }) => names.includes(name));

/** The address of each list. */
const LIST = "/api/v2/:list/";

function collectionOperations(resource: RoutedResource) {
  const { one, many } = makeNouns(resource);
  const list = (call: Call) => bareList(call, resource) ?? listRecords(call, resource);
  const update = (method: "PUT" | "PATCH") =>
    operation(`${method} /api/v2/:list/`, {
      access: "signedIn",
      summary: `${method === "PUT" ? "Replace" : "Update"} ${many} in bulk`,
      description: "All of the records or none.",
      parses: true,
      parameters: [() => listRecordParameters(resource), [OTHER_FILTERS], DRY_RUN, SEVERAL],
      sends: () => ({
        ...content(updatesSchema(resource)),
        "application/json-patch+json": { schema: JSON_PATCH },
      }),
      returns: () => recordsAnswer(DECLARED, resource),
      heavy: (_, call: Call, sent) => isHeavyWrite(call, sent!),
      run: (_, call: Call) => updateRecords(call, resource),
    });
  return [
    operation("GET /api/v2/:list/", {
      access: "anyone",
      summary: `List ${many}`,
      description: resource.summary,
      parses: true,
      parameters: [(): Parameters<Filters> => listParameters(DECLARED, resource)],
      returns: () => listAnswer(resource),
      formats: RENDERED_CONTENT,
      heavy: (_, call: Call) => isHeavyList(call, resource),
      run: (_, call: Call) => list(call),
    }),
    searchOperation(LIST, resource, "anyone", list),
    operation("POST /api/v2/:list/", {
      access: "signedIn",
      summary: `Create ${one}`,
      description: "A list creates all or none.",
      parameters: [() => listRecordParameters(resource), DRY_RUN, SEVERAL],
      sends: () => content(newRecordsSchema(resource)),
      status: 201,
      returns: () => createdAnswer(resource),
      formats: RENDERED_CONTENT,
      heavy: (_, _call: Call, sent) => hasLargeBody(sent!),
      run: (_, call: Call) => createRecords(call, resource),
    }),
    update("PUT"),
    update("PATCH"),
    optionsOperation(LIST, resource, "anyone", ({ actor }) => (actor.user === null ? [] : ["POST"])),
  ];
}

/** A page of a list, or its explanation. LabID's client gets bare records if it requests no page. */
export function listAnswer(resource: RoutedResource) {
  const bare = isBareList(resource) ? [recordsAnswer(DECLARED, resource)] : [];
  const $id = `${schemaName(resource)}ListAnswer`;
  return anyOf<RecordPage>($id, listSchema(DECLARED, resource), LIST_EXPLANATION, ...bare);
}

/** The answer to a creation: one record, or several. */
function createdAnswer(resource: RoutedResource) {
  const several = recordsAnswer(DECLARED, resource);
  return anyOf<JsonRecord>(`${schemaName(resource)}Created`, recordAnswer(DECLARED, resource), several);
}

/** The body of a creation: one record, or several. */
function newRecordsSchema(resource: RoutedResource): TSchema {
  const created = creationSchema(DECLARED, resource);
  const { examples } = created as { examples?: object[] };
  return Type.Union([created, Type.Array(created)], {
    $id: `${schemaName(resource)}OrSeveral`,
    examples: examples!,
  });
}

const IDENTIFIED = Type.Object({ id: Type.String({ format: "uuid" }) }, { $id: "Identified" });
const NUMBERED = Type.Object({ id: Type.Integer() }, { $id: "Numbered" });

/** The body of a bulk change: objects with an id and the fields to change, or the fields for all records that the URL selects. */
function updatesSchema(resource: RoutedResource): TSchema {
  const isUuid = resource.fields.id.kind === "uuid";
  const [example] = (creationSchema(DECLARED, resource) as { examples?: object[] }).examples!;
  const changes = changesSchema(DECLARED, resource);
  return Type.Union([Type.Array(Type.Intersect([isUuid ? IDENTIFIED : NUMBERED, changes])), changes], {
    $id: `${schemaName(resource)}Updates`,
    examples: [[{ id: exampleId(resource), ...example }]],
  });
}

/** The list by POST, for parameters that are too long for a URL. */
export const searchOperation = <const Path extends `/${string}`>(
  path: Path,
  resource: RoutedResource,
  access: "anyone" | "signedIn",
  list: (call: Call) => Response | Promise<Response>,
) =>
  operation(`POST ${path}${SEARCH}`, {
    access,
    parses: true,
    summary: `Search ${makeNouns(resource).many}`,
    description: "Like GET of the list.",
    reads: true,
    sends: content(SEARCH_BODY),
    returns: () => listAnswer(resource),
    formats: RENDERED_CONTENT,
    run: async (_, call: Call) => list(await toListCall(call)),
  });

const SEARCH_BODY = Type.Object(
  {},
  {
    $id: "Search",
    additionalProperties: true,
    description:
      "Each member is a parameter of the list with its value or a list of values; `query_expression` may be JSON itself.",
    examples: [{ page_size: 5 }],
  },
);

/** The address of each record. */
const RECORD = "/api/v2/:list/:id/";

function itemOperations(resource: RoutedResource) {
  const { one } = makeNouns(resource);
  const returns = () => recordAnswer(DECLARED, resource);
  const ofOne = {
    access: "signedIn",
    parameters: [() => listRecordParameters(resource), DRY_RUN, IF_MATCH],
  } as const;
  const write = ({ params }: { params: { id: string } }, call: Call) =>
    writeRecord(call, resource, params.id);
  return [
    operation("GET /api/v2/:list/:id/", {
      access: "anyone",
      summary: `Get ${one}`,
      parses: true,
      parameters: [() => listRecordParameters(resource, RECORD_PARAMETERS), IF_NONE_MATCH],
      returns: () => anyOf<JsonRecord>(`${schemaName(resource)}Read`, returns(), RECORD_EXPLANATION),
      formats: RENDERED_CONTENT,
      heavy: (_, call: Call) => isHeavyRead(call),
      run: ({ params }, call: Call) => readRecord(call, resource, params.id),
    }),
    operation("PUT /api/v2/:list/:id/", {
      ...ofOne,
      summary: `Replace ${one}`,
      description: "Omitted fields keep their values.",
      sends: () => content(creationSchema(DECLARED, resource)),
      returns,
      formats: RENDERED_CONTENT,
      run: write,
    }),
    operation("PATCH /api/v2/:list/:id/", {
      ...ofOne,
      summary: `Update ${one}`,
      description: "Changes the given fields, or applies a JSON Patch.",
      sends: () => ({
        ...content(changesSchema(DECLARED, resource)),
        "application/json-patch+json": { schema: JSON_PATCH },
      }),
      returns,
      formats: RENDERED_CONTENT,
      run: write,
    }),
    operation("DELETE /api/v2/:list/:id/", {
      access: "signedIn",
      summary: `Delete ${one}`,
      description: "`deleted=true` still shows it.",
      parameters: [DRY_RUN, IF_MATCH],
      run: write,
    }),
    operation("POST /api/v2/:list/:id/", {
      access: "signedIn",
      summary: "Refuse what only a list takes",
      hidden: true,
      unlisted: true,
      parameters: [DRY_RUN],
      run({ params }) {
        // Also the address of a list that does not exist, such as assays/<list>/, below an alias.
        if (KINDS[resource.fields.id.kind as "uuid"].parse(params.id) === undefined)
          throw recordNotFound(resource, params.id);
        const allow = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS";
        throw new Problem("method_not_allowed", `Method "POST" not allowed. Allowed: ${allow}.`, { allow });
      },
    }),
    optionsOperation(RECORD, resource, "anyone", (call, { id }) =>
      mayChange(call, resource, findRequested(call, resource, id, call.store.reader)) ? ["PUT"] : [],
    ),
  ];
}

const DELETED_RECORDS = Type.Object(
  { deleted: Type.Integer(), ids: Type.Array(Type.String()) },
  { $id: "Deleted", description: "The deleted records." },
);

const IDS = Type.Array(Type.String(), { examples: [[exampleId(RESOURCES[0])]] });
/** Ids or filters in a body, instead of parameters. */
const NAMED = Type.Unsafe<{ ids?: readonly string[]; filters?: SentFields }>(Type.Object({}));
const DELETION: Parameters<Filters> = [
  inQuery("id", "Ids, repeated or separated by commas.", IDS),
  OTHER_FILTERS,
];

function bulkDeleteOperations(resource: RoutedResource) {
  const other = <const Key extends OperationKey>(key: Key) =>
    operation(key, {
      access: "signedIn",
      summary: "Delete records in bulk, by other addresses",
      hidden: true,
      parses: true,
      parameters: [DELETION],
      sends: content(NAMED),
      returns: DELETED_RECORDS,
      heavy: (_, call: Call, sent) => isHeavyWrite(call, sent!),
      run: (_, call: Call) => deleteRecords(call, resource),
    });
  return [
    operation("DELETE /api/v2/:list/bulk_delete/", {
      access: "signedIn",
      summary: "Delete records in bulk",
      description: "Deletes all of the records or none.",
      parameters: [DELETION, DRY_RUN, SEVERAL],
      returns: DELETED_RECORDS,
      heavy: (_, call: Call, sent) => isHeavyWrite(call, sent!),
      run: (_, call: Call) => deleteRecords(call, resource),
    }),
    other("POST /api/v2/:list/bulk_delete/"),
    optionsOperation("/api/v2/:list/bulk_delete/", resource, "anyone"),
    // The specification appends "/bulk_delete/" to the URL of the list, which may already end in a slash.
    other("DELETE /api/v2/:list//bulk_delete/"),
    other("POST /api/v2/:list//bulk_delete/"),
  ];
}

const DESCRIPTION = Type.Unsafe<ListDescription>(Type.Record(Type.String(), Type.Unknown()));

/** Metadata in response to OPTIONS, with the fields for the methods that the caller may use. */
export const optionsOperation = <const Path extends `/${string}`>(
  path: Path,
  resource: RoutedResource,
  access: "anyone" | "signedIn",
  methodsFor: (call: Call, params: Record<string, string>) => string[] = () => [],
) =>
  operation(`OPTIONS ${path}`, {
    access,
    summary: `Describe the fields of ${makeNouns(resource).many}`,
    hidden: true,
    returns: DESCRIPTION,
    run({ params }, call: Call) {
      const { actor, store } = call;
      const named = withAnnotations(store.resources, resource, actor);
      return respondJson(
        describeList(store.resources, named, methodsFor(call, params as Record<string, string>)),
      );
    },
  });

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
