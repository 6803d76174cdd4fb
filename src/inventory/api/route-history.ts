import { type TSchema, Type } from "typebox";
import { type Json, type JsonObject, KINDS } from "../model/field.ts";
import { parameterProblem, parseSince } from "../model/filter.ts";
import { LIMITS } from "../model/limits.ts";
import { LIST_PARAMETERS, parseSize } from "../model/listing.ts";
import type { Resource } from "../model/resource.ts";
import { inQuery } from "../model/list-parameters.ts";
import { type JsonRecord, recordAnswer } from "../model/record-schema.ts";
import { makeNouns } from "../model/schema.ts";
import { nullable } from "../../platform/schema.ts";
import { isShown } from "../model/stored-record.ts";
import type { Batch, BatchFilter } from "../records/history.ts";
import { forbidden } from "../records/rights.ts";
import { DECLARED, PEOPLE, RESOURCES, SUB_RESOURCES } from "../resources/index.ts";
import { runBatch, withIdempotencyKey, writeBatch } from "./batch.ts";
import { type Call, findAny, noContent, notFound, respondJson, withParameter } from "./call.ts";
import { checkVersion } from "./entity-tag.ts";
import { isLargeBatch } from "./heavy-request.ts";
import { paged } from "./history-page.ts";
import { inList } from "./mount-operations.ts";
import { DRY_RUN, type Filters, IF_MATCH, PAGE_FORMAT, PAGING, SEVERAL } from "./parameters.ts";
import { type Content, operation, type Parameters } from "../../platform/operation.ts";
import { Problem } from "../../problem.ts";
import { listRecordParameters } from "./route-records.ts";
import { showRecord } from "./read-records.ts";
import { showValue } from "./render.ts";
import {
  BOOLEAN,
  COUNT,
  HTML,
  INSTANT,
  optional,
  pageSchema,
  RENDERED_CONTENT,
  TEXT,
  WRITE,
  WRITE_ID,
} from "./schema.ts";

const ORIGIN = {
  at: INSTANT,
  user: TEXT,
  full_name: TEXT,
  token: nullable(
    Type.Object({ name: TEXT, prefix: TEXT }, { description: "The API token, if one was used." }),
  ),
};
const CHANGE = Type.Object(
  {
    cursor: TEXT,
    ...WRITE,
    id: WRITE_ID,
    ...ORIGIN,
    batch: TEXT,
  },
  { $id: "Change", description: "One write of one record." },
);
export type Change = Type.Static<typeof CHANGE>;
const FEED = Type.Object(
  { cursor: TEXT, more: Type.Boolean(), next: TEXT, results: Type.Array(CHANGE) },
  { $id: "ChangeFeed" },
);
const HISTORY = { ...pageSchema(CHANGE), description: "Changes, latest first." };
/** A component of the schema, shared by all histories. */
const HISTORY_FIELD = {
  $id: "history_field",
  ...inQuery("field", "Only changes of this field, such as the amount."),
};
const RESTORE = Type.Object(
  {
    version: Type.Optional(
      nullable(COUNT, {
        description: "A version to restore, with its metadata; without it, the deleted record is restored.",
      }),
    ),
    batch: Type.Optional(Type.String({ description: "Restore the state that this batch left." })),
  },
  { $id: "Restoration", additionalProperties: false },
);
const BATCH = {
  id: TEXT,
  kind: TEXT,
  ...ORIGIN,
  sentence: Type.String({
    description: "A summary of the batch, as far as the caller may view its records.",
    examples: ["Alice Archer moved 9 consumables to Box 1"],
  }),
  cannot_undo: nullable(TEXT, {
    description: "Why the caller cannot undo the batch; null if no obstacle is known.",
  }),
  changes: Type.Record(TEXT, COUNT, {
    description: "Number of changes by list, of records that the caller may view.",
  }),
  undoes: nullable(TEXT),
  undone_by: nullable(TEXT, { description: "The batch that undid this batch, unless its undo was undone." }),
};
const BATCH_SUMMARY = Type.Object(BATCH, { $id: "Batch" });
export type BatchSummary = Type.Static<typeof BATCH_SUMMARY>;

