import { type TProperties, type TSchema, type TUnsafe, Type } from "typebox";
import { ALIVE, and, compare, not, or } from "../model/condition.ts";
import { type Json, type JsonObject, KINDS } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { LIMITS } from "../model/limits.ts";
import { isFileFormat, parseListing, RIGHTS_PARAMETERS } from "../model/listing.ts";
import { type PageInfo, pageInfo } from "../model/page.ts";
import { isGuarded, type Resource } from "../model/resource.ts";
import { makeLabel } from "../model/metadata.ts";
import type { JsonRecord } from "../model/record-schema.ts";
import { makeNouns, schemaName, type SentFields } from "../model/schema.ts";
import { nullable } from "../../platform/schema.ts";
import {
  type DeletedFilter,
  type ReadableParent,
  type RecordSource,
  SubResourceRecords,
} from "../records/sub-resources.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Store } from "../records/store.ts";
import { DECLARED, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { listMembers, type SubResource } from "../resources/sub-resource.ts";
import { writeBatch } from "./batch.ts";
import {
  type Call,
  findAny,
  findChangeable,
  requestUrl,
  mayChange,
  noContent,
  notFound,
  readBody,
  respondJson,
} from "./call.ts";
import { checkVersion } from "./entity-tag.ts";
import { isHeavyRead } from "./heavy-request.ts";
import { inList } from "./mount-operations.ts";
import { DRY_RUN, FILTERS, FLAT, IF_MATCH, IF_NONE_MATCH, PAGE_FORMAT, PAGING, PAST } from "./parameters.ts";
import { operation } from "../../platform/operation.ts";
import { warnIgnored } from "./read-records.ts";
import { showValue } from "./render.ts";
import { historyOperationsBelow } from "./route-history.ts";
import { content, HTML, INSTANT, pageSchema, TEXT } from "./schema.ts";
import { capitalized } from "../../platform/words.ts";

const RECORD_INFO = {
  created: INSTANT,
  created_by: TEXT,
  modified: INSTANT,
  modified_by: TEXT,
  deleted: Type.Boolean(),
  deleted_date: nullable(INSTANT),
  deleted_by: nullable(TEXT),
  version: Type.Integer({ description: "Number of writes." }),
};

/** `<segment>/<id>/annotations/`, `notes/` and so on, for every resource whose records have owners. */
export const subResourceOperations = (store: Store) =>
  RESOURCES.filter(isGuarded).flatMap((parent) =>
    store.subResources
      .filter(({ docs }) => docs)
      .flatMap((sub) =>
        inList(parent, [...partListOperations(parent, sub), ...partOperations(parent, sub)], sub.segment),
      ),
  );

function partListOperations(parent: RoutedResource, sub: SubResource) {
  const shown = shownSchema(sub);
  const { list, add: create, body: example } = sub.docs!;
  return [
    operation("GET /api/v2/:list/:id/:part/", {
      access: "anyone",
      summary: `${list} of a record`,
      parameters: [FILTERS, PAGING, PAST, PAGE_FORMAT, IF_NONE_MATCH],
      returns: pageSchema(shown),
      formats: HTML,
      heavy: (_, call: Call) => isHeavyRead(call),
      run({ params }, call: Call) {
        const { page, results, headers } = sendList(call, sub, parent, params.id);
        return showValue(call, { ...page, results }, { headers });
      },
    }),
    operation("POST /api/v2/:list/:id/:part/", {
      access: "signedIn",
      summary: `${create} to a record`,
      description: example,
      parameters: [FLAT, DRY_RUN],
      sends: content(sentSchema(sub, false)),
      status: 201,
      returns: shown,
      async run({ params }, call: Call) {
        // Checked before the body is read and again in the transaction, because permissions may change meanwhile.
        findChangeable(call, parent, params.id);
        const body = await readBody(call);
        return writeBatch(call, body, {
          kind: "create",
          work: (writer) => {
            const rid = findChangeable(call, parent, params.id);
            return openRecords(call).create(writer, sub, { resource: parent, rid }, body, call);
          },
          respond: (rid) => showOne(call, sub, rid, 201),
        });
      },
    }),
    operation("OPTIONS /api/v2/:list/:id/:part/", {
      access: "anyone",
      summary: `Describe the fields of ${sub.segment}`,
      hidden: true,
      run: ({ params }, call: Call) => describeOptions(call, parent, params.id, sub, "POST"),
    }),
  ];
}

/** Parameters of lists of records that concern rights or renderings, which these lists do not have. */
const UNSUPPORTED: readonly string[] = [...RIGHTS_PARAMETERS, "fields", "explain"];

/**
 * One page of the sub-resources of a record, filtered and ordered like a list; by default up to 1,000 of them.
 * @param parameters those of the request, without those that name the parent
 */
export function sendList(
  call: Call,
  sub: SubResource,
  parent: RoutedResource,
  id: string,
  parameters = new URLSearchParams(call.url.searchParams),
): { page: PageInfo; results: JsonObject[]; headers: Record<string, string> } {
  const source = readableParent(call, parent, id);
  parameters.delete("as_of");
  for (const name of UNSUPPORTED)
    if (parameters.has(name))
      throw parameterProblem(name, `Lists of ${sub.segment} do not have this parameter.`);
  const listing = parseListing(DECLARED, sub, parameters, source.actor);
  if (isFileFormat(listing.format)) throw parameterProblem("format", "Choices: json, api.");
  const { max } = LIMITS.rows;
  const size = parameters.has("page_size") && listing.size !== "max" ? listing.size : max;
  const of = { resource: parent, source };
  const unseen = call.store.history.deletedBeforeVisible(
    sub,
    { resource: parent, rid: source.rid },
    call.actor,
  );
  const seen = not(or(...unseen.map((rid) => compare(["rid"], "==", rid))));
  const condition = and(listing.condition, seen);
  const found = openRecords(call).list(sub, of, { ...listing, condition, size }, call.base);
  if (parameters.has("page_size") && listing.size === "max" && found.total > max)
    throw parameterProblem(
      "page_size",
      `max returns at most ${max} ${sub.segment}. Request pages: page_size=${max}&page=1.`,
    );
  const page = pageInfo(requestUrl(call), call.url.searchParams, found.current, found.total, size);
  return { page, results: found.results, headers: warnIgnored(listing.ignored) };
}

function partOperations(parent: RoutedResource, sub: SubResource) {
  const name = `${makeNouns(sub).one} of a record`;
  const returns = shownSchema(sub);
  const write = (call: Call, params: { id: string; sub_id: string }, mode?: "replace" | "merge") => {
    findChangeable(call, parent, params.id);
    return (body: Json) =>
      writeBatch(call, body, {
        kind: mode ? "update" : "delete",
        work(writer) {
          const owner = findChangeable(call, parent, params.id);
          const rid = openRecords(call).find(sub, parent, owner, params.sub_id);
          checkCurrent(call, writer, sub, rid);
          if (mode) openRecords(call).change(writer, sub, rid, body, { actor: call.actor, mode });
          else writer.markDeleted(sub, rid, call.actor);
          return rid;
        },
        respond: (rid) => (mode ? showOne(call, sub, rid, 200) : noContent()),
      });
  };
  const change = (method: "PUT" | "PATCH", mode: "replace" | "merge", verb: string) =>
    operation(`${method} /api/v2/:list/:id/:part/:sub_id/`, {
      access: "signedIn",
      summary: `${verb} ${name}`,
      parameters: [FLAT, DRY_RUN, IF_MATCH],
      sends: content(sentSchema(sub, true)),
      returns,
      run: async ({ params }, call: Call) => write(call, params, mode)(await readBody(call)),
    });
  return [
    operation("GET /api/v2/:list/:id/:part/:sub_id/", {
      access: "anyone",
      summary: `Get ${name}`,
      parameters: [FLAT, PAST, PAGE_FORMAT, IF_NONE_MATCH],
      returns,
      formats: HTML,
      heavy: (_, call: Call) => isHeavyRead(call),
      run({ params }, call: Call) {
        const source = readableParent(call, parent, params.id);
        const rid = openRecords(call).find(sub, parent, source.rid, params.sub_id);
        requireVisible(call, sub, { resource: parent, rid: source.rid }, rid);
        return showOne(call, sub, rid, 200, source);
      },
    }),
    change("PUT", "replace", "Replace"),
    change("PATCH", "merge", "Update"),
    operation("DELETE /api/v2/:list/:id/:part/:sub_id/", {
      access: "signedIn",
      summary: `Delete ${name}`,
      parameters: [DRY_RUN, IF_MATCH],
      run: ({ params }, call: Call) => write(call, params)(null),
    }),
    operation("OPTIONS /api/v2/:list/:id/:part/:sub_id/", {
      access: "anyone",
      summary: `Describe the fields of ${makeNouns(sub).one}`,
      hidden: true,
      run: ({ params }, call: Call) => describeOptions(call, parent, params.id, sub, "PUT"),
    }),
    ...historyOperationsBelow("/api/v2/:list/:id/:part/:sub_id/", {
      name,
      resource: sub,
      restored: returns,
      find: (call, params) =>
        openRecords(call).find(sub, parent, findAny(call, parent, params.id), params.sub_id),
      show: (call, rid) => showOne(call, sub, rid, 200),
    }),
  ];
}

/** Checks that a record of a sub-resource exists in a requested version. @throws Problem */
export function checkCurrent(call: Call, writer: RecordWriter, sub: SubResource, rid: number): void {
  const { deleted, version } = writer.current(sub, rid);
  if (deleted === 1) throw notFound();
  checkVersion(call, Number(version));
}

/** @throws Problem not_found for one that was deleted before the caller could view its record */
export function requireVisible(
  { actor, store }: Call,
  sub: SubResource,
  parent: { resource: Resource; rid: number },
  rid: number,
): void {
  if (store.history.deletedBeforeVisible(sub, parent, actor).includes(rid)) throw notFound();
}

export const openRecords = ({ store }: Call): SubResourceRecords => new SubResourceRecords(store);

/** One stored record, wrapped if the client requests it. `source`: where it was read from, with its filter. */
function showOne(
  call: Call,
  sub: SubResource,
  rid: number,
  status: 200 | 201,
  source?: ReadableParent,
): Response {
  const shown = openRecords(call).show(sub, rid, source ?? presentRecords(call), call.base);
  if (!shown || (source && !matchesFilter(shown, source))) throw notFound();
  const isFlat = call.url.searchParams.get("response_format") === "flat";
  return showValue(call, isFlat ? { results: shown } : shown, { status, version: Number(shown.version) });
}

/** True if the parameter `deleted` selects a record as it is shown. */
export const matchesFilter = (shown: { [name: string]: Json }, { deletedFilter }: ReadableParent): boolean =>
  deletedFilter === "all" || shown.deleted === (deletedFilter === "deleted");

export const presentRecords = ({ actor, store: { statements, reader } }: Call): RecordSource => ({
  statements,
  reader,
  actor,
});

function parseDeletedParameter({ url }: Call): DeletedFilter {
  const given = url.searchParams.get("deleted") ?? "";
  if (given === "") return "living";
  if (given.toLowerCase() === "all") return "all";
  const deleted = KINDS.flag.parse(given);
  if (deleted === undefined) throw parameterProblem("deleted", "Expected true, false or all.");
  return deleted === 1 ? "deleted" : "living";
}

/** The parent of requested sub-resources, now or `as_of` a time; a deleted one needs `deleted`. @throws Problem not_found */
export function readableParent(call: Call, resource: Resource, id: string): ReadableParent {
  const { actor, store, url } = call;
  const deletedFilter = parseDeletedParameter(call);
  const past = url.searchParams.has("as_of") ? store.past(resource, url.searchParams, actor) : undefined;
  const source = past ? { ...past, actor: past.everyone } : presentRecords(call);
  const { statements, reader, actor: as } = source;
  const rid = reader.find(resource, id, deletedFilter === "living" ? ALIVE : and(), as);
  if (rid === undefined) throw notFound();
  return { statements, reader, actor: as, rid, deletedFilter };
}

/** A record of a sub-resource in responses. */
export function shownSchema(sub: SubResource): TUnsafe<JsonRecord> {
  const members = Object.entries(listMembers(DECLARED, sub));
  const own = members.map(([name, { schema, doc }]) => [name, { ...schema, description: doc }]);
  return Type.Unsafe<JsonRecord>(
    Type.Object(
      { id: Type.String({ format: "uuid" }), ...(Object.fromEntries(own) as TProperties), ...RECORD_INFO },
      { $id: schemaName(sub), description: `${capitalized(sub.name)} of a record.` },
    ),
  );
}

const writable = (sub: SubResource) =>
  Object.entries(listMembers(DECLARED, sub)).filter(([, { write }]) => write !== "never");

/** The body that creates a record of a sub-resource, or changes one. */
function sentSchema(sub: SubResource, isChange: boolean): TUnsafe<SentFields> {
  const members = writable(sub).filter(([, { fixed }]) => !isChange || !fixed);
  const properties = members.map(([name, { schema, doc, write }]) => {
    const described = { ...schema, description: doc } as TSchema;
    return [name, write === "required" ? described : Type.Optional(described)];
  });
  const $id = isChange ? `${schemaName(sub)}Changes` : `New${schemaName(sub)}`;
  return Type.Unsafe<SentFields>(Type.Object(Object.fromEntries(properties) as TProperties, { $id }));
}

/** Metadata in response to OPTIONS, in the form of Django REST framework. */
function describeOptions(
  call: Call,
  parent: RoutedResource,
  id: string,
  sub: SubResource,
  method: string,
): Response {
  const { rid } = readableParent(call, parent, id);
  const fields = writable(sub).map(([name, { schema, doc, write }]) => {
    const type = "type" in schema ? String(schema.type) : name === "value" ? "field" : "string";
    const required = write === "required";
    return [name, { type, required, read_only: false, label: makeLabel(name), help_text: doc }];
  });
  return respondJson({
    name: sub.segment,
    description: sub.docs!.list,
    renders: ["application/json"],
    parses: ["application/json"],
    ...(mayChange(call, parent, rid) ? { actions: { [method]: Object.fromEntries(fields) } } : {}),
  });
}
