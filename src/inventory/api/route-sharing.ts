import { type TProperties, Type } from "typebox";
import { type Json, parseUuid, quoted, shownName } from "../model/field.ts";
import { exampleId } from "../model/example.ts";
import { invalidField } from "../model/parse-body.ts";
import { and } from "../model/condition.ts";
import { forbidden } from "../records/rights.ts";
import { Sharing, parseSharing, showSharing } from "../records/sharing.ts";
import type { Query } from "../model/operator.ts";
import { RESOURCES, type RoutedResource, SUB_RESOURCES } from "../resources/index.ts";
import { writeBatch } from "./batch.ts";
import {
  type Call,
  findAny,
  findChangeable,
  findRecord,
  mayChange,
  noContent,
  notFound,
  readBody,
  respondJson,
} from "./call.ts";
import { DRY_RUN, IF_MATCH, IF_NONE_MATCH, PAGE_FORMAT, PAST, SEVERAL } from "./parameters.ts";
import { inList } from "./mount-operations.ts";
import { operation } from "../../platform/operation.ts";
import { checkTag, listTag } from "./entity-tag.ts";
import { isHeavyWrite } from "./heavy-request.ts";
import { showValue } from "./render.ts";
import { historyOperationsBelow } from "./route-history.ts";
import { readableParent } from "./route-sub-resources.ts";
import { content, HTML, TEXT } from "./schema.ts";
import { writeMode } from "./write-records.ts";
import { Problem } from "../../problem.ts";

/** Records that can be shared in one request. */
const MAX_RECORDS = 10_000;

const RIGHTS = { view: Type.Boolean(), change: Type.Boolean(), delete: Type.Boolean() };
const grantees = <P extends TProperties>(properties: P) =>
  Type.Array(Type.Object({ ...properties, ...RIGHTS }));
const GRANTS = Type.Object(
  {
    owner: TEXT,
    owned_by: TEXT,
    public: Type.Boolean(),
    users: grantees({ id: TEXT, username: TEXT, full_name: TEXT, grant: TEXT }),
    groups: grantees({ id: TEXT, name: TEXT, grant: TEXT }),
  },
  { $id: "Grants", description: "The owners and grants of a record." },
);
export type Grants = Type.Static<typeof GRANTS>;
/** Rights to give to a user or a group, or to take. */
type RequestedRights = { user?: string; group?: string } & Partial<Record<keyof typeof RIGHTS, boolean>>;

function requested(name: "user" | "group") {
  const grantee = Type.Object({ [name]: Type.String({ description: "Name or id." }) });
  const examples = name === "user" ? { examples: [[{ user: "bob", view: true }]] } : {};
  const rights = Type.Partial(Type.Object(RIGHTS));
  const $id = name === "user" ? "UserGrants" : "GroupGrants";
  const shape = Type.Unsafe<RequestedRights>(Type.Intersect([grantee, rights]));
  return Type.Optional(Type.Array(shape, { $id, ...examples }));
}
const flag = Type.Optional(Type.Boolean());
const SHARED_RECORDS = Type.Object(
  { shared: Type.Integer(), ids: Type.Array(TEXT) },
  { $id: "Shared", description: "The shared records." },
);
const SHARING = Type.Object(
  { public: flag, users: requested("user"), groups: requested("group") },
  { $id: "GrantChanges" },
);
const IDS = Type.Array(TEXT, { examples: [[String(exampleId(RESOURCES[0]))]] });
const BULK_SHARING = Type.Intersect([Type.Object({ ids: IDS }), SHARING], { $id: "BulkGrantChanges" });
const VERBS = [
  ["PUT", "Replace", "The given lists replace the existing ones."],
  ["PATCH", "Update", "Changes only the named users and groups; entries without any permission are removed."],
] as const;

/** Grants on records: `<segment>/<id>/permissions/`, and `<segment>/permissions/` for several records. */
export const sharingOperations = () =>
  RESOURCES.flatMap((resource) =>
    inList(resource, [
      ...grantOperations(resource),
      ...VERBS.map((verb) => bulkSharingOperation(resource, ...verb)),
      ...historyOperationsBelow("/api/v2/:list/:id/permissions/:grant/", {
        name: "a grant on a record",
        resource: SUB_RESOURCES.grant,
        restored: GRANTS,
        find: (call, { id, grant }) => findGrant(call, resource, id, grant),
        show: (call, _grant, { id }) => showGrants(call, resource, findAny(call, resource, id)),
      }),
    ]),
  );

