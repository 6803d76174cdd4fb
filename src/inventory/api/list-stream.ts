import { Problem } from "../../problem.ts";
import { isKnown, stateTag } from "./entity-tag.ts";
import type { Actor } from "../model/access.ts";
import type { Listing } from "../model/listing.ts";
import { ENVELOPE_END, envelopeHead, pageInfo } from "../model/page.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { type Call, here, respond } from "./response.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { Snapshot, Store } from "../records/store.ts";

/** Up to so many records are printed at once: their texts are kept, and their tag is that of what is in them. */
const LONGEST_WHOLE = 1000;
/** Records that are read and printed at a time. */
const SLICE = 250;
/** Long answers under way. Each holds back the database's log and has its pieces in memory; one more is refused. */
const AT_ONCE = 16;
/** Of these, for callers without credentials together: they cannot take the place of those that have some. */
const ANONYMOUS_AT_ONCE = 8;
/** Milliseconds after which one is cut off: a client that takes a byte now and then would have the log grow for ever. */
const LONGEST = 15 * 60_000;

/** Long answers, read slice by slice from one state of the database. */
export interface ListStreams {
  /** A list in one page as JSON; undefined where it is to be printed at once. */
  json(
    call: Call,
    resource: RoutedResource,
    listing: Listing,
    headers: Record<string, string>,
  ): Response | undefined;
  /**
   * The state of now for an answer that takes a while; undefined where it is to be read at once. Close it.
   * @throws Problem busy where too many are under way
   */
  begin(actor: Actor): Snapshot | undefined;
}

/**
 * Lists with `page_size=max`. All slices are read in one snapshot, so that a list is what it was when it was asked for,
 * with the envelope that a page of the same records has; what is in memory is the row numbers and one slice.
 */
export function openListStreams(store: Store): ListStreams {
  let underWay = 0;
  let anonymous = 0;

  const begin = ({ user }: Actor): Snapshot | undefined => {
    const isAnonymous = user === null;
    if (underWay >= AT_ONCE || (isAnonymous && anonymous >= ANONYMOUS_AT_ONCE))
      throw new Problem("busy", "Too many long lists are being sent. Try again later, or ask for pages.", {
        headers: { "Retry-After": "10" },
      });
    const snapshot = store.snapshot();
    if (!snapshot) return undefined;
    underWay++;
    if (isAnonymous) anonymous++;
    let open = true;
    const close = (): void => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      underWay--;
      if (isAnonymous) anonymous--;
      snapshot.close();
    };
    const timer = setTimeout(close, LONGEST);
    timer.unref();
    return { store: snapshot.store, close };
  };

  const json: ListStreams["json"] = (call, resource, listing, headers) => {
    const isFirst = listing.page === 1 || listing.page === "last";
    if (listing.size !== "max" || !isFirst) return undefined;
    const { searchParams } = call.url;
    const { actor } = call;
    const readingOf = (from: Store) =>
      searchParams.has("as_of") ? from.past(resource, searchParams, actor).reader : from.reader;
    // Before the snapshot: a tag may stand for less than what is sent, but never for more.
    const key = JSON.stringify([call.base, call.url.pathname, call.url.search, listing.format ?? "", actor]);
    const tag = stateTag(store.statements.state(), key);
    const { total } = readingOf(store).list(resource, { ...listing, page: 1, size: 1 }, actor);
    if (total <= LONGEST_WHOLE) return undefined;
    if (isKnown(call, tag)) return respond(null, 304, "", { ...headers, ETag: tag });
    const answer = (body: ReadableStream<Uint8Array>) =>
      respond(body, 200, MEDIA_TYPES.json, { ...headers, ETag: tag });
    if (call.method === "HEAD") return answer(new ReadableStream({ start: (sink) => sink.close() }));
    const snapshot = begin(actor);
    if (!snapshot) return undefined;
    try {
      const reading = readingOf(snapshot.store);
      const found = reading.list(resource, listing, actor);
      const around = { base: call.base, format: listing.format };
      const where = pageInfo(here(call), searchParams, found.current, found.total, "max");
      function* parts(): Generator<string> {
        yield envelopeHead(where);
        for (let at = 0; at < found.rids.length; at += SLICE) {
          const rids = found.rids.slice(at, at + SLICE);
          const { values } = reading.records(resource, listing, actor, rids, around);
          // Rights and pages that were kept for one slice are of no use to the next.
          reading.forget();
          yield `${at > 0 ? "," : ""}${values.map((value) => JSON.stringify(value)).join(",")}`;
        }
        yield ENVELOPE_END;
      }
      return answer(streamOf(parts(), () => snapshot.close()));
    } catch (error) {
      snapshot.close();
      throw error;
    }
  };
  return { json, begin };
}

/** Texts as UTF-8, made as they are asked for; `end` is called once they are through, or no longer wanted. */
function streamOf(parts: Generator<string>, end: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(sink) {
      // Other requests get their turn between two slices.
      await new Promise((turn) => setImmediate(turn));
      try {
        const { done, value } = parts.next();
        if (!done) return sink.enqueue(encoder.encode(value));
        end();
        sink.close();
      } catch (error) {
        end();
        throw error;
      }
    },
    cancel() {
      end();
    },
  });
}
