import { openWriteAnswers } from "./respond-to-write.ts";
export { unwrap } from "./respond-to-write.ts";
import { isKnown, listTag, recordTag } from "./entity-tag.ts";
import { csvFile, csvText, inTurns, xlsxFile } from "../imports/export-file.ts";
import { type Format, MEDIA_TYPES, negotiate } from "./negotiation.ts";
import { explainListing, explainRecord } from "./explanation.ts";
import type { Actor } from "../model/access.ts";
import type { Json } from "../model/field.ts";
import { isGuarded } from "../model/resource.ts";
import {
  type Listing,
  type Representation,
  parseExplain,
  parseDeletedFilter,
  parseListing,
  parseRepresentation,
  unknownItemParameters,
} from "../model/listing.ts";
import { envelopeText, pageInfo } from "../model/page.ts";
import { openListStreams } from "./list-stream.ts";
import { resolve as resolveRecord } from "../records/resolver.ts";
import { type Call, describe, here, respond, ROOT, show, showRoot, withParameter } from "./response.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { RecordReader } from "../records/record-reader.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";
import { unauthenticated } from "../../accounts/unauthenticated.ts";
import { basePathOf, ownOrigin, type PublicUrlOptions } from "../../platform/origin.ts";

/** In this order in the Allow header (specification, "Collection responses"). */
const COLLECTION_METHODS = "GET, POST, PUT, PATCH, HEAD, OPTIONS";
export const ITEM_METHODS = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS";
const READ_METHODS = "GET, HEAD, OPTIONS";
const NO_CREDENTIALS = "Authentication credentials were not provided.";
const BULK_DELETE_METHODS = "POST, DELETE, OPTIONS";

/** Records of a file that are read at once. */
const EXPORT_CHUNK = 500;

export interface AnswerOptions {
  store: Store;
  /** Who asks. @throws Problem unauthenticated */
  authenticate: (request: Request) => Actor;
  /** Address under which clients reach the server, where it is not that of their requests. */
  reach: PublicUrlOptions;
  /** Whether callers without credentials may read public records. */
  anonymousRead: boolean;
  maxMessageBytes: number;
}

type Answer = Response | Promise<Response>;

/** Requests about resources, as functions from a request to its response. All throw a Problem. */
export interface Answers {
  collection(request: Request, resource: RoutedResource): Answer;
  item(request: Request, resource: RoutedResource, id: string): Answer;
  bulkDelete(request: Request, resource: RoutedResource): Answer;
  /** That of the interface, which is in its address too. */
  version(request: Request): Answer;
  /** The addresses of all resources. */
  root(request: Request, resources: readonly RoutedResource[]): Answer;
  /** The call that a request is. @throws Problem method_not_allowed, unauthenticated */
  begin(request: Request, allow: string): Call;
  /** As `begin`, for what nobody sees without credentials. */
  beginKnown(request: Request, allow: string): Call;
  /** The row number of a record that the caller may view. @throws Problem not_found */
  find(call: Call, resource: RoutedResource, id: string): number;
  /** One record as the request wants it; 201 with its address. */
  showRecord(call: Call, resource: RoutedResource, rid: number, status: 200 | 201): Response;
  /** Before anything is written. @throws Problem not_acceptable and others, where the answer could not be given */
  checkAnswer(call: Call, resource: RoutedResource): void;
  /** What a bare id is; without one, the id or the name that the parameter `query` gives. */
  resolve(request: Request, resources: readonly RoutedResource[], id?: string): Answer;
}

