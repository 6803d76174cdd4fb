import { withAnnotations } from "../model/annotation-type.ts";
import type { Json } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { LIMITS } from "../model/limits.ts";
import {
  type FileFormat,
  isFileFormat,
  type Listing,
  parseExplain,
  parseListing,
  parseRepresentation,
  type Representation,
  unknownItemParameters,
} from "../model/listing.ts";
import { envelopeText, pageInfo } from "../model/page.ts";
import { columnName, type Resource } from "../model/resource.ts";
import { csvFile, csvText, yieldBetweenChunks, xlsxFile } from "../imports/export-file.ts";
import type { Snapshot } from "../records/store.ts";
import type { RecordReader } from "../records/record-reader.ts";
import type { RoutedResource } from "../resources/index.ts";
import { isBareList } from "../resources/dropbox.ts";
import {
  type Call,
  findRequested,
  requestUrl,
  missingCredentials,
  chooseReader,
  respond,
  respondJson,
  withParameter,
} from "./call.ts";
import { exportArchive } from "./export-archive.ts";
import { listTag, recordTag } from "./entity-tag.ts";
import { explainListing, explainRecord } from "./explanation.ts";
import { openSnapshotFor, streamList, streamRecords } from "./list-stream.ts";
import { checkRoom } from "../../platform/byte-budget.ts";
import { exceeded } from "../../platform/limits.ts";
import { MEDIA_TYPES, negotiate } from "./negotiation.ts";
import { sendJson } from "./render.ts";

const EXPORT_CHUNK = 500;
/** Bytes of a record with all fields and little text. */
const RECORD_SIZE = 1024;

/** GET of a list. */
export function listRecords(call: Call, resource: RoutedResource): Response {
  const { actor, request, store } = call;
  const { searchParams } = call.url;
  const past = searchParams.has("as_of") ? store.past(resource, searchParams, actor) : undefined;
  const listing = parseListing(store.resources, resource, past?.parameters ?? searchParams, actor);
  if (explained(call) !== undefined) return respondJson(explainListing(call, resource, listing, past));
  const format = negotiate(listing.format, request.headers.get("accept"));
  const headers = warnIgnored(listing.ignored);
  if (isFileFormat(format)) return exportList(call, resource, format, listing, headers);
  if (format === "api" && listing.size === "max") checkPage(call, resource, listing);
  const streamed = format === "json" ? streamList(call, resource, listing, headers) : undefined;
  if (streamed) return streamed;
  const reader = past?.reader ?? store.reader;
  const found = reader.list(resource, listing, actor);
  const page = pageInfo(requestUrl(call), searchParams, found.current, found.total, listing.size);
  checkRoom(found.rids.length * RECORD_SIZE);
  const links = { base: call.base, format: listing.format };
  const json = envelopeText(page, reader.texts(resource, listing, actor, found.rids, links));
  headers.ETag = listTag(json, format);
  return sendJson(call, json, { format, headers });
}

/** Parameters that give a bare list its envelope. */
const ENVELOPE_PARAMETERS = ["format", "page", "page_size", "as_of", "explain"];

/** GET of a list that clients read without an envelope; undefined if they ask for something else than the whole list. */
export function bareList(call: Call, resource: RoutedResource): Response | undefined {
  const { actor, base, request, store, url } = call;
  const isWhole = isBareList(resource) && !ENVELOPE_PARAMETERS.some((name) => url.searchParams.has(name));
  if (!isWhole || negotiate(undefined, request.headers.get("accept")) !== "json") return undefined;
  const listing = parseListing(store.resources, resource, url.searchParams, actor);
  const { rids } = store.reader.list(resource, { ...listing, size: "max" }, actor);
  checkRoom(rids.length * RECORD_SIZE);
  const texts = store.reader.texts(resource, listing, actor, rids, { base, format: undefined });
  return respond(`[${texts.join(",")}]`, 200, MEDIA_TYPES.json, warnIgnored(listing.ignored));
}

/** A page is HTML as a whole, unlike files. @throws Problem invalid_request naming URLs that stream all records */
function checkPage(call: Call, resource: RoutedResource, listing: Listing): void {
  const { total } = call.store.reader.list(resource, { ...listing, page: 1, size: 1 }, call.actor);
  if (total <= LIMITS.rows.max) return;
  const urls = ["json", "csv"].map((format) => withParameter(call, "format", format));
  throw parameterProblem("page_size", `${exceeded(LIMITS.rows)} All are at ${urls.join(" and ")}`);
}

/** GET of a record. */
export function readRecord(call: Call, resource: RoutedResource, id: string): Response {
  const { actor, store } = call;
  const { searchParams } = call.url;
  unknownItemParameters(searchParams);
  const requested = explained(call);
  const past = searchParams.has("as_of") ? store.past(resource, searchParams, actor) : undefined;
  if (requested !== undefined) return respondJson(explainRecord(call, resource, id, requested, past));
  const reader = past?.reader ?? store.reader;
  return showRecord(call, resource, findRequested(call, resource, id, reader), 200, reader);
}

function explained(call: Call): string | undefined {
  const requested = parseExplain(call.url.searchParams);
  if (requested !== undefined && call.actor.user === null) throw missingCredentials();
  return requested;
}

const readRepresentation = ({ actor, store, url }: Call, resource: Resource): Representation =>
  parseRepresentation(store.resources, withAnnotations(store.resources, resource, actor), url.searchParams);

/** Call it before a write: a request whose response cannot be given must not change anything. @throws Problem */
export function checkRepresentation(call: Call, resource: Resource): void {
  negotiate(readRepresentation(call, resource).format, call.request.headers.get("accept"));
}

