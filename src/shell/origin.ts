import { Problem } from "../problem.ts";

/** Where requests come from, and how the service is reached: what cookies and sign-in depend on. */
export interface Reach {
  /** Address under which clients reach the service, where it is not that of their requests; else empty. */
  publicUrl: string;
  /** Whether X-Forwarded-For and X-Forwarded-Proto are those of a reverse proxy of ours. */
  trustProxy: boolean;
}

export const isUnsafe = (method: string): boolean => !["GET", "HEAD", "OPTIONS"].includes(method);

/** The origin of this service as the caller's browser knows it. */
export function ownOrigin(request: Request, reach: Reach): string {
  if (reach.publicUrl !== "") return new URL(reach.publicUrl).origin;
  const url = new URL(request.url, "http://localhost");
  const forwarded = reach.trustProxy ? lastOf(request.headers.get("x-forwarded-proto")) : undefined;
  return forwarded === "https" ? new URL(`https://${url.host}`).origin : url.origin;
}

/** The address of the caller: that of the connection, or the one that our own proxy added to the list last. */
export function callerAddress(
  request: Request,
  address: string | undefined,
  reach: Reach,
): string | undefined {
  const forwarded = reach.trustProxy ? lastOf(request.headers.get("x-forwarded-for")) : undefined;
  return forwarded !== undefined && /^[0-9A-Fa-f.:]{2,45}$/.test(forwarded) ? forwarded : address;
}

const lastOf = (list: string | null): string | undefined => list?.split(",").at(-1)?.trim().toLowerCase();

/**
 * Whether a browser says that the request was made by a page of ours: by Origin, else by Sec-Fetch-Site (Fetch
 * Metadata Request Headers, section 2.3). Undefined where the request says nothing, as programs do.
 */
export function fromOwnPage(request: Request, reach: Reach): boolean | undefined {
  const origin = request.headers.get("origin");
  if (origin !== null) return origin.toLowerCase() === ownOrigin(request, reach);
  const site = request.headers.get("sec-fetch-site");
  // none: typed into the address bar, which is no page's doing.
  return site === null ? undefined : site === "same-origin" || site === "none";
}

/** For what a browser sends without being asked for it by a page of ours. @throws Problem forbidden */
export function refuseForeignPage(request: Request, reach: Reach): void {
  if (fromOwnPage(request, reach) === false) throw csrfFailed("Origin checking failed.");
}

/** 403 in the words of Django REST framework. */
export const csrfFailed = (why: string): Problem => new Problem("forbidden", `CSRF Failed: ${why}`);
