import { type AnyElysia, Elysia } from "elysia";
import { timingSafeEqual } from "node:crypto";
import { Problem } from "../problem.ts";
import { arrivalOf } from "./caller.ts";
import type { Metrics } from "./metrics.ts";

export interface MetricsAccess {
  /** Who may read without the token: callers on this machine, all, or nobody at all, with or without it. */
  readers: "local" | "all" | "off";
  /** What `Authorization: Bearer` may give from anywhere; empty for nothing. */
  token: string;
}

const METRICS_PATH = "/metrics";
const TYPE = "text/plain; version=0.0.4; charset=utf-8";
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/i;
/** By these a request says that a proxy brought it, and so that its other end may be anywhere. */
const FORWARDED = ["x-forwarded-for", "forwarded", "via", "x-real-ip"];

/** `/metrics` for Prometheus. */
export function metricsRoutes(metrics: Metrics, access: MetricsAccess): AnyElysia {
  const show = (request: Request): Response => {
    if (access.readers === "off") throw new Problem("not_found", "Not found.");
    if (request.method !== "GET" && request.method !== "HEAD")
      throw new Problem("method_not_allowed", "Method not allowed. Allowed: GET, HEAD.", {
        allow: "GET, HEAD",
      });
    if (access.readers !== "all" && !isLocal(request) && !hasToken(request, access.token))
      throw new Problem(
        "forbidden",
        "Metrics are for callers on this machine, or with the token of metrics_token.",
      );
    return new Response(metrics.text(), { headers: { "Content-Type": TYPE, "Cache-Control": "no-store" } });
  };
  return new Elysia({ name: "metrics" }).all(METRICS_PATH, ({ request }) => show(request), {
    parse: "none",
    detail: { hide: true },
  }) as unknown as AnyElysia;
}

/** Whether the request comes from this machine itself: over a Unix socket, or from the loopback without a proxy. */
function isLocal(request: Request): boolean {
  if (FORWARDED.some((name) => request.headers.has(name))) return false;
  const arrival = arrivalOf(request);
  if (!arrival) return false;
  const address = arrival.address();
  return address === null ? arrival.isUnix === true : LOOPBACK.test(address);
}

function hasToken(request: Request, token: string): boolean {
  const given = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (given === undefined || token === "") return false;
  const [a, b] = [given, token].map((text) => new Bun.CryptoHasher("sha256").update(text).digest());
  return timingSafeEqual(a, b);
}