export interface Subject<Restored extends TSchema> {
  /** Completes sentences: "a place". */
  name: string;
  resource: Resource;
  /** Answer to a restore. */
  restored: Restored | (() => Restored);
  formats?: Content;
  /** Parameters of the answer to a restore. */
  parameters?: () => Parameters<Filters>;
  /** Access to the history. */
  access?: "anyone" | "signedIn";
  /** Row number, also of a deleted record. @throws Problem not_found if the caller may not view it */
  find(call: Call, params: Record<string, string>): number;
  show(call: Call, rid: number, params: Record<string, string>): Response;
}

/** History, batches, the feed of changes, and ways to undo them. */
export const historyOperations = () => [
  ...RESOURCES.flatMap((resource) =>
    inList(
      resource,
      historyOperationsBelow("/api/v2/:list/:id/", {
        name: "a record",
        resource,
        restored: anyRecord,
        formats: RENDERED_CONTENT,
        parameters: () => listRecordParameters(resource),
        find: (call, { id }) => findAny(call, resource, id),
        show: (call, rid) => showRecord(call, resource, rid, 200),
      }),
    ),
  ),
  ...batchOperations(),
  feedOperation(),
];

/** A record of one of the lists. */
export const anyRecord = () =>
  Type.Unsafe<JsonRecord>(
    Type.Union(
      RESOURCES.map((resource) => recordAnswer(DECLARED, resource)),
      { $id: "AnyRecord", description: "A record of the list." },
    ),
  );

/** `history/`, `restore/` and `purge/` below the path of a record. */
export const historyOperationsBelow = <const Path extends `/${string}`, Restored extends TSchema>(
  path: Path,
  subject: Subject<Restored>,
) => [historyOperation(path, subject), restoreOperation(path, subject), purgeOperation(path, subject)];

const historyOperation = <const Path extends `/${string}`>(
  path: Path,
  { name, resource, access = "anyone", find }: Subject<TSchema>,
) =>
  operation(`GET ${path}history/`, {
    access,
    summary: `Get the history of ${name}`,
    parameters: [[HISTORY_FIELD], PAGING, PAGE_FORMAT],
    returns: HISTORY,
    formats: HTML,
    heavy: true,
    run({ params }, call: Call) {
      const rid = find(call, params as Record<string, string>);
      const { history } = call.store;
      const field = call.url.searchParams.get("field");
      if (field !== null && !isShown(resource, field))
        throw parameterProblem(
          "field",
          `Choices: ${Object.keys(resource.fields)
            .filter((name) => isShown(resource, name))
            .join(", ")}.`,
        );
      if (field !== null)
        return paged(call, (limit, offset) =>
          history.readField({ resource, rid, field }, call.actor, limit, offset),
        );
      return paged(call, (limit, offset) => history.readRecord(resource, rid, call.actor, limit, offset));
    },
  });

const restoreOperation = <const Path extends `/${string}`, Restored extends TSchema>(
  path: Path,
  { name, resource, restored, formats, parameters = () => [], find, show }: Subject<Restored>,
) =>
  operation(`POST ${path}restore/`, {
    access: "signedIn",
    summary: `Restore ${name}`,
    parameters: [parameters, DRY_RUN, IF_MATCH],
    body: RESTORE,
    returns: restored,
    ...(formats ? { formats } : {}),
    run: ({ params, body }, call: Call) =>
      writeBatch(call, body as Json, {
        kind: "restore",
        work(writer) {
          const rid = find(call, params as Record<string, string>);
          checkVersion(call, Number(writer.current(resource, rid).version));
          call.store.undo.restore(
            resource,
            rid,
            body.batch?.toLowerCase() ?? body.version ?? undefined,
            call.actor,
          );
          return rid;
        },
        respond: (rid) => show(call, rid, params as Record<string, string>),
      }),
  });

