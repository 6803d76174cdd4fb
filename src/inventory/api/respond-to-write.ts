import { ALIVE } from "../model/condition.ts";
import { type Json, KINDS } from "../model/field.ts";
import { parseBulkChanges, type BulkChange, parseFilteredChange } from "../model/bulk-body.ts";
import { LIST_PARAMETERS, parseListing } from "../model/listing.ts";
import { parameterProblem } from "../model/filter.ts";
import type { WriteMode } from "../model/parse-body.ts";
import { isPatch, patchRecord } from "../model/apply-json-patch.ts";
import type { Resource } from "../model/resource.ts";
import { checkVersion } from "./entity-tag.ts";
import { withIdempotencyKey } from "./idempotency.ts";
import type { BatchKind } from "../records/journal.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { readJson } from "./request-body.ts";
import { type Call, respond } from "./response.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { WriteOptions, Store } from "../records/store.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import { Problem } from "../../problem.ts";

/** What answers to writes need of those to reads. */
export interface Tools {
  store: Store;
  maxMessageBytes: number;
  showItem(call: Call, resource: RoutedResource, rid: number, status: 200 | 201): Response;
  showSeveral(call: Call, resource: RoutedResource, rids: number[], status: 200 | 201): Response;
  /** Looked at before anything is written: an answer that cannot be given must not have done anything. */
  checkAnswer(call: Call, resource: RoutedResource): void;
  itemMethods: string;
  bulkDeleteMethods: string;
}

export interface WriteAnswers {
  collection(call: Call, resource: RoutedResource): Promise<Response>;
  item(call: Call, resource: RoutedResource, id: string): Promise<Response>;
  bulkDelete(call: Call, resource: RoutedResource): Promise<Response>;
}

const AROUND = { base: "", format: undefined };

