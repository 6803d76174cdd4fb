import type { Json } from "../model/field.ts";
import { type Call, respond } from "./call.ts";
import { isKnown, listTag, recordTag } from "./entity-tag.ts";
import { type Format, MEDIA_TYPES, negotiate } from "./negotiation.ts";

/** JSON for programs; the platform shows it to people as a page. */
type JsonFormat = Extract<Format, "json" | "api">;

/** JSON text in the negotiated format; 304 if the client has it. `headers` has its ETag. */
export function sendJson(
  call: Call,
  json: string,
  { format, status = 200, headers }: { format: JsonFormat; status?: number; headers: Record<string, string> },
): Response {
  if (isKnown(call, headers.ETag)) return notModifiedResponse(headers);
  return respond(json, status, MEDIA_TYPES[format], headers);
}

/** A value that is not a record of a list, such as a history. `version`: of a sub-resource, for its entity tag. */
export function showValue(
  call: Call,
  value: Json,
  {
    status = 200,
    version,
    headers,
  }: { status?: 200 | 201; version?: number; headers?: Record<string, string> } = {},
): Response {
  const json = JSON.stringify(value);
  const format = chooseFormat(call);
  const ETag = version === undefined ? listTag(json, format) : recordTag(version, json, format);
  return sendJson(call, json, { format, status, headers: { ...headers, ETag } });
}

/** The format of a value that is JSON or a page. */
export function chooseFormat({ method, request, url }: Call): JsonFormat {
  const given = url.searchParams.get("format");
  const requested = given === "api" || given === "json" ? given : undefined;
  const accept = request.headers.get("accept") ?? "";
  const isRead = method === "GET" || method === "HEAD";
  const mayBePage = isRead && (requested !== undefined || accept.includes("text/html"));
  return mayBePage && negotiate(requested, accept) === "api" ? "api" : "json";
}

export const notModifiedResponse = (headers: Record<string, string>): Response =>
  respond(null, 304, "", headers);
