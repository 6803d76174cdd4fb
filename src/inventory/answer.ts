import { negotiate, MEDIA_TYPES } from "./negotiation.ts";
import type { Actor } from "./model/access.ts";
import type { Json } from "./model/field.ts";
import { type Look, readLife, readListing, readLook } from "./model/listing.ts";
import { csvText, envelopeText, position } from "./model/page.ts";
import type { Mode } from "./model/patch.ts";
import { personRecord } from "./people.ts";
import { resolveId } from "./resolver.ts";
import { readJson } from "./request-body.ts";
import { type Call, describe, here, respond, ROOT, show, withParameter } from "./response.ts";
import type { Routed } from "./resources/index.ts";
import type { Store } from "./store.ts";
import { Problem } from "../problem.ts";
import { unauthenticated } from "../shell/auth.ts";

/** In this order in the Allow header (specification, "Collection responses"). */
export const COLLECTION_METHODS = "GET, POST, PUT, PATCH, HEAD, OPTIONS";
export const ITEM_METHODS = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS";
const READ_METHODS = "GET, HEAD, OPTIONS";
const NO_CREDENTIALS = "Authentication credentials were not provided.";
export const BULK_DELETE_METHODS = "POST, DELETE, OPTIONS";

export interface AnswerOptions {
  store: Store;
  /** Who asks. @throws Problem unauthenticated */
  authenticate: (request: Request) => Actor;
  /** Address under which clients reach the server, where it is not that of their requests. */
  publicUrl: string | undefined;
  /** Whether callers without credentials may read public records. */
  anonymousRead: boolean;
  maxMessageBytes: number;
}

type Answer = Response | Promise<Response>;

/** Requests about resources, as functions from a request to its response. All throw a Problem. */
export interface Answers {
  collection(request: Request, resource: Routed): Answer;
  item(request: Request, resource: Routed, id: string): Answer;
  bulkDelete(request: Request, resource: Routed): Answer;
  /** That of the interface, which is in its address too. */
  version(request: Request): Answer;
  /** The addresses of all resources. */
  root(request: Request, resources: readonly Routed[]): Answer;
  /** One account, by username or id, for callers with credentials. */
  person(request: Request, name: string): Answer;
  /** What a bare id is. */
  resolve(request: Request, resources: readonly Routed[], id: string): Answer;
}