const grantOperations = (resource: RoutedResource) => [
  operation("GET /api/v2/:list/:id/permissions/", {
    access: "signedIn",
    summary: "List grants on a record",
    description: "Requires permission to change the record.",
    parameters: [PAST, PAGE_FORMAT, IF_NONE_MATCH],
    returns: GRANTS,
    formats: HTML,
    run({ params }, call: Call) {
      const { rid, statements } = readableParent(call, resource, params.id);
      if (!mayChange(call, resource, rid)) throw forbidden();
      return showGrants(call, resource, rid, statements);
    },
  }),
  ...VERBS.map(([method, verb, description]) =>
    operation(`${method} /api/v2/:list/:id/permissions/`, {
      access: "signedIn",
      summary: `${verb} grants on a record`,
      description,
      parameters: [DRY_RUN, IF_MATCH],
      sends: content(SHARING),
      returns: GRANTS,
      responses: {
        204: { $id: "Unshared", description: "Success; the caller may no longer share the record." },
      },
      async run({ params }, call: Call) {
        const { statements } = call.store;
        findChangeable(call, resource, params.id);
        const body = await readBody(call);
        return writeBatch(call, body, {
          kind: "update",
          work(writer) {
            const rid = findChangeable(call, resource, params.id);
            checkTag(call, listTag(JSON.stringify(showSharing(statements, resource, rid))));
            const request = parseSharing(statements, body);
            new Sharing(statements, writer).set(resource, rid, request, writeMode(call), call.actor);
            return rid;
          },
          respond: (rid) => showGrants(call, resource, rid),
        });
      },
    }),
  ),
];

/** The grants on a record; nothing for callers who have just given up their own right to change it. */
function showGrants(
  call: Call,
  resource: RoutedResource,
  rid: number,
  from: Query = call.store.statements,
): Response {
  return mayChange(call, resource, rid) ? showValue(call, showSharing(from, resource, rid)) : noContent();
}

const bulkSharingOperation = (resource: RoutedResource, ...[method, verb]: (typeof VERBS)[number]) =>
  operation(`${method} /api/v2/:list/permissions/`, {
    access: "signedIn",
    summary: `${verb} grants on records in bulk`,
    description: "The change applies to all of the records or none.",
    parameters: [DRY_RUN, SEVERAL],
    sends: content(BULK_SHARING),
    returns: SHARED_RECORDS,
    heavy: (_, call: Call, sent) => isHeavyWrite(call, sent!),
    async run(_, call: Call) {
      const { actor, store } = call;
      const body = await readBody(call);
      const request = parseSharing(store.statements, body, ["ids"]);
      const ids = parseIds((body as { ids?: Json }).ids);
      return writeBatch(call, body, {
        kind: "bulk_update",
        work(writer) {
          const sharing = new Sharing(store.statements, writer);
          for (const id of ids) {
            const rid = findNamed(call, resource, id);
            if (!writer.allows(resource, rid, "change", actor))
              throw new Problem("forbidden", `You do not have permission to share ${quoted(id)}.`);
            sharing.set(resource, rid, request, writeMode(call), actor);
          }
        },
        respond: () => respondJson({ shared: ids.length, ids }),
      });
    },
  });

/** @throws Problem not_found, naming the id */
function findNamed(call: Call, resource: RoutedResource, id: string): number {
  try {
    return findRecord(call, resource, id);
  } catch {
    throw new Problem("not_found", `Not found: ${shownName(id)}.`);
  }
}

/** Row number of a grant, also of a removed one. @throws Problem not_found, forbidden */
function findGrant(call: Call, resource: RoutedResource, id: string, grant: string): number {
  const rid = findChangeable(call, resource, id, and());
  const row = call.store.statements.get({
    text: "SELECT rid FROM object_permission WHERE object_kind = ? AND object_rid = ? AND id = ?",
    args: [resource.name, rid, parseUuid(grant) ?? ""],
  });
  if (!row) throw notFound();
  return Number(row.rid);
}

/** Parses ids, without duplicates. @throws Problem invalid_request, too_large */
function parseIds(value: Json | undefined): string[] {
  const given = Array.isArray(value) ? value : [];
  const ids = [...new Set(given.map((id) => String(id).trim().toLowerCase()))];
  if (ids.length === 0) throw invalidField("ids", "Expected a list of record ids.");
  if (ids.length > MAX_RECORDS)
    throw new Problem("too_large", `${ids.length} records; at most ${MAX_RECORDS} can be shared at once.`);
  return ids;
}