export function openWriteAnswers(tools: Tools): WriteAnswers {
  const { store } = tools;
  const body = async (call: Call): Promise<Json> =>
    unwrap(await readJson(call.request, tools.maxMessageBytes));

  /** Ids of all records that a filter finds: that of a list, whatever the page. */
  const found = (call: Call, resource: RoutedResource, parameters: URLSearchParams): string[] => {
    for (const name of ["page", "page_size"])
      if (parameters.has(name)) throw parameterProblem(name, "Bulk operations take all pages.");
    const filters = filtersIn(parameters);
    const empty = [...filters].find(fitsAll);
    if (empty && [...filters].every(fitsAll))
      throw parameterProblem(empty[0], "It is empty, which finds all records; deleted=false says that.");
    const listing = parseListing(store.resources, resource, filters, call.actor);
    const { rids } = store.reader.list(resource, { ...listing, page: 1, size: "max" }, call.actor);
    const look = { format: undefined, shape: "flat", fields: ["id"] } as const;
    return store.reader.records(resource, look, call.actor, rids, AROUND).values.map(({ id }) => String(id));
  };

  const changesOf = (call: Call, resource: RoutedResource, value: Json): (() => BulkChange[]) => {
    const { searchParams } = call.url;
    const same = parseFilteredChange(value, isFiltered(searchParams));
    if (!same) {
      const changes = parseBulkChanges(value);
      return () => changes;
    }
    const { filters, ...change } = same;
    const parameters = filters === undefined ? searchParams : parametersOf(filters);
    if (!isFiltered(parameters))
      throw new Problem(
        "invalid_request",
        'filters: name at least one filter; {"deleted": false} finds all records.',
        { fields: { filters: ['Name at least one filter; {"deleted": false} finds all records.'] } },
      );
    const { body: fields, tests } = change;
    return () => found(call, resource, parameters).map((id) => ({ id, body: fields, tests }));
  };

  /** The body of a merge that a JSON Patch comes to. */
  const patched = (call: Call, resource: Resource, rid: number, operations: Json[]): Json => {
    const fields = Object.keys(resource.fields).filter((name) => resource.fields[name].shown !== "internal");
    const look = { format: undefined, shape: "flat", fields } as const;
    const [record] = store.reader.records(resource, look, call.actor, [rid], AROUND).values;
    const writable = new Set(fields.filter((name) => resource.fields[name].write !== "never"));
    return patchRecord(record, writable, operations);
  };

  const run = <T>(
    call: Call,
    kind: BatchKind,
    work: (writing: RecordWriter) => T,
    shown: (value: T) => Response,
  ): Response => runBatch(store, call, { kind }, work, shown);

  const inTurn = (call: Call, value: Json, work: () => Response): Promise<Response> =>
    store.enqueue(() => withIdempotencyKey(store, call, value, work));

  return {
    async collection(call, resource) {
      tools.checkAnswer(call, resource);
      const value = typed(resource, await body(call), call.url.searchParams.get("type"));
      if (call.method !== "POST") {
        const mode = modeOf(call.method);
        return runInTurn(
          store,
          call,
          "bulk_update",
          // The filter is looked up in the transaction of the write.
          () => store.bulk.update(resource, changesOf(call, resource, value)(), mode, call.actor),
          (rids) => tools.showSeveral(call, resource, rids, 200),
        );
      }
      return inTurn(call, value, () =>
        Array.isArray(value)
          ? run(
              call,
              "bulk_create",
              () => store.bulk.create(resource, value, call.actor),
              (rids) => tools.showSeveral(call, resource, rids, 201),
            )
          : run(
              call,
              "create",
              (writing) => writing.create(resource, value, call.actor),
              (rid) => tools.showItem(call, resource, rid, 201),
            ),
      );
    },

    async item(call, resource, id) {
      tools.checkAnswer(call, resource);
      const value = call.method === "DELETE" ? null : await body(call);
      return runInTurn(
        store,
        call,
        call.method === "DELETE" ? "delete" : "update",
        (writing) => {
          // Only what lives is written, whatever `deleted` says about reading.
          const rid = store.reader.find(resource, id, ALIVE, call.actor);
          if (rid === undefined) throw new Problem("not_found", "Not found.");
          if ("version" in resource.fields)
            checkVersion(call, Number(writing.current(resource, rid).version));
          if (call.method === "DELETE") writing.remove(resource, [rid], call.actor);
          else if (call.method === "PATCH" && isPatch(value)) {
            const merge = patched(call, resource, rid, value);
            // What was only tested is not written.
            if (Object.keys(merge as object).length > 0)
              writing.update(resource, rid, merge, "merge", call.actor);
          } else writing.update(resource, rid, value, modeOf(call.method), call.actor);
          return rid;
        },
        (rid) =>
          call.method === "DELETE"
            ? respond(null, 204, "", { Allow: tools.itemMethods })
            : tools.showItem(call, resource, rid, 200),
      );
    },

    async bulkDelete(call, resource) {
      const { searchParams } = call.url;
      const value = await readJson(call.request, tools.maxMessageBytes);
      const named = idsOf(searchParams, value);
      const filters =
        value !== null && typeof value === "object" && !Array.isArray(value) ? value.filters : undefined;
      const parameters =
        filters !== null && typeof filters === "object" && !Array.isArray(filters)
          ? parametersOf(filters)
          : searchParams;
      const filtered = named.length === 0 && isFiltered(parameters);
      return inTurn(call, value, () =>
        run(
          call,
          "bulk_delete",
          () => {
            const ids = filtered ? found(call, resource, parameters) : named;
            return filtered && ids.length === 0 ? [] : store.bulk.remove(resource, ids, call.actor);
          },
          (ids) =>
            respond(JSON.stringify({ deleted: ids.length, ids }), 200, MEDIA_TYPES.json, {
              Allow: tools.bulkDeleteMethods,
            }),
        ),
      );
    },
  };
}

/**
 * Runs writes as one batch in the manner that the address asks for (`dry_run`, `confirm`), and answers: with what would
 * change, with nothing where the client prefers that, or as `shown` does. The batch is named by the header Batch-Id.
 */
