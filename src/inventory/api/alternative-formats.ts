import { browsablePage } from "./browsable.ts";
import { sessionForm } from "./browsable-forms.ts";
import { isKnown } from "./entity-tag.ts";
import type { Json } from "../model/field.ts";
import { MEDIA_TYPES, negotiate } from "./negotiation.ts";
import { type Call, here, respond, ROOT, withParameter } from "./response.ts";

/**
 * What is no record of a list (a history, what belongs to a record): JSON, or to those who read it in a browser a page.
 * Its tag is that of `headers`, made another for a page, which has the caller's name on it.
 */
export function showOther(
  call: Call,
  json: string,
  { status = 200, headers }: { status?: number; headers: Record<string, string> },
): Response {
  const typed = call.url.searchParams.get("format");
  const wanted = typed === "api" || typed === "json" ? typed : undefined;
  const accept = call.request.headers.get("accept") ?? "";
  const reads = call.method === "GET" || call.method === "HEAD";
  const isPage = reads && (wanted || accept.includes("text/html")) && negotiate(wanted, accept) === "api";
  const name = Bun.hash(call.actor.username ?? "").toString(36);
  const tag = isPage ? headers.ETag?.replace(/"$/, `.api.${name}"`) : headers.ETag;
  const sent = tag === undefined ? headers : { ...headers, ETag: tag };
  if (tag !== undefined && isKnown(call, tag)) return respond(null, 304, "", sent);
  if (!isPage) return respond(json, status, MEDIA_TYPES.json, sent);
  const path = call.url.pathname.slice(ROOT.length).replace(/\/+$/, "");
  // A record, and what is asked of it.
  const [, record, rest] = /^(.*\/[^/]+)\/(\w+(?:\/.*)?)$/.exec(path) ?? [];
  const page = browsablePage(
    {
      title: rest ?? path,
      summary: "",
      method: call.method,
      address: here(call) + call.url.search,
      status: `${status} OK`,
      headers: { ...sent, "Content-Type": "application/json", Vary: "Accept" },
      trail: [
        { name: "api", address: `${call.base}?format=api` },
        ...(record === undefined ? [] : [{ name: record, address: `${call.base}${record}/?format=api` }]),
      ],
      links: [{ name: "JSON", address: withParameter(call, "format", "json") }],
      session: sessionForm(call.base, call.actor.username, call.path + call.url.pathname + call.url.search),
      linkOf: (key, value) => (BATCH_KEYS.has(key) ? `${call.base}batches/${value}/?format=api` : undefined),
    },
    JSON.parse(json) as Json,
  );
  return respond(page, status, MEDIA_TYPES.api, { ...sent, Vary: "Accept, Cookie" });
}

/** Members of answers that name a batch. */
const BATCH_KEYS = new Set(["batch", "undoes", "undone_by"]);
