import { namesAnnotation } from "../model/annotation-filter.ts";
import { findAnnotation, withAnnotations } from "../model/annotation-type.ts";
import { isPatch, patchRecord, pointerParts } from "../model/apply-json-patch.ts";
import { type BulkChange, parseBulkChanges, parseFilteredChange } from "../model/bulk-body.ts";
import type { Json } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import {
  checkParameters,
  LIST_PARAMETERS,
  type Listing,
  parseListing,
  RIGHTS_PARAMETERS,
} from "../model/listing.ts";
import type { WriteMode } from "../model/parse-body.ts";
import type { AnnotationType, Resource } from "../model/resource.ts";
import type { PlannedUpdate } from "../records/uniform-update.ts";
import type { RoutedResource } from "../resources/index.ts";
import { writeBatch } from "./batch.ts";
import { type Call, findRecord, asObject, noContent, readBody, respondJson } from "./call.ts";
import { checkVersion } from "./entity-tag.ts";
import { checkRepresentation, showRecord, showRecords } from "./read-records.ts";
import { readJsonBody } from "./request-body.ts";

/** PUT replaces, PATCH merges. */
export const writeMode = ({ method }: Call): Exclude<WriteMode, "create"> =>
  method === "PUT" ? "replace" : "merge";

/** POST to a list: an object, or a list of objects. */
export async function createRecords(call: Call, resource: RoutedResource): Promise<Response> {
  const { actor, store } = call;
  checkRepresentation(call, resource);
  const value = withType(resource, await readBody(call), call.url.searchParams.get("type"));
  if (Array.isArray(value))
    return writeBatch(call, value, {
      kind: "bulk_create",
      work: () => store.bulk.create(resource, value, actor),
      respond: (rids) => showRecords(call, resource, rids, 201),
    });
  return writeBatch(call, value, {
    kind: "create",
    work: (writer) => writer.create(resource, value, actor),
    respond: (rid) => showRecord(call, resource, rid, 201),
  });
}

/** PUT or PATCH of a list. */
export async function updateRecords(call: Call, resource: RoutedResource): Promise<Response> {
  checkRepresentation(call, resource);
  const { actor, store } = call;
  const { changes, plan } = parseChanges(call, resource, await readBody(call));
  const planned = plan && store.statements.reading(plan);
  return writeBatch(call, null, {
    kind: "bulk_update",
    planned: planned?.writes,
    work: () =>
      planned?.write()
        ? [...planned.rids]
        : // In this transaction, filters are evaluated again.
          store.bulk.update(resource, changes(), writeMode(call), actor),
    respond: (rids) => showRecords(call, resource, rids, 200),
  });
}

/** PUT, PATCH or DELETE of a record. */
export async function writeRecord(call: Call, resource: RoutedResource, id: string): Promise<Response> {
  const { actor, method } = call;
  checkRepresentation(call, resource);
  const value = method === "DELETE" ? null : await readBody(call);
  return writeBatch(call, value, {
    kind: method === "DELETE" ? "delete" : "update",
    work(writer) {
      const rid = findRecord(call, resource, id);
      if ("version" in resource.fields) checkVersion(call, Number(writer.current(resource, rid).version));
      if (method === "DELETE") writer.remove(resource, [rid], actor);
      else if (method === "PATCH" && isPatch(value)) {
        const merge = patched(call, resource, rid, value);
        // A patch of tests only writes nothing.
        if (Object.keys(merge).length > 0) writer.update(resource, rid, merge, "merge", actor);
      } else writer.update(resource, rid, value, writeMode(call), actor);
      return rid;
    },
    respond: (rid) => (method === "DELETE" ? noContent() : showRecord(call, resource, rid, 200)),
  });
}

/** Deletes the records that the parameters or the body name by id or filter. */
export async function deleteRecords(call: Call, resource: RoutedResource): Promise<Response> {
  const { actor, store } = call;
  const { searchParams } = call.url;
  const value = await readJsonBody(call);
  const named = readIds(searchParams, value);
  const filters = asObject(asObject(value)?.filters);
  const parameters = filters ? makeParameters(filters) : searchParams;
  const isByFilter = named.length === 0 && isFiltered(parameters);
  if (!isByFilter || filters) checkParameters(searchParams, [...WRITE_PARAMETERS]);
  const find = () => rowsFound(call, resource, parameters);
  const plan = () => store.uniformUpdates.planDeletion(resource, find(), actor);
  const planned = isByFilter ? store.statements.reading(plan) : undefined;
  return writeBatch(call, value, {
    kind: "bulk_delete",
    work() {
      if (planned?.write()) {
        const { rids } = planned;
        return store.bulk.verifyDeleted(resource, rids, listIds(call, resource, rids), actor);
      }
      const ids = isByFilter ? listIds(call, resource, find()) : named;
      return isByFilter && ids.length === 0 ? [] : store.bulk.remove(resource, ids, actor);
    },
    respond: (ids) => respondJson({ deleted: ids.length, ids }),
  });
}

/** The changes of a bulk update, evaluated later where a filter selects the records; and their plan, if there may be one. */
function parseChanges(
  call: Call,
  resource: Resource,
  value: Json,
): { changes: () => BulkChange[]; plan?: () => PlannedUpdate | undefined } {
  const { actor, store, url } = call;
  const { searchParams } = url;
  const filtered = parseFilteredChange(value, isFiltered(searchParams));
  if (!filtered) {
    const changes = parseBulkChanges(value);
    // A filter in the address changes nothing, but a misspelt `dry_run` would.
    readListing(call, resource, searchParams);
    return { changes: () => changes };
  }
  const { filters, body, tests } = filtered;
  const parameters = filters === undefined ? searchParams : makeParameters(filters);
  if (filters) checkParameters(searchParams, [...WRITE_PARAMETERS]);
  if (!isFiltered(parameters))
    throw parameterProblem("filters", 'Give at least one filter. {"deleted": false} selects all records.');
  const find = () => rowsFound(call, resource, parameters);
  return {
    changes: () => listIds(call, resource, find()).map((id) => ({ id, body, tests })),
    plan() {
      const [rids, mode] = [find(), writeMode(call)];
      if (tests.length > 0) return undefined;
      return (
        store.uniformUpdates.plan(resource, rids, body, mode, actor) ??
        (mode === "merge" ? store.uniformAnnotations.plan(resource, rids, body, actor) : undefined)
      );
    },
  };
}

