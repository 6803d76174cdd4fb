import { fillPath, href, type QueryValue } from "./address.ts";
import type { Operations } from "./operations.ts";

interface ApiErrorDetails {
  /** Messages by field. */
  fields?: Readonly<Record<string, readonly string[]>>;
  /** The whole body. */
  body?: Readonly<Record<string, unknown>>;
  /** Seconds after which to try again. */
  retryAfter?: number | null;
}

/** An error that the server reports (docs/problems.md); status 0, code `unreachable`: no answer. */
export class ApiError extends Error implements Required<ApiErrorDetails> {
  readonly fields;
  readonly body;
  readonly retryAfter;
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    { fields = {}, body = {}, retryAfter = null }: ApiErrorDetails = {},
  ) {
    super(message);
    this.fields = fields;
    this.body = body;
    this.retryAfter = retryAfter;
  }
}

interface RequestOptions {
  /** Sent as JSON; a FormData or Blob is sent unchanged. */
  body?: unknown;
  query?: Record<string, QueryValue>;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/** Proves that a page of ours sends the request; null while nobody is signed in. */
let csrfToken: string | null = null;
export const setCsrfToken = (token: string | null): void => void (csrfToken = token);

/** Asks people about an error; returns the query parameters to repeat the request with, or null to cancel it. */
type Confirm = (error: ApiError) => Promise<Record<string, QueryValue> | null>;
const confirmations = new Map<string, Confirm>();
/**
 * Sets who asks people to confirm requests that the server refuses with this code.
 * @returns what ends it
 */
export function onConfirmationRequired(code: string, prompt: Confirm): () => void {
  confirmations.set(code, prompt);
  return () => void confirmations.delete(code);
}

const writeListeners = new Set<() => void>();
/** Calls a function after each request that may have changed something. @returns a function that removes it */
export function onWrite(listener: () => void): () => void {
  writeListeners.add(listener);
  return () => void writeListeners.delete(listener);
}

function reportWrite(method: string): void {
  if (method !== "GET" && method !== "OPTIONS") for (const listener of writeListeners) listener();
}

/** Statuses of no answer, and of a proxy that does not reach the server. */
const UNREACHABLE: ReadonlySet<number> = new Set([0, 502, 504]);
export const isUnreachable = (error: unknown): boolean =>
  error instanceof ApiError && UNREACHABLE.has(error.status);

let reachable = true;
/** True if the server answered the last request. Each change is an event of this name. */
export const isServerReachable = (): boolean => reachable;
export const REACHABLE_CHANGED = "labd:reachable";
function reportStatus(status: number): void {
  if (reachable === !UNREACHABLE.has(status)) return;
  reachable = !reachable;
  dispatchEvent(new Event(REACHABLE_CHANGED));
}

/** Sends a request, again after a confirmation where the server wants one. @throws ApiError from status 400 on */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  try {
    return await sendOnce(method, path, options);
  } catch (error) {
    const confirm = error instanceof ApiError ? confirmations.get(error.code) : undefined;
    if (!(error instanceof ApiError) || !confirm) throw error;
    const more = await confirm(error);
    if (more) return sendOnce(method, path, { ...options, query: { ...options.query, ...more } });
    throw new ApiError(error.status, error.code, "Cancelled.", { body: { reason: "cancelled" } });
  }
}

async function sendOnce(method: string, path: string, options: RequestOptions): Promise<Response> {
  const { body, query, signal = null } = options;
  const isData = body instanceof FormData || body instanceof Blob;
  const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
  if (body !== undefined && !isData) headers["Content-Type"] ??= "application/json";
  if (csrfToken !== null && method !== "GET") headers["X-CSRFToken"] = csrfToken;
  const address = /^https?:/.test(path) ? onThisOrigin(path) : href(path, query);
  let response: Response;
  try {
    const data = isData || body === undefined ? (body ?? null) : JSON.stringify(body);
    response = await fetch(address, { method, headers, credentials: "same-origin", body: data, signal });
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    reportStatus(0);
    throw new ApiError(0, "unreachable", "The server does not respond.");
  }
  reportStatus(response.status);
  if (!response.ok) throw await readError(response);
  reportWrite(method);
  return response;
}

