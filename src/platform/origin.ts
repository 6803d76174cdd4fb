/** The origin of requests and the public address of the service: links, cookies and sign-in depend on both. */
export interface PublicUrlOptions {
  /** Scheme, host and port under which clients reach the service, if they differ from those of requests; else empty. */
  publicUrl: string;
  /** Path before all addresses of the service, such as /labd; empty without one. */
  basePath: string;
  /** True if X-Forwarded-For, -Proto, -Host, -Port and -Prefix are those of a reverse proxy of ours. */
  trustProxy: boolean;
}

/** The service is reached as requests say. */
export const DIRECT: PublicUrlOptions = { publicUrl: "", basePath: "", trustProxy: false };

const NAME = String.raw`(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])`;
const PORT = String.raw`(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])`;

/** Host with an optional port: name, IPv4, or IPv6 in brackets; nothing else, which could inject markup. */
export const HOST = new RegExp(`^${NAME}(?::${PORT})?$`);
const ONLY_PORT = new RegExp(`^${PORT}$`);

/** A base path: no empty segment, which a browser would take for a host. */
export const BASE_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/;

export const isUnsafe = (method: string): boolean => !["GET", "HEAD", "OPTIONS"].includes(method);

/** The origin of this service as clients see it. */
export function ownOrigin(request: Request, reach: PublicUrlOptions): string {
  if (reach.publicUrl !== "") return new URL(reach.publicUrl).origin;
  const url = new URL(request.url, "http://localhost");
  if (!reach.trustProxy) return url.origin;
  const host = lastElement(request.headers.get("x-forwarded-host"));
  const scheme = lastElement(request.headers.get("x-forwarded-proto"));
  const port = lastElement(request.headers.get("x-forwarded-port"));
  const isNamed = host !== undefined && HOST.test(host);
  const origin = new URL(`${scheme === "https" ? "https:" : url.protocol}//${isNamed ? host : url.host}`);
  // A port in X-Forwarded-Host is the more specific one.
  const hasPort = isNamed && /:\d+$/.test(host);
  if (!hasPort && port !== undefined && ONLY_PORT.test(port)) origin.port = port;
  return origin.origin;
}

/** The prefix of all paths, for links, redirects and cookies: /labd, or empty. */
export function findBasePath(request: Request, reach: PublicUrlOptions): string {
  if (reach.basePath !== "" || !reach.trustProxy) return reach.basePath;
  const prefix = request.headers.get("x-forwarded-prefix")?.split(",").at(-1)?.trim().replace(/\/+$/, "");
  return prefix !== undefined && BASE_PATH.test(prefix) ? prefix : "";
}

/** The address of the service as clients reach it, without a trailing slash. */
export const findBaseUrl = (request: Request, reach: PublicUrlOptions): string =>
  ownOrigin(request, reach) + findBasePath(request, reach);

/** The client's address: that of the connection, or the one that a trusted proxy appended last. */
export function callerAddress(
  request: Request,
  address: string | undefined,
  reach: PublicUrlOptions,
): string | undefined {
  const forwarded = reach.trustProxy ? lastElement(request.headers.get("x-forwarded-for")) : undefined;
  return forwarded !== undefined && /^[0-9A-Fa-f.:]{2,45}$/.test(forwarded) ? forwarded : address;
}

/**
 * The network of an address: an IPv4 address itself; the first 64 bits of IPv6, which one client controls (RFC 6177).
 * IPv4-mapped IPv6 (RFC 4291, section 2.5.5.2) counts as IPv4.
 */
export function toNetwork(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1];
  if (!address.includes(":")) return address;
  const [plain] = address.split("%");
  const [head, tail] = plain.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const last = tail === "" ? [] : tail.split(":");
    while (groups.length + last.length < 8) groups.push("0");
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}

const lastElement = (list: string | null): string | undefined =>
  list?.split(",").at(-1)?.trim().toLowerCase();

/**
 * True if the request comes from one of our pages, by Origin or else Sec-Fetch-Site (Fetch Metadata Request Headers,
 * section 2.3). Undefined for programs, which send neither.
 */
export function isFromOwnPage(request: Request, reach: PublicUrlOptions): boolean | undefined {
  const origin = request.headers.get("origin");
  if (origin !== null) return origin.toLowerCase() === ownOrigin(request, reach);
  const site = request.headers.get("sec-fetch-site");
  // none: typed into the address bar.
  return site === null ? undefined : site === "same-origin" || site === "none";
}

/** The page to go to next, if it is on this origin; else undefined. */
export const parseOwnPage = (next: unknown): string | undefined =>
  typeof next === "string" && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : undefined;