function rowsFound(call: Call, resource: Resource, parameters: URLSearchParams): number[] {
  for (const name of ["page", "page_size"])
    if (parameters.has(name)) throw parameterProblem(name, "Bulk operations apply to all pages.");
  const filters = [...parameters].filter(([name]) => isFilter(name));
  const [first] = filters.every(matchesAll) ? filters : [];
  if (first)
    throw parameterProblem(first[0], "An empty filter selects all records. Use deleted=false for that.");
  const listing = readListing(call, resource, parameters);
  return call.store.reader.list(resource, { ...listing, page: 1, size: "max" }, call.actor).rids;
}

/** @throws Problem invalid_request for unknown parameters */
const readListing = ({ actor, store }: Call, resource: Resource, parameters: URLSearchParams): Listing =>
  parseListing(
    store.resources,
    resource,
    new URLSearchParams([...parameters].filter(([name]) => isFilter(name))),
    actor,
  );

const listIds = ({ actor, store }: Call, resource: Resource, rids: readonly number[]): string[] =>
  store.reader.values(resource, ["id"], actor, rids).map(({ id }) => String(id));

function patched(
  { actor, store }: Call,
  resource: Resource,
  rid: number,
  operations: Json[],
): { [name: string]: Json } {
  const own = Object.keys(resource.fields).filter((name) => resource.fields[name].shown !== "internal");
  const annotations = listAnnotationNames(withAnnotations(store.resources, resource, actor), operations);
  const fields = [...own, ...annotations.keys()];
  const [record] = store.reader.values(resource, fields, actor, [rid], annotations);
  const writable = fields.filter((name) => annotations.has(name) || resource.fields[name].write !== "never");
  return patchRecord(record, new Set(writable), operations);
}

/** The annotations that a JSON Patch names, with their types. */
function listAnnotationNames(resource: Resource, operations: readonly Json[]): Map<string, AnnotationType> {
  const pointers = operations.map(asObject).flatMap((operation) => [operation?.path, operation?.from]);
  const found = new Map<string, AnnotationType>();
  for (const [name] of pointers.flatMap((pointer) => [pointerParts(pointer) ?? [""]])) {
    const named = namesAnnotation(resource, name) ? findAnnotation(resource, name) : undefined;
    if (named && "type" in named && named.rest.length === 0) found.set(name, named.type);
  }
  return found;
}

/** Parameters of bulk operations that are not filters. */
const WRITE_PARAMETERS = new Set(["dry_run", "changes", "confirm", "id", "ids", "explain", "strict"]);
const FILTERS = new Set<string>(["query_expression", "deleted", ...RIGHTS_PARAMETERS]);

const isFilter = (name: string): boolean =>
  !WRITE_PARAMETERS.has(name) && (FILTERS.has(name) || !Object.hasOwn(LIST_PARAMETERS, name));

/** True if a bulk operation selects records by filters. */
export const isFiltered = (parameters: URLSearchParams): boolean => [...parameters.keys()].some(isFilter);

/** True if a filter matches every record, as that of a script whose variable is empty. */
const matchesAll = ([name, value]: [string, string]): boolean =>
  value.trim() === "" &&
  /^(name|description|query|query_expression)$|__i?(contains|startswith|endswith)$/.test(name);

function makeParameters(filters: { [name: string]: Json }): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    const values = Array.isArray(value) && name !== "query_expression" ? value : [value];
    for (const item of values)
      parameters.append(name, typeof item === "object" ? JSON.stringify(item) : String(item));
  }
  return parameters;
}

/**
 * The ids of a bulk deletion, without duplicates: parameters `id` or `ids`, repeated or separated by commas, optionally
 * with `id=` in front (`?id=<id_1>,id=<id_2>`, as in the specification); or a body that is a list or {"ids": […]}.
 */
function readIds(parameters: URLSearchParams, body: Json): string[] {
  const fromQuery = ["id", "ids"].flatMap((name) => parameters.getAll(name)).join(",");
  const listed = asObject(body)?.ids ?? body;
  const given = (Array.isArray(listed) ? listed : []).map((item) => {
    const members = asObject(item);
    return String(members ? (members.id ?? "") : item);
  });
  const ids = [...fromQuery.split(","), ...given].map((id) => id.trim().replace(/^ids?=/, ""));
  return [...new Set(ids.map((id) => id.toLowerCase()).filter((id) => id !== ""))];
}

/** The type that LabID's client sends for records that have none. */
const NO_TYPE = "DEFAULT";

/** The body with the model type that the parameter or the member `type` names, where it has none itself. */
function withType({ fields }: Resource, body: Json, parameter: string | null): Json {
  const members = asObject(body);
  if (!members) return body;
  const { type, ...others } = members;
  const named = asObject(type)?.name ?? type;
  if (!("type" in fields)) return named === NO_TYPE ? others : body;
  const given = parameter ?? named;
  const applies = fields.type.write === "never" && "model_type" in fields && !("model_type" in members);
  return applies && typeof given === "string" && given !== NO_TYPE ? { ...members, model_type: given } : body;
}
