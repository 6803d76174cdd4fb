import { currentRequest } from "./request-context.ts";

/** A cookie for Set-Cookie that scripts cannot read. @param path below the base path */
export function hiddenCookie(
  name: string,
  value: string,
  path: string,
  seconds: number,
  site: "Lax" | "Strict",
): string {
  const { basePath, baseUrl } = currentRequest()!;
  const secure = baseUrl.startsWith("https:") ? "; Secure" : "";
  const whole = basePath + path || "/";
  return `${name}=${value}; Path=${whole}; Max-Age=${seconds}; HttpOnly; SameSite=${site}${secure}`;
}

export const cookieOf = (request: Request, name: string): string | null =>
  new Bun.CookieMap(request.headers.get("cookie") ?? "").get(name);
