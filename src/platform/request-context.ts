import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "@opentelemetry/api";
import type { Problem } from "../problem.ts";
import { SMALL_BODY } from "./limits.ts";
import {
  findBaseUrl,
  findBasePath,
  callerAddress,
  DIRECT,
  toNetwork,
  type PublicUrlOptions,
} from "./origin.ts";

/** The kind of authentication; `assistant` is one that acts for the account, `service` the server itself. */
export type Via =
  "token" | "assistant" | "session" | "basic" | "password" | "oidc" | "none" | "command line" | "service";

/** The author of a change, for the audit log. Plain values: it can be sent to a thread and stored. */
export interface Origin {
  /** Username. */
  actor: string | null;
  via: Via;
  /** Row of `api_token`. */
  token: number | null;
  /** Network address of the client. */
  address: string | null;
  /** Request id, as in the log and in X-Request-Id. */
  request: string | null;
}

type Identity = Pick<Origin, "actor" | "via" | "token">;

/** Facts that the server knows about a request and the request does not say. Evaluated only where they are needed. */
export interface Arrival {
  /** Network address of the client; null where the connection is closed. */
  address(): string | null;
  /** Scheme, host and port of the server, for requests without a Host. */
  origin(): string;
  /** Notes that the client begins or ends to read a streamed response. */
  reads?(isReading: boolean): void;
  /** True for connections over a Unix socket, which have no address. */
  isUnix?: boolean;
  /** True for operations that an assistant calls within the server. */
  isAssistant?: boolean;
}

export interface BodyLimits {
  /** Limit of a body in bytes. */
  maxMessageBytes: number;
  /** Seconds in which a body must arrive. */
  receiveTimeout: number;
}

const ANONYMOUS_IDENTITY: Identity = { actor: null, via: "none", token: null };

/** The request that is being answered. Route handlers get it as `requestContext`. */
export class RequestContext {
  identity: Identity = ANONYMOUS_IDENTITY;
  /** Row of the caller's account, for the log. */
  userId: number | null = null;
  /** Bytes of the body that may still arrive without being counted. */
  uncountedBytes = SMALL_BODY;
  /** Path pattern of the route that answers. */
  route = "none";
  /** The problem that the request ended in, for the log. */
  problem: Problem | undefined;
  /** True if the response has a body that is read while it is sent. */
  hasStream = false;
  /** Its span, if traces are on. */
  span: Span | undefined;
  /** Row of the account whose Basic password was verified before routing. */
  basicUser: number | undefined;
  #address: string | undefined;

  constructor(
    readonly request: Request,
    readonly id: string,
    readonly arrival?: Arrival,
    private readonly reach: PublicUrlOptions = DIRECT,
    readonly limits?: BodyLimits,
  ) {}

  /** Network address of the client, or of the client that a trusted proxy names. */
  get address(): string | null {
    this.#address ??= callerAddress(this.request, this.arrival?.address() ?? undefined, this.reach);
    return this.#address ?? null;
  }

  /** The client's network, by which anonymous clients are told apart; empty where it is unknown. */
  get network(): string {
    return this.address === null ? "" : toNetwork(this.address);
  }

  /** Path prefix of all addresses, such as /labd; empty without one. */
  get basePath(): string {
    return findBasePath(this.request, this.reach);
  }

  /** Address of the service as the client reaches it, without a trailing slash. */
  get baseUrl(): string {
    return findBaseUrl(this.request, this.reach);
  }
}

type Current = Pick<RequestContext, "identity" | "address"> & { id: string | null; userId?: number | null };

const current = new AsyncLocalStorage<Current>();

/** Runs `work` on behalf of a request. */
export const runInRequest = <T>(context: RequestContext, work: () => T): T => current.run(context, work);

/** Runs `work` on behalf of an origin recorded earlier. */
export function runWithOrigin<T>(origin: Origin | undefined, work: () => T): T {
  if (!origin) return work();
  return current.run({ id: origin.request, address: origin.address, identity: origin }, work);
}

/** The request that is being answered; undefined outside of requests. */
export function currentRequest(): RequestContext | undefined {
  const context = current.getStore();
  return context instanceof RequestContext ? context : undefined;
}

/** Records who makes the current request. */
export function identify(who: {
  user?: number | null;
  username: string | null;
  token?: number | null;
  via?: Via;
}): void {
  const context = current.getStore();
  if (!context) return;
  const isAssistant = context instanceof RequestContext && context.arrival?.isAssistant === true;
  const via = isAssistant ? "assistant" : (who.via ?? (who.token == null ? "none" : "token"));
  context.userId = who.user ?? null;
  context.identity = { actor: who.username, via, token: who.token ?? null };
}

/** The origin of the current work; undefined outside of requests. */
export function currentOrigin(): Origin | undefined {
  const context = current.getStore();
  return context && { ...context.identity, address: context.address, request: context.id };
}

/** Binds `work` to the current request, to run later. */
export function onBehalf<T>(work: () => T): () => T {
  const context = current.getStore();
  return context ? () => current.run(context, work) : work;
}
