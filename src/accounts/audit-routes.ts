import { type AnyElysia, Elysia } from "elysia";
import { Problem } from "../problem.ts";
import { type AuditLog, type AuditFilter, canonical } from "./audit.ts";

const AUDIT_PATH = "/api/admin/audit/";
const LINES = "application/x-ndjson";
const METHODS = "GET, HEAD";
const PAGE = 100;
const LONGEST_PAGE = 1000;
const PARAMETERS = ["since", "until", "actor", "action", "before", "page_size", "format"];

/**
 * The audit log for administrators: the newest first in pages, or all as JSON lines, the oldest first.
 * `requireAdministrator` throws where the caller is none.
 */
export function auditRoutes(audit: AuditLog, requireAdministrator: (request: Request) => unknown): AnyElysia {
  const show = (request: Request): Response => {
    if (request.method !== "GET" && request.method !== "HEAD")
      throw new Problem("method_not_allowed", `Method not allowed. Allowed: ${METHODS}.`, { allow: METHODS });
    requireAdministrator(request);
    const { searchParams } = new URL(request.url);
    const filter = readFilter(Object.fromEntries(searchParams));
    const headers = { "Cache-Control": "no-store", Vary: "Accept" };
    const accept = request.headers.get("accept") ?? "";
    if (searchParams.get("format") === "jsonl" || /\b(x-ndjson|jsonl|json-lines)\b/i.test(accept))
      return new Response(lines(audit, filter), { headers: { ...headers, "Content-Type": LINES } });
    const size = wholeNumber("page_size", searchParams.get("page_size"), LONGEST_PAGE) ?? PAGE;
    const found = audit.latest(filter, size + 1);
    const results = found.slice(0, size);
    let next: string | null = null;
    if (found.length > size) {
      searchParams.set("before", String(results[results.length - 1].seq));
      next = `?${searchParams.toString()}`;
    }
    return Response.json({ head: audit.head(), next, results }, { headers });
  };
  const parameter = (name: string, description: string) => ({
    name,
    in: "query" as const,
    required: false,
    description,
    schema: { type: "string" as const },
  });
  const app = new Elysia({ name: "audit" }).get(AUDIT_PATH, ({ request }) => show(request), {
    detail: {
      summary: "The audit log",
      description: `For administrators. The newest first, in pages; all of it, the oldest first, as JSON lines with \`Accept: ${LINES}\`.`,
      tags: ["service"],
      security: [{ token: [] }],
      parameters: [
        parameter("since", "Entries from this time on (RFC 3339)."),
        parameter("until", "Entries before this time."),
        parameter("actor", "Username of who did it."),
        parameter("action", "An action such as token.revoke, or all of a kind: token."),
        parameter("before", "Entries before the one of this number; next has it for the page that follows."),
        parameter("page_size", `Entries on a page, up to ${LONGEST_PAGE}; by default ${PAGE}.`),
      ],
      responses: {
        200: { description: "head: the end of the chain; next: query of the next page, or null; results." },
        400: { description: "A parameter is wrong." },
        401: { description: "Credentials are missing or not valid." },
        403: { description: "Only administrators may do this." },
      },
    },
  });
  for (const path of [AUDIT_PATH, AUDIT_PATH.slice(0, -1)])
    app.all(path, ({ request }) => show(request), { parse: "none", detail: { hide: true } });
  return app as unknown as AnyElysia;
}

/** One entry per line, a page of them at a time, as fast as they are taken. */
function lines(audit: AuditLog, filter: AuditFilter): ReadableStream<Uint8Array> {
  const entries = audit.entries(filter);
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull(controller) {
      let text = "";
      for (let i = 0; i < 1000; i++) {
        const { value, done } = entries.next();
        if (done === true) {
          if (text !== "") controller.enqueue(encoder.encode(text));
          controller.close();
          return;
        }
        text += `${canonical(value)}\n`;
      }
      controller.enqueue(encoder.encode(text));
    },
  });
}

/** What to look for, from parameters or flags. @throws Problem invalid_request with the name */
export function readFilter(given: Record<string, string | undefined>): AuditFilter {
  for (const name of Object.keys(given))
    if (!PARAMETERS.includes(name)) throw wrong(name, `There are ${PARAMETERS.join(", ")}.`);
  const time = (name: "since" | "until"): number | undefined => {
    const text = given[name];
    if (text === undefined) return undefined;
    const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
    if (Number.isNaN(at))
      throw wrong(name, "Expected a date or a time such as 2026-11-21T21:25:00Z (RFC 3339).");
    return at;
  };
  return {
    since: time("since"),
    until: time("until"),
    actor: given.actor,
    action: given.action,
    before: wholeNumber("before", given.before ?? null, Number.MAX_SAFE_INTEGER),
  };
}

function wholeNumber(name: string, text: string | null, most: number): number | undefined {
  if (text === null) return undefined;
  if (!/^[1-9]\d{0,15}$/.test(text) || Number(text) > most)
    throw wrong(name, `Expected a whole number from 1 to ${most}.`);
  return Number(text);
}

const wrong = (name: string, text: string): Problem =>
  new Problem("invalid_request", `${name}: ${text}`, { fields: { [name]: [text] } });
