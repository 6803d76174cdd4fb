/**
 * Requests that pages of other origins send (Fetch Standard, "CORS protocol"). Only allowed origins may read responses of
 * the APIs, and only without cookies: their pages send a token.
 */

const PATHS = /^\/(api\/|docs\/json$)/;
const METHODS = "GET, POST, PUT, PATCH, DELETE";
const ALLOWED_HEADERS =
  "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Owner-Key, Prefer";
const READ =
  "Allow, Batch-Id, ETag, Idempotency-Replayed, Link, Location, Preference-Applied, Retry-After, Warning, X-Request-Id, X-Total-Count";
/** Seconds for which browsers keep the answer to a preflight. */
const MAX_AGE = 600;

const isAllowed = (request: Request, origins: readonly string[]): boolean =>
  origins.includes(request.headers.get("origin") ?? "");

/** The answer to a preflight of an allowed origin; undefined for any other request. */
export function preflight(request: Request, path: string, origins: readonly string[]): Response | undefined {
  const isPreflight = request.method === "OPTIONS" && request.headers.has("access-control-request-method");
  if (!isPreflight || !PATHS.test(path) || !isAllowed(request, origins)) return undefined;
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Methods": METHODS,
      "Access-Control-Allow-Headers": ALLOWED_HEADERS,
      "Access-Control-Max-Age": String(MAX_AGE),
    },
  });
}

/** Lets pages of an allowed origin read the response. */
export function allowOrigin(
  request: Request,
  path: string,
  headers: Headers,
  origins: readonly string[],
): void {
  if (origins.length === 0 || !PATHS.test(path)) return;
  // A cache must not give the response for one origin to another.
  headers.append("Vary", "Origin");
  if (!isAllowed(request, origins)) return;
  headers.set("Access-Control-Allow-Origin", request.headers.get("origin")!);
  headers.set("Access-Control-Expose-Headers", READ);
}