/** One record as requested; 201 with its URL. */
export function showRecord(
  call: Call,
  resource: RoutedResource,
  rid: number,
  status: 200 | 201,
  reader: RecordReader = call.store.reader,
): Response {
  const { actor, base, method, request, store, url } = call;
  const representation = readRepresentation(call, resource);
  const format = negotiate(representation.format, request.headers.get("accept"));
  const isRead = status === 200 && method === "GET";
  const headers = warnIgnored(isRead ? unknownItemParameters(url.searchParams) : []);
  if (status === 201) headers.Location = recordUrl(call, resource, rid);
  if (isFileFormat(format))
    return exportRecords(call, resource, representation, [rid], { format, status, headers, reader });
  const links = { base, format: representation.format };
  const [text] = reader.texts(resource, representation, actor, [rid], links);
  // Clients of the flat form expect the record in `results`.
  const json = representation.shape === "flat" ? `{"results":${text}}` : text;
  headers.ETag =
    reader === store.reader && "version" in resource.fields
      ? recordTag(store.version(resource, rid), json, format)
      : listTag(json, format);
  return sendJson(call, json, { format, status, headers });
}

/** Several records as JSON; in pieces if there are many, unless the response is stored for its Idempotency-Key. */
export function showRecords(
  call: Call,
  resource: RoutedResource,
  rids: readonly number[],
  status: 200 | 201,
): Response {
  const { actor, base, store } = call;
  const representation = readRepresentation(call, resource);
  const links = { base, format: representation.format };
  const isFlat = representation.shape === "flat";
  const [before, after]: [string, string] = isFlat ? ['{"results":[', "]}"] : ["[", "]"];
  if (rids.length > LIMITS.rows.max && !call.request.headers.has("idempotency-key")) {
    const stream = streamRecords(call, resource, representation, rids, [before, after]);
    return respond(stream, status, MEDIA_TYPES.json);
  }
  const texts = store.reader.texts(resource, representation, actor, rids, links).join(",");
  return respond(before + texts + after, status, MEDIA_TYPES.json);
}

function recordUrl({ base, store }: Call, resource: RoutedResource, rid: number): string {
  const text = `SELECT ${columnName(resource, "id")} AS id FROM ${resource.table} WHERE rid = ?`;
  return `${base}${resource.segment}/${store.statements.get({ text, args: [rid] })?.id}/`;
}

/** A list as a file has all of its pages, unless one is requested. */
function exportList(
  call: Call,
  resource: RoutedResource,
  format: FileFormat,
  requested: Listing,
  headers: Record<string, string>,
): Response {
  const { actor, store } = call;
  const { searchParams } = call.url;
  const isPage = searchParams.has("page") || searchParams.has("page_size");
  const listing: Listing = isPage ? requested : { ...requested, size: "max" };
  const snapshot = openSnapshotFor(call);
  try {
    const reader = chooseReader(call, resource, snapshot?.store ?? store);
    const { rids } = reader.list(resource, listing, actor);
    return exportRecords(call, resource, listing, rids, { format, status: 200, headers, reader, snapshot });
  } catch (error) {
    snapshot?.close();
    throw error;
  }
}

interface Export {
  format: FileFormat;
  status: 200 | 201;
  headers: Record<string, string>;
  reader: RecordReader;
  /** Rows that `reader` reads; closed at the end. */
  snapshot?: Snapshot | undefined;
}

/** Records as a file; with a snapshot, they are read in chunks while the file is sent. */
function exportRecords(
  call: Call,
  resource: RoutedResource,
  requested: Representation,
  rids: readonly number[],
  { format, status, headers, reader, snapshot }: Export,
): Response {
  if (format === "eln") return exportArchive(call, resource, requested, rids, { status, headers, snapshot });
  const end = snapshot?.close;
  // Cells hold plain values only.
  const shape = requested.shape === "nested" ? "nested" : "plain";
  const links = { base: call.base, format: requested.format };
  const read = (from: number): { names: readonly string[]; values: Record<string, Json>[] } => {
    const chunk = rids.slice(from, from + EXPORT_CHUNK);
    const records = reader.records(resource, { ...requested, shape }, call.actor, chunk, links);
    // Rights cached for one chunk are of no use for the next.
    if (end) reader.forget();
    return records;
  };
  const first = read(0);
  function* chunks() {
    yield first.values;
    for (let from = EXPORT_CHUNK; from < rids.length; from += EXPORT_CHUNK) yield read(from).values;
  }
  const name = resource.segment.replaceAll("/", "-");
  const sent = { ...headers, "Content-Disposition": `attachment; filename="${name}.${format}"` };
  if (format === "csv" && rids.length <= EXPORT_CHUNK) {
    end?.();
    return respond(csvText(first.names, first.values), status, MEDIA_TYPES.csv, sent);
  }
  // Without a snapshot everything is read now: later it might have changed.
  const sheet = { title: name, names: first.names, chunks: end ? chunks() : [...chunks()] };
  const file = format === "csv" ? csvFile(sheet) : xlsxFile(sheet);
  return respond(yieldBetweenChunks(file, end), status, MEDIA_TYPES[format], sent);
}

/** The header that names ignored parameters (RFC 7234, section 5.5: 299, miscellaneous persistent warning). */
export function warnIgnored(ignored: readonly string[]): Record<string, string> {
  if (ignored.length === 0) return {};
  const names = ignored
    .slice(0, 20)
    .map((name) => (/^[\w.=+-]{1,80}$/.test(name) ? name : "unprintable name"));
  return { Warning: `299 labd "Ignored: ${names.join(", ")}"` };
}
