import { Type } from "typebox";
import { BodyStream } from "../platform/body-stream.ts";
import { operation, Reply } from "../platform/operation.ts";
import { answerSchema, nullable } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { AccountParts } from "./account-routes.ts";
import { type AuditEntry, type AuditFilter, type AuditLog, canonical } from "./audit.ts";

const JSON_LINES = "application/x-ndjson";
const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;

const text = (description: string) => Type.Optional(Type.String({ description }));
const count = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, description }));
const Query = Type.Object({
  since: text("Entries from this time on (RFC 3339)."),
  until: text("Entries before this time."),
  actor: text("Username of the actor."),
  action: text("An action such as token.revoke, or a group of actions such as token."),
  before: count(Number.MAX_SAFE_INTEGER, "Entries before this number; `next` contains it for the next page."),
  page_size: count(MAX_PAGE, `Entries per page: ${DEFAULT_PAGE} by default, at most ${MAX_PAGE}.`),
  format: text("jsonl: all entries as JSON lines, oldest first."),
});
const NullableText = nullable(Type.String());
const Entry = Type.Object(
  {
    seq: Type.Integer({ description: "Number of the entry, from 1, without gaps." }),
    time: Type.String(),
    actor: NullableText,
    via: Type.String({ description: "How the actor authenticated." }),
    token: nullable(Type.String(), { description: "Id of the token." }),
    address: NullableText,
    request: nullable(Type.String(), { description: "Id of the request." }),
    action: Type.String(),
    subject: nullable(Type.Object({ kind: Type.String(), id: NullableText })),
    outcome: Type.Enum(["done", "refused", "throttled"]),
    detail: Type.Record(Type.String(), Type.Unknown()),
    hash: Type.String({ description: "SHA-256 of the previous hash and of the other fields." }),
  },
  { $id: "AuditEntry" },
);
const Head = Type.Object({ seq: Type.Integer(), hash: Type.String() });
const Page = answerSchema("A page of entries, newest first.", {
  head: nullable(Head, { description: "The end of the hash chain." }),
  next: nullable(Type.String(), { description: "The query of the next page." }),
  results: Type.Array(Type.Unsafe<AuditEntry>(Entry)),
});
export const auditOperations = [
  operation("GET /api/admin/audit/", {
    access: "administrator",
    summary: "List audit entries",
    description: `Pages, newest first; with \`Accept: ${JSON_LINES}\` all entries as JSON lines, oldest first.`,
    query: Query,
    returns: Page,
    formats: { [JSON_LINES]: { schema: Type.String() } },
    async run({ request, query }, { accounts: { audit } }: AccountParts) {
      const filter = readFilter(query);
      const accept = request.headers.get("accept") ?? "";
      if (query.format === "jsonl" || /\b(x-ndjson|jsonl|json-lines)\b/i.test(accept)) {
        const headers = { "Content-Type": JSON_LINES, "Cache-Control": "no-store", Vary: "Accept" };
        return new Response(jsonLines(audit.log, filter), { headers });
      }
      const { searchParams } = new URL(request.url);
      const page = await readPage(audit.log, filter, query.page_size ?? DEFAULT_PAGE, searchParams);
      return new Reply(page, { headers: { Vary: "Accept" } });
    },
  }),
];

/** Lets other requests run, as the log may be long. */
const yieldToRequests = () => new Promise(setImmediate);

async function readPage(log: AuditLog, filter: AuditFilter, size: number, parameters: URLSearchParams) {
  const found: AuditEntry[] = [];
  for (const page of log.latestPages(filter, size + 1)) {
    found.push(...page);
    if (found.length <= size) await yieldToRequests();
  }
  const results = found.slice(0, size);
  parameters.set("before", String(results.at(-1)?.seq));
  return { head: log.head(), next: found.length > size ? `?${parameters.toString()}` : null, results };
}

/** One entry per line, read while the client takes them. */
function jsonLines(log: AuditLog, filter: AuditFilter): ReadableStream<Uint8Array> {
  const pages = log.pages(filter);
  const encoder = new TextEncoder();
  return new BodyStream(
    {
      async pull(controller) {
        for (;;) {
          await yieldToRequests();
          const { value: page, done } = pages.next();
          if (done) return controller.close();
          const lines = page.map((entry) => `${canonical(entry)}\n`).join("");
          if (lines !== "") return controller.enqueue(encoder.encode(lines));
        }
      },
    },
    { highWaterMark: 0 },
  );
}

/** A filter from query parameters or flags. @throws Problem invalid_request with the name */
export function readFilter(given: {
  since?: string | undefined;
  until?: string | undefined;
  actor?: string | undefined;
  action?: string | undefined;
  before?: number | undefined;
}): AuditFilter {
  const time = (name: "since" | "until"): number | undefined => {
    const value = given[name];
    if (value === undefined) return undefined;
    const at = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(at)) return at;
    const error = "Expected a date or a time such as 2026-11-21T21:25:00Z (RFC 3339).";
    throw new Problem("invalid_request", `${name}: ${error}`, { fields: { [name]: [error] } });
  };
  const { actor, action, before } = given;
  return { since: time("since"), until: time("until"), actor, action, before };
}
