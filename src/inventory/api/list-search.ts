import { exceeded } from "../../platform/limits.ts";
import { readBytes } from "../../platform/body.ts";
import { Problem } from "../../problem.ts";
import { isObject, type Json } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { LIMITS } from "../model/limits.ts";
import { invalidField } from "../model/parse-body.ts";
import type { Call } from "./call.ts";
import { isForm, readFields, readJsonBody } from "./request-body.ts";

/** The last part of the path of a list's search. */
export const SEARCH = "search/";

/** Headers that concern the body, and the one that makes a GET conditional. */
const POST_HEADERS = ["content-type", "content-length", "content-encoding", "if-none-match"];

/**
 * The GET of a list that a POST to its `search/` stands for. The parameters are in the body, where they may be longer
 * than in a URL: a JSON object or a form. @throws Problem too_large, invalid_request
 */
export async function toListCall(call: Call): Promise<Call> {
  const { request } = call;
  const sent = await readBytes(request, call.maxBytes);
  if (sent.byteLength > LIMITS.search.max) throw new Problem("too_large", exceeded(LIMITS.search));
  const headers = new Headers(request.headers);
  const body = new Request(request.url, { method: "POST", headers, body: sent as Uint8Array<ArrayBuffer> });
  const given = isForm(body)
    ? await readFields(body, sent.byteLength)
    : parseParameters(await readJsonBody({ request: body, maxBytes: sent.byteLength }));
  const url = new URL(call.url);
  url.pathname = url.pathname.replace(/search\/?$/, "");
  for (const [name, value] of given) url.searchParams.append(name, value);
  for (const name of POST_HEADERS) headers.delete(name);
  return { ...call, method: "GET", url, request: new Request(url, { headers, signal: request.signal }) };
}

function parseParameters(body: Json): [string, string][] {
  if (!isObject(body))
    throw invalidField("non_field_errors", "Expected an object with the parameters of the list.");
  return Object.entries(body).flatMap(([name, value]) =>
    parseValues(name, value).map((text) => [name, text] as [string, string]),
  );
}

/** The values of a parameter. An expression may be JSON itself. */
function parseValues(name: string, value: Json): string[] {
  const isText = (item: Json): boolean => item === null || typeof item !== "object";
  const items = Array.isArray(value) ? value : [value];
  if (name === "query_expression" && !items.every(isText)) return [JSON.stringify(value)];
  // Without values the parameter would select everything.
  if (items.length === 0) throw parameterProblem(name, "Expected at least one value.");
  if (!items.every(isText)) throw parameterProblem(name, "Expected a value, or a list of values.");
  return items.map(String);
}
