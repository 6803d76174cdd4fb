import { AsyncLocalStorage } from "node:async_hooks";

/** How somebody proved who it is; `service` is the program by itself. */
export type Via = "token" | "session" | "basic" | "password" | "oidc" | "none" | "command line" | "service";

/** From where something is done, as the audit log tells it. Plain values: it can be sent to a thread and stored. */
export interface Origin {
  /** Username. */
  actor: string | null;
  via: Via;
  /** Row of `api_token`. */
  token: number | null;
  /** Network address of the client. */
  address: string | null;
  /** Id of the request, as in the log and in X-Request-Id. */
  request: string | null;
}

/** A request on its way; who asks is known only later. */
interface Current {
  request: string | null;
  address: () => string | null;
  who: Pick<Origin, "actor" | "via" | "token">;
}

const NOBODY: Current["who"] = { actor: null, via: "none", token: null };
const current = new AsyncLocalStorage<Current>();

/** Does work on behalf of a request. */
export function withinRequest<T>(request: string, address: () => string | null, work: () => T): T {
  return current.run({ request, address, who: NOBODY }, work);
}

/** Does work on behalf of an origin that was found out before. */
export function withinOrigin<T>(origin: Origin | undefined, work: () => T): T {
  if (!origin) return work();
  return current.run({ request: origin.request, address: () => origin.address, who: origin }, work);
}

/** Notes who makes the request that is answered now. */
export function identify(who: { username: string | null; token?: number | null; via?: Via }): void {
  const request = current.getStore();
  if (!request) return;
  const via = who.via ?? (who.token == null ? "none" : "token");
  request.who = { actor: who.username, via, token: who.token ?? null };
}

/** Where what is done now comes from; undefined outside of requests. */
export function currentOrigin(): Origin | undefined {
  const request = current.getStore();
  return request && { ...request.who, address: request.address(), request: request.request };
}

/** `work`, to be done later and by somebody else, on behalf of who asks for it now. */
export function onBehalf<T>(work: () => T): () => T {
  const request = current.getStore();
  return request ? () => current.run(request, work) : work;
}