export function runBatch<T>(
  store: Store,
  call: Call,
  about: Pick<WriteOptions, "kind" | "undoes">,
  work: (writing: RecordWriter) => T,
  shown: (value: T) => Response,
): Response {
  const { searchParams } = call.url;
  const typed = searchParams.get("dry_run");
  const dry = typed === null ? 0 : KINDS.flag.parse(typed);
  if (dry === undefined) throw parameterProblem("dry_run", `Expected ${KINDS.flag.expected}.`);
  const changes = searchParams.get("changes");
  const told = changes === null ? Infinity : KINDS.integer.parse(changes);
  if (told === undefined || Number(told) < 0)
    throw parameterProblem("changes", `Expected ${KINDS.integer.expected}.`);
  const confirm = searchParams.get("confirm");
  const manner = { ...about, actor: call.actor, dryRun: dry === 1, confirm, previewLimit: Number(told) };
  const outcome = store.run(manner, work);
  if ("preview" in outcome) return respond(JSON.stringify(outcome.preview), 200, MEDIA_TYPES.json);
  const minimal = /(^|[,;\s])return=minimal\b/i.test(call.request.headers.get("prefer") ?? "");
  const full = minimal ? undefined : shown(outcome.value);
  const response = full ?? respond(null, 204, "", { "Preference-Applied": "return=minimal" });
  if (outcome.batch !== null) response.headers.set("Batch-Id", outcome.batch);
  return response;
}

/** The same in a batch of its own, when its turn to write has come. */
export const runInTurn = <T>(
  store: Store,
  call: Call,
  kind: BatchKind,
  work: (writing: RecordWriter) => T,
  shown: (value: T) => Response,
): Promise<Response> => store.enqueue(() => runBatch(store, call, { kind }, work, shown));

/** Parameters that are no filters. */
const MANNER = new Set(["dry_run", "changes", "confirm", "id", "ids", "explain", "strict"]);
const FILTERS = new Set(["query_expression", "deleted", "can_change", "can_delete"]);

const isFilter = (name: string): boolean =>
  !MANNER.has(name) && (FILTERS.has(name) || !Object.hasOwn(LIST_PARAMETERS, name));

const isFiltered = (parameters: URLSearchParams): boolean => [...parameters.keys()].some(isFilter);

const filtersIn = (parameters: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...parameters].filter(([name]) => isFilter(name)));

/** Whether every record fits: a script's variable that was empty, and not what was meant. */
const fitsAll = ([name, value]: [string, string]): boolean =>
  value.trim() === "" &&
  /^(name|description|query|query_expression)$|__i?(contains|startswith|endswith)$/.test(name);

/** Filters of a body as parameters of an address. */
function parametersOf(filters: { [name: string]: Json }): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    const plain = (item: Json): string =>
      item !== null && typeof item === "object" ? JSON.stringify(item) : String(item);
    const values = Array.isArray(value) && name !== "query_expression" ? value : [value];
    for (const item of values) parameters.append(name, plain(item));
  }
  return parameters;
}

/** Clients of the flat form wrap what they send in `results`. */
export function unwrap(value: Json): Json {
  const wrapped =
    value !== null &&
    typeof value === "object" &&
    !Array.isArray(value) &&
    Object.keys(value).length === 1 &&
    Object.hasOwn(value, "results");
  return wrapped ? (value as { results: Json }).results : value;
}

/**
 * The ids of a bulk deletion, each once: parameters `id` or `ids`, repeated or separated by commas, each also with
 * `id=` before it (`?id=<id_1>,id=<id_2>` as the specification writes it); or a body that is a list or {"ids": […]}.
 */
function idsOf(parameters: URLSearchParams, body: Json): string[] {
  const listed = [...parameters.getAll("id"), ...parameters.getAll("ids")].flatMap((value) =>
    value.split(","),
  );
  const named = body !== null && typeof body === "object" && !Array.isArray(body) ? (body.ids ?? []) : body;
  const ids = Array.isArray(named) ? named : [];
  const given = ids.map((item) =>
    item !== null && typeof item === "object" && !Array.isArray(item) ? (item.id ?? "") : item,
  );
  const all = [...listed, ...given.map(String)].map((id) =>
    id
      .trim()
      .replace(/^ids?=/, "")
      .toLowerCase(),
  );
  return [...new Set(all.filter((id) => id !== ""))];
}

const modeOf = (method: string): WriteMode => (method === "PUT" ? "replace" : "merge");

/** Clients that make a record of one type name it in the address too. */
function typed(resource: Resource, body: Json, type: string | null): Json {
  const fits = type !== null && "type" in resource.fields && "model_type" in resource.fields;
  if (!fits || body === null || typeof body !== "object" || Array.isArray(body) || "model_type" in body)
    return body;
  return { ...body, model_type: type };
}
