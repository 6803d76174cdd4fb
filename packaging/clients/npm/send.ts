import type { ProgressOption } from "./progress.ts";
import { ConnectionFailed, LabdError, readError } from "./errors.ts";

/** A value of a parameter: days and times as Date, several values as alternatives, null for records without a value. */
export type Value = string | number | boolean | Date | null | readonly (string | number | Date)[];
/** Parameters of a request by name; those that are undefined are left out. */
export type Parameters = Readonly<Record<string, Value | undefined>>;

/** A request of the API. */
export interface RequestOptions {
  query?: Parameters;
  /** Sent as JSON. */
  json?: unknown;
  body?: BodyInit;
  headers?: Record<string, string>;
  /**
   * True if the request may be sent again although it may have arrived: by default all but POST. A POST with true has
   * an Idempotency-Key, with which the server counts it once.
   */
  isRepeatable?: boolean;
}

/** Statuses with which the server has done nothing, and another attempt may help. */
const NOT_DONE: ReadonlySet<number> = new Set([429, 503]);
const LONGEST_PAUSE = 30_000;

const sleep = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** A parameter as texts. @internal */
export function toTexts(value: Value): string[] {
  if (Array.isArray(value)) return value.flatMap((one: string | number | Date) => toTexts(one));
  return [value instanceof Date ? value.toISOString() : String(value)];
}

/** A query. null means records without a value. @internal */
export function toQuery(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue;
    if (value === null) query.append(`${name}__isnull`, "true");
    else if (name === "fields" || name === "ordering") query.append(name, toTexts(value).join(","));
    else for (const text of toTexts(value)) query.append(name, text);
  }
  return query;
}

/** One connection, with retries. The token is a private member, which nothing prints. @internal */
export class Sender {
  readonly url: string;
  readonly progress: ProgressOption | undefined;
  readonly #token: string;
  readonly #retries: number;
  /** Lets callers without an account cancel what they have started. */
  readonly #owner: string = crypto.randomUUID();

  constructor(url: string, token: string, retries: number, progress?: ProgressOption) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (!parsed || !/^https?:$/.test(parsed.protocol))
      throw new LabdError(`"${url}" is not an address of a server. Give one such as http://server:8480.`);
    if (parsed.username !== "" || parsed.password !== "")
      throw new LabdError("Give a token instead of a name and password in the address.");
    this.url = url.replace(/\/+$/, "");
    this.#token = token;
    this.#retries = retries;
    this.progress = progress;
  }

  get hasToken(): boolean {
    return this.#token !== "";
  }

  /** The answer to a request. @throws LabdError for every answer that is no success */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { query, json, body, isRepeatable } = options;
    const headers = new Headers({ Accept: "application/json", ...options.headers });
    if (json !== undefined) headers.set("Content-Type", "application/json");
    if (method === "POST" && isRepeatable) headers.set("Idempotency-Key", crypto.randomUUID());
    const search = query === undefined ? "" : `?${toQuery(query)}`;
    const request = new Request(`${this.url}${path}${search}`, {
      method,
      headers,
      ...(json === undefined ? (body === undefined ? {} : { body }) : { body: JSON.stringify(json) }),
    });
    const response = await this.send(request, isRepeatable);
    if (response.ok) return response;
    throw await readError(response, this.hasToken);
  }

  /** The JSON of an answer; undefined for an empty one. */
  async json<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
    const response = await this.request(method, path, options);
    const text = await response.text();
    try {
      return (text === "" ? undefined : JSON.parse(text)) as T;
    } catch {
      throw new LabdError(
        `${this.url}${path} answered without JSON. Is ${this.url} the address of a labd server?`,
      );
    }
  }

  /** Sends a request until there is an answer. */
  async send(request: Request, isRepeatable?: boolean): Promise<Response> {
    const { method, headers } = request;
    const mayRepeat = isRepeatable ?? (method !== "POST" || headers.has("Idempotency-Key"));
    if (this.hasToken) headers.set("Authorization", `Token ${this.#token}`);
    else if (new URL(request.url).pathname.includes("/api/scoring")) headers.set("Owner-Key", this.#owner);
    for (let attempt = 0; ; attempt++) {
      const response = await this.#attempt(request, mayRepeat, attempt === this.#retries);
      // A deletion may have arrived before.
      if (response?.status === 404 && method === "DELETE" && attempt > 0)
        return new Response(null, { status: 204 });
      if (response && (attempt === this.#retries || !this.#helps(response.status, mayRepeat)))
        return response;
      await response?.body?.cancel();
      await sleep(findPause(attempt, response));
    }
  }

  /** The answer; undefined if the connection failed and another attempt may help. @throws ConnectionFailed */
  async #attempt(request: Request, mayRepeat: boolean, isLast: boolean): Promise<Response | undefined> {
    try {
      // A redirected POST would become a GET.
      const response = await fetch(new Request(request.clone(), { redirect: "manual" }));
      if (response.type !== "opaqueredirect" && (response.status < 300 || response.status >= 400))
        return response;
      const target = response.headers.get("location") ?? "another address";
      throw new ConnectionFailed(`${this.url} redirects to ${target}. Give the address of the server there.`);
    } catch (error) {
      if (error instanceof ConnectionFailed) throw error;
      const { reason, isSent } = explain(error);
      if (isLast || (isSent && !mayRepeat)) throw this.#lost(reason, isSent && request.method !== "GET");
      return undefined;
    }
  }

  /** True if another attempt may help. 502 and 504 are of proxies: the request may have arrived. */
  #helps(status: number, mayRepeat: boolean): boolean {
    return NOT_DONE.has(status) || (mayRepeat && (status === 502 || status === 504));
  }

  #lost(reason: string, isSent: boolean): ConnectionFailed {
    return new ConnectionFailed(
      isSent
        ? `The connection to ${this.url} was lost (${reason}). The request may have been carried out: look before you send it again.`
        : `${this.url} cannot be reached: ${reason}. Check that the server runs, that the address is right (url or LABD_URL), and whether a firewall or proxy is in between.`,
    );
  }
}

/** Milliseconds before the next attempt: those that the server asks for, else doubled each time, with some chance. */
function findPause(attempt: number, response: Response | undefined): number {
  const after = Number(response?.headers.get("retry-after") ?? Number.NaN) * 1000;
  const pause = Number.isNaN(after) ? 250 * 2 ** attempt * (0.75 + Math.random() / 2) : after;
  return Math.min(pause, LONGEST_PAUSE);
}

const NEVER_SENT: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ConnectionRefused: "connection refused",
  ENOTFOUND: "the name of the server is unknown",
  EAI_AGAIN: "the name of the server is unknown",
  EHOSTUNREACH: "no route to the server",
  ENETUNREACH: "no route to the server",
  UND_ERR_CONNECT_TIMEOUT: "no answer in time",
};

/** The reason of a failed connection, and true if the request may have arrived. */
function explain(error: unknown): { reason: string; isSent: boolean } {
  const { code = (error as { code?: string }).code, message } = ((error as Error).cause ?? {}) as {
    code?: string;
    message?: string;
  };
  const reason = NEVER_SENT[code ?? ""];
  return reason === undefined
    ? { reason: code ?? message ?? (error as Error).message, isSent: true }
    : { reason, isSent: false };
}
