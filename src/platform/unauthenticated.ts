import { type Code, Problem } from "../problem.ts";

/** 401 with the challenges that name the schemes (RFC 9110, section 11.6.1). Basic would open a browser's own dialog. */
export function unauthenticated(
  message: string,
  code: Code = "unauthenticated",
  more: Record<string, unknown> = {},
): Problem {
  return new Problem(code, message, { headers: { "WWW-Authenticate": "Token, Bearer" }, more });
}
