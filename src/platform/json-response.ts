import { paced } from "./byte-budget.ts";

export const NO_STORE = { "Cache-Control": "no-store" };

/** A value as JSON that no cache keeps; undefined and null as 204. */
export function jsonResponse(value: unknown, status = 200, more: Record<string, string> = {}): Response {
  const headers = { ...NO_STORE, ...more };
  if (value === undefined || value === null) return new Response(null, { status: 204, headers });
  // Not Response.json: clients compare the type with "application/json" to the letter.
  return new Response(paced(JSON.stringify(value)), {
    status,
    headers: { ...headers, "Content-Type": "application/json" },
  });
}
