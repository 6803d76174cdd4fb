import type { Json } from "../model/field.ts";
import type { RoutedResource } from "../resources/index.ts";
import { type BrowsablePage, browsablePage, linksOf } from "./browsable.ts";
import { bulkForm, createForm, filterForm, recordForms, sessionForm } from "./browsable-forms.ts";
import { type Call, here, respond, withParameter } from "./call.ts";
import { API_ROOT } from "../model/resource.ts";
import { isKnown, listTag, recordTag } from "./entity-tag.ts";
import { type Format, MEDIA_TYPES, negotiate } from "./negotiation.ts";
import { type Html, markup } from "../../platform/html.ts";

/** Responses as JSON or, for browsers, as pages. */

interface Page extends Pick<BrowsablePage, "title" | "trail" | "links" | "forms" | "linkOf"> {
  summary?: string;
  status?: number;
  headers: Record<string, string>;
}

/** JSON text as a page. It shows the caller's name, so that caches must tell callers apart. */
export function respondPage(call: Call, json: string, page: Page): Response {
  const { status = 200, headers } = page;
  const text = browsablePage(
    {
      summary: "",
      ...page,
      method: call.method,
      url: here(call) + call.url.search,
      status: `${status} ${status === 201 ? "Created" : "OK"}`,
      headers: { Allow: call.allow, ...headers, "Content-Type": "application/json", Vary: "Accept" },
      trail: [{ name: "api", url: `${call.base}?format=api` }, ...page.trail],
      session: sessionForm(call),
    },
    JSON.parse(json) as Json,
  );
  return respond(text, status, MEDIA_TYPES.api, { ...headers, Vary: "Accept, Cookie" });
}

/** The URLs of all lists as a page. */
export const showRoot = (call: Call, lists: Record<string, string>): Response =>
  respondPage(call, JSON.stringify(lists), {
    title: "Api Root",
    summary: "The URLs of all lists.",
    headers: {},
    trail: [],
    links: [
      { name: "JSON", url: `${call.base}?format=json` },
      { name: "Reference", url: new URL("../../docs", call.base).href },
    ],
  });

interface Shown {
  status?: number;
  headers: Record<string, string>;
  links?: Record<string, string | null>;
}

/** A record, or a page of a list, in the requested format. */
export function show(
  call: Call,
  format: Format,
  json: string,
  resource: RoutedResource,
  { status = 200, headers, links = {} }: Shown,
): Response {
  if (format !== "api") return respond(json, status, MEDIA_TYPES.json, headers);
  const { segment, summary } = resource;
  return respondPage(call, json, {
    title: segment,
    summary,
    status,
    headers,
    trail: [{ name: segment, url: `${call.base}${segment}/?format=api` }],
    links: Object.entries(links).map(([name, url]) => ({ name, url })),
    forms: formsFor(call, resource, JSON.parse(json) as Json),
    linkOf: linksOf(resource, call.base),
  });
}

function formsFor(call: Call, resource: RoutedResource, value: Json): Html[] {
  const isSignedIn = call.actor.user !== null;
  const list = `${call.base}${resource.segment}/`;
  const whole = value as Record<string, Json>;
  if (Array.isArray(whole.results) && "total_pages" in whole) {
    const records = whole.results as Record<string, Json>[];
    const filter = filterForm(resource, here(call), call.url.searchParams);
    return isSignedIn ? [filter, bulkForm(resource, list, records), createForm(resource, list)] : [filter];
  }
  const record = (whole.results ?? whole) as Record<string, Json>;
  if (!isSignedIn || Array.isArray(record) || record.id === undefined) return [];
  return [markup``, ...recordForms(resource, `${list}${String(record.id)}/`, record)];
}

/** What an entity tag says about the format: a page contains the caller's name and forms. */
export const formOf = (call: Call, format: Format): string =>
  format === "api" ? `api.${Bun.hash(call.actor.username ?? "").toString(36)}` : format;

/** Keys whose values are ids of batches. */
const BATCH_KEYS = new Set(["batch", "undoes", "undone_by"]);

/** A value that is not a record of a list, such as a history. `version`: of a sub-resource, for its entity tag. */
export function showValue(
  call: Call,
  value: Json,
  {
    status = 200,
    version,
    headers: more,
  }: { status?: 200 | 201; version?: number; headers?: Record<string, string> } = {},
): Response {
  const json = JSON.stringify(value);
  const isPage = wantsPage(call);
  const form = formOf(call, isPage ? "api" : "json");
  const ETag = version === undefined ? listTag(json, form) : recordTag(version, json, form);
  const headers = { ...more, ETag };
  if (isKnown(call, headers.ETag)) return notModified(headers);
  if (!isPage) return respond(json, status, MEDIA_TYPES.json, headers);
  const path = call.url.pathname.slice(API_ROOT.length).replace(/\/+$/, "");
  // The record, and the rest of the path below it.
  const [, record, rest] = /^(.*\/[^/]+)\/(\w+(?:\/.*)?)$/.exec(path) ?? [];
  return respondPage(call, json, {
    title: rest ?? path,
    status,
    headers,
    trail: record === undefined ? [] : [{ name: record, url: `${call.base}${record}/?format=api` }],
    links: [{ name: "JSON", url: withParameter(call, "format", "json") }],
    linkOf: (key, id) => (BATCH_KEYS.has(key) ? `${call.base}batches/${id}/?format=api` : undefined),
  });
}

function wantsPage({ method, request, url }: Call): boolean {
  const given = url.searchParams.get("format");
  const requested = given === "api" || given === "json" ? given : undefined;
  const accept = request.headers.get("accept") ?? "";
  const isRead = method === "GET" || method === "HEAD";
  return (
    isRead &&
    (requested !== undefined || accept.includes("text/html")) &&
    negotiate(requested, accept) === "api"
  );
}

export const notModified = (headers: Record<string, string>): Response => respond(null, 304, "", headers);
