import { browsablePage, linksOf } from "./browsable.ts";
import { bulkForm, createForm, filterForm, recordForms, sessionForm } from "./browsable-forms.ts";
import type { Actor } from "../model/access.ts";
import { metadata } from "../model/schema.ts";
import { type Format, MEDIA_TYPES } from "./negotiation.ts";
import { type Html, markup } from "../../platform/html.ts";
import type { Json } from "../model/field.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";

export const ROOT = "/api/v2/";

/** One request and what was found out about it. */
export interface Call {
  request: Request;
  method: string;
  url: URL;
  /** Address of the interface with a slash at its end. */
  base: string;
  /** Path before all addresses of the service, such as /labd; empty where there is none. */
  path: string;
  actor: Actor;
}

/** A response. To HEAD it is that to GET: the server leaves the body out and keeps its length. */
export const respond = (
  body: string | ReadableStream<Uint8Array> | null,
  status: number,
  type: string,
  headers: Record<string, string> = {},
): Response => {
  const sent: Record<string, string> = { "Content-Type": type, Vary: "Accept", ...headers };
  if (body === null) delete sent["Content-Type"];
  const response = new Response(body, { status, headers: sent });
  if (typeof body === "string") bodies.set(response, body);
  return response;
};

/** Bodies can be read only later; what has to be kept in the transaction of a write is kept from here. */
const bodies = new WeakMap<Response, string>();

/** The body of an answer of `respond`. */
export const bodyOf = (response: Response): string | null => bodies.get(response) ?? null;

/** The address of this request's path, as clients reach it. */
export const here = (call: Call): string => call.base + call.url.pathname.slice(ROOT.length);

/** A JSON text in the form that was asked for: as it is, or on a page. */
export const show = (
  call: Call,
  format: Format,
  json: string,
  resource: RoutedResource,
  about: { status?: number; headers: Record<string, string>; links?: Record<string, string | null> },
): Response => {
  const status = about.status ?? 200;
  if (format !== "api") return respond(json, status, MEDIA_TYPES.json, about.headers);
  const shown = { ...about.headers, "Content-Type": "application/json", Vary: "Accept" };
  const value = JSON.parse(json) as Json;
  const page = browsablePage(
    {
      title: resource.segment,
      summary: resource.summary,
      method: call.method,
      address: here(call) + call.url.search,
      status: `${status} ${status === 201 ? "Created" : "OK"}`,
      headers: shown,
      trail: [
        { name: "api", address: `${call.base}?format=api` },
        { name: resource.segment, address: `${call.base}${resource.segment}/?format=api` },
      ],
      links: Object.entries(about.links ?? {}).map(([name, address]) => ({ name, address })),
      session: sessionForm(call.base, call.actor.username, call.path + call.url.pathname + call.url.search),
      forms: formsFor(call, resource, value),
      linkOf: linksOf(resource, call.base),
    },
    value,
  );
  // The page has the caller's name and forms on it.
  return respond(page, status, MEDIA_TYPES.api, { ...about.headers, Vary: "Accept, Cookie" });
};

/** The root as a page. */
export const showRoot = (
  call: Call,
  resources: readonly RoutedResource[],
  headers: Record<string, string>,
): Response => {
  const { base } = call;
  const page = browsablePage(
    {
      title: "Api Root",
      summary: "The addresses of all lists.",
      method: call.method,
      address: here(call) + call.url.search,
      status: "200 OK",
      headers: { ...headers, "Content-Type": "application/json", Vary: "Accept" },
      trail: [{ name: "api", address: `${base}?format=api` }],
      links: [
        { name: "JSON", address: `${base}?format=json` },
        { name: "Reference", address: new URL("../../docs", base).href },
      ],
      session: sessionForm(base, call.actor.username, call.path + call.url.pathname + call.url.search),
    },
    Object.fromEntries(resources.map(({ segment }) => [segment, `${base}${segment}/?format=api`])),
  );
  return respond(page, 200, MEDIA_TYPES.api, { ...headers, Vary: "Accept, Cookie" });
};

/** The forms that make sense for what is shown; those that write, for callers with credentials. */
function formsFor(call: Call, resource: RoutedResource, value: Json): Html[] {
  const known = call.actor.user !== null;
  const list = `${call.base}${resource.segment}/`;
  const whole = value as Record<string, Json>;
  if (Array.isArray(whole.results) && "total_pages" in whole) {
    const records = whole.results as Record<string, Json>[];
    const filter = filterForm(resource, here(call), call.url.searchParams);
    return known ? [filter, bulkForm(resource, list, records), createForm(resource, list)] : [filter];
  }
  const record = (whole.results ?? whole) as Record<string, Json>;
  if (!known || Array.isArray(record) || record.id === undefined) return [];
  return [markup``, ...recordForms(resource, `${list}${String(record.id)}/`, record)];
}

/** The address of this request with another value of one parameter. */
export const withParameter = (call: Call, name: string, value: string): string => {
  const parameters = new URLSearchParams(call.url.searchParams);
  parameters.set(name, value);
  return `${here(call)}?${parameters.toString()}`;
};

/** The answer to OPTIONS. */
export const describe = (
  call: Call,
  resource: RoutedResource,
  allow: string,
  actions: string[],
): Response => {
  const may = call.actor.user === null ? [] : actions;
  const json = JSON.stringify(metadata(DECLARED, resource, may));
  return respond(json, 200, MEDIA_TYPES.json, { Allow: allow });
};
