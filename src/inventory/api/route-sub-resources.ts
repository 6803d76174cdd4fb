import { type TProperties, type TSchema, Type } from "typebox";
import { ALIVE, and, compare, not, or } from "../model/condition.ts";
import { type Json, type JsonObject, KINDS } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { LIMITS } from "../model/limits.ts";
import { isFileFormat, parseListing, RIGHTS_PARAMETERS } from "../model/listing.ts";
import { type PageInfo, pageInfo } from "../model/page.ts";
import { isGuarded, type Resource } from "../model/resource.ts";
import { makeLabel, makeNouns, schemaName } from "../model/schema.ts";
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
  here,
  mayChange,
  noContent,
  notFound,
  readBody,
  respondJson,
} from "./call.ts";
import { checkVersion } from "./entity-tag.ts";
import { isHeavyRead } from "./heavy-request.ts";
import type { Api } from "./api.ts";
import { warnIgnored } from "./read-records.ts";
import { showValue } from "./render.ts";
import { addHistoryRoutes } from "./route-history.ts";
import { content, INSTANT, page as htmlPage, pageSchema, TEXT } from "./schema.ts";
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
export function addSubResources(api: Api, store: Store): void {
  for (const parent of RESOURCES.filter(isGuarded))
    for (const sub of store.subResources.filter(({ docs }) => docs)) {
      addList(api, parent, sub);
      addOne(api, parent, sub);
    }
}

function addList(api: Api, parent: RoutedResource, sub: SubResource): void {
  const path = [parent, `:id/${sub.segment}/`] as const;
  const shown = shownSchema(sub);
  const { list, add: create, body: example } = sub.docs!;
  api.add("GET", path, {
    summary: `${list} of a record`,
    accepts: ["filters", "paging", "past", "page", "noneMatch"],
    returns: { ...content(pageSchema(shown)), ...htmlPage() },
    heavy: ({ call }) => isHeavyRead(call),
    run({ call, params }) {
      const { page, results, headers } = sendList(call, sub, parent, params.id);
      return showValue(call, { ...page, results }, { headers });
    },
  });
  api.add("POST", path, {
    summary: `${create} to a record`,
    description: example,
    accepts: ["flat", "dryRun"],
    sends: content(sentSchema(sub, false)),
    status: 201,
    returns: content(shown),
    async run({ call, params }) {
      // Before the body is read, and again in the transaction, because the rights may change meanwhile.
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
  });
  api.add("OPTIONS", path, {
    run: ({ call, params }) => describeOptions(call, parent, params.id, sub, "POST"),
  });
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
  const page = pageInfo(here(call), call.url.searchParams, found.current, found.total, size);
  return { page, results: found.results, headers: warnIgnored(listing.ignored) };
}

function addOne(api: Api, parent: RoutedResource, sub: SubResource): void {
  const path = [parent, `:id/${sub.segment}/:sub_id/`] as const;
  const name = `${makeNouns(sub).one} of a record`;
  const returns = { ...content(shownSchema(sub)), ...htmlPage() };
  api.add("GET", path, {
    summary: `Get ${name}`,
    accepts: ["flat", "past", "page", "noneMatch"],
    returns,
    heavy: ({ call }) => isHeavyRead(call),
    run({ call, params }) {
      const source = readableParent(call, parent, params.id);
      const rid = openRecords(call).find(sub, parent, source.rid, params.sub_id);
      requireVisible(call, sub, { resource: parent, rid: source.rid }, rid);
      return showOne(call, sub, rid, 200, source);
    },
  });
  for (const [method, mode, verb] of [
    ["PUT", "replace", "Replace"],
    ["PATCH", "merge", "Update"],
    ["DELETE", undefined, "Delete"],
  ] as const)
    api.add(method, path, {
      summary: `${verb} ${name}`,
      accepts: [...(mode ? (["flat"] as const) : []), "dryRun", "match"],
      ...(mode ? { sends: content(sentSchema(sub, true)), returns: content(shownSchema(sub)) } : {}),
      async run({ call, params }) {
        findChangeable(call, parent, params.id);
        const body = mode ? await readBody(call) : null;
        return writeBatch(call, body, {
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
      },
    });
  api.add("OPTIONS", path, {
    run: ({ call, params }) => describeOptions(call, parent, params.id, sub, "PUT"),
  });
  addHistoryRoutes(api, {
    name,
    resource: sub,
    path,
    restored: () => content(shownSchema(sub)),
    find: (call, params) =>
      openRecords(call).find(sub, parent, findAny(call, parent, params.id), params.sub_id),
    show: (call, rid) => showOne(call, sub, rid, 200),
  });
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
export function shownSchema(sub: SubResource): TSchema {
  const members = Object.entries(listMembers(DECLARED, sub));
  const own = members.map(([name, { schema, doc }]) => [name, { ...schema, description: doc }]);
  return Type.Object(
    { id: Type.String({ format: "uuid" }), ...(Object.fromEntries(own) as TProperties), ...RECORD_INFO },
    { $id: schemaName(sub), description: `${capitalized(sub.name)} of a record.` },
  );
}

const writable = (sub: SubResource) =>
  Object.entries(listMembers(DECLARED, sub)).filter(([, { write }]) => write !== "never");

/** The body that creates a record of a sub-resource, or changes one. */
function sentSchema(sub: SubResource, isChange: boolean): TSchema {
  const members = writable(sub).filter(([, { fixed }]) => !isChange || !fixed);
  const properties = members.map(([name, { schema, doc, write }]) => {
    const described = { ...schema, description: doc } as TSchema;
    return [name, write === "required" ? described : Type.Optional(described)];
  });
  return Type.Object(Object.fromEntries(properties) as TProperties, {
    $id: isChange ? `${schemaName(sub)}Changes` : `New${schemaName(sub)}`,
  });
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