const purgeOperation = <const Path extends `/${string}`>(
  path: Path,
  { name, resource, find }: Subject<TSchema>,
) =>
  operation(`POST ${path}purge/`, {
    access: "signedIn",
    summary: `Purge ${name}`,
    description: "For administrators; also removes the history.",
    parameters: [DRY_RUN, IF_MATCH],
    run: ({ params }, call: Call) =>
      writeBatch(call, null, {
        kind: "purge",
        work(writer) {
          const rid = find(call, params as Record<string, string>);
          checkVersion(call, Number(writer.current(resource, rid).version));
          writer.purge(resource, rid, call.actor);
        },
        respond: () => noContent(),
      }),
  });

/** @throws Problem invalid_request, or not_found for a record that the caller may not view */
function parseBatchFilter(
  call: Call,
  {
    user,
    kind,
    since,
    resource,
    record,
  }: Partial<Record<"user" | "kind" | "since" | "resource" | "record", string>>,
): BatchFilter {
  const of = RESOURCES.find(({ segment }) => segment === resource);
  if (record !== undefined && of === undefined)
    throw parameterProblem("record", "Give resource, too: the list of the record.");
  return {
    user,
    kind,
    since: since === undefined ? undefined : parseSince("since", since),
    ...(of && record !== undefined
      ? { record: { kind: of.name, rid: findAny(call, of, record) } }
      : { resource: of?.name }),
  };
}

function batchOperations() {
  return [
    operation("GET /api/v2/batches/", {
      access: "signedIn",
      summary: "List batches",
      description:
        "Every write request creates one batch. Lists the batches with a change that the caller may view, latest first.",
      query: Type.Object({
        user: optional("Username of the author."),
        kind: optional("Kind of batch, as in the response."),
        since: optional("An instant, or a day counted from today such as -7d: only batches since then."),
        resource: Type.Optional(
          Type.Enum(
            RESOURCES.map(({ segment }) => segment),
            { description: "Segment of a list: only batches that changed its records." },
          ),
        ),
        record: optional("Id of a record of `resource`: only batches that changed this record."),
        page: Type.Optional(TEXT),
        page_size: Type.Optional(TEXT),
        format: Type.Optional(TEXT),
      }),
      parameters: [PAGING, PAGE_FORMAT],
      returns: pageSchema(BATCH_SUMMARY),
      formats: HTML,
      heavy: true,
      run({ query }, call: Call) {
        const filter = parseBatchFilter(call, query);
        return paged(call, (limit, offset) => {
          const { total, batches } = call.store.history.batches(call.actor, filter, limit, offset);
          return { total, results: batches.map((batch) => shownBatch(call, batch)) };
        });
      },
    }),
    operation("GET /api/v2/batches/:id/", {
      access: "signedIn",
      summary: "Get a batch and its changes",
      description: "The changes are in the order of writing. The header Batch-Id of a write names its batch.",
      parameters: [PAGING, PAGE_FORMAT],
      returns: pageSchema(CHANGE, BATCH, "BatchChanges"),
      formats: HTML,
      heavy: true,
      run({ params }, call: Call) {
        const { history } = call.store;
        const batch = findBatch(call, params.id);
        const read = (limit: number, offset: number) =>
          history.readBatchPage(batch.row, call.actor, limit, offset);
        return paged(call, read, shownBatch(call, batch));
      },
    }),
    operation("POST /api/v2/batches/:id/undo/", {
      access: "signedIn",
      summary: "Undo a batch",
      description:
        "Deletes what the batch created, restores what it deleted, and reverts what it changed: all or nothing. " +
        "Rejected for records with a value that is no longer the one that the batch left, unless `force`; later changes " +
        "that were undone do not matter. Undoing is itself a batch.",
      parameters: [DRY_RUN, SEVERAL],
      body: Type.Object({
        force: Type.Optional(Type.Union([BOOLEAN, Type.Enum(["true", "false", "yes", "no", "1", "0"])])),
      }),
      returns: BATCH_SUMMARY,
      heavy: ({ params }, call: Call) => isLargeBatch(call, params.id),
      run({ params, body }, call: Call) {
        const requested = body.force ?? call.url.searchParams.get("force") ?? "";
        const force = KINDS.flag.parse(String(requested)) === 1;
        return call.store.enqueue(() =>
          withIdempotencyKey(call, body as Json, () => undoBatch(call, params.id, force)),
        );
      },
    }),
  ];
}