/** A request whose optional members may also be undefined, and whose lists may be readonly. */
type Loose<T> = T extends Blob | FormData
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Loose<Item>[]
    : T extends object
      ? { [Name in keyof T]: Loose<T[Name]> | LooseMember<T, Name> }
      : T;
type LooseMember<T, Name extends keyof T> = Nothing extends Pick<T, Name> ? undefined : never;

/** An object without members, which is assignable to types without required members. */
type Nothing = Record<never, never>;

/** A part of a request: not allowed if the operation has none, and optional if nothing in it is required. */
type Part<Name extends string, T> = unknown extends T
  ? { [Key in Name]?: unknown }
  : [T] extends [undefined]
    ? { [Key in Name]?: undefined }
    : [T] extends [Blob | FormData]
      ? { [Key in Name]: T }
      : [keyof T] extends [never]
        ? { [Key in Name]?: undefined }
        : Nothing extends T
          ? { [Key in Name]?: Loose<T> | undefined }
          : { [Key in Name]: Loose<T> };

/** What an operation is called with. */
export type CallOptions<Key extends keyof Operations> = Part<"params", Operations[Key]["params"]> &
  Part<"query", Operations[Key]["query"]> &
  Part<"body", Operations[Key]["body"]> & {
    headers?: Record<string, string>;
    signal?: AbortSignal | undefined;
  };

/** The options are optional if none is required. */
export type CallArguments<Key extends keyof Operations> =
  Nothing extends CallOptions<Key> ? [CallOptions<Key>?] : [CallOptions<Key>];

/** Calls an operation by method and path, such as `callForResponse`. */
export type Caller<Result> = <Key extends keyof Operations>(key: Key, ...given: CallArguments<Key>) => Result;

/** A response with the answer of an operation in JSON. */
export interface TypedResponse<Answered> extends Response {
  json(): Promise<Answered>;
}

/** The answer of an operation. */
export type Answer<Key extends keyof Operations> = Operations[Key]["answer"];

/**
 * Calls an operation of the server, as in `call("GET /api/webhooks/:id/", { params: { id } })`. The declaration of the
 * operation gives the types of the request and the answer. @throws ApiError
 */
export async function call<Key extends keyof Operations>(
  key: Key,
  ...given: CallArguments<Key>
): Promise<Answer<Key>> {
  const response = await callForResponse(key, ...given);
  return response.status === 204 ? undefined : await response.json();
}

/** Calls an operation for its response, which may be a file, or name the batch of a write. @throws ApiError */
export function callForResponse<Key extends keyof Operations>(
  key: Key,
  ...[options]: CallArguments<Key>
): Promise<TypedResponse<Answer<Key>>> {
  const { params, ...rest } = (options ?? {}) as RequestOptions & { params?: Record<string, string> };
  const [method, path] = key.split(" ");
  return send(method, fillPath(path, params), rest);
}

/** The path of an address that the server gave: a proxy may have another name for the host. */
function onThisOrigin(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}

/** Messages for programs may begin with the resource and the id of a record, which say nothing to people. */
export const removeId = (message: string): string =>
  message.replace(/^[a-z_]+ [0-9a-f]{8}-[0-9a-f-]{27} /, "The record ");

/** An error of a scoring request; `path` are members and indexes of its body. */
interface PlacedError {
  path: (string | number)[];
  character?: number;
  message: string;
}

/** Error messages by path, such as `patterns.1`. */
function groupByField(problems: readonly PlacedError[]): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  for (const { path, character, message } of problems)
    (fields[path.join(".")] ??= []).push(
      character === undefined ? message : `character ${character}: ${message}`,
    );
  return fields;
}

async function readError(response: Response): Promise<ApiError> {
  // A proxy may answer with an HTML page.
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  const { code = "internal", message = `The server returned status ${response.status}.`, field } = body;
  const { problems } = body as { problems?: PlacedError[] };
  const fields = problems
    ? groupByField(problems)
    : Object.fromEntries(
        Object.entries(body).filter((entry): entry is [string, string[]] => Array.isArray(entry[1])),
      );
  if (typeof field === "string") fields[field] = [String(message).replace(`${field}: `, "")];
  const retryAfter = Number(response.headers.get("Retry-After")) || null;
  return new ApiError(response.status, String(code), removeId(String(message)), {
    fields,
    body,
    retryAfter,
  });
}
