import type { Json } from "../model/field.ts";
import type { Listing, Representation } from "../model/listing.ts";
import { ENVELOPE_END, envelopeHead, pageInfo } from "../model/page.ts";
import type { RecordReader } from "../records/record-reader.ts";
import type { Snapshot } from "../records/store.ts";
import type { RoutedResource } from "../resources/index.ts";
import { type Call, requestUrl, chooseReader, respond } from "./call.ts";
import { isKnown, stateTag } from "./entity-tag.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { notModifiedResponse } from "./render.ts";
import { streamTexts, yieldBetweenChunks } from "../imports/export-file.ts";
import { Problem } from "../../problem.ts";

/** Lists with more records are streamed; shorter ones are rendered whole, and their texts are cached. */
const MAX_WHOLE = 1000;
/** Records that are read and rendered at a time. */
const CHUNK = 250;
/** Concurrent streams: each blocks the truncation of the write-ahead log and holds its chunks in memory. */
const MAX_STREAMS = 16;
/** Maximum for callers without credentials, so that other callers keep some. */
const MAX_ANONYMOUS_STREAMS = 8;
/** Milliseconds after which a stream is cut off: a slow client must not let the log grow without limit. */
const MAX_DURATION = 15 * 60_000;

const streams = new Map<symbol, { anonymous: boolean }>();

/**
 * The current state of the database, for a response that takes a while; undefined for a database in memory. Close it.
 * @throws Problem busy
 */
export function openSnapshotFor({ actor, store }: Call): Snapshot | undefined {
  const anonymous = actor.user === null;
  const anonymousCount = [...streams.values()].filter((stream) => stream.anonymous).length;
  if (streams.size >= MAX_STREAMS || (anonymous && anonymousCount >= MAX_ANONYMOUS_STREAMS))
    throw new Problem("busy", "Too many long lists are being sent. Try again later, or request pages.", {
      headers: { "Retry-After": "10" },
    });
  const snapshot = store.snapshot();
  if (!snapshot) return undefined;
  const key = Symbol("stream");
  streams.set(key, { anonymous });
  const close = (): void => {
    if (!streams.delete(key)) return;
    clearTimeout(timer);
    snapshot.close();
  };
  const timer = setTimeout(close, MAX_DURATION);
  timer.unref();
  return { store: snapshot.store, close };
}

/** Records as JSON with commas between them, chunk by chunk. */
function* recordTexts(
  reader: RecordReader,
  read: (rids: readonly number[]) => { values: Record<string, Json>[] },
  rids: readonly number[],
): Generator<string> {
  for (let from = 0; from < rids.length; from += CHUNK) {
    const { values } = read(rids.slice(from, from + CHUNK));
    // Rights cached for one chunk are of no use for the next.
    reader.forget();
    yield `${from > 0 ? "," : ""}${values.map((value) => JSON.stringify(value)).join(",")}`;
  }
}

/** The records of a large write as a JSON list between two texts, read while it is sent. */
export function streamRecords(
  { actor, base, store: { reader } }: Call,
  resource: RoutedResource,
  representation: Representation,
  rids: readonly number[],
  [before, after]: [string, string],
): ReadableStream<Uint8Array> {
  const links = { base, format: representation.format };
  function* texts(): Generator<string> {
    yield before;
    yield* recordTexts(
      reader,
      (chunk) => reader.records(resource, representation, actor, chunk, links),
      rids,
    );
    yield after;
  }
  return yieldBetweenChunks(streamTexts(texts()));
}

/**
 * A list with `page_size=max` as JSON, with the same envelope as a page; undefined for a list that is rendered whole.
 * All chunks are read from one snapshot; only the row numbers and one chunk are in memory.
 */
export function streamList(
  call: Call,
  resource: RoutedResource,
  listing: Listing,
  headers: Record<string, string>,
): Response | undefined {
  if (listing.size !== "max" || (listing.page !== 1 && listing.page !== "last")) return undefined;
  const { actor, store, url } = call;
  // Before the snapshot: the tag may stand for an older state than the content, but not for a newer one.
  const key = JSON.stringify([call.base, url.pathname, url.search, listing.format ?? "", actor]);
  const ETag = stateTag(call, key);
  const { total } = chooseReader(call, resource, store).list(
    resource,
    { ...listing, page: 1, size: 1 },
    actor,
  );
  if (total <= MAX_WHOLE) return undefined;
  if (isKnown(call, ETag)) return notModifiedResponse({ ...headers, ETag });
  const answer = (body: ReadableStream<Uint8Array>) =>
    respond(body, 200, MEDIA_TYPES.json, { ...headers, ETag });
  if (call.method === "HEAD") return answer(new ReadableStream({ start: (sink) => sink.close() }));
  const snapshot = openSnapshotFor(call);
  if (!snapshot) return undefined;
  try {
    const reader = chooseReader(call, resource, snapshot.store);
    const { rids, current, total } = reader.list(resource, listing, actor);
    const links = { base: call.base, format: listing.format };
    function* texts(): Generator<string> {
      yield envelopeHead(pageInfo(requestUrl(call), url.searchParams, current, total, "max"));
      yield* recordTexts(reader, (chunk) => reader.records(resource, listing, actor, chunk, links), rids);
      yield ENVELOPE_END;
    }
    return answer(yieldBetweenChunks(streamTexts(texts()), snapshot.close));
  } catch (error) {
    snapshot.close();
    throw error;
  }
}