const shownBatch = ({ actor, store }: Call, batch: Batch): JsonObject => ({
  ...batch.shown,
  cannot_undo: store.undo.refusal(batch, actor),
});

/** @throws Problem not_found */
function findBatch({ actor, store }: Call, id: string) {
  const batch = store.history.batch(id.toLowerCase(), actor);
  if (!batch) throw notFound();
  return batch;
}

function undoBatch(call: Call, id: string, force: boolean): Response {
  const { actor, store } = call;
  const batch = findBatch(call, id);
  // Does not reveal whether there are changes that the caller may not view.
  if (batch.isPartlyVisible) throw forbidden();
  if (batch.undoneBy !== null && !force)
    throw new Problem("conflict", "This change has been undone already.");
  const response = runBatch(call, {
    kind: "undo",
    undoes: batch.row,
    work: () => store.undo.undo(batch.row, force, actor),
    respond: () => respondJson({}),
  });
  const undone = response.headers.get("batch-id");
  if (response.status !== 200 || undone === null) return response;
  const done = store.history.batch(undone, actor);
  return respondJson(done ? shownBatch(call, done) : {}, { "Batch-Id": undone });
}

function feedOperation() {
  const kinds = new Map([...RESOURCES, ...Object.values(SUB_RESOURCES)].map((each) => [each.segment, each]));
  return operation("GET /api/v2/changes/", {
    access: "anyone",
    summary: "List changes since a cursor",
    description:
      "For synchronisation: changes of records that the caller may view now, in the order of commits. Keep following " +
      "`next`; if `more` is false, wait before the next request.",
    query: Type.Object({
      since: Type.Optional(
        Type.String({
          pattern: "^\\d{1,15}$",
          description: "`cursor` of the previous response; 0, the default, is the beginning.",
        }),
      ),
      resource: Type.Optional(Type.Enum([...kinds.keys()], { description: "Segment of a list." })),
    }),
    parameters: [
      inQuery(
        "page_size",
        `Maximum number of changes; at most ${LIMITS.rows.max}, which is also the default.`,
        LIST_PARAMETERS.page_size.schema,
      ),
      PAGE_FORMAT,
    ],
    returns: FEED,
    formats: HTML,
    heavy: true,
    run({ query }, call: Call) {
      const { actor, store, url } = call;
      const size = parseSize(url.searchParams.get("page_size") ?? "max");
      const limit = size === "max" ? LIMITS.rows.max : size;
      const kind = query.resource === undefined ? undefined : kinds.get(query.resource)!.name;
      const { cursor, more, results } = store.statements.reading(() =>
        store.history.since(Number(query.since ?? 0), actor, kind, limit),
      );
      const next = withParameter(call, "since", String(cursor));
      return showValue(call, { cursor: String(cursor), more, next, results });
    },
  });
}

/** `users/<name>/history/` and `groups/<name>/history/`: the history of memberships. */
export const membershipHistoryOperation = (kind: "user" | "group", find: (name: string) => number) =>
  operation(kind === "user" ? "GET /api/v2/users/:user/history/" : "GET /api/v2/groups/:group/history/", {
    access: "signedIn",
    summary: `Get the history of ${makeNouns(PEOPLE[kind]).one}`,
    parameters: [PAGING, PAGE_FORMAT],
    returns: HISTORY,
    formats: HTML,
    heavy: true,
    run({ params }, call: Call) {
      const { actor, store } = call;
      const rid = find(params[kind]);
      return paged(call, (limit, offset) =>
        kind === "user"
          ? store.history.readMember(rid, actor, limit, offset)
          : store.history.readRecord(PEOPLE.group, rid, actor, limit, offset),
      );
    },
  });