export function openAnswers(options: AnswerOptions): Answers {
  const { store } = options;
  const streams = openListStreams(store);

  const begin = (request: Request, allow: string): Call => {
    // A request in HTTP/1.0 without a Host has a path and no more.
    const url = new URL(request.url, "http://localhost");
    const actor = options.authenticate(request);
    const { method } = request;
    const reads = method === "GET" || method === "HEAD" || method === "OPTIONS";
    if (actor.user === null && (!reads || !options.anonymousRead)) throw unauthenticated(NO_CREDENTIALS);
    if (!allow.split(", ").includes(method))
      throw new Problem("method_not_allowed", `Method "${method}" not allowed.`, { allow });
    const path = basePathOf(request, options.reach);
    return { request, method, url, path, base: `${ownOrigin(request, options.reach)}${path}${ROOT}`, actor };
  };

  /** Records as a file; a longer one is read in slices from `reading`, whose state `end` lets go of. */
  const file = (
    call: Call,
    resource: RoutedResource,
    format: "csv" | "xlsx",
    how: Representation,
    rids: readonly number[],
    about: { status: 200 | 201; headers: Record<string, string>; reading: RecordReader; end?: () => void },
  ): Response => {
    // Points in time as plain text: a cell is no place for an object.
    const flat: Representation = { ...how, shape: how.shape === "spec" ? "flat" : how.shape };
    const around = { base: call.base, format: how.format };
    const recordsOf = (part: readonly number[]) => {
      const records = about.reading.records(resource, flat, call.actor, part, around);
      // Rights that were kept for one slice are of no use to the next.
      if (about.end) about.reading.forget();
      return records;
    };
    const first = recordsOf(rids.slice(0, EXPORT_CHUNK));
    function* chunks() {
      yield first.values;
      for (let at = EXPORT_CHUNK; at < rids.length; at += EXPORT_CHUNK)
        yield recordsOf(rids.slice(at, at + EXPORT_CHUNK)).values;
    }
    const name = resource.segment.replaceAll("/", "-");
    // Without a state of its own all is read now: what is read later may have been written later.
    const sheet = { title: name, names: first.names, chunks: about.end ? chunks() : [...chunks()] };
    const disposition = { "Content-Disposition": `attachment; filename="${name}.${format}"` };
    const short = format === "csv" && rids.length <= EXPORT_CHUNK;
    const end = about.end ?? (() => {});
    if (short) end();
    const body = short
      ? csvText(first.names, first.values)
      : inTurns(format === "csv" ? csvFile(sheet) : xlsxFile(sheet), end);
    return respond(body, about.status, MEDIA_TYPES[format], { ...about.headers, ...disposition });
  };

  /** A file is for all of a list, whose pages somebody would have to put together again. */
  const listFile = (
    call: Call,
    resource: RoutedResource,
    format: "csv" | "xlsx",
    asked: Listing,
    headers: Record<string, string>,
  ): Response => {
    const { searchParams } = call.url;
    const whole = !searchParams.has("page") && !searchParams.has("page_size");
    const listing: Listing = whole ? { ...asked, size: "max" } : asked;
    const snapshot = streams.begin(call.actor);
    try {
      const reading = readingOf(call, resource, snapshot?.store ?? store);
      const { rids } = reading.list(resource, listing, call.actor);
      const about = { status: 200 as const, headers, reading, ...(snapshot ? { end: snapshot.close } : {}) };
      return file(call, resource, format, listing, rids, about);
    } catch (error) {
      snapshot?.close();
      throw error;
    }
  };

  const readingOf = (call: Call, resource: RoutedResource, from: Store): RecordReader => {
    const { searchParams } = call.url;
    return searchParams.has("as_of") ? from.past(resource, searchParams, call.actor).reader : from.reader;
  };

  const list = (call: Call, resource: RoutedResource): Response => {
    const { searchParams } = call.url;
    const past = searchParams.has("as_of") ? store.past(resource, searchParams, call.actor) : undefined;
    const reading = past?.reader ?? store.reader;
    const listing = parseListing(store.resources, resource, past?.parameters ?? searchParams, call.actor);
    const asked = explainAsked(call);
    if (asked !== undefined)
      return explained(explainListing(store, resource, listing, searchParams, call.actor, past));
    const format = negotiate(listing.format, call.request.headers.get("accept"));
    const headers = { Allow: COLLECTION_METHODS, ...warning(listing.ignored) };
    if (format === "csv" || format === "xlsx") return listFile(call, resource, format, listing, headers);
    const streamed = format === "json" ? streams.json(call, resource, listing, headers) : undefined;
    if (streamed) return streamed;
    const found = reading.list(resource, listing, call.actor);
    const around = { base: call.base, format: listing.format };
    const where = pageInfo(here(call), searchParams, found.current, found.total, listing.size);
    const texts = reading.texts(resource, listing, call.actor, found.rids, around);
    const json = envelopeText(where, texts);
    const tag = listTag(json, formOf(call, format));
    if (isKnown(call, tag)) return respond(null, 304, "", { ...headers, ETag: tag });
    return show(call, format, json, resource, {
      headers: { ...headers, ETag: tag },
      links: {
        "previous page": where.previous,
        "next page": where.next,
        JSON: withParameter(call, "format", "json"),
        CSV: withParameter(call, "format", "csv"),
        XLSX: withParameter(call, "format", "xlsx"),
        Import: call.actor.user === null ? null : `${call.base}${resource.segment}/import/?format=api`,
      },
    });
  };

  /** Whether an explanation is asked for, and of what: only of callers with credentials. */
  const explainAsked = (call: Call): string | undefined => {
    const asked = parseExplain(call.url.searchParams);
    if (asked !== undefined && call.actor.user === null) throw unauthenticated(NO_CREDENTIALS);
    return asked;
  };

  const explained = (json: Json): Response =>
    respond(JSON.stringify(json), 200, MEDIA_TYPES.json, { Allow: READ_METHODS });

  const look = (call: Call, resource: RoutedResource): Representation =>
    parseRepresentation(store.resources, resource, call.url.searchParams);

  /** One record as JSON; under response_format=flat in `results`, as clients of that form expect it. */
  const itemText = (
    call: Call,
    resource: RoutedResource,
    how: Representation,
    rid: number,
    reading: RecordReader,
  ): string => {
    const around = { base: call.base, format: how.format };
    const [text] = reading.texts(resource, how, call.actor, [rid], around);
    return how.shape === "flat" ? `{"results":${text}}` : text;
  };

  /** One record; `reading`: as it was at another time. */
  const showItem = (
    call: Call,
    resource: RoutedResource,
    rid: number,
    status: 200 | 201,
    reading: RecordReader = store.reader,
  ): Response => {
    const how = look(call, resource);
    const format = negotiate(how.format, call.request.headers.get("accept"));
    const ignored =
      status === 200 && call.method === "GET" ? unknownItemParameters(call.url.searchParams) : [];
    const headers: Record<string, string> = {
      Allow: status === 201 ? COLLECTION_METHODS : ITEM_METHODS,
      ...warning(ignored),
    };
    if (status === 201) headers.Location = addressOf(call, resource, rid);
    if (format === "csv" || format === "xlsx")
      return file(call, resource, format, how, [rid], { status, headers, reading });
    const json = itemText(call, resource, how, rid, reading);
    const tag =
      reading === store.reader && "version" in resource.fields
        ? recordTag(store.version(resource, rid), json, formOf(call, format))
        : listTag(json, formOf(call, format));
    headers.ETag = tag;
    if (isKnown(call, tag)) return respond(null, 304, "", headers);
    const links: Record<string, string | null> = { JSON: withParameter(call, "format", "json") };
    if (status === 200 && isGuarded(resource))
      for (const part of ["history", "annotations", "notes"])
        links[part] = `${addressOf(call, resource, rid)}${part}/?format=api`;
    return show(call, format, json, resource, { status, headers, links });
  };

  const addressOf = (call: Call, resource: RoutedResource, rid: number): string => {
    const column = resource.fields.id.column ?? "id";
    const row = store.statements.get({
      text: `SELECT ${column} AS id FROM ${resource.table} WHERE rid = ?`,
      args: [rid],
    });
    return `${call.base}${resource.segment}/${row?.id}/`;
  };

  const showSeveral = (call: Call, resource: RoutedResource, rids: number[], status: 200 | 201): Response => {
    const how = look(call, resource);
    const around = { base: call.base, format: how.format };
    const texts = `[${store.reader.texts(resource, how, call.actor, rids, around).join(",")}]`;
    const json = how.shape === "flat" ? `{"results":${texts}}` : texts;
    return show(call, "json", json, resource, { status, headers: { Allow: COLLECTION_METHODS } });
  };

  /** Looked at before anything is written: an answer that cannot be given must not have done anything. */
  const checkAnswer = (call: Call, resource: RoutedResource): void => {
    negotiate(look(call, resource).format, call.request.headers.get("accept"));
  };

  const find = (
    call: Call,
    resource: RoutedResource,
    id: string,
    reading: RecordReader = store.reader,
  ): number => {
    const life = parseDeletedFilter(resource, call.url.searchParams);
    const rid = reading.find(resource, id, life, call.actor);
    if (rid === undefined) throw new Problem("not_found", "Not found.");
    return rid;
  };

  const writes = openWriteAnswers({
    store,
    maxMessageBytes: options.maxMessageBytes,
    showItem,
    showSeveral,
    checkAnswer,
    itemMethods: ITEM_METHODS,
    bulkDeleteMethods: BULK_DELETE_METHODS,
  });

  const showSimple = (json: Json): Response =>
    respond(JSON.stringify(json), 200, MEDIA_TYPES.json, { Allow: READ_METHODS });

  return {
    collection(request, resource) {
      const call = begin(request, COLLECTION_METHODS);
      if (call.method === "OPTIONS") return describe(call, resource, COLLECTION_METHODS, ["POST"]);
      if (call.method === "GET" || call.method === "HEAD") return list(call, resource);
      return writes.collection(call, resource);
    },
    item(request, resource, id) {
      const call = begin(request, ITEM_METHODS);
      if (call.method === "GET" || call.method === "HEAD") {
        const asked = explainAsked(call);
        const { searchParams } = call.url;
        const past = searchParams.has("as_of") ? store.past(resource, searchParams, call.actor) : undefined;
        if (asked !== undefined)
          return explained(explainRecord(store, resource, id, asked, call.actor, past));
        const rid = find(call, resource, id, past?.reader);
        return showItem(call, resource, rid, 200, past?.reader);
      }
      if (call.method !== "OPTIONS") return writes.item(call, resource, id);
      const rid = find(call, resource, id);
      const may = store.reader.rights(resource, call.actor, [rid]).get(rid)?.change;
      return describe(call, resource, ITEM_METHODS, may ? ["PUT"] : []);
    },
    bulkDelete(request, resource) {
      const call = begin(request, BULK_DELETE_METHODS);
      if (call.method === "OPTIONS") return describe(call, resource, BULK_DELETE_METHODS, []);
      return writes.bulkDelete(call, resource);
    },
    version(request) {
      begin(request, READ_METHODS);
      return showSimple({ version: "v2" });
    },
    root(request, resources) {
      const call = begin(request, READ_METHODS);
      const { base, method, url } = call;
      if (method === "OPTIONS") return showSimple(ROOT_METADATA);
      const wanted = url.searchParams.get("format") === "api" ? "api" : undefined;
      const format = negotiate(wanted, request.headers.get("accept"));
      if (format === "api") return showRoot(call, resources, { Allow: READ_METHODS });
      return showSimple(Object.fromEntries(resources.map(({ segment }) => [segment, `${base}${segment}/`])));
    },
    begin,
    find,
    beginKnown(request, allow) {
      const call = begin(request, allow);
      if (call.actor.user === null) throw unauthenticated(NO_CREDENTIALS);
      return call;
    },
    showRecord: showItem,
    checkAnswer,
    resolve(request, resources, id) {
      const { actor, url } = begin(request, READ_METHODS);
      const typed = id ?? url.searchParams.get("query") ?? "";
      return showSimple(resolveRecord(store.reader, resources, typed, actor, id === undefined));
    },
  };
}

/** What a tag knows of the form: pages have the caller's name and forms on them, so each caller has its own. */
const formOf = (call: Call, format: Format): string =>
  format === "api" ? `api.${Bun.hash(call.actor.username ?? "").toString(36)}` : format;

/** The answer to OPTIONS at the root, in the words of Django REST framework. */
const ROOT_METADATA: Json = {
  name: "Api Root",
  description: "The addresses of all lists.",
  renders: ["application/json"],
  parses: ["application/json"],
};

/** The header that names what was ignored (RFC 7234, section 5.5: 299, miscellaneous persistent warning). */
function warning(ignored: readonly string[]): Record<string, string> {
  if (ignored.length === 0) return {};
  const names = ignored
    .slice(0, 20)
    .map((name) => (/^[\w.=+-]{1,80}$/.test(name) ? name : "one of another name"));
  return { Warning: `299 labd "Ignored: ${names.join(", ")}"` };
}
