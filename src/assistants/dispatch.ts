import type { Answer } from "../platform/http.ts";
import { currentRequest } from "../platform/request-context.ts";
import { type Code, Problem } from "../problem.ts";
import type { OperationRequest } from "./declared-call.ts";

/** The caller for whom an assistant works: its credentials, and how it reached the server. */
export interface AssistantCaller {
  /** Row of the account; null without one. */
  user: number | null;
  /** Row of the token that the assistant uses; null for a person in a browser. */
  token: number | null;
  headers: Headers;
  /** Scheme, host and port of the server in requests. */
  origin: string;
  /** Address of the service as the caller reaches it. */
  base: string;
  /** Network address. */
  address: string | null;
}

/** Headers by which an operation knows its caller and the address of the server. */
const CALLER_HEADERS =
  /^(authorization|cookie|host|origin|sec-fetch-site|x-csrftoken|x-forwarded-(for|host|port|prefix|proto))$/;

/** The caller of the current request. */
export function findCaller(
  request: Request,
  { user, token = null }: { user: number | null; token?: number | null },
): AssistantCaller {
  const headers = new Headers([...request.headers].filter(([name]) => CALLER_HEADERS.test(name)));
  const { origin } = new URL(request.url);
  const { baseUrl = origin, address = null } = currentRequest() ?? {};
  return { user, token, headers, origin, base: baseUrl, address };
}

/**
 * Calls an operation for a caller, as the caller could over HTTP: with the same permissions, limits and log.
 * @param more further headers
 * @throws Problem with the error of the operation
 */
export async function callOperation(
  answer: Answer,
  { method, target, body }: OperationRequest,
  { headers, origin, address }: AssistantCaller,
  more: Record<string, string> = {},
): Promise<{ value: Record<string, unknown>; headers: Headers }> {
  const sent = new Headers(headers);
  const own = { accept: "application/json", "content-type": "application/json", ...more };
  for (const [name, value] of Object.entries(own)) sent.set(name, value);
  const request = new Request(origin + target, {
    method,
    headers: sent,
    ...(body && { body: JSON.stringify(body) }),
  });
  const response = await answer(request, {
    address: () => address,
    origin: () => origin,
    isAssistant: true,
  });
  const value = (await response.json()) as Record<string, unknown>;
  if (response.ok) return { value, headers: response.headers };
  throw new Problem(value.code as Code, String(value.message));
}
