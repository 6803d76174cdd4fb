import { Elysia } from "elysia";
import { timingSafeEqual } from "node:crypto";
import { Problem } from "../problem.ts";
import type { Metrics } from "./metrics.ts";
import { requestPlugin } from "./http.ts";
import type { Arrival } from "./request-context.ts";

const METRICS_PATH = "/metrics";
const TYPE = "text/plain; version=0.0.4; charset=utf-8";
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/i;
/** Headers by which a request shows that it came through a proxy, so that the client may be anywhere. */
const FORWARDING_HEADERS = ["x-forwarded-for", "forwarded", "via", "x-real-ip"];

/**
 * `/metrics` for Prometheus: for callers on this machine, and for others with `token` unless it is empty.
 * @param isOwnHost whether a request names this service: a browser on this machine may be led here by another name
 */
export function metricsRoutes(
  metrics: Metrics,
  token: string,
  isOwnHost: (request: Request) => boolean = () => true,
) {
  return new Elysia({ name: "metrics" }).use(requestPlugin).get(
    METRICS_PATH,
    ({ request, requestContext }) => {
      const { arrival } = requestContext;
      const isAllowed = isLocal(request, arrival) && (arrival?.isUnix === true || isOwnHost(request));
      if (!isAllowed && !hasToken(request, token))
        throw new Problem(
          "forbidden",
          "Only callers on this machine that use its address or localhost, or with the token in metrics_token, may read metrics.",
        );
      return new Response(metrics.text(), { headers: { "Content-Type": TYPE, "Cache-Control": "no-store" } });
    },
    { detail: { hide: true } },
  );
}

/** True if the request comes from this machine itself: over a Unix socket, or from the loopback without a proxy. */
function isLocal(request: Request, arrival: Arrival | undefined): boolean {
  if (!arrival || FORWARDING_HEADERS.some((name) => request.headers.has(name))) return false;
  const address = arrival.address();
  return address === null ? arrival.isUnix === true : LOOPBACK.test(address);
}

function hasToken(request: Request, token: string): boolean {
  const given = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (given === undefined || token === "") return false;
  const [a, b] = [given, token].map((text) => new Bun.CryptoHasher("sha256").update(text).digest());
  return timingSafeEqual(a, b);
}
