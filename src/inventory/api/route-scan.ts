import type { DocumentDecoration, Elysia } from "elysia";
import type { Answers } from "./respond.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { RESOURCES } from "../resources/index.ts";
import { respond, ROOT } from "./response.ts";
import { content, refusalsOf } from "./route-description.ts";
import { scan } from "../labels/scan.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";

const METHODS = "GET, HEAD, OPTIONS";
const LONGEST = 1000;

/** What a scanner read, as records. */
export function addScan(app: Elysia, answers: Answers, { reader }: Store): void {
  const found = ({ request }: { request: Request }): Response => {
    const call = answers.begin(request, METHODS);
    if (call.method === "OPTIONS") return respond(null, 204, "", { Allow: METHODS });
    const code = call.url.searchParams.get("code") ?? "";
    if (code.trim() === "") throw new Problem("invalid_request", "code: Name what was scanned.");
    if (code.length > LONGEST) throw new Problem("invalid_request", `code: At most ${LONGEST} characters.`);
    const results = scan(reader, RESOURCES, code, call.actor).map(({ resource, id, name, by }) => ({
      segment: resource.segment,
      id,
      name,
      by,
    }));
    const body = JSON.stringify({ code: code.trim(), total: results.length, results });
    return respond(body, 200, MEDIA_TYPES.json, { Allow: METHODS });
  };
  const text = { type: "string" };
  app.get(`${ROOT}scan/`, found, {
    detail: {
      summary: "What a scanned code is",
      description:
        "The records that have it as their barcode; else those whose id it is, or the beginning of it, of 8 digits at least, with or without hyphens, or that an address from a label names.",
      tags: ["inventory"],
      parameters: [
        { name: "code", in: "query", required: true, description: "What was scanned.", schema: text },
      ],
      responses: {
        200: {
          description: "None, one, or all that it may mean.",
          content: content({
            type: "object",
            required: ["code", "total", "results"],
            properties: {
              code: text,
              total: { type: "integer" },
              results: {
                type: "array",
                items: {
                  type: "object",
                  required: ["segment", "id", "name", "by"],
                  properties: {
                    segment: text,
                    id: text,
                    name: text,
                    by: { ...text, enum: ["id", "barcode"] },
                  },
                },
              },
            },
          }),
        },
        ...refusalsOf({ 400: "There is no code." })(400, 401),
      },
    } as DocumentDecoration,
  });
  for (const end of ["", "/"]) app.all(`${ROOT}scan${end}`, found, { parse: "none", detail: { hide: true } });
}
