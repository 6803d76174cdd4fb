import { currentRequest } from "./request-context.ts";

interface CookieOptions {
  path: string;
  /** Lifetime; 0 removes the cookie. */
  seconds: number;
  site: "Lax" | "Strict";
  /** True if it is sent by https only. */
  isSecure: boolean;
}

/** A cookie for Set-Cookie that scripts cannot read (RFC 6265). */
export const printCookie = (
  name: string,
  value: string,
  { path, seconds, site, isSecure }: CookieOptions,
): string =>
  `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=${site}${isSecure ? "; Secure" : ""}`;

/** Sets a cookie on the response to the current request. @param path below the base path */
export function hiddenCookie(
  name: string,
  value: string,
  path: string,
  seconds: number,
  site: CookieOptions["site"],
): string {
  const { basePath, baseUrl } = currentRequest()!;
  const isSecure = baseUrl.startsWith("https:");
  return printCookie(name, value, { path: basePath + path || "/", seconds, site, isSecure });
}

/** The value of a cookie of a request; null if it has none of that name. */
export const readCookie = (request: Request, name: string): string | null =>
  new Bun.CookieMap(request.headers.get("cookie") ?? "").get(name);