export function openAnswers(options: AnswerOptions): Answers {
  const { store } = options;

  const begin = (request: Request, allow: string): Call => {
    // A request in HTTP/1.0 without a Host has a path and no more.
    const url = new URL(request.url, "http://localhost");
    const origin = (options.publicUrl ?? url.origin).replace(/\/+$/, "");
    const actor = options.authenticate(request);
    const { method } = request;
    const reads = method === "GET" || method === "HEAD" || method === "OPTIONS";
    if (actor.user === null && (!reads || !options.anonymousRead)) throw unauthenticated(NO_CREDENTIALS);
    if (!allow.split(", ").includes(method))
      throw new Problem("method_not_allowed", `Method "${method}" not allowed.`, { allow });
    return { request, method, url, base: `${origin}${ROOT}`, actor };
  };

  const file = (
    call: Call,
    resource: Routed,
    how: Look,
    rids: readonly number[],
    status: 200 | 201,
    headers: Record<string, string>,
  ): Response => {
    // Points in time as plain text: a cell is no place for an object.
    const flat: Look = { ...how, shape: how.shape === "spec" ? "flat" : how.shape };
    const around = { base: call.base, format: how.format };
    const { names, values } = store.reading.records(resource, flat, call.actor, rids, around);
    const name = `${resource.segment.replaceAll("/", "-")}.csv`;
    const disposition = { "Content-Disposition": `attachment; filename="${name}"` };
    return respond(csvText(names, values), status, MEDIA_TYPES.csv, { ...headers, ...disposition });
  };

  const list = (call: Call, resource: Routed): Response => {
    const { searchParams } = call.url;
    const listing = readListing(store.resources, resource, searchParams, call.actor);
    const format = negotiate(listing.format, call.request.headers.get("accept"));
    const found = store.reading.list(resource, listing, call.actor);
    const around = { base: call.base, format: listing.format };
    const headers = { Allow: COLLECTION_METHODS };
    if (format === "csv") return file(call, resource, listing, found.rids, 200, headers);
    const where = position(here(call), searchParams, found.current, found.total, listing.size);
    const texts = store.reading.texts(resource, listing, call.actor, found.rids, around);
    return show(call, format, envelopeText(where, texts), resource, {
      headers,
      links: {
        "previous page": where.previous,
        "next page": where.next,
        JSON: withParameter(call, "format", "json"),
        CSV: withParameter(call, "format", "csv"),
      },
    });
  };

  const look = (call: Call, resource: Routed): Look =>
    readLook(store.resources, resource, call.url.searchParams);

  /** One record as JSON; under response_format=flat in `results`, as clients of that form expect it. */
  const itemText = (call: Call, resource: Routed, how: Look, rid: number): string => {
    const around = { base: call.base, format: how.format };
    const [text] = store.reading.texts(resource, how, call.actor, [rid], around);
    return how.shape === "flat" ? `{"results":${text}}` : text;
  };

  const showItem = (call: Call, resource: Routed, rid: number, status: 200 | 201): Response => {
    const how = look(call, resource);
    const format = negotiate(how.format, call.request.headers.get("accept"));
    const headers: Record<string, string> = { Allow: status === 201 ? COLLECTION_METHODS : ITEM_METHODS };
    if (status === 201) headers.Location = addressOf(call, resource, rid);
    if (format === "csv") return file(call, resource, how, [rid], status, headers);
    const links = { JSON: withParameter(call, "format", "json") };
    return show(call, format, itemText(call, resource, how, rid), resource, { status, headers, links });
  };

  const addressOf = (call: Call, resource: Routed, rid: number): string => {
    const column = resource.fields.id.column ?? "id";
    const row = store.statements.get({
      text: `SELECT ${column} AS id FROM ${resource.table} WHERE rid = ?`,
      args: [rid],
    });
    return `${call.base}${resource.segment}/${row?.id}/`;
  };

  const showSeveral = (call: Call, resource: Routed, rids: number[], status: 200 | 201): Response => {
    const how = look(call, resource);
    const around = { base: call.base, format: how.format };
    const texts = `[${store.reading.texts(resource, how, call.actor, rids, around).join(",")}]`;
    const json = how.shape === "flat" ? `{"results":${texts}}` : texts;
    return show(call, "json", json, resource, { status, headers: { Allow: COLLECTION_METHODS } });
  };

  /** Looked at before anything is written: an answer that cannot be given must not have done anything. */
  const checkAnswer = (call: Call, resource: Routed): void => {
    negotiate(look(call, resource).format, call.request.headers.get("accept"));
  };

  const body = async (call: Call): Promise<Json> =>
    unwrap(await readJson(call.request, options.maxMessageBytes));

  const writeCollection = async (call: Call, resource: Routed): Promise<Response> => {
    checkAnswer(call, resource);
    const value = await body(call);
    if (call.method !== "POST") {
      const rids = store.bulk.update(resource, value, modeOf(call.method), call.actor);
      return showSeveral(call, resource, rids, 200);
    }
    if (Array.isArray(value))
      return showSeveral(call, resource, store.bulk.create(resource, value, call.actor), 201);
    const rid = store.write((writing) => writing.create(resource, value, call.actor));
    return showItem(call, resource, rid, 201);
  };

  const find = (call: Call, resource: Routed, id: string): number => {
    const life = readLife(resource, call.url.searchParams);
    const rid = store.reading.find(resource, id, life, call.actor);
    if (rid === undefined) throw new Problem("not_found", "Not found.");
    return rid;
  };

  const writeItem = async (call: Call, resource: Routed, id: string): Promise<Response> => {
    checkAnswer(call, resource);
    const value = call.method === "DELETE" ? null : await body(call);
    const rid = store.write((writing) => {
      // Only what lives is written, whatever `deleted` says about reading.
      const found = store.reading.find(resource, id, readLife(resource, new URLSearchParams()), call.actor);
      if (found === undefined) throw new Problem("not_found", "Not found.");
      if (call.method === "DELETE") writing.remove(resource, [found], call.actor);
      else writing.update(resource, found, value, modeOf(call.method), call.actor);
      return found;
    });
    if (call.method === "DELETE") return respond(null, 204, "", { Allow: ITEM_METHODS });
    return showItem(call, resource, rid, 200);
  };

  const showSimple = (json: Json): Response =>
    respond(JSON.stringify(json), 200, MEDIA_TYPES.json, { Allow: READ_METHODS });

  return {
    collection(request, resource) {
      const call = begin(request, COLLECTION_METHODS);
      if (call.method === "OPTIONS") return describe(call, resource, COLLECTION_METHODS, ["POST"]);
      if (call.method === "GET" || call.method === "HEAD") return list(call, resource);
      return writeCollection(call, resource);
    },
    item(request, resource, id) {
      const call = begin(request, ITEM_METHODS);
      if (call.method === "GET" || call.method === "HEAD")
        return showItem(call, resource, find(call, resource, id), 200);
      if (call.method !== "OPTIONS") return writeItem(call, resource, id);
      const rid = find(call, resource, id);
      const may = store.reading.rights(resource, call.actor, [rid]).get(rid)?.change;
      return describe(call, resource, ITEM_METHODS, may ? ["PUT"] : []);
    },
    async bulkDelete(request, resource) {
      const call = begin(request, BULK_DELETE_METHODS);
      if (call.method === "OPTIONS") return describe(call, resource, BULK_DELETE_METHODS, []);
      const value = await readJson(request, options.maxMessageBytes);
      const ids = idsOf(call.url.searchParams, value);
      const deleted = store.bulk.remove(resource, ids, call.actor);
      const json = JSON.stringify({ deleted: deleted.length, ids: deleted });
      return respond(json, 200, MEDIA_TYPES.json, { Allow: BULK_DELETE_METHODS });
    },
    version(request) {
      begin(request, READ_METHODS);
      return showSimple({ version: "v2" });
    },
    root(request, resources) {
      const { base } = begin(request, READ_METHODS);
      return showSimple(Object.fromEntries(resources.map(({ segment }) => [segment, `${base}${segment}/`])));
    },
    person(request, name) {
      const { actor, url } = begin(request, READ_METHODS);
      if (actor.user === null) throw unauthenticated(NO_CREDENTIALS);
      const person = personRecord(store.statements, name, actor);
      if (!person) throw new Problem("not_found", "Not found.");
      return showSimple(url.searchParams.get("response_format") === "flat" ? { results: person } : person);
    },
    resolve(request, resources, id) {
      const { actor } = begin(request, READ_METHODS);
      return showSimple(resolveId(store.reading, resources, id, actor));
    },
  };
}

/** Clients of the flat form wrap what they send in `results`. */
function unwrap(value: Json): Json {
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

const modeOf = (method: string): Mode => (method === "PUT" ? "replace" : "merge");
