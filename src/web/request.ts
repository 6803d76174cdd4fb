import { href, type QueryValue } from "./address.ts";

/** What the services refuse, as a value that pages can show: see docs/problems.md. */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 where nothing answered. */
    readonly status: number,
    /** `unreachable` where nothing answered, else the code of docs/problems.md. */
    readonly code: string,
    message: string,
    /** What is wrong with each field. */
    readonly fields: Readonly<Record<string, readonly string[]>> = {},
    /** The whole body. */
    readonly body: Readonly<Record<string, unknown>> = {},
    /** Seconds after which it is worth trying again. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

export interface RequestOptions {
  /** Sent as JSON; a FormData or Blob as it is. */
  body?: unknown;
  query?: Record<string, QueryValue>;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/** Proves to the server that a page of ours asks; known once somebody is signed in. */
let csrfToken: string | null = null;
export const setCsrfToken = (token: string | null): void => {
  csrfToken = token;
};

/** Has somebody show again who it is, `by` the password or the provider. @returns whether that was done */
type Confirm = (by: string) => Promise<boolean>;
let confirm: Confirm | undefined;
/** Who is asked where the server wants that, while the page is shown. @returns what ends it */
export function onConfirmationRequired(prompt: Confirm): () => void {
  confirm = prompt;
  return () => {
    if (confirm === prompt) confirm = undefined;
  };
}

/**
 * The answer to a request to this service. Where the server wants to know first that it is still the same person, that is
 * asked for, and the request sent again. @throws Refusal for any status from 400 on, and where nothing answers
 */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  try {
    return await sendOnce(method, path, options);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "confirmation_required" || !confirm) throw error;
    if (await confirm(String(error.body.by))) return sendOnce(method, path, options);
    throw new ApiError(error.status, error.code, "Nothing was done.", {}, { reason: "left" });
  }
}

async function sendOnce(method: string, path: string, options: RequestOptions): Promise<Response> {
  const { body, query, signal } = options;
  const isData = body instanceof FormData || body instanceof Blob;
  const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
  if (body !== undefined && !isData) headers["Content-Type"] ??= "application/json";
  if (csrfToken !== null && method !== "GET") headers["X-CSRFToken"] = csrfToken;
  const address = /^https?:/.test(path) ? ownAddress(path) : href(path, query);
  let response: Response;
  try {
    response = await fetch(address, {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: isData ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "The server does not answer.");
  }
  if (response.ok) return response;
  throw await refusalOf(response);
}

/** The same for an answer in JSON; undefined where there is no body. */
export async function requestJson<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const get = <T>(
  path: string,
  query: Record<string, QueryValue> = {},
  signal?: AbortSignal,
): Promise<T> => requestJson<T>("GET", path, { query, signal });

/** An address that the server gave, on the origin that the browser knows: a proxy may have another name. */
const ownAddress = (address: string): string => {
  const { pathname, search } = new URL(address);
  return pathname + search;
};

async function refusalOf(response: Response): Promise<ApiError> {
  const after = Number(response.headers.get("Retry-After") ?? Number.NaN);
  let body: Record<string, unknown> = {};
  try {
    body = (await response.json()) as Record<string, unknown>;
  } catch {
    // A proxy's own page: the status is all that is known.
  }
  const fields = Object.fromEntries(
    Object.entries(body).filter((entry): entry is [string, string[]] => Array.isArray(entry[1])),
  );
  // Where a field is called as the code of the problem is, it is named apart.
  if (typeof body.field === "string" && typeof body.message === "string")
    fields[body.field] = [body.message.replace(`${body.field}: `, "")];
  const message = typeof body.message === "string" ? body.message : `The server answered ${response.status}.`;
  const code = typeof body.code === "string" ? body.code : "internal";
  return new ApiError(response.status, code, message, fields, body, Number.isFinite(after) ? after : null);
}
